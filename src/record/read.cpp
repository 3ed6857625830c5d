// SPDX-License-Identifier: MIT
// Takes a record apart, and follows each piece of work from its append to the wait for it.
#include "record/read.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace kiln::record {
namespace {

constexpr std::uint32_t kLastCall = static_cast<std::uint32_t>(Call::to_image);
constexpr std::size_t kLongestName = 512;  // bytes that are shown

/// Up to its zero, or as far as there is room.
std::string text_at(const char* begin, std::size_t room) {
  return std::string(begin, std::find(begin, begin + std::min(room, kLongestName), '\0'));
}

Entry entry_of(const Slot& slot, const Image& image) {
  Entry entry;
  entry.number = slot.number + 1;
  entry.call = slot.call;
  entry.result = slot.result;
  entry.object = slot.object;
  // What a kind of call does not write is of the call before it in the same place.
  const bool names = entry.is_launch() || entry.call == Call::kernel;
  if (names && slot.name > 0 && slot.name < kNames)
    entry.kernel = text_at(image.names + slot.name, kNames - slot.name);
  if (entry.is_launch() || entry.call == Call::submit) entry.other = slot.other;
  if (entry.is_launch()) {
    entry.groups = {slot.x, slot.y, slot.z};
    for (std::size_t i = 0; i < 3; ++i)
      entry.group_size[i] = static_cast<std::uint32_t>(slot.more >> (21 * i)) & 0x1fffff;
  } else if (entry.call >= Call::copy && entry.call <= Call::build && entry.call != Call::free) {
    entry.bytes = slot.other;
    if (entry.is_work()) entry.other = slot.more;
  }
  if (entry.call >= Call::image_copy) entry.other = slot.other;
  if (entry.call == Call::build) entry.module = slot.x;
  entry.state = slot.result == kInside                                 ? State::inside
                : slot.result == 0 || slot.result == 1 /* not ready */ ? State::done
                                                                       : State::refused;
  return entry;
}

/// Follows what runs on the device from call to call. Entries are named by their place.
class Course {
 public:
  Course(const Image& image, std::vector<Entry>& entries)
      : image_(image), entries_(entries), in_order_(entries.size()) {
    for (const Entry& each : entries_)
      if (each.call == Call::submit) submitted_.insert(each.object);
  }

  void follow(std::uint32_t place, const Slot& slot) {
    const Entry& entry = entries_[place];
    if (entry.is_work()) return append(place);
    const bool came = entry.state == State::done && entry.result == 0;
    switch (entry.call) {
      case Call::submit:
        if (entry.state != State::refused) submit(place, slot);
        break;
      case Call::wait_queue:
        if (came) finish(of_queue_[entry.object]);
        break;
      case Call::wait_list:
        if (came) finish(of_list_[entry.object]);
        break;
      case Call::wait_fence:
      case Call::query_fence:
        if (came) finish(of_fence_[entry.object]);
        break;
      case Call::wait_event:
      case Call::query_event:
        if (came) finish_by_event(of_event_[entry.object]);
        break;
      default:
        break;
    }
  }

 private:
  using Places = std::vector<std::uint32_t>;
  struct Recording {
    Places works;
    bool was_submitted = false;  ///< what comes next is a new one: only a reset list takes more
  };

  /// Of a list or queue as it was at a call; nothing: not known.
  [[nodiscard]] std::optional<std::uint32_t> flags(std::uint64_t handle, std::uint64_t number) const {
    const List* found = nullptr;
    for (const List& each : image_.lists)
      if (each.handle == handle && each.number < number && (!found || each.number > found->number))
        found = &each;
    return found && found->handle ? std::optional(found->flags) : std::nullopt;
  }

  void append(std::uint32_t place) {
    Entry& entry = entries_[place];
    if (entry.state == State::refused) return;
    const auto list = flags(entry.object, entry.number);
    in_order_[place] = list && (*list & kInOrder) != 0;
    const bool immediate = list ? (*list & kImmediate) != 0 : !submitted_.contains(entry.object);
    if (entry.other) of_event_[entry.other].push_back(place);
    if (entry.state == State::inside) return;
    if (!immediate) {
      Recording& recording = recordings_[entry.object];
      if (recording.was_submitted) recording = {};
      recording.works.push_back(place);
      entry.state = State::recorded;
    } else if (!list || (*list & kSynchronous) == 0) {
      of_list_[entry.object].push_back(place);
      entry.state = State::under_way;
    }
  }

