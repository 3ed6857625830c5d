// SPDX-License-Identifier: MIT
// KILN_CPU_ORDER=shuffle: what nothing orders changes places, and what is ordered does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

constexpr std::size_t kShuffledBytes = 256;

// As a program that waits for a value in memory reads it: a race by the letter, which it lives with.
[[gnu::no_sanitize_thread]] std::uint32_t peek(const volatile std::uint32_t* value) { return *value; }

void fill(ze_command_list_handle_t list, std::uint32_t* data, std::uint32_t value,
          ze_event_handle_t signal = nullptr, ze_event_handle_t wait = nullptr) {
  REQUIRE(api.CommandListAppendMemoryFill(list, data, &value, 4, kShuffledBytes, signal, wait ? 1 : 0,
                                          &wait) == ZE_RESULT_SUCCESS);
}

void copy(ze_command_list_handle_t list, std::uint32_t* to, const std::uint32_t* from,
          ze_event_handle_t signal = nullptr, ze_event_handle_t wait = nullptr) {
  REQUIRE(api.CommandListAppendMemoryCopy(list, to, from, kShuffledBytes, signal, wait ? 1 : 0, &wait) ==
          ZE_RESULT_SUCCESS);
}

void barrier(ze_command_list_handle_t list, ze_event_handle_t signal = nullptr) {
  REQUIRE(api.CommandListAppendBarrier(list, signal, 0, nullptr) == ZE_RESULT_SUCCESS);
}

enum class Kind { immediate, immediate_in_order, immediate_synchronous, regular, regular_in_order };
constexpr Kind kKinds[] = {Kind::immediate, Kind::immediate_in_order, Kind::immediate_synchronous,
                           Kind::regular, Kind::regular_in_order};

bool in_order(Kind kind) { return kind != Kind::immediate && kind != Kind::regular; }

