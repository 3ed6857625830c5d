// SPDX-License-Identifier: MIT
// Remembers who touched each byte of a work-group's SLM since the last barrier, and finds data races and
// bytes that nobody has written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "drivers/cpu/counting/access_rules.hpp"

namespace kiln::cpu {

/// One access of one work-item. `phase` counts barriers of the work-group over all its groups, so that no two
/// groups share one; `sub_phase` counts those of the item's sub-group.
struct SlmAccess {
  std::uint32_t item = 0, place = 0, phase = 0, sub_phase = 0, sub_group = 0;
  bool operator==(const SlmAccess&) const = default;
};

enum class SlmUse : std::uint8_t { read, write, atomic };

/// Two accesses race when different work-items make them without a barrier between, one writes, and not both
/// are atomic. Writing what another item has just written there is no race. Phases begin at 1.
class SlmShadow {
 public:
  explicit SlmShadow(std::uint64_t bytes)
      : bytes_(bytes),
        words_((bytes + kWord - 1) / kWord),
        rows_(words_.size() / kCountedLanes),
        written_(words_.size()),
        read_(words_.size()),
        settled_(words_.size()),
        readers_(words_.size()) {}

  struct Race {
    std::uint64_t offset;  ///< the first byte that both touch
    SlmAccess before;
  };
  /// `same` tells of each byte whether it is written as it is; only for writes.
  std::optional<Race> note(std::uint64_t offset, std::uint64_t bytes, SlmUse use, const SlmAccess& access,
                           std::span<const bool> same = {});

  /// The same, and unwritten(), for whole words that the work-items of a sub-group touch, of whom `first` is
  /// the first: `step` bytes apart, 0 or one word, or at these offsets. False, with nothing done, unless
  /// nobody races for them, and all that are read were written since phase `since`.
  using Offsets = std::span<const std::uint64_t, kCountedLanes>;
  bool note_together(std::uint64_t offset, std::uint64_t step, SlmUse use, const SlmAccess& first,
                     std::uint32_t since);
  bool note_together(Offsets offsets, SlmUse use, const SlmAccess& first, std::uint32_t since);

  /// Of these bytes the first that no work-item has written in phase `since` or later, and how many such
  /// there are. An atomic writes.
  struct Unwritten {
    std::uint64_t offset = 0, bytes = 0;
  };
  [[nodiscard]] Unwritten unwritten(std::uint64_t offset, std::uint64_t bytes, std::uint32_t since) const;

 private:
  /// Two items are enough: one of them is not the next one.
  using Two = std::array<SlmAccess, 2>;
  struct Cell {
    SlmAccess write;
    Two reads, atomics;
  };
  static constexpr std::uint64_t kWord = 4;  // bytes
  static constexpr std::uint32_t kInParts = ~std::uint32_t{0};
  /// Its bytes are remembered as one until something tells them apart.
  struct Word {
    Cell whole;
    std::uint32_t parts = 0;  ///< where its bytes' cells begin in parts_, plus one; 0: in none
  };
  /// As many words as a sub-group has work-items. While it is together, the lane of each word made the
  /// accesses that `whole` has of the first lane, and what is remembered of its words is out of date.
  struct Row {
    Cell whole;
    bool together = false;
  };
  static const SlmAccess* conflict(const Two& before, const SlmAccess& now);
  static const SlmAccess* conflict(const Cell& cell, SlmUse use, const SlmAccess& now, bool unchanged);
  static bool is_before(const SlmAccess& before, const SlmAccess& now);
  static void remember(Two& two, const SlmAccess& access);
  static void remember(Cell& cell, SlmUse use, const SlmAccess& access, bool unchanged);
  Cell* parts_of(std::size_t word);
  void sum_up(std::size_t word);
  void take_apart(std::size_t word);
  bool note_evenly(std::uint64_t offset, std::uint64_t step, SlmUse use, const SlmAccess& first,
                   std::uint32_t since);
  bool note_row(std::size_t number, SlmUse use, const SlmAccess& first, std::uint32_t since);
  /// `apart`: whether each lane has a word of its own for sure.
  template <class WordOf>
  bool note_words(WordOf word, SlmUse use, const SlmAccess& first, std::uint32_t since, bool apart);
  using Lanes = std::array<std::uint32_t, kCountedLanes>;
  static bool are_written(const Lanes& written, std::uint32_t phase, std::uint32_t since);
  template <class WordOf>
  static Lanes lanes_of(const std::vector<std::uint32_t>& values, WordOf word);
  template <class WordOf>
  bool write_together(WordOf word, SlmAccess access);
  template <class WordOf>
  void read_together(WordOf word, SlmAccess access, bool apart);

  std::uint64_t bytes_;
  std::vector<Word> words_;
  std::vector<Row> rows_;
  std::vector<Cell> parts_;
  // What most accesses need to know, by word.
  std::vector<std::uint32_t> written_;  ///< the last phase that wrote it; kInParts: see there
  std::vector<std::uint32_t> read_;     ///< the last phase that read it
  std::vector<std::uint32_t> settled_;  ///< the last phase in which two items read it
  std::vector<std::uint32_t> readers_;  ///< their sub-groups, 16 bits each, or twice that of the last one
};

// What most accesses of kernels that are counted ask for.

inline bool SlmShadow::is_before(const SlmAccess& before, const SlmAccess& now) {
  if (before.phase != now.phase || before.item == now.item) return true;
  return before.sub_group == now.sub_group && before.sub_phase != now.sub_phase;
}

inline void SlmShadow::remember(Two& two, const SlmAccess& access) {
  for (SlmAccess& one : two) {
    if (!is_before(one, access)) continue;
    one = access;
    return;
  }
}

inline bool SlmShadow::note_together(std::uint64_t offset, std::uint64_t step, SlmUse use,
                                     const SlmAccess& first, std::uint32_t since) {
  constexpr std::uint64_t kRow = kCountedLanes * kWord;
  if (use == SlmUse::read && step == kWord && offset % kRow == 0 && offset / kRow < rows_.size()) {
    Row& row = rows_[offset / kRow];
    const std::uint32_t written = row.whole.write.phase;
    if (row.together && written >= since && written < first.phase)
      return remember(row.whole.reads, first), true;
  }
  return note_evenly(offset, step, use, first, since);
}

}  // namespace kiln::cpu