  void submit(std::uint32_t place, const Slot& slot) {
    Entry& call = entries_[place];
    const auto queue = flags(call.other, call.number);
    const bool waits = call.state == State::done && queue && (*queue & kSynchronous) != 0;
    const auto run = [&](std::uint32_t each) {
      if (entries_[each].state != State::inside)
        entries_[each].state = waits ? State::done : State::under_way;
      if (waits) return;
      of_queue_[call.other].push_back(each);
      if (slot.more) of_fence_[slot.more].push_back(each);
    };
    Recording& recording = recordings_[call.object];
    recording.was_submitted = true;
    // Appended before what is here, or by entry points that are not recorded.
    if (recording.works.empty()) run(place);
    for (const std::uint32_t each : recording.works) run(each);
    if (slot.x != kSubmitted || slot.y <= kSubmitted) return;
    // The rest of its lists: any that wait for it.
    for (auto& [list, rest] : recordings_)
      for (const std::uint32_t each : rest.works)
        if (entries_[each].state == State::recorded) run(each);
  }

  void finish(Places& places) {
    for (const std::uint32_t place : places)
      if (entries_[place].state == State::under_way) entries_[place].state = State::done;
    places.clear();
  }

  /// The event may be that of a list that is submitted again, so its work stays known. On a list that is in
  /// order, what stands before is done too.
  void finish_by_event(const Places& places) {
    std::unordered_map<std::uint64_t, std::uint32_t> until;  // by list
    for (const std::uint32_t place : places) {
      Entry& entry = entries_[place];
      if (entry.state != State::under_way) continue;
      entry.state = State::done;
      if (in_order_[place]) until[entry.object] = std::max(until[entry.object], place);
    }
    if (until.empty()) return;
    for (std::uint32_t place = 0; place < entries_.size(); ++place) {
      Entry& entry = entries_[place];
      if (entry.state != State::under_way || !entry.is_work()) continue;
      if (const auto list = until.find(entry.object); list != until.end() && place < list->second)
        entry.state = State::done;
    }
  }

  const Image& image_;
  std::vector<Entry>& entries_;
  std::vector<bool> in_order_;  ///< by place: of work on such a list
  std::unordered_set<std::uint64_t> submitted_;
  std::unordered_map<std::uint64_t, Recording> recordings_;
  std::unordered_map<std::uint64_t, Places> of_list_, of_queue_, of_fence_, of_event_;
};

}  // namespace

const char* name_of(Call call) {
  switch (call) {
#define KILN_OF(name, entry_point) \
  case Call::name:                 \
    return #entry_point;
    KILN_RECORDED(KILN_OF)
#undef KILN_OF
    case Call::none:
      break;
  }
  return "none";
}

std::vector<const Entry*> Record::under_way() const {
  std::vector<const Entry*> all;
  for (auto each = entries.rbegin(); each != entries.rend(); ++each)
    if (each->may_run()) all.push_back(&*each);
  return all;
}

bool is_record(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
}

std::optional<Record> read(std::span<const std::byte> bytes) {
  if (!is_record(bytes) || bytes.size() != sizeof(Image)) return std::nullopt;
  const auto image = std::make_unique<Image>();
  std::memcpy(static_cast<void*>(image.get()), bytes.data(), sizeof(Image));
  const Header& header = image->header;
  if (header.version != kVersion) return std::nullopt;
  Record record;
  record.process = header.process;
  record.since = header.since;
  record.started = header.started;
  record.ended = header.ended != 0;
  record.lost = header.lost != 0;
  record.program = text_at(header.program, sizeof header.program);
  record.calls = header.calls;
  std::vector<const Slot*> slots;
  std::unordered_map<std::uint64_t, std::uint32_t> threads;
  for (std::uint64_t back = std::min(header.calls, kCalls); back > 0; --back) {
    const std::uint64_t number = header.calls - back;
    const Slot& slot = image->calls[number % kCalls];
    const auto call = static_cast<std::uint32_t>(slot.call);
    if (slot.number != number || call == 0 || call > kLastCall) continue;
    slots.push_back(&slot);
    record.entries.push_back(entry_of(slot, *image));
    record.entries.back().thread =
        threads.emplace(slot.thread, static_cast<std::uint32_t>(threads.size() + 1)).first->second;
  }
  Course course(*image, record.entries);
  for (std::uint32_t i = 0; i < slots.size(); ++i) course.follow(i, *slots[i]);
  return record;
}

}  // namespace kiln::record
