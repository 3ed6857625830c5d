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

void SlmShadow::remember(Two& two, const SlmAccess& access) {
  for (SlmAccess& one : two) {
    if (!is_before(one, access)) continue;
    one = access;
    return;
  }
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
  begin_phase(access.phase);
  remember_reads();
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
  written_[word] = std::max({cell.write.phase, cell.atomics[0].phase, cell.atomics[1].phase});
  read_[word] = std::max(cell.reads[0].phase, cell.reads[1].phase);
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

// None of these words is in parts, as then the read would not wait, and what takes words into parts lets none
// wait.
void SlmShadow::remember_reads() {
  for (const Read& read : std::span(reads_).first(waiting_)) {
    SlmAccess access{read.item, read.place, reads_phase_, read.sub_phase, read.sub_group};
    const auto start = static_cast<std::size_t>(read.words.start), row = start / kCountedLanes;
    const bool whole_row = read.words.stride == 1 && start % kCountedLanes == 0 && row < rows_.size();
    if (whole_row && rows_[row].together) {
      remember(rows_[row].whole.reads, access);
      continue;
    }
    const bool scattered = read.words.stride == kScattered;
    for (std::size_t lane = 0; lane < kCountedLanes; ++lane, ++access.item) {
      const auto word = static_cast<std::size_t>(scattered ? scattered_[start][lane] : read.words.at(lane));
      take_apart(word);
      remember(words_[word].whole.reads, access);
      read_[word] = access.phase;
    }
  }
  waiting_ = 0;
  scattered_.clear();
}

// What was read in phases before can race with nothing any more.
void SlmShadow::begin_phase(std::uint32_t phase) {
  if (phase == reads_phase_) return;
  if (phase < reads_phase_) remember_reads();
  waiting_ = 0;
  scattered_.clear();
  reads_phase_ = phase;
}

// Of other words, or each lane's own.
bool SlmShadow::are_apart(const Read& read, const Words& written, const SlmAccess& first) {
  if (read.high < written.low() || read.low > written.high()) return true;
  if (read.words == written && read.item == first.item) return true;
  return read.words.stride == written.stride && (read.words.start - written.start) % written.stride != 0;
}

bool SlmShadow::write_words(Words words, const SlmAccess& first, std::uint32_t since) {
  if (!are_written(words, first.phase, since)) return false;
  for (std::size_t lane = 0; lane < kCountedLanes; ++lane) {
    const auto word = static_cast<std::size_t>(words.at(lane));
    take_apart(word);
    if (read_[word] >= first.phase) return false;
  }
  SlmAccess access = first;
  for (std::size_t lane = 0; lane < kCountedLanes; ++lane, ++access.item) {
    const auto word = static_cast<std::size_t>(words.at(lane));
    words_[word].whole.write = access;
    written_[word] = access.phase;
  }
  return true;
}

// Which puts the row together: what was done in phases before is over.
bool SlmShadow::write_row(std::size_t number, const SlmAccess& first, std::uint32_t since) {
  Row& row = rows_[number];
  const Words words{static_cast<std::int32_t>(number * kCountedLanes), 1};
  if (!are_written(words, first.phase, since)) return false;
  const auto begin = static_cast<std::ptrdiff_t>(number * kCountedLanes);
  const auto end = begin + static_cast<std::ptrdiff_t>(kCountedLanes);
  const auto in_this_phase = [&](std::uint32_t read) { return read >= first.phase; };
  if (row.together ? std::ranges::any_of(row.whole.reads, in_this_phase, &SlmAccess::phase)
                   : std::any_of(read_.begin() + begin, read_.begin() + end, in_this_phase))
    return false;
  row = {{first, {}, {}}, true};
  std::fill(written_.begin() + begin, written_.begin() + end, first.phase);
  return true;
}

bool SlmShadow::write_together(Words words, const SlmAccess& first, std::uint32_t since) {
  begin_phase(first.phase);
  const auto apart = [&](const Read& read) { return are_apart(read, words, first); };
  if (waiting_ > kMostReadsCompared || !std::all_of(reads_.begin(), reads_.begin() + waiting_, apart))
    remember_reads();
  const auto start = static_cast<std::size_t>(words.start), row = start / kCountedLanes;
  if (words.stride == 1 && start % kCountedLanes == 0 && row < rows_.size() && write_row(row, first, since))
    return true;
  return write_words(words, first, since);
}

bool SlmShadow::note_together(std::uint64_t offset, std::uint64_t step, SlmUse use, const SlmAccess& first,
                              std::uint32_t since) {
  if (use == SlmUse::read) return read_together(offset, step, first, since);
  if (use == SlmUse::atomic || offset % kWord != 0 || step != kWord ||
      offset + step * (kCountedLanes - 1) + kWord > bytes_)
    return false;
  return write_together({static_cast<std::int32_t>(offset / kWord), 1}, first, since);
}

bool SlmShadow::note_together(Offsets offsets, SlmUse use, const SlmAccess& first, std::uint32_t since) {
  if (use == SlmUse::atomic) return false;
  const std::uint64_t step = offsets[1] - offsets[0];
  std::uint64_t odd = 0, parts = 0, largest = 0, least = ~std::uint64_t{0};
  for (std::size_t i = 1; i < kCountedLanes; ++i) odd |= (offsets[i] - offsets[i - 1]) ^ step;
  for (const std::uint64_t offset : offsets) {
    parts |= offset % kWord;
    largest = std::max(largest, offset);
    least = std::min(least, offset);
  }
  if (parts != 0 || largest >= bytes_ / kWord * kWord) return false;
  const auto word = [](std::uint64_t offset) { return static_cast<std::int32_t>(offset / kWord); };
  const Words even{word(offsets[0]), word(offsets[1]) - word(offsets[0])};
  if (use == SlmUse::write)  // unless perhaps two are of one word
    return odd == 0 && step != 0 && write_together(even, first, since);
  if (odd == 0) {
    if (!are_written(even, first.phase, since)) return false;
    wait(even, word(least), word(largest), first);
    return true;
  }
  Lanes lanes;
  std::ranges::transform(offsets, lanes.begin(), word);
  for (const std::int32_t lane : lanes)
    if (!is_written(written_[static_cast<std::size_t>(lane)], first.phase, since)) return false;
  wait({0, kScattered}, word(least), word(largest), first);
  reads_[waiting_ - 1].words.start = static_cast<std::int32_t>(scattered_.size());
  scattered_.push_back(lanes);
  return true;
}

}  // namespace kiln::cpu