/// A list of that kind, and running all that was appended.
class List {
 public:
  List(Fixture& f, Kind kind) : f_(f), kind_(kind) {
    if (kind == Kind::regular || kind == Kind::regular_in_order) {
      auto desc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
      desc.flags = kind == Kind::regular_in_order ? 8 : 0;
      REQUIRE(api.CommandListCreate(f.context, f.device, &desc, &list_) == ZE_RESULT_SUCCESS);
    } else {
      auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
      desc.flags = kind == Kind::immediate_in_order ? 2 : 0;
      desc.mode = kind == Kind::immediate_synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                      : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
      REQUIRE(api.CommandListCreateImmediate(f.context, f.device, &desc, &list_) == ZE_RESULT_SUCCESS);
    }
  }
  ~List() { CHECK(api.CommandListDestroy(list_) == ZE_RESULT_SUCCESS); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  [[nodiscard]] ze_command_list_handle_t get() const { return list_; }

  void run() {
    const auto done = f_.event();
    barrier(list_, done);
    if (kind_ == Kind::regular || kind_ == Kind::regular_in_order) {
      REQUIRE(api.CommandListClose(list_) == ZE_RESULT_SUCCESS);
      REQUIRE(api.CommandQueueExecuteCommandLists(f_.queue(), 1, &list_, nullptr) == ZE_RESULT_SUCCESS);
    }
    REQUIRE(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
  }

 private:
  Fixture& f_;
  Kind kind_;
  ze_command_list_handle_t list_ = nullptr;
};

}  // namespace

// The digits in the order in which eight commands of a list that nothing orders ran; empty when a call fails.
// Without doctest: for processes of their own.
std::string order_of_commands() {
  constexpr std::uint32_t kCount = 8;
  constexpr std::size_t kLong = 1 << 18;  // bytes: filling them takes longer than a tick
  std::uint32_t one = 1;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  ze_command_list_handle_t list = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  const auto context_desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  const auto list_desc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  const auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  pool_desc.count = kCount;
  bool well = api.Init(0) == ZE_RESULT_SUCCESS && api.DriverGet(&one, &driver) == ZE_RESULT_SUCCESS &&
              api.DeviceGet(driver, &one, &device) == ZE_RESULT_SUCCESS &&
              api.ContextCreate(driver, &context_desc, &context) == ZE_RESULT_SUCCESS &&
              api.EventPoolCreate(context, &pool_desc, 1, &device, &pool) == ZE_RESULT_SUCCESS &&
              api.CommandListCreate(context, device, &list_desc, &list) == ZE_RESULT_SUCCESS &&
              api.CommandQueueCreate(context, device, &queue_desc, &queue) == ZE_RESULT_SUCCESS;
  std::vector<char> memory(kLong);
  ze_event_handle_t events[kCount] = {};
  for (std::uint32_t i = 0; well && i < kCount; ++i) {
    auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
    desc.index = i;
    well = api.EventCreate(pool, &desc, &events[i]) == ZE_RESULT_SUCCESS &&
           api.CommandListAppendMemoryFill(list, memory.data(), &desc.index, 1, kLong, events[i], 0,
                                           nullptr) == ZE_RESULT_SUCCESS;
  }
  well = well && api.CommandListClose(list) == ZE_RESULT_SUCCESS &&
         api.CommandQueueExecuteCommandLists(queue, 1, &list, nullptr) == ZE_RESULT_SUCCESS &&
         api.CommandQueueSynchronize(queue, kForever) == ZE_RESULT_SUCCESS;
  std::vector<std::pair<std::uint64_t, char>> starts;
  for (std::uint32_t i = 0; well && i < kCount; ++i) {
    ze_kernel_timestamp_result_t times{};
    well = api.EventQueryKernelTimestamp(events[i], &times) == ZE_RESULT_SUCCESS;
    starts.emplace_back(times.global.kernelStart, static_cast<char>('0' + i));
  }
  if (!well) return {};
  std::sort(starts.begin(), starts.end());
  std::string order;
  for (const auto& [start, digit] : starts) order += digit;
  return order;
}

TEST_CASE("shuffle: a missing barrier gives a wrong result, in a list that is not in order") {
  for (const Kind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    for (const bool with_barrier : {false, true}) {
      CAPTURE(with_barrier);
      Fixture f;
      auto* data = f.memory(64);
      auto* result = f.memory(64);
      List list(f, kind);
      fill(list.get(), data, 7);
      if (with_barrier) barrier(list.get());
      copy(list.get(), result, data);
      list.run();
      CHECK(data[0] == 7);
      CHECK(result[63] == (with_barrier || in_order(kind) ? 7 : 0));
    }
  }
}

TEST_CASE("shuffle: events order what they join, and nothing else") {
  for (const Kind kind : {Kind::immediate, Kind::regular}) {
    CAPTURE(static_cast<int>(kind));
    Fixture f;
    auto* data = f.memory(64);
    auto* result = f.memory(64);
    auto* early = f.memory(64);
    auto* late = f.memory(64);
    const auto filled = f.event();
    List list(f, kind);
    fill(list.get(), early, 3);
    fill(list.get(), data, 7, filled);
    copy(list.get(), result, data, nullptr, filled);
    // Behind the copy, so also behind the event that it waited for; beside the first command all the same.
    copy(list.get(), late, data);
    copy(list.get(), data, early);
    list.run();
    CHECK(result[0] == 0);  // the last command came before the copy, and the first one after both
    CHECK(late[0] == 0);
    CHECK(data[0] == 0);
    CHECK(early[0] == 3);
  }
}

TEST_CASE("shuffle: an event that is reset behind a wait has been waited for") {
  Fixture f;
  auto* data = f.memory(64);
  auto* result = f.memory(64);
  const auto filled = f.event();
  List list(f, Kind::immediate);
  fill(list.get(), data, 7, filled);
  copy(list.get(), result, data, nullptr, filled);
  REQUIRE(api.CommandListAppendEventReset(list.get(), filled) == ZE_RESULT_SUCCESS);
  list.run();
  CHECK(result[0] == 7);
  CHECK(api.EventQueryStatus(filled) == ZE_RESULT_NOT_READY);
}

TEST_CASE("shuffle: what waits for the host or for another list does not hold back what came before") {
  Fixture f;
  auto* data = f.memory(64);
  auto* result = f.memory(64);
  auto* behind = f.memory(64);
  const auto filled = f.event();
  const auto gate = f.event();
  List first(f, Kind::immediate), second(f, Kind::immediate);
  copy(second.get(), result, data, nullptr, gate);
  fill(first.get(), data, 7, filled);
  copy(first.get(), behind, data, nullptr, gate);
  REQUIRE(api.EventHostSynchronize(filled, kForever) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostSignal(gate) == ZE_RESULT_SUCCESS);
  second.run();
  first.run();
  CHECK(result[0] == 7);
  CHECK(behind[0] == 7);
}

TEST_CASE("shuffle: a program that only looks at memory, or frees it, goes on") {
  Fixture f;
  auto* data = f.memory(64);
  List list(f, Kind::immediate);
  fill(list.get(), data, 7);
  while (peek(data + 63) != 7) std::this_thread::yield();
  const auto device_desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  void* temporary = nullptr;
  REQUIRE(api.MemAllocDevice(f.context, &device_desc, kShuffledBytes, 64, f.device, &temporary) ==
          ZE_RESULT_SUCCESS);
  copy(list.get(), static_cast<std::uint32_t*>(temporary), data);
  fill(list.get(), data, 8);
  CHECK(api.MemFree(f.context, temporary) == ZE_RESULT_SUCCESS);
  list.run();
  CHECK(data[0] == 8);
}
