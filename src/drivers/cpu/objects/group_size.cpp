// SPDX-License-Identifier: MIT
// Group sizes and shared local memory.
#include "drivers/cpu/objects/group_size.hpp"

#include <algorithm>
#include <limits>

namespace kiln::cpu {
namespace {

constexpr std::uint64_t kTooMuch = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kDynamicGranularity = 1024;  // bytes

std::uint32_t largest_divisor(std::uint32_t value, std::uint32_t limit) {
  for (std::uint32_t divisor = std::min(value, limit); divisor > 1; --divisor)
    if (value % divisor == 0) return divisor;
  return 1;
}

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  if (alignment == 0) return value;
  const std::uint64_t rest = value % alignment;
  if (rest == 0) return value;
  return value > kTooMuch - (alignment - rest) ? kTooMuch : value + (alignment - rest);
}

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > kTooMuch - b ? kTooMuch : a + b; }

}  // namespace

std::array<std::uint32_t, 3> suggest_group_size(std::array<std::uint32_t, 3> global, std::uint32_t limit) {
  std::array<std::uint32_t, 3> size{1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    size[i] = largest_divisor(global[i], limit);
    limit /= size[i];
  }
  return size;
}

std::uint64_t slm_of_group(const KernelFacts& facts, std::span<const ArgumentValue> arguments) {
  std::uint64_t dynamic = 0;
  for (std::size_t i = 0; i < facts.arguments.size(); ++i) {
    const ArgumentFacts& argument = facts.arguments[i];
    if (argument.kind != ArgumentKind::local_pointer) continue;
    dynamic = add(align_up(dynamic, argument.local_alignment), arguments[i].local_bytes);
  }
  dynamic = align_up(dynamic, kDynamicGranularity);
  if (facts.slm_mode == SlmMode::runtime_adjusted && dynamic != 0) return dynamic;
  return add(dynamic, facts.static_slm);
}

}  // namespace kiln::cpu
