// SPDX-License-Identifier: MIT
// The run-time half of the instrumentation: logs the accesses of a sub-group and joins those made together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "drivers/cpu/counting/counters.hpp"
#include "drivers/cpu/counting/slm_shadow.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

/// Sub-groups of kernels that require no size.
inline constexpr std::uint32_t kUsualSubGroup = 16;
[[nodiscard]] std::uint32_t counted_sub_group(const KernelFacts& facts);

/// Belongs to one worker for one launch. Between begin_group and end_group compiled code of this thread calls
/// it.
class Recorder {
 public:
  Recorder(KernelCounters& counters, const Execution& execution, std::uint64_t slm_bytes);
  ~Recorder();  ///< adds to the counters
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void begin_group(const GroupState& group);
  /// Around each part of a group that is run in parts, perhaps by several threads.
  void enter();
  void leave();
  void end_group();

  struct Access {
    std::uint32_t place;
    std::uint64_t key;  ///< equal where the loops around the place have been gone through equally often
    std::uint64_t item, address, bytes;
    std::uint64_t base;       ///< of the argument or variable that the address comes from; 0: not known
    const std::byte* stored;  ///< for writes that may be to SLM
  };
  /// Where to make the access: its address, or one that does no harm.
  std::byte* access(const Access& access);
  /// The same for work-items from that of `first` on, with what they store, if that is to be known. False:
  /// some address is not to be accessed, and replaced.
  bool access_lanes(const Access& first, std::span<std::byte*, kCountedLanes> addresses,
                    const std::uint64_t* stored, std::uint64_t step);
  /// The same, where they lie `step` bytes apart: 0, or as many as each accesses. False: nothing was done,
  /// and access_lanes() is to be called.
  bool access_even(const Access& first, std::uint64_t step);
  /// What access_even() does, where it has done so in this group before, for most reads of SLM.
  bool read_even(const Access& first, std::uint64_t step);
  void meet(std::uint32_t place, std::uint64_t first_item, std::uint64_t items, bool sub_group);
  void private_access(std::uint32_t place);

  /// That of the group that this thread runs.
  static Recorder* current();

 private:
  struct Logged {
    std::uint64_t key, address;
    std::uint32_t place, bytes;
  };
  struct Range {
    std::uint64_t begin = 0, bytes = 0;
    std::int32_t argument = kNoArgument;
    std::uint32_t kind = 0;  ///< MemoryRange::kind
    [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t size) const {
      return address >= begin && address - begin <= bytes && size <= bytes - (address - begin);
    }
  };
  /// Of a place whose work-items read a word of SLM each: all that a sub-group asks for that reads evenly, as
  /// those of most places do most of the time.
  struct EvenReads {
    std::uint64_t times = 0;  ///< that tallies_ does not have yet
    std::uint64_t bytes = 0;  ///< of what is to be read from; 0: another sort of place
    bool from_base = false;   ///< it begins at Access::base, else where SLM begins
    bool needs_written = false;
    std::uint64_t settled = kNever;  ///< the sub-group from which on this group has no better example
  };
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  [[nodiscard]] EvenReads even_reads_of(const Place& place) const;
  [[nodiscard]] Range range_of(const Access& access, PlaceMemory memory);
  [[nodiscard]] Range allocation_at(std::uint64_t address);
  [[nodiscard]] Defect defect_of(DefectKind kind, const Access& access, const Range& range) const;
  void note_indirect(const Access& access, const Range& range);
  void check_written(const Access& access, PlaceNeed need, std::uint64_t offset);
  void check_race(const Access& access, PlaceKind kind, std::uint64_t offset);
  bool access_together(const Access& first, std::span<std::byte* const, kCountedLanes> addresses,
                       const std::uint64_t* stored, std::uint64_t step);
  [[nodiscard]] SlmAccess by(const Access& access) const;
  static void keep(const Access& access);
  void check_slm(const Access& first, std::span<std::byte* const, kCountedLanes> addresses,
                 const std::uint64_t* stored, std::uint64_t step);
  void log(const Access& access, std::uint64_t address);
  void flush();
  void join(std::span<const std::pair<std::uint32_t, Logged>> lanes);
  void count(std::uint32_t number, std::span<const Touch> touches, std::span<const std::uint32_t> lanes);
  void count_each(const Access& first, std::span<std::byte* const, kCountedLanes> addresses,
                  std::uint64_t begin);
  bool count_dense(std::uint32_t number, std::uint64_t begin, std::uint64_t step, std::uint64_t bytes);
  [[nodiscard]] bool wants_example(const Tally& tally, std::size_t lanes) const;
  std::byte* refuse(const Access& access, PlaceMemory memory, const Range& range);

