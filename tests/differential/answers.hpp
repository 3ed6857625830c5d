// SPDX-License-Identifier: MIT
// What kernels from seeds read and write, on whatever device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "differential/generator.hpp"

namespace kiln::test {

struct Answers {
  std::vector<std::uint64_t> out;
  std::vector<std::uint32_t> atomics;
  std::vector<std::byte> scratch;

  /// As they are before the kernel runs.
  explicit Answers(const GeneratedKernel& kernel)
      : out(kItems * kernel.outputs.size()),
        atomics(kAtomics, 0x00ff00ff),
        scratch(std::size_t{kItems} * kScratch) {
    for (std::size_t i = 0; i < scratch.size(); ++i) scratch[i] = static_cast<std::byte>(i % 60);
  }
  bool operator==(const Answers&) const = default;
};

inline std::vector<std::uint64_t> inputs(std::uint64_t seed) {
  std::mt19937_64 random(~seed);
  std::vector<std::uint64_t> all(std::size_t{kItems} * kInputs);
  for (std::uint64_t& each : all) {
    each = random();
    each >>= random() % 64;  // of all sizes
    if (random() % 3 == 0) each = 0 - each;
  }
  return all;
}

}  // namespace kiln::test
