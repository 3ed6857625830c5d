// SPDX-License-Identifier: MIT
// Records of calls as bytes: what they say of the end of a program, and what is made of bytes that lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "record/explain.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::record;

namespace {

constexpr std::uint64_t kQueueHandle = 0x10, kOrdinary = 0x20, kImmediateList = 0x30, kSynchronousList = 0x40;
constexpr std::uint64_t kEvent = 0x50, kFence = 0x60;
constexpr std::uint32_t kTiled = 1, kLost = 0x70000001, kNoMemory = 0x70000003;

class Writer {
 public:
  Writer() {
    Header& header = image_->header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    header.process = 4711;
    header.started = 1'700'000'000;
    std::strcpy(header.program, "./matmul");
    std::strcpy(image_->names + kTiled, "tiled");
    list(kQueueHandle, kQueue);
    list(kOrdinary, 0);
    list(kImmediateList, kImmediate);
    list(kSynchronousList, kImmediate | kSynchronous);
  }
  void list(std::uint64_t handle, std::uint32_t flags) {
    image_->lists[image_->header.lists++ % kLists] = {handle, image_->header.calls, flags, 0};
  }
  Slot& call(Call call, std::uint64_t object, std::uint32_t result = 0) {
    const std::uint64_t number = image_->header.calls++;
    Slot& slot = image_->calls[number % kCalls];
    slot = {number, call, result, 0x7000, object, 0, 0, 0, 0, 0, 0};
    return slot;
  }
  void launch(std::uint64_t list, std::uint32_t groups, std::uint64_t event = 0, std::uint32_t result = 0) {
    Slot& slot = call(Call::launch, list, result);
    slot.other = event;
    slot.more = 16 | std::uint64_t{8} << 21 | std::uint64_t{1} << 42;
    slot.x = groups, slot.y = slot.z = 1;
    slot.name = kTiled;
  }
  void copy(std::uint64_t list, std::uint64_t bytes, std::uint64_t event) {
    Slot& slot = call(Call::copy, list);
    slot.other = bytes;
    slot.more = event;
  }
  void submit(std::uint64_t fence = 0, std::uint64_t list = kOrdinary, std::uint32_t which = 1,
              std::uint32_t of = 1) {
    Slot& slot = call(Call::submit, list);
    slot.other = kQueueHandle;
    slot.more = fence;
    slot.x = which, slot.y = of;
  }
  Image& image() { return *image_; }
  [[nodiscard]] std::optional<Record> read() const {
    return record::read(std::as_bytes(std::span(image_.get(), 1)));
  }
  /// The states of the launches, in their order.
  [[nodiscard]] std::string states() const {
    std::string all;
    const auto record = read();
    REQUIRE(record);
    for (const Entry& each : record->entries)
      if (each.is_work()) all += "irluD"[static_cast<int>(each.state)];
    return all;
  }

 private:
  std::unique_ptr<Image> image_ = std::make_unique<Image>();
};

}  // namespace

TEST_CASE("work is done when it was waited for, and else may be under way") {
  Writer of;
  SUBCASE("an immediate list, by itself, and by an event for what it stands behind") {
    of.launch(kImmediateList, 1);
    of.launch(kImmediateList, 2, kEvent);
    CHECK(of.states() == "uu");
    of.call(Call::wait_event, kEvent);
    CHECK(of.states() == "uD");
    of.launch(kImmediateList, 3);
    of.call(Call::wait_list, kImmediateList, 1);  // not ready
    CHECK(of.states() == "uDu");
    of.call(Call::wait_list, kImmediateList);
    CHECK(of.states() == "DDD");
  }
  SUBCASE("a synchronous one needs no waiting") {
    of.launch(kSynchronousList, 1);
    of.launch(kSynchronousList, 2, 0, kNoMemory);
    of.launch(kSynchronousList, 3, 0, kInside);
    CHECK(of.states() == "Dri");
  }
  SUBCASE("an ordinary one, submitted again and again, by its queue or a fence") {
    of.launch(kOrdinary, 1);
    CHECK(of.states() == "l");
    of.submit(kFence);
    CHECK(of.states() == "u");
    of.call(Call::wait_fence, kFence);
    CHECK(of.states() == "D");
    of.submit();
    CHECK(of.states() == "u");
    of.call(Call::wait_queue, kQueueHandle, kLost);
    CHECK(of.states() == "u");
    of.call(Call::wait_queue, kQueueHandle);
    CHECK(of.states() == "D");
    of.launch(kOrdinary, 2);  // of a list that was reset
    of.submit();
    CHECK(of.states() == "Du");
  }
  SUBCASE("an event of a list that is submitted again, at each round") {
    of.launch(kOrdinary, 1, kEvent);
    for (int round = 0; round < 2; ++round) {
      of.submit();
      CHECK(of.states() == "u");
      of.call(round ? Call::query_event : Call::wait_event, kEvent);
      CHECK(of.states() == "D");
    }
  }
  SUBCASE("the event of a copy") {
    of.copy(kImmediateList, 64, kEvent);
    of.call(Call::image_copy, kImmediateList).other = kEvent + 1;
    CHECK(of.states() == "uu");
    of.call(Call::wait_event, kEvent);
    CHECK(of.states() == "Du");
    of.call(Call::query_event, kEvent + 1, 1);
    CHECK(of.states() == "Du");
    of.call(Call::query_event, kEvent + 1);
    CHECK(of.states() == "DD");
    CHECK(of.read()->entries[0].bytes == 64);
  }
  SUBCASE("a list that is in order, by the event of what came last") {
    of.list(kImmediateList + 1, kImmediate | kInOrder);
    of.launch(kImmediateList, 1);
    of.launch(kImmediateList + 1, 2);
    of.launch(kImmediateList + 1, 3, kEvent);
    of.launch(kImmediateList + 1, 4);
    of.call(Call::wait_event, kEvent);
    CHECK(of.states() == "uDDu");
  }
  SUBCASE("by a fence that is asked") {
    of.launch(kOrdinary, 1);
    of.submit(kFence);
    of.call(Call::query_fence, kFence);
    CHECK(of.states() == "D");
  }
  SUBCASE("a list behind those of a submission that are recorded") {
    of.launch(kOrdinary, 1);
    for (std::uint32_t i = 1; i <= kSubmitted; ++i) of.submit(0, 0x1000 + i, i, kSubmitted + 1);
    CHECK(of.states() == "u");
    of.call(Call::wait_queue, kQueueHandle);
    CHECK(of.states() == "D");
    CHECK(of.read()->under_way().empty());
  }
  SUBCASE("a handle is what it was at the call") {
    of.launch(kSynchronousList, 1);
    of.list(kSynchronousList, kImmediate);
    of.launch(kSynchronousList, 2);
    CHECK(of.states() == "Du");
  }
}

