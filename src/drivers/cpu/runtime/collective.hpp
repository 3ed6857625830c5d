// SPDX-License-Identifier: MIT
// Collectives: places where the work-items of a group or a sub-group wait for each other and exchange values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

/// What happens at a collective. The first four are SPIR-V's group operations, by their numbers. Part of the
/// ABI.
enum class Collective : std::uint8_t {
  reduce,
  inclusive_scan,
  exclusive_scan,
  clustered_reduce,
  gather,
  ballot,
  barrier,
};

/// sum = sum (operation) value, written by the compiler for the type of the values.
using Combine = void (*)(void* sum, const void* value);

// How compiled code describes a collective in one number.
inline constexpr std::uint64_t kCollectiveKind = 0xff;
inline constexpr std::uint64_t kOfSubGroup = 1 << 8;           ///< else of the work-group
inline constexpr std::uint64_t kMayDiverge = 1 << 9;           ///< only those who come take part
inline constexpr unsigned kCollectiveSizeShift = 16;           ///< above: bytes of a value
inline constexpr std::uint64_t kLargestCollectiveValue = 128;  ///< bytes of a value: the largest OpenCL type
inline constexpr std::uint32_t kBarrierPlace = 1;              ///< exchanges nothing
inline constexpr std::uint32_t kGroupPlace = 1u << 31;         ///< of the work-group, else of the sub-group
inline constexpr std::uint32_t kGridPlace = 1u << 30;          ///< with kGroupPlace: of all work-groups
inline constexpr std::uint64_t kFirstMember = ~std::uint64_t{0};

/// What one item brings to a collective other than a barrier.
struct Wait {
  std::uint64_t what;
  /// The item's value, and behind it room for the result; before an exclusive scan its identity stands there.
  std::byte* value;
  /// gather: whose value; clustered_reduce: items a cluster
  std::uint64_t parameter;
  Combine combine;

  [[nodiscard]] Collective kind() const { return static_cast<Collective>(what & kCollectiveKind); }
  [[nodiscard]] std::size_t size() const { return what >> kCollectiveSizeShift; }
};

/// Gives each member its result. `members` are places in `items`, in ascending order; they all wait at the
/// same place of the kernel. The others do not take part.
void run_collective(std::span<const Wait> items, std::span<const std::uint32_t> members);

/// The same for reductions and scans in which all `count` items take part, `members` of them at a time, when
/// their values are `stride` bytes apart from that of the first on. False, and nothing done, for other
/// collectives.
bool combine_all(Wait first, std::uint64_t count, std::uint64_t members, std::uint64_t stride);

}  // namespace kiln::cpu

// A place of a kernel where items wait: its number in the order of the program, times two; kBarrierPlace and
// kGroupPlace and kGridPlace may be added. Compiled code calls these three, which return when those whom the
// place is for have come.
extern "C" void kiln_barrier(kiln::cpu::ItemState* item, std::uint64_t place);
/// The same for the barrier of all work-groups, by its own name: such kernels are run in another way.
extern "C" void kiln_grid_barrier(kiln::cpu::ItemState* item, std::uint64_t place);
extern "C" void kiln_collective(kiln::cpu::ItemState* item, std::uint64_t place, std::uint64_t what,
                                std::byte* value, std::uint64_t parameter, kiln::cpu::Combine combine);
