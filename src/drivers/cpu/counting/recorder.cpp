// SPDX-License-Identifier: MIT
// Checks and logs accesses. A work-item runs up to a barrier before the next one runs, so that a sub-group's
// log is complete when another sub-group begins.
#include "drivers/cpu/counting/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "drivers/cpu/runtime/loaded_kernel.hpp"

namespace kiln::cpu {
namespace {

constexpr std::size_t kComfortable = 1 << 16;     // logged accesses, above which a barrier empties the log
constexpr std::size_t kMost = 1 << 22;            // 96 MiB; above, what belongs together is counted in parts
constexpr std::size_t kLargestValue = 128 << 10;  // bytes: 1024 members of 128, as prepare.cpp allows
constexpr int kForgotten = 0xa5;                  // what SLM holds before anything was written

thread_local Recorder* recorder = nullptr;

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
std::byte* pointer(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

std::uint32_t counted_sub_group(const KernelFacts& facts) {
  return facts.required_sub_group_size != 0 ? std::min(facts.required_sub_group_size, 32u) : kUsualSubGroup;
}

Recorder* Recorder::current() { return recorder; }

Recorder::Recorder(KernelCounters& counters, const Execution& execution, std::uint64_t slm_bytes)
    : counters_(counters),
      places_(counters.places()),
      sub_group_bits_(static_cast<unsigned>(std::countr_zero(counted_sub_group(execution.kernel->facts)))),
      find_memory_(execution.find_memory),
      indirect_access_(execution.indirect_access),
      slm_bytes_(slm_bytes),
      shadow_(std::make_unique<SlmShadow>(slm_bytes)),
      tallies_(places_.size()) {
  const auto& loaded = *static_cast<const LoadedKernel*>(execution.kernel->entry);
  code_begin_ = number(loaded.variables.data());
  code_bytes_ = loaded.variables.size();
  const auto& facts = execution.kernel->facts.arguments;
  arguments_.resize(facts.size());
  for (std::size_t i = 0; i < facts.size() && i < execution.arguments.size(); ++i) {
    const ArgumentValue& value = execution.arguments[i];
    if (facts[i].kind == ArgumentKind::local_pointer) arguments_[i].bytes = value.local_bytes;
    std::uint64_t address = 0;
    if (facts[i].kind != ArgumentKind::global_pointer || value.bytes.size() != sizeof address) continue;
    std::memcpy(&address, value.bytes.data(), sizeof address);
    if (find_memory_ != nullptr) {
      const MemoryRange found = find_memory_(address);
      arguments_[i] = {found.begin, found.bytes, static_cast<std::int32_t>(i)};
    }
  }
  std::size_t items = 1;
  for (const std::uint32_t size : execution.group_size) items *= size;
  phases_.resize(items);
  sub_phases_.resize(items);
  for (const Place& place : places_) even_reads_.push_back(even_reads_of(place));
}

// Also in the middle of a group, when it hangs.
Recorder::~Recorder() {
  end_group();
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    const std::uint64_t times = even_reads_[i].times;
    tallies_[i].accesses += times * kCountedLanes;
    tallies_[i].bytes += times * kCountedLanes * kBankBytes;
    tallies_[i].together += times;
    tallies_[i].turns.taken += times;
    tallies_[i].turns.least += times;
  }
  counters_.add(tallies_, defects_, split_);
}

void Recorder::begin_group(const GroupState& group) {
  recorder = this;
  std::ranges::copy(group.group_id, group_id_.begin());
  const std::uint64_t* count = group.launch->group_count;
  group_ = (group_id_[2] * count[1] + group_id_[1]) * count[0] + group_id_[0];
  sub_group_ = 0;
  slm_begin_ = number(group.slm);
  if (slm_bytes_ > 0) std::memset(group.slm, kForgotten, slm_bytes_);
  first_phase_ = log_phase_ = ++last_phase_;
  for (EvenReads& reads : even_reads_) reads.settled = kNever;
  std::ranges::fill(phases_, first_phase_);
  std::ranges::fill(sub_phases_, 0);
}

void Recorder::enter() { recorder = this; }
void Recorder::leave() { recorder = nullptr; }

void Recorder::end_group() {
  flush();
  recorder = nullptr;
}

Recorder::Range Recorder::allocation_at(std::uint64_t address) {
  if (last_.holds(address, 1)) return last_;
  const MemoryRange found = find_memory_ == nullptr ? MemoryRange{} : find_memory_(address);
  Range range{found.begin, found.bytes, kNoArgument, found.kind};
  for (const Range& argument : arguments_)
    if (found.bytes > 0 && argument.begin == found.begin && argument.argument >= 0) {
      range.argument = argument.argument;
      break;
    }
  if (address - code_begin_ < code_bytes_) range = {code_begin_, code_bytes_};
  last_ = range;
  return range;
}

std::byte* Recorder::access(const Access& access) {
  const Place& place = places_[access.place];
  PlaceMemory memory = place.memory;
  if (memory == PlaceMemory::generic) {
    memory = access.address - slm_begin_ < slm_bytes_ ? PlaceMemory::slm : PlaceMemory::global;
    if (memory == PlaceMemory::global && allocation_at(access.address).bytes == 0)
      return pointer(access.address);
  }
  const Range range = range_of(access, memory);
  const bool checked = memory == PlaceMemory::slm || find_memory_ != nullptr || place.object_bytes != 0;
  if (checked && access.bytes > 0 && !range.holds(access.address, access.bytes))
    return refuse(access, memory, range);
  if (memory == PlaceMemory::slm) {
    check_written(access, place.need, access.address - slm_begin_);
    check_race(access, place.kind, access.address - slm_begin_);
    log(access, access.address - slm_begin_);
  } else {
    if (range.argument < 0 && (range.kind & ~indirect_access_) != 0) note_indirect(access, range);
    tallies_[access.place].came_from(range.argument >= 0 ? range.argument : place.argument);
    log(access, access.address);
  }
  return pointer(access.address);
}

Defect Recorder::defect_of(DefectKind kind, const Access& access, const Range& range) const {
  Defect defect{kind, access.place};
  defect.item = access.item;
  defect.group = group_id_;
  defect.bytes = access.bytes;
  defect.available = range.bytes;
  defect.address = access.address;
  defect.offset = static_cast<std::int64_t>(access.address - range.begin);
  return defect;
}

std::byte* Recorder::refuse(const Access& access, PlaceMemory memory, const Range& range) {
  Defect defect = defect_of(memory == PlaceMemory::slm ? DefectKind::slm_bounds : DefectKind::global_bounds,
                            access, range);
  defect.argument = places_[access.place].argument;
  add_defect(defects_, defect);
  // A longer one is a copy, which then is not made at all.
  const std::size_t bytes = std::min<std::uint64_t>(access.bytes, kLargestValue);
  scratch_.assign(bytes / sizeof(Chunk) + 1, {});
  return scratch_.front().bytes.data();
}

// The access is made: the CPU device needs nobody's leave for it.
void Recorder::note_indirect(const Access& access, const Range& range) {
  Defect defect = defect_of(DefectKind::indirect_access, access, range);
  defect.memory_kind = range.kind;
  add_defect(defects_, defect);
}

void Recorder::check_written(const Access& access, PlaceNeed need, std::uint64_t offset) {
  if (need == PlaceNeed::none) return;
  const auto [first, bytes] = shadow_->unwritten(offset, access.bytes, first_phase_);
  if (bytes == 0 || (need == PlaceNeed::some && bytes < access.bytes)) return;
  Defect defect = defect_of(DefectKind::unwritten, access, {slm_begin_, slm_bytes_});
  defect.offset = static_cast<std::int64_t>(first);
  add_defect(defects_, defect);
}

void Recorder::check_race(const Access& access, PlaceKind kind, std::uint64_t offset) {
  std::array<bool, 128> same;  // as many as are known
  const std::size_t known = access.stored == nullptr ? 0 : std::min<std::size_t>(access.bytes, same.size());
  for (std::size_t i = 0; i < known; ++i) same[i] = access.stored[i] == pointer(access.address)[i];
  const SlmUse use = kind == PlaceKind::atomic  ? SlmUse::atomic
                     : kind == PlaceKind::write ? SlmUse::write
                                                : SlmUse::read;
  const auto race = shadow_->note(offset, access.bytes, use, by(access), std::span(same).first(known));
  if (!race) return;
  Defect defect{DefectKind::race, access.place, race->before.place};
  defect.item = access.item;
  defect.other_item = race->before.item;
  defect.group = group_id_;
  defect.offset = static_cast<std::int64_t>(race->offset);
  defect.bytes = access.bytes;
  defect.available = slm_bytes_;
  add_defect(defects_, defect);
}

void Recorder::log(const Access& access, std::uint64_t address) {
  const std::uint64_t sub_group = access.item >> sub_group_bits_;
  const std::uint32_t phase = phases_[access.item];
  if (sub_group != sub_group_ || (phase != log_phase_ && logged_ > kComfortable)) flush();
  sub_group_ = sub_group;
  log_phase_ = phase;
  if (logged_ == kMost) {
    split_ = true;
    flush();
  }
  ++logged_;
  lanes_[access.item - (sub_group << sub_group_bits_)].push_back(
      {access.key, address, access.place, static_cast<std::uint32_t>(access.bytes)});
}

// Most often all lanes went the same way and the logs agree line by line; the rest is sorted.
void Recorder::flush() {
  if (logged_ == 0) return;
  logged_ = 0;
  std::vector<std::pair<std::uint32_t, Logged>> rest, together;
  std::size_t agreed = std::numeric_limits<std::size_t>::max();
  const std::vector<Logged>* first = nullptr;
  const auto same = [](const Logged& a, const Logged& b) { return a.place == b.place && a.key == b.key; };
  for (const auto& lane : lanes_) {
    if (lane.empty()) continue;
    if (first == nullptr) first = &lane;
    agreed = std::min(agreed,
                      static_cast<std::size_t>(std::ranges::mismatch(lane, *first, same).in1 - lane.begin()));
  }
  for (std::size_t i = 0; i < agreed; ++i) {
    together.clear();
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane)
      if (!lanes_[lane].empty()) together.emplace_back(lane, lanes_[lane][i]);
    join(together);
  }
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    for (std::size_t i = agreed; i < lanes_[lane].size(); ++i) rest.emplace_back(lane, lanes_[lane][i]);
    lanes_[lane].clear();
  }
  std::ranges::stable_sort(
      rest, {}, [](const auto& entry) { return std::tuple(entry.second.place, entry.second.key); });
  for (auto begin = rest.begin(); begin != rest.end();) {
    const auto end = std::find_if(begin, rest.end(),
                                  [&](const auto& entry) { return !same(entry.second, begin->second); });
    join({begin, end});
    begin = end;
  }
}