TEST_CASE("the last calls are there, in their order, and none that is written in part") {
  Writer of;
  for (std::uint32_t i = 0; i < kCalls + 10; ++i) of.launch(kSynchronousList, i);
  of.image().calls[20 % kCalls].number = 3;
  const auto record = of.read();
  REQUIRE(record);
  CHECK(record->calls == kCalls + 10);
  REQUIRE(record->entries.size() == kCalls - 1);
  CHECK(record->entries.front().number == 11);
  CHECK(record->entries.front().groups[0] == 10);
  CHECK(record->entries.front().group_size == std::array<std::uint32_t, 3>{16, 8, 1});
  CHECK(record->entries.front().kernel == "tiled");
  CHECK(record->entries.back().number == kCalls + 10);
}

TEST_CASE("bytes that lie are no more than wrong") {
  Writer of;
  of.launch(kImmediateList, 1);
  Image& image = of.image();
  image.header.calls = UINT64_MAX;
  CHECK(of.read()->entries.empty());
  image.header.calls = 1;
  std::memset(image.names, 'x', sizeof image.names);
  std::memset(image.header.program, '\x1b', sizeof image.header.program);
  image.calls[0].name = kNames - 1;
  CHECK(of.read()->entries[0].kernel == "x");
  image.calls[0].name = kNames;
  CHECK(of.read()->entries[0].kernel.empty());
  CHECK(to_text(*explain(*of.read(), Life::gone)).find('\x1b') == std::string::npos);
  image.calls[0].call = static_cast<Call>(99);
  CHECK(of.read()->entries.empty());
  image.header.version = 2;
  CHECK(!of.read());
  CHECK(!record::read(std::as_bytes(std::span(&image.header, 1))));
  CHECK(!is_record({}));
}

TEST_CASE("the end of a program is told by what was under way") {
  Writer of;
  SUBCASE("nothing") {
    of.launch(kSynchronousList, 1);
    CHECK(explain(*of.read(), Life::gone)->severity == Severity::warning);  // it was killed
    of.image().header.ended = 1;
    CHECK(!explain(*of.read(), Life::gone));
  }
  SUBCASE("inside a call") {
    Slot& memory = of.call(Call::device_memory, 0, kNoMemory);
    memory.other = 1 << 30;
    of.launch(kSynchronousList, 1);
    of.launch(kImmediateList, 2);
    Slot& build = of.call(Call::build, 0, kInside);
    build.other = 1588;
    build.x = 3;
    test::check_diagnostic("K0530", *explain(*of.read(), Life::gone));
  }
  SUBCASE("the device was lost") {
    for (std::uint32_t i = 1; i < 12; ++i) of.launch(kImmediateList, i);
    of.call(Call::wait_queue, kQueueHandle, kLost);
    test::check_diagnostic("K0530", *explain(*of.read(), Life::gone), "lost");
  }
  SUBCASE("a list whose calls are not there any more") {
    of.launch(kOrdinary, 1);
    for (std::uint64_t i = 0; i < kCalls; i += 2) {
      of.submit();
      of.call(Call::wait_queue, kQueueHandle);
    }
    of.submit();
    of.call(Call::wait_queue, kQueueHandle, kInside);
    const auto record = of.read();
    CHECK(record->under_way().size() == 1);
    const auto finding = explain(*record, Life::gone);
    CHECK(rows_of_work(*record).size() == 1);
    CHECK(
        std::ranges::any_of(finding->help, [](const auto& help) { return help.find("dmesg") != help.npos; }));
    of.image().header.ended = 1;
    of.call(Call::wait_queue, kQueueHandle);
    of.image().calls[(of.image().header.calls - 2) % kCalls].result = 0;
    CHECK(!explain(*of.read(), Life::gone));
  }
  SUBCASE("what came before the calls that are kept is not known") {
    of.launch(kImmediateList, 1);
    for (std::uint64_t i = 0; i < kCalls - 1; ++i) of.call(Call::wait_event, kEvent);
    CHECK(explain(*of.read(), Life::gone)->message ==
          "the program ended while work may have been under way on the device");
    of.call(Call::wait_event, kEvent);
    test::check_diagnostic("K0530", *explain(*of.read(), Life::gone), "older");
    of.image().header.calls = 0;
    of.launch(kSynchronousList, 1);
    test::check_diagnostic("K0530", *explain(*of.read(), Life::gone), "nothing");
  }
  SUBCASE("it runs") {
    of.launch(kImmediateList, 1);
    of.call(Call::wait_list, kImmediateList, kInside);
    test::check_diagnostic("K0530", *explain(*of.read(), Life::runs), "runs");
  }
}
