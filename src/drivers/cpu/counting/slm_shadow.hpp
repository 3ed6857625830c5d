// SPDX-License-Identifier: MIT
// Remembers who touched each byte of a work-group's SLM since the last barrier, and finds data races and
// bytes that nobody has written.
#pragma once

#include <algorithm>
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
        reads_(kMostReads) {}

  struct Race {
    std::uint64_t offset;  ///< the first byte that both touch
    SlmAccess before;
  };
  /// `same` tells of each byte whether it is written as it is; only for writes.
  std::optional<Race> note(std::uint64_t offset, std::uint64_t bytes, SlmUse use, const SlmAccess& access,
                           std::span<const bool> same = {});

  /// The same, and unwritten(), for whole words that the work-items of a sub-group touch, of whom `first` is
  /// the first: `step` bytes apart, 0 or one word, or at these offsets. False, with nothing done, unless
  /// nobody races for them, and all that are read were written since phase `since`. Reads only wait, until
  /// something is done that they may race with; most often the next phase comes before.
  using Offsets = std::span<const std::uint64_t, kCountedLanes>;
  bool note_together(std::uint64_t offset, std::uint64_t step, SlmUse use, const SlmAccess& first,
                     std::uint32_t since);
  bool read_together(std::uint64_t offset, std::uint64_t step, const SlmAccess& first, std::uint32_t since);
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
  /// accesses that `whole` has of the first lane, and what words_ and read_ have of them is out of date.
  struct Row {
    Cell whole;
    bool together = false;
  };
  /// The words of a sub-group's lanes: from `start` on, `stride` apart.
  struct Words {
    std::int32_t start = 0, stride = 0;
    bool operator==(const Words&) const = default;
    [[nodiscard]] std::int32_t at(std::size_t lane) const {
      return start + stride * static_cast<std::int32_t>(lane);
    }
    [[nodiscard]] std::int32_t low() const { return std::min(start, at(kCountedLanes - 1)); }
    [[nodiscard]] std::int32_t high() const { return std::max(start, at(kCountedLanes - 1)); }
  };
  static constexpr std::int32_t kScattered = std::int32_t{1}
                                             << 30;  ///< stride: `start` is a place in scattered_
  using Lanes = std::array<std::int32_t, kCountedLanes>;
  /// Of phase reads_phase_, before it is remembered.
  struct Read {
    Words words;
    std::int32_t low, high;  ///< of its words
    std::uint32_t item, place, sub_phase, sub_group;
  };
  static constexpr std::size_t kMostReads = 2048;        ///< that wait
  static constexpr std::size_t kMostReadsCompared = 64;  ///< with each write

  static const SlmAccess* conflict(const Two& before, const SlmAccess& now);
  static const SlmAccess* conflict(const Cell& cell, SlmUse use, const SlmAccess& now, bool unchanged);
  static bool is_before(const SlmAccess& before, const SlmAccess& now);
  static void remember(Two& two, const SlmAccess& access);
  static void remember(Cell& cell, SlmUse use, const SlmAccess& access, bool unchanged);
  static bool are_apart(const Read& read, const Words& written, const SlmAccess& first);
  Cell* parts_of(std::size_t word);
  void sum_up(std::size_t word);
  void take_apart(std::size_t word);
  void wait(Words words, std::int32_t low, std::int32_t high, const SlmAccess& first);
  void remember_reads();
  void begin_phase(std::uint32_t phase);
  [[nodiscard]] bool are_written(const Words& words, std::uint32_t phase, std::uint32_t since) const;
  bool write_together(Words words, const SlmAccess& first, std::uint32_t since);
  bool write_words(Words words, const SlmAccess& first, std::uint32_t since);
  bool write_row(std::size_t number, const SlmAccess& first, std::uint32_t since);
  [[nodiscard]] bool is_written(std::uint32_t written, std::uint32_t phase, std::uint32_t since) const {
    return written >= since && written < phase;  // nobody's write meets what is done now
  }

  std::uint64_t bytes_;
  std::vector<Word> words_;
  std::vector<Row> rows_;
  std::vector<Cell> parts_;
  std::vector<std::uint32_t> written_;  ///< by word, the last phase that wrote it; kInParts: see there
  std::vector<std::uint32_t> read_;     ///< the last phase of which a read is remembered
  std::vector<Read> reads_;             ///< kMostReads, of which the first `waiting_` count
  std::size_t waiting_ = 0;
  std::vector<Lanes> scattered_;
  std::uint32_t reads_phase_ = 0;
};

// What most accesses of kernels that are counted ask for.

inline bool SlmShadow::is_before(const SlmAccess& before, const SlmAccess& now) {
  if (before.phase != now.phase || before.item == now.item) return true;
  return before.sub_group == now.sub_group && before.sub_phase != now.sub_phase;
}

[[gnu::always_inline]] inline void SlmShadow::wait(Words words, std::int32_t low, std::int32_t high,
                                                   const SlmAccess& first) {
  if (first.phase != reads_phase_) begin_phase(first.phase);
  if (waiting_ == kMostReads) remember_reads();
  reads_[waiting_++] = {words, low, high, first.item, first.place, first.sub_phase, first.sub_group};
}

[[gnu::always_inline]] inline bool SlmShadow::read_together(std::uint64_t offset, std::uint64_t step,
                                                            const SlmAccess& first, std::uint32_t since) {
  if (offset % kWord != 0 || (step != 0 && step != kWord)) return false;
  if (offset + step * (kCountedLanes - 1) + kWord > bytes_) return false;
  const Words words{static_cast<std::int32_t>(offset / kWord), static_cast<std::int32_t>(step / kWord)};
  if (!are_written(words, first.phase, since)) return false;
  wait(words, words.start, words.high(), first);
  return true;
}

[[gnu::always_inline]] inline bool SlmShadow::are_written(const Words& words, std::uint32_t phase,
                                                          std::uint32_t since) const {
  const std::uint32_t* written = written_.data() + words.start;
  if (words.stride == 0) return is_written(*written, phase, since);
  // Signed, as kInParts is then below each phase, and without an end before the last lane: what compilers
  // make vectors of, for x86 without extensions too.
  const auto begin = static_cast<std::int32_t>(since), end = static_cast<std::int32_t>(phase);
  std::int32_t others = 0;
  const auto look = [&](std::uint32_t one) {
    const auto at = static_cast<std::int32_t>(one);
    others |= -static_cast<std::int32_t>(at < begin) | -static_cast<std::int32_t>(at >= end);
  };
  if (words.stride == 1)
    for (std::size_t lane = 0; lane < kCountedLanes; ++lane) look(written[lane]);
  else
    for (std::size_t lane = 0; lane < kCountedLanes; ++lane)
      look(written_[static_cast<std::size_t>(words.at(lane))]);
  return others == 0;
}

}  // namespace kiln::cpu