void Recorder::join(std::span<const std::pair<std::uint32_t, Logged>> together) {
  std::array<Touch, 32> touches;
  std::array<std::uint32_t, 32> lanes;
  const std::size_t number = std::min(together.size(), touches.size());
  for (std::size_t i = 0; i < number; ++i) {
    touches[i] = {together[i].second.address, together[i].second.bytes};
    lanes[i] = together[i].first;
  }
  count(together.front().second.place, std::span(touches).first(number), std::span(lanes).first(number));
}

// What work-items of a sub-group did together at the place `number`.
void Recorder::count(std::uint32_t number, std::span<const Touch> touches,
                     std::span<const std::uint32_t> lanes) {
  const Place& place = places_[number];
  Tally& tally = tallies_[number];
  const std::size_t count = touches.size();
  for (const Touch& touch : touches) tally.bytes += touch.bytes;
  tally.accesses += count;
  ++tally.together;
  AccessExample example{group_, sub_group_, {}, 0, {}};
  const bool slm = place.memory == PlaceMemory::slm ||
                   (place.memory == PlaceMemory::generic && touches[0].address < slm_bytes_);
  if (slm) {
    example.turns = slm_turns(touches, place.kind == PlaceKind::atomic);
    tally.turns.taken += example.turns.taken;
    tally.turns.least += example.turns.least;
  } else {
    example.lines = lines_of(touches);
    ++tally.lines[example.lines];
  }
  if (!wants_example(tally, count)) return;
  example.lanes.resize(count);
  const std::uint64_t begin =
      slm ? 0 : range_of({number, 0, 0, touches[0].address, 1, 0, nullptr}, PlaceMemory::global).begin;
  for (std::size_t i = 0; i < count; ++i) example.lanes[i] = {lanes[i], touches[i].address - begin};
  tally.example = std::move(example);
}

