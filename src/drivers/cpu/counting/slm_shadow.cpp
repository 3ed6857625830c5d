// SPDX-License-Identifier: MIT
// The rules of data races on SLM, and of what was written there, byte by byte.
#include "drivers/cpu/counting/slm_shadow.hpp"

namespace kiln::cpu {
namespace {

bool is_before(const SlmAccess& before, const SlmAccess& now) {
  if (before.phase != now.phase || before.item == now.item) return true;
  return before.sub_group == now.sub_group && before.sub_phase != now.sub_phase;
}

}  // namespace

const SlmAccess* SlmShadow::conflict(const Two& before, const SlmAccess& now) {
  for (const SlmAccess& one : before)
    if (!is_before(one, now)) return &one;
  return nullptr;
}

void SlmShadow::remember(Two& two, const SlmAccess& access) {
  for (SlmAccess& one : two) {
    if (!is_before(one, access)) continue;
    one = access;
    return;
  }
}

SlmShadow::Unwritten SlmShadow::unwritten(std::uint64_t offset, std::uint64_t bytes,
                                          std::uint32_t since) const {
  Unwritten found;
  for (std::uint64_t at = offset; at < offset + bytes && at < cells_.size(); ++at) {
    const Cell& cell = cells_[at];
    if (cell.write.phase >= since || cell.atomics[0].phase >= since || cell.atomics[1].phase >= since)
      continue;
    if (found.bytes++ == 0) found.offset = at;
  }
  return found;
}

std::optional<SlmShadow::Race> SlmShadow::note(std::uint64_t offset, std::uint64_t bytes, SlmUse use,
                                               const SlmAccess& access, std::span<const bool> same) {
  std::optional<Race> race;
  for (std::uint64_t i = 0; i < bytes && offset + i < cells_.size(); ++i) {
    Cell& cell = cells_[offset + i];
    const bool unchanged = i < same.size() && same[i];
    const SlmAccess* before = nullptr;
    if (!is_before(cell.write, access) && !unchanged) before = &cell.write;
    if (before == nullptr && use != SlmUse::read && !unchanged) before = conflict(cell.reads, access);
    if (before == nullptr && use != SlmUse::atomic) before = conflict(cell.atomics, access);
    if (before != nullptr && !race) race = Race{offset + i, *before};
    switch (use) {
      case SlmUse::read:
        remember(cell.reads, access);
        break;
      case SlmUse::atomic:
        remember(cell.atomics, access);
        break;
      case SlmUse::write:
        // The item that changed the byte stays the one to race with.
        if (!unchanged || is_before(cell.write, access)) cell.write = access;
        break;
    }
  }
  return race;
}

}  // namespace kiln::cpu
