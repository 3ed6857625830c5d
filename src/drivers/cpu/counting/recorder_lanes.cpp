// SPDX-License-Identifier: MIT
// Accesses that the work-items of a sub-group make together, as lanes tell of them: checked and counted as
// one where nothing tells them apart, else one by one.
#include <cstring>
#include <tuple>

#include "drivers/cpu/counting/recorder.hpp"

namespace kiln::cpu {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

// count(), where all lanes touch the same bytes, or those behind what the lane before touches. False: nothing
// was done.
[[gnu::always_inline]] inline bool Recorder::count_dense(std::uint32_t number, std::uint64_t begin,
                                                         std::uint64_t step, std::uint64_t bytes) {
  Tally& tally = tallies_[number];
  const bool slm = places_[number].memory == PlaceMemory::slm;
  if (wants_example(tally, kCountedLanes) || (slm && (bytes != kBankBytes || begin % kBankBytes != 0)))
    return false;
  static_assert(kCountedLanes <= kServedTogether && kServedTogether <= kBanks);
  tally.accesses += kCountedLanes;
  tally.bytes += kCountedLanes * bytes;
  ++tally.together;
  if (slm) {
    ++tally.turns.taken;
    ++tally.turns.least;
  } else {
    const std::uint64_t last = begin + step * (kCountedLanes - 1) + bytes - 1;
    ++tally.lines[static_cast<std::uint32_t>(last / kLineBytes - begin / kLineBytes + 1)];
  }
  return true;
}

bool Recorder::access_lanes(const Access& first, std::span<std::byte*, kCountedLanes> addresses,
                            const std::uint64_t* stored, std::uint64_t step) {
  if (access_together(first, addresses, stored, step)) return true;
  bool all = true;
  for (std::size_t lane = 0; lane < kCountedLanes; ++lane) {
    Access one = first;
    one.item += lane;
    one.address = address_of(addresses[lane]);
    if (stored != nullptr) one.stored = reinterpret_cast<const std::byte*>(&stored[lane]);
    addresses[lane] = access(one);
    all = all && address_of(addresses[lane]) == one.address;
    if (!scratch_.empty() && addresses[lane] == scratch_.front().bytes.data() && one.bytes <= sizeof(Chunk)) {
      refused_[lane] = {};  // the next lane's would be the same
      addresses[lane] = refused_[lane].bytes.data();
    }
    one.address = address_of(addresses[lane]);
    keep(one);
  }
  return all;
}

// One access of a whole sub-group, of which none is refused. False: nothing was done.
bool Recorder::access_together(const Access& first, std::span<std::byte* const, kCountedLanes> addresses,
                               const std::uint64_t* stored, std::uint64_t step) {
  const Place& place = places_[first.place];
  const bool slm = place.memory == PlaceMemory::slm;
  if ((1u << sub_group_bits_) != kCountedLanes || first.item % kCountedLanes != 0 || first.bytes == 0 ||
      place.kind == PlaceKind::atomic || place.memory == PlaceMemory::generic)
    return false;
  const bool known = (first.base != 0 && place.object_bytes != 0) || slm || place.argument >= 0;
  if (!known || (!slm && find_memory_ == nullptr)) return false;
  const Range range = range_of(first, place.memory);
  const bool even = step != kUneven;
  const std::uint64_t last =
      even ? first.address + step * (kCountedLanes - 1) : address_of(addresses[kCountedLanes - 1]);
  bool inside = range.holds(first.address, first.bytes) && range.holds(last, first.bytes);
  for (std::size_t lane = 1; !even && lane < kCountedLanes; ++lane)
    inside &= range.holds(address_of(addresses[lane]), first.bytes);
  if (!inside || (!slm && range.argument < 0 && range.kind != 0)) return false;

  const std::uint64_t sub_group = first.item >> sub_group_bits_;
  if (sub_group != sub_group_) flush();
  if (logged_ != 0) return false;  // which keeps the order
  sub_group_ = sub_group;
  log_phase_ = phases_[first.item];
  if (slm)
    check_slm(first, addresses, stored, step);
  else
    tallies_[first.place].came_from(range.argument >= 0 ? range.argument : place.argument);
  const std::uint64_t begin = slm ? slm_begin_ : 0;
  if (!even || !count_dense(first.place, first.address - begin, step, first.bytes))
    count_each(first, addresses, begin);
  return true;
}

Recorder::EvenReads Recorder::even_reads_of(const Place& place) const {
  EvenReads reads;
  if (place.kind != PlaceKind::read || place.memory != PlaceMemory::slm ||
      (1u << sub_group_bits_) != kCountedLanes)
    return reads;
  const bool of_argument =
      place.argument >= 0 && static_cast<std::size_t>(place.argument) < arguments_.size();
  reads.from_base = place.object_bytes != 0 || of_argument;
  reads.bytes = place.object_bytes != 0 ? place.object_bytes
                : of_argument           ? arguments_[static_cast<std::size_t>(place.argument)].bytes
                                        : slm_bytes_;
  reads.needs_written = place.need != PlaceNeed::none;
  return reads;
}

bool Recorder::access_even(const Access& first, std::uint64_t step) {
  const Place& place = places_[first.place];
  const bool slm = place.memory == PlaceMemory::slm;
  const std::uint64_t sub_group = first.item >> sub_group_bits_;
  if ((1u << sub_group_bits_) != kCountedLanes || first.item % kCountedLanes != 0 || first.bytes == 0 ||
      place.kind == PlaceKind::atomic || logged_ != 0)
    return false;
  if (slm ? first.bytes != kBankBytes
          : place.memory == PlaceMemory::generic || place.argument < 0 || find_memory_ == nullptr)
    return false;
  const Range range = range_of(first, place.memory);
  if (!range.holds(first.address, first.bytes) ||
      !range.holds(first.address + step * (kCountedLanes - 1), first.bytes))
    return false;
  sub_group_ = sub_group;
  if (wants_example(tallies_[first.place], kCountedLanes)) return false;
  if (slm) {
    const SlmUse use = place.kind == PlaceKind::write ? SlmUse::write : SlmUse::read;
    const std::uint32_t since = place.need == PlaceNeed::none ? 0 : first_phase_;
    const std::uint64_t offset = first.address - slm_begin_;
    if (offset % kBankBytes != 0 || !shadow_->note_together(offset, step, use, by(first), since))
      return false;
  } else {
    tallies_[first.place].came_from(range.argument >= 0 ? range.argument : place.argument);
  }
  log_phase_ = phases_[first.item];
  EvenReads& reads = even_reads_[first.place];
  const AccessExample& example = tallies_[first.place].example;
  if (reads.bytes != 0 && (!reads.from_base || first.base != 0))
    reads.settled = example.group == group_ ? example.sub_group : 0;
  return count_dense(first.place, first.address - (slm ? slm_begin_ : 0), step, first.bytes);
}

void Recorder::count_each(const Access& first, std::span<std::byte* const, kCountedLanes> addresses,
                          std::uint64_t begin) {
  std::array<Touch, kCountedLanes> touches;
  std::array<std::uint32_t, kCountedLanes> lanes;
  for (std::uint32_t lane = 0; lane < kCountedLanes; ++lane) {
    touches[lane] = {address_of(addresses[lane]) - begin, static_cast<std::uint32_t>(first.bytes)};
    lanes[lane] = lane;
  }
  count(first.place, touches, lanes);
}

void Recorder::check_slm(const Access& first, std::span<std::byte* const, kCountedLanes> addresses,
                         const std::uint64_t* stored, std::uint64_t step) {
  const Place& place = places_[first.place];
  const SlmUse use = place.kind == PlaceKind::write ? SlmUse::write : SlmUse::read;
  const std::uint32_t since = place.need == PlaceNeed::none ? 0 : first_phase_;
  if (first.bytes == kBankBytes && step != kUneven &&
      shadow_->note_together(first.address - slm_begin_, step, use, by(first), since))
    return;
  std::array<std::uint64_t, kCountedLanes> offsets;
  for (std::size_t lane = 0; lane < kCountedLanes; ++lane)
    offsets[lane] = address_of(addresses[lane]) - slm_begin_;
  if (first.bytes == kBankBytes && shadow_->note_together(offsets, use, by(first), since)) return;
  Access one = first;
  for (std::size_t lane = 0; lane < kCountedLanes; ++lane, ++one.item) {
    one.address = address_of(addresses[lane]);
    if (stored != nullptr) one.stored = reinterpret_cast<const std::byte*>(&stored[lane]);
    check_written(one, place.need, offsets[lane]);
    check_race(one, place.kind, offsets[lane]);
    keep(one);
  }
}

// Before the kernel does it: what the next lane finds there.
void Recorder::keep(const Access& access) {
  if (access.stored != nullptr)
    std::memcpy(reinterpret_cast<void*>(access.address), access.stored, access.bytes);
}

}  // namespace kiln::cpu

bool kiln_access_even(std::uint32_t place, std::uint64_t first_item, std::byte* address, std::uint64_t bytes,
                      const std::byte* base, std::uint64_t step) {
  kiln::cpu::Recorder& recorder = *kiln::cpu::Recorder::current();
  const kiln::cpu::Recorder::Access first{
      place, 0, first_item, kiln::cpu::address_of(address), bytes, kiln::cpu::address_of(base), nullptr};
  return recorder.read_even(first, step) || recorder.access_even(first, step);
}

bool kiln_access_lanes(std::uint32_t place, std::uint64_t key, std::uint64_t first_item,
                       std::byte** addresses, std::uint64_t bytes, const std::byte* base,
                       const std::uint64_t* stored, std::uint64_t step) {
  return kiln::cpu::Recorder::current()->access_lanes(
      {place, key, first_item, kiln::cpu::address_of(addresses[0]), bytes, kiln::cpu::address_of(base),
       nullptr},
      std::span<std::byte*, kiln::cpu::kCountedLanes>(addresses, kiln::cpu::kCountedLanes), stored, step);
}
