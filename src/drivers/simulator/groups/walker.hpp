// SPDX-License-Identifier: MIT
// A walker as a value: which groups start, with what payload. GPGPU_WALKER and COMPUTE_WALKER both end here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "drivers/simulator/model.hpp"

namespace kiln::simulator {

struct Walk {
  std::array<std::uint32_t, 3> first{}, end{};  ///< group ids; end is one past the last
  std::uint32_t threads = 1;                    ///< of a group
  std::uint32_t lanes = 8;                      ///< of a thread: SIMD 8, 16 or 32
  std::uint32_t last_mask = 0;                  ///< lanes of the group's last thread
  std::uint64_t kernel = 0;                     ///< address of the first instruction
  std::uint32_t registers = 128;
  std::uint32_t slm = 0;       ///< bytes a group
  std::uint32_t rounding = 0;  ///< as cr0 has it
  std::uint64_t table = 0;     ///< address of the binding table
  std::uint64_t surface_base = 0, bindless_base = 0, general_base = 0;

  /// Words of r0 that are the same in all groups; word 5 still lacks the thread's number.
  std::array<std::uint32_t, 8> header{};
  std::uint32_t scratch_shift = 0;  ///< Xe-LP: a thread's share of scratch is 1 << this, 0 for none

  /// Register bytes behind r0: each thread's own, then what all threads share.
  std::vector<std::byte> shared{};
  std::vector<std::byte> own{};  ///< of all threads one after the other
  std::uint32_t own_bytes = 0;   ///< of one thread
};

/// Register bytes from r0 on for thread `thread` of a group. The group's ids still lack. Pure.
[[nodiscard]] std::vector<std::byte> payload(const Walk& walk, const Model& model, std::uint32_t thread,
                                             std::uint32_t number);
/// Writes the group's ids into r0.
void set_group(std::vector<std::byte>& payload, const std::array<std::uint32_t, 3>& group);

}  // namespace kiln::simulator
