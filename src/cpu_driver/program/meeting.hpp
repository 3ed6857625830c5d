// SPDX-License-Identifier: MIT
// Meetings: places where the work-items of a group or a sub-group wait for each other and exchange values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu_driver/program/work_item.hpp"

namespace kiln::cpu {

/// What happens at a meeting. The first four are SPIR-V's group operations, by their numbers. Part of the
/// ABI.
enum class Meeting : std::uint8_t {
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

// How compiled code describes a meeting in one number.
inline constexpr std::uint64_t kMeetingKind = 0xff;
inline constexpr std::uint64_t kOfSubGroup = 1 << 8;   ///< else of the work-group
inline constexpr std::uint64_t kMayDiverge = 1 << 9;   ///< only those who come take part
inline constexpr unsigned kMeetingSizeShift = 16;      ///< above: bytes of a value
inline constexpr std::uint64_t kLargestMeeting = 128;  ///< bytes of a value: the largest OpenCL type
inline constexpr std::uint64_t kFirstMember = ~std::uint64_t{0};

/// What one item brings to a meeting.
struct Wait {
  std::uint64_t what;
  /// The item's value, and behind it room for the result; before an exclusive scan its identity stands there.
  std::byte* value;
  /// gather: whose value; clustered_reduce: items a cluster
  std::uint64_t parameter;
  Combine combine;

  [[nodiscard]] Meeting kind() const { return static_cast<Meeting>(what & kMeetingKind); }
  [[nodiscard]] std::size_t size() const { return what >> kMeetingSizeShift; }
};

/// Gives each member its result. `members` are places in `items`, in ascending order; they all wait at the
/// same place of the kernel. The others do not take part.
void hold_meeting(std::span<const Wait> items, std::span<const std::uint32_t> members);

}  // namespace kiln::cpu

/// Returns when those whom the meeting is for have called it; see Wait. `site` numbers the places of a kernel
/// in the order of the program, from 1.
extern "C" void kiln_meet(kiln::cpu::ItemState* item, std::uint64_t site, std::uint64_t what,
                          std::byte* value, std::uint64_t parameter, kiln::cpu::Combine combine);
