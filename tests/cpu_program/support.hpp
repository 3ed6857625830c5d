// SPDX-License-Identifier: MIT
// Helpers of the CPU program tests: files, programs from both SPIR-V generators, launches, errors in ULP.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu::test {

inline std::vector<std::byte> read_file(const std::string& name) {
  std::ifstream stream(std::string(KILN_TEST_SPIRV) + "/" + name, std::ios::binary);
  const std::vector<char> text((std::istreambuf_iterator<char>(stream)), {});
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

inline const CompiledKernel* find(const Program& program, std::string_view name) {
  for (const CompiledKernel& kernel : program.kernels())
    if (kernel.facts.name == name) return &kernel;
  return nullptr;
}

template <class T>
ArgumentValue argument(const T& value) {
  ArgumentValue out;
  if constexpr (std::is_same_v<T, ArgumentValue>) {
    return value;
  } else if constexpr (requires { value.data(); }) {
    const void* pointer = value.data();
    out.bytes.resize(sizeof pointer);
    std::memcpy(out.bytes.data(), &pointer, sizeof pointer);
  } else {
    static_assert(std::is_trivially_copyable_v<T>);
    out.bytes.resize(sizeof value);
    std::memcpy(out.bytes.data(), &value, sizeof value);
  }
  return out;
}
inline ArgumentValue local(std::uint64_t bytes) {
  ArgumentValue out;
  out.local_bytes = bytes;
  return out;
}

using Three = std::array<std::uint32_t, 3>;

/// Runs a kernel over vectors (passed as pointers), values and local(); false when there is no such kernel.
template <class... Arguments>
bool launch(const Program& program, std::string_view name, Three groups, Three size,
            const Arguments&... arguments) {
  const CompiledKernel* kernel = find(program, name);
  if (kernel == nullptr || kernel->facts.arguments.size() != sizeof...(arguments)) return false;
  const std::array<ArgumentValue, sizeof...(arguments)> values{argument(arguments)...};
  return execute({kernel, values, groups, size, {}}) == ExecutionStatus::ok;
}

/// |got - exact| in units of the last place of T; 0 for the same NaN, infinity or zero.
template <class T>
long double ulp_error(T got, long double exact) {
  constexpr long double kFar = 1e30L;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : kFar;
  if (std::isnan(got)) return kFar;
  const T rounded = static_cast<T>(exact);
  if (got == rounded) return 0;
  if (std::isinf(got)) return exact > std::numeric_limits<T>::max() * 0.999L ? 1 : kFar;
  if (std::isinf(rounded)) return std::fabs(got) > std::numeric_limits<T>::max() * 0.999L ? 1 : kFar;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return std::fabs(static_cast<long double>(got) - exact) /
         std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
}

/// `count` numbers: special ones, then random ones between low and high. The same on every run.
template <class T>
std::vector<T> real_inputs(std::size_t count, double low, double high, unsigned seed) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T tiny = std::numeric_limits<T>::denorm_min(), small = std::numeric_limits<T>::min();
  std::vector<T> out = {0,
                        -T(0),
                        1,
                        -1,
                        T(0.5),
                        T(-0.5),
                        2,
                        -2,
                        T(1.5),
                        T(-1.5),
                        T(2.5),
                        3,
                        -3,
                        infinity,
                        -infinity,
                        std::numeric_limits<T>::quiet_NaN(),
                        tiny,
                        -tiny,
                        small,
                        -small,
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        T(0.25),
                        100,
                        -100,
                        T(16777217)};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> numbers(low, high);
  // Other seeds pair the special numbers of several arguments differently.
  std::rotate(out.begin(), out.begin() + seed % out.size(), out.end());
  while (out.size() < count) out.push_back(static_cast<T>(numbers(random)));
  return out;
}

}  // namespace kiln::cpu::test
