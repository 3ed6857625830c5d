// SPDX-License-Identifier: MIT
// Native kernels on the execution unit without any driver, in memory that is flat.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "xe/unit/machine.hpp"

namespace kiln::test {

/// Memory as a list of buffers, each at an address of its own with a gap behind it.
class FlatBus : public xe::Bus {
 public:
  /// Bytes that are 0, at the returned address.
  std::uint64_t add(std::uint64_t size);
  /// From its address on.
  [[nodiscard]] std::span<std::byte> bytes(std::uint64_t address);
  void bind(xe::SurfaceKind kind, std::uint32_t index, xe::Surface surface) {
    surfaces_[{kind, index}] = surface;
  }
  void set_general_state_base(std::uint64_t base) { base_ = base; }

  xe::Stretch reach(std::uint64_t address, bool write) override;
  std::optional<xe::Surface> surface(xe::SurfaceKind kind, std::uint32_t index) override;
  std::uint64_t general_state_base() override { return base_; }
  std::uint64_t ticks() override { return ++ticks_; }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> buffers_;
  std::map<std::pair<xe::SurfaceKind, std::uint32_t>, xe::Surface> surfaces_;
  std::uint64_t next_ = 0x100000000, base_ = 0, ticks_ = 0;
};

struct Argument {
  std::vector<std::byte> value{};  ///< by value, or a buffer's content, which the kernel may change
  std::uint32_t local_bytes = 0;   ///< not 0: a `__local` pointer
  bool buffer = false;
};
template <class T>
Argument value(const T& value) {
  Argument argument;
  argument.value.resize(sizeof value);
  std::memcpy(argument.value.data(), &value, sizeof value);
  return argument;
}
template <class T>
Argument buffer(const std::vector<T>& values) {
  Argument argument{.value = std::vector<std::byte>(values.size() * sizeof(T)), .buffer = true};
  if (!values.empty()) std::memcpy(argument.value.data(), values.data(), argument.value.size());
  return argument;
}
inline Argument local(std::uint32_t bytes) { return {.local_bytes = bytes}; }
template <class T>
std::vector<T> values_of(const Argument& argument) {
  std::vector<T> values(argument.value.size() / sizeof(T));
  std::memcpy(values.data(), argument.value.data(), values.size() * sizeof(T));
  return values;
}

struct Launch {
  std::array<std::uint32_t, 3> global{1, 1, 1}, local{1, 1, 1};
  xe::Counts* counts = nullptr;
  std::uint64_t most_instructions = 100'000'000;
  std::uint32_t host_threads = 1;
};

/// Runs `name` of a native file (zebin) for a product ("dg2"); buffers among the arguments get what it wrote.
/// Nothing, or what went wrong.
[[nodiscard]] std::optional<std::string> run_native(std::span<const std::byte> file, std::string_view product,
                                                    std::string_view name, const Launch& launch,
                                                    std::vector<Argument>& arguments);

}  // namespace kiln::test
