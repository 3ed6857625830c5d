// SPDX-License-Identifier: MIT
// The rules of data races on SLM, and of what was written there, byte by byte.
#include "drivers/cpu/counting/slm_shadow.hpp"

#include <algorithm>

namespace kiln::cpu {
const SlmAccess* SlmShadow::conflict(const Two& before, const SlmAccess& now) {
  for (const SlmAccess& one : before)
    if (!is_before(one, now)) return &one;
  return nullptr;
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

SlmShadow::Cell* SlmShadow::parts_of(std::size_t number) {
  Word& word = words_[number];
  if (word.parts == 0) {
    written_[number] = kInParts;
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
    const std::size_t number = at / kWord, row = number / kCountedLanes;
    const Word& word = words_[number];
    const bool together = row < rows_.size() && rows_[row].together;
    const Cell& cell = together          ? rows_[row].whole
                       : word.parts == 0 ? word.whole
                                         : parts_[word.parts - 1 + at % kWord];
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
    take_apart(at / kWord);
    Word& word = words_[at / kWord];
    // Whether a byte changes counts only where it is raced for, and all four may be told alike then.
    if (word.parts == 0 && at % kWord == 0 && end - at >= kWord) {
      if (conflict(word.whole, use, access, false) == nullptr) {
        remember(word.whole, use, access, false);
        sum_up(at / kWord);
        at += kWord;
        continue;
      }
    }
    Cell* parts = parts_of(at / kWord);
    for (const std::uint64_t next = std::min(end, (at / kWord + 1) * kWord); at < next; ++at) {
      Cell& cell = parts[at % kWord];
      const SlmAccess* before = conflict(cell, use, access, unchanged(at));
      if (before != nullptr && !race) race = Race{at, *before};
      remember(cell, use, access, unchanged(at));
    }
  }
  return race;
}

void SlmShadow::sum_up(std::size_t word) {
  const Cell& cell = words_[word].whole;
  const auto& [one, other] = cell.reads;
  written_[word] = std::max({cell.write.phase, cell.atomics[0].phase, cell.atomics[1].phase});
  read_[word] = std::max(one.phase, other.phase);
  const bool settled = one.phase == other.phase;
  if (settled) settled_[word] = one.phase;
  const SlmAccess &first = one.phase >= other.phase ? one : other, &second = settled ? other : first;
  readers_[word] = first.sub_group << 16 | (second.sub_group & 0xffff);
}

// The row of this word, if it is together: each word gets what its lane did.
void SlmShadow::take_apart(std::size_t word) {
  const std::size_t number = word / kCountedLanes;
  if (number >= rows_.size() || !rows_[number].together) return;
  Row& row = rows_[number];
  row.together = false;
  Cell cell = row.whole;
  for (std::size_t i = number * kCountedLanes; i < (number + 1) * kCountedLanes; ++i) {
    words_[i].whole = cell;
    sum_up(i);
    ++cell.write.item;
    for (SlmAccess& read : cell.reads) ++read.item;
  }
}

// Sums of integers, without an end before the last lane, and signed, as kInParts is then below each phase:
// what compilers make vectors of, for x86 without extensions too.

// Before this phase, and not before `since`; so nobody's write meets what is done now.
bool SlmShadow::are_written(const Lanes& written, std::uint32_t phase, std::uint32_t since) {
  const auto begin = static_cast<std::int32_t>(since), end = static_cast<std::int32_t>(phase);
  std::int32_t others = 0;
  for (const std::uint32_t one : written) {
    const auto at = static_cast<std::int32_t>(one);
    others |= -static_cast<std::int32_t>(at < begin) | -static_cast<std::int32_t>(at >= end);
  }
  return others == 0 && begin <= end;
}

template <class WordOf>
SlmShadow::Lanes SlmShadow::lanes_of(const std::vector<std::uint32_t>& values, WordOf word) {
  Lanes lanes;
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = values[word(i)];
  return lanes;
}

template <class WordOf>
bool SlmShadow::write_together(WordOf word, SlmAccess access) {
  if (!are_written(lanes_of(read_, word), access.phase, 0)) return false;
  for (std::size_t i = 0; i < kCountedLanes; ++i, ++access.item) {
    words_[word(i)].whole.write = access;
    written_[word(i)] = access.phase;
  }
  return true;
}

template <class WordOf>
void SlmShadow::read_together(WordOf word, SlmAccess access, bool apart) {
  const Lanes settled = lanes_of(settled_, word), readers = lanes_of(readers_, word);
  const std::uint32_t sub_group = access.sub_group;
  std::uint32_t unsettled = 0, all_settled = ~std::uint32_t{0}, own_first = 0, own_second = 0;
  for (std::size_t i = 0; i < kCountedLanes; ++i) {
    const std::uint32_t other = settled[i] ^ access.phase;
    unsettled |= other;
    all_settled &= -static_cast<std::uint32_t>(other != 0);
    own_first |= -static_cast<std::uint32_t>(readers[i] >> 16 == sub_group);
    own_second |= -static_cast<std::uint32_t>((readers[i] & 0xffff) == sub_group);
  }
  // Two readers of other sub-groups stay who they are.
  if ((unsettled | own_first | own_second) == 0) return;
  const Lanes read = lanes_of(read_, word);
  std::uint32_t unread = ~std::uint32_t{0}, all_read = ~std::uint32_t{0};
  for (const std::uint32_t phase : read) {
    unread &= -static_cast<std::uint32_t>(static_cast<std::int32_t>(phase) <
                                          static_cast<std::int32_t>(access.phase));
    all_read &= -static_cast<std::uint32_t>(phase == access.phase);
  }
  const std::uint32_t own = sub_group << 16 | (sub_group & 0xffff);
  // The first who read, or the second, where the first is of another sub-group.
  if (apart && (unread != 0 || (all_read & all_settled & ~own_first) != 0)) {
    for (std::size_t i = 0; i < kCountedLanes; ++i, ++access.item) {
      words_[word(i)].whole.reads[unread != 0 ? 0 : 1] = access;
      read_[word(i)] = access.phase;
      readers_[word(i)] = unread != 0 ? own : (readers[i] & ~std::uint32_t{0xffff}) | (own & 0xffff);
      if (unread == 0) settled_[word(i)] = access.phase;
    }
    return;
  }
  for (std::size_t i = 0; i < kCountedLanes; ++i, ++access.item) {
    Two& reads = words_[word(i)].whole.reads;
    const auto stays = [&](const SlmAccess& one) {
      return one.phase == access.phase && one.item != access.item && one.sub_phase == access.sub_phase;
    };
    if (stays(reads[0]) && stays(reads[1])) continue;
    remember(reads, access);
    sum_up(word(i));
  }
}

// Of a row that is not together only writes, which put it together: what was done in phases before is over.
bool SlmShadow::note_row(std::size_t number, SlmUse use, const SlmAccess& first, std::uint32_t since) {
  Row& row = rows_[number];
  const std::uint32_t phase = first.phase;
  if (use == SlmUse::read) return false;  // see note_together()
  if (row.together) {
    Cell& cell = row.whole;
    if (cell.write.phase < since || cell.write.phase >= phase) return false;
    if (cell.reads[0].phase == phase || cell.reads[1].phase == phase) return false;
  } else {
    const auto word = [number](std::size_t i) { return number * kCountedLanes + i; };
    if (!are_written(lanes_of(written_, word), phase, since) || !are_written(lanes_of(read_, word), phase, 0))
      return false;
  }
  row = {{first, {}, {}}, true};
  return true;
}

template <class WordOf>
bool SlmShadow::note_words(WordOf word, SlmUse use, const SlmAccess& first, std::uint32_t since, bool apart) {
  if (!are_written(lanes_of(written_, word), first.phase, since)) return false;
  if (use == SlmUse::write) return write_together(word, first);
  read_together(word, first, apart);
  return true;
}

bool SlmShadow::note_evenly(std::uint64_t offset, std::uint64_t step, SlmUse use, const SlmAccess& first,
                            std::uint32_t since) {
  const std::uint64_t end = offset + step * (kCountedLanes - 1) + kWord;
  if (use == SlmUse::atomic || offset % kWord != 0 || end > bytes_ || (step != 0 && step != kWord))
    return false;
  const std::size_t at = offset / kWord;
  if (step != 0 && at % kCountedLanes == 0 && note_row(at / kCountedLanes, use, first, since)) return true;
  take_apart(at);
  if (step != 0) take_apart(at + kCountedLanes - 1);
  if (step != 0) return note_words([at](std::size_t i) { return at + i; }, use, first, since, true);
  if (use == SlmUse::write || since > first.phase || written_[at] - since >= first.phase - since)
    return false;
  if (read_[at] >= first.phase) {
    read_together([at](std::size_t) { return at; }, first, false);
    return true;
  }
  // The first two are enough.
  Two& reads = words_[at].whole.reads;
  reads = {first, first};
  ++reads[1].item;
  read_[at] = settled_[at] = first.phase;
  readers_[at] = first.sub_group << 16 | (first.sub_group & 0xffff);
  return true;
}

bool SlmShadow::note_together(Offsets offsets, SlmUse use, const SlmAccess& first, std::uint32_t since) {
  if (use == SlmUse::atomic) return false;
  const std::uint64_t step = offsets[1] - offsets[0];
  std::uint64_t odd = 0, parts = 0, largest = 0;
  for (std::size_t i = 1; i < kCountedLanes; ++i) odd |= (offsets[i] - offsets[i - 1]) ^ step;
  for (const std::uint64_t offset : offsets) {
    parts |= offset % kWord;
    largest = std::max(largest, offset);
  }
  if (parts != 0 || largest >= bytes_ / kWord * kWord) return false;
  if (use == SlmUse::write && (odd != 0 || step == 0)) return false;  // perhaps two of one word
  for (const std::uint64_t offset : offsets) take_apart(offset / kWord);
  return note_words([&](std::size_t i) { return offsets[i] / kWord; }, use, first, since, false);
}

}  // namespace kiln::cpu