  KernelCounters& counters_;
  const KernelPlaces& places_;
  const unsigned sub_group_bits_;  ///< items of a sub-group, a power of two
  FindMemory find_memory_;
  const std::uint32_t indirect_access_;
  std::uint64_t code_begin_ = 0, code_bytes_ = 0;
  std::vector<Range> arguments_;  ///< their memory; SLM: bytes alone
  Range last_;                    ///< the allocation found last
  std::uint64_t slm_bytes_, slm_begin_ = 0;
  std::unique_ptr<SlmShadow> shadow_;
  std::uint32_t first_phase_ = 1, last_phase_ = 1;  ///< of this group
  std::vector<std::uint32_t> phases_, sub_phases_;  ///< by item
  std::array<std::uint64_t, 3> group_id_{};
  std::uint64_t group_ = 0, sub_group_ = 0;
  std::array<std::vector<Logged>, 32> lanes_;
  std::size_t logged_ = 0;
  std::uint32_t log_phase_ = 1;
  bool split_ = false;
  struct alignas(128) Chunk {
    std::array<std::byte, 128> bytes;
  };
  std::vector<Chunk> scratch_;                  ///< zeros, for accesses that are refused
  std::array<Chunk, kCountedLanes> refused_{};  ///< the same for each lane
  std::vector<Tally> tallies_;
  std::vector<EvenReads> even_reads_;  ///< by place
  Defects defects_;
};

// What each access asks for.

// What the address must lie in: by where it comes from, else by where it points to.
inline Recorder::Range Recorder::range_of(const Access& access, PlaceMemory memory) {
  const Place& place = places_[access.place];
  if (access.base != 0 && place.object_bytes != 0) return {access.base, place.object_bytes};
  const Range* argument = place.argument >= 0 && static_cast<std::size_t>(place.argument) < arguments_.size()
                              ? &arguments_[static_cast<std::size_t>(place.argument)]
                              : nullptr;
  if (memory == PlaceMemory::slm)
    return argument != nullptr ? Range{access.base, argument->bytes} : Range{slm_begin_, slm_bytes_};
  if (argument != nullptr && (argument->argument >= 0 || find_memory_ != nullptr)) {
    Range range = *argument;
    range.argument = place.argument;
    return range;
  }
  return allocation_at(access.address);
}

// Most often the known one is better.
inline bool Recorder::wants_example(const Tally& tally, std::size_t lanes) const {
  const AccessExample& known = tally.example;
  if (known.lanes.size() != lanes) return known.lanes.size() < lanes;
  return known.group > group_ || (known.group == group_ && known.sub_group > sub_group_);
}

inline SlmAccess Recorder::by(const Access& access) const {
  SlmAccess now;
  now.item = static_cast<std::uint32_t>(access.item);
  now.place = access.place;
  now.phase = phases_[access.item];
  now.sub_phase = sub_phases_[access.item];
  now.sub_group = static_cast<std::uint32_t>(access.item >> sub_group_bits_);
  return now;
}

[[gnu::always_inline]] inline bool Recorder::read_even(const Access& first, std::uint64_t step) {
  EvenReads& reads = even_reads_[first.place];
  const std::uint64_t sub_group = first.item >> sub_group_bits_;
  if (sub_group < reads.settled || logged_ != 0 || first.bytes != kBankBytes ||
      first.item % kCountedLanes != 0)
    return false;
  const std::uint64_t from = first.address - (reads.from_base ? first.base : slm_begin_);
  if (from >= reads.bytes || reads.bytes - from < step * (kCountedLanes - 1) + kBankBytes) return false;
  const std::uint32_t since = reads.needs_written ? first_phase_ : 0;
  const SlmAccess now = by(first);
  if (!shadow_->read_together(first.address - slm_begin_, step, now, since)) return false;
  sub_group_ = sub_group;
  log_phase_ = now.phase;
  ++reads.times;
  return true;
}

}  // namespace kiln::cpu

// What instrumented code calls; kiln_access gives the address to access.
extern "C" std::byte* kiln_access(std::uint32_t place, std::uint64_t key, std::uint64_t item,
                                  std::byte* address, std::uint64_t bytes, const std::byte* base,
                                  const std::byte* stored);
extern "C" std::byte* kiln_write(std::uint32_t place, std::uint64_t key, std::uint64_t item,
                                 std::byte* address, std::uint64_t bytes, const std::byte* base,
                                 std::uint64_t stored);
extern "C" bool kiln_access_lanes(std::uint32_t place, std::uint64_t key, std::uint64_t first_item,
                                  std::byte** addresses, std::uint64_t bytes, const std::byte* base,
                                  const std::uint64_t* stored, std::uint64_t step);
extern "C" bool kiln_access_even(std::uint32_t place, std::uint64_t first_item, std::byte* address,
                                 std::uint64_t bytes, const std::byte* base, std::uint64_t step);
extern "C" void kiln_meet(std::uint32_t place, std::uint64_t item, bool sub_group);
extern "C" void kiln_meet_lanes(std::uint32_t place, std::uint64_t first_item, bool sub_group);
extern "C" void kiln_private_access(std::uint32_t place);
