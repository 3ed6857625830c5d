// SPDX-License-Identifier: MIT
// Draws modules and launches from a seed: mostly such that lie at the limits of the device.
#pragma once

#include <random>

#include "driver_agreement/spirv_writer.hpp"
#include "kiln/check.hpp"

namespace kiln::agreement {

/// Numbers from a seed, the same on every machine; std's distributions are not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// In [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + engine_() % (high - low + 1); }
  bool one_in(std::uint64_t n) { return engine_() % n == 0; }
  template <class T, std::size_t N>
  T of(const T (&choices)[N]) {
    return choices[engine_() % N];
  }

 private:
  std::mt19937_64 engine_;
};

struct ModulePlan {
  std::vector<KernelPlan> kernels;
  bool large_registers = false;  ///< built with 256 registers a thread
};

/// What the draws aim at.
struct Aim {
  std::uint64_t slm = 0;         ///< bytes a work-group can have
  std::uint64_t group_size = 0;  ///< work-items a group can have
  std::uint32_t smallest_sub_group = 8;
};

[[nodiscard]] ModulePlan draw_module(Draw& draw, const Aim& aim);

struct LaunchPlan {
  LaunchShape shape;
  std::vector<std::uint64_t> local_bytes;  ///< for each `__local` argument
};

/// `facts` are the kernel's own, compiled.
[[nodiscard]] LaunchPlan draw_launch(Draw& draw, const Aim& aim, const KernelFacts& facts,
                                     std::size_t locals);

}  // namespace kiln::agreement
