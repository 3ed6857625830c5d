// SPDX-License-Identifier: MIT
// The rules of data races on SLM, and of what was written there, byte by byte.
#include "drivers/cpu/counting/slm_shadow.hpp"

#include <algorithm>

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

const SlmAccess* SlmShadow::conflict(const Cell& cell, SlmUse use, const SlmAccess& now, bool unchanged) {
  if (!is_before(cell.write, now) && !unchanged) return &cell.write;
  const SlmAccess* before = nullptr;
  if (use != SlmUse::read && !unchanged) before = conflict(cell.reads, now);
  if (before == nullptr && use != SlmUse::atomic) before = conflict(cell.atomics, now);
  return before;
}

void SlmShadow::remember(Cell& cell, SlmUse use, const SlmAccess& access, bool unchanged) {
  switch (use) {
    case SlmUse::read:
      return remember(cell.reads, access);
    case SlmUse::atomic:
      return remember(cell.atomics, access);
    case SlmUse::write:
      // The item that changed the byte stays the one to race with.
      if (!unchanged || is_before(cell.write, access)) cell.write = access;
  }
}

SlmShadow::Cell* SlmShadow::parts_of(Word& word) {
  if (word.parts == 0) {
    word.parts = static_cast<std::uint32_t>(parts_.size() + 1);
    parts_.insert(parts_.end(), kWord, word.whole);
  }
  return parts_.data() + (word.parts - 1);
}

SlmShadow::Unwritten SlmShadow::unwritten(std::uint64_t offset, std::uint64_t bytes,
                                          std::uint32_t since) const {
  Unwritten found;
  const std::uint64_t end = offset < bytes_ ? offset + std::min(bytes, bytes_ - offset) : offset;
  for (std::uint64_t at = offset; at < end;) {
    const Word& word = words_[at / kWord];
    const Cell& cell = word.parts == 0 ? word.whole : parts_[word.parts - 1 + at % kWord];
    const std::uint64_t count = word.parts == 0 ? std::min(kWord - at % kWord, end - at) : 1;
    if (cell.write.phase < since && cell.atomics[0].phase < since && cell.atomics[1].phase < since) {
      if (found.bytes == 0) found.offset = at;
      found.bytes += count;
    }
    at += count;
  }
  return found;
}

std::optional<SlmShadow::Race> SlmShadow::note(std::uint64_t offset, std::uint64_t bytes, SlmUse use,
                                               const SlmAccess& access, std::span<const bool> same) {
  std::optional<Race> race;
  const auto unchanged = [&](std::uint64_t at) { return at - offset < same.size() && same[at - offset]; };
  const std::uint64_t end = offset < bytes_ ? offset + std::min(bytes, bytes_ - offset) : offset;
  for (std::uint64_t at = offset; at < end;) {
    Word& word = words_[at / kWord];
    // Whether a byte changes counts only where it is raced for, and all four may be told alike then.
    if (word.parts == 0 && at % kWord == 0 && end - at >= kWord) {
      if (conflict(word.whole, use, access, false) == nullptr) {
        remember(word.whole, use, access, false);
        at += kWord;
        continue;
      }
    }
    Cell* parts = parts_of(word);
    for (const std::uint64_t next = std::min(end, (at / kWord + 1) * kWord); at < next; ++at) {
      Cell& cell = parts[at % kWord];
      const SlmAccess* before = conflict(cell, use, access, unchanged(at));
      if (before != nullptr && !race) race = Race{at, *before};
      remember(cell, use, access, unchanged(at));
    }
  }
  return race;
}

}  // namespace kiln::cpu
