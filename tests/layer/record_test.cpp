// SPDX-License-Identifier: MIT
// Records of calls as bytes: what they say of the end of a program, and what is made of bytes that lie.
#include <doctest/doctest.h>

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
  void submit(std::uint64_t fence = 0) {
    Slot& slot = call(Call::submit, kOrdinary);
    slot.other = kQueueHandle;
    slot.more = fence;
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
  SUBCASE("it runs") {
    of.launch(kImmediateList, 1);
    of.call(Call::wait_list, kImmediateList, kInside);
    test::check_diagnostic("K0530", *explain(*of.read(), Life::runs), "runs");
  }
}