void Recorder::meet(std::uint32_t place, std::uint64_t first_item, std::uint64_t items, bool sub_group) {
  tallies_[place].accesses += items;
  std::uint32_t* of_item = (sub_group ? sub_phases_ : phases_).data() + first_item;
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < items; ++i) last = std::max(last, ++of_item[i]);
  if (!sub_group) last_phase_ = std::max(last_phase_, last);
}

void Recorder::private_access(std::uint32_t place) {
  ++tallies_[place].accesses;
  tallies_[place].bytes += places_[place].bytes;
}

}  // namespace kiln::cpu

using kiln::cpu::Recorder;

std::byte* kiln_access(std::uint32_t place, std::uint64_t key, std::uint64_t item, std::byte* address,
                       std::uint64_t bytes, const std::byte* base, const std::byte* stored) {
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  return Recorder::current()->access({place, key, item, number(address), bytes, number(base), stored});
}

std::byte* kiln_write(std::uint32_t place, std::uint64_t key, std::uint64_t item, std::byte* address,
                      std::uint64_t bytes, const std::byte* base, std::uint64_t stored) {
  return kiln_access(place, key, item, address, bytes, base, reinterpret_cast<const std::byte*>(&stored));
}

void kiln_meet(std::uint32_t place, std::uint64_t item, bool sub_group) {
  Recorder::current()->meet(place, item, 1, sub_group);
}

void kiln_meet_lanes(std::uint32_t place, std::uint64_t first_item, bool sub_group) {
  Recorder::current()->meet(place, first_item, kiln::cpu::kCountedLanes, sub_group);
}

void kiln_private_access(std::uint32_t place) { Recorder::current()->private_access(place); }
