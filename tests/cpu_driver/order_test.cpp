// SPDX-License-Identifier: MIT
// Order and time: lists run in order, events block only their list, timeouts hold, objects in flight may go.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "fixture.hpp"

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t elapsed_ns(Clock::time_point since) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - since).count());
}

void set(ze_kernel_handle_t kernel, std::uint32_t* data, std::uint32_t value, std::uint32_t group = 16) {
  REQUIRE(api.KernelSetArgumentValue(kernel, 0, sizeof(data), &data) == ZE_RESULT_SUCCESS);
  REQUIRE(api.KernelSetArgumentValue(kernel, 1, sizeof(value), &value) == ZE_RESULT_SUCCESS);
  REQUIRE(api.KernelSetGroupSize(kernel, group, 1, 1) == ZE_RESULT_SUCCESS);
}

constexpr ze_group_count_t kFour{4, 1, 1};

}  // namespace

TEST_CASE("commands of an immediate list run in order, with arguments as they were at the append") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto list = f.immediate();
  const auto done = f.event();
  auto* data = f.memory(64);
  auto* copy = f.memory(64);
  const std::uint32_t zero = 0;
  for (std::uint32_t round = 1; round <= 50; ++round) {
    REQUIRE(api.CommandListAppendMemoryFill(list, data, &zero, 4, 256, nullptr, 0, nullptr) ==
            ZE_RESULT_SUCCESS);
    for (std::uint32_t i = 1; i <= 10; ++i) {
      set(kernel, data, i * round);
      REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kFour, nullptr, 0, nullptr) ==
              ZE_RESULT_SUCCESS);
    }
    REQUIRE(api.CommandListAppendMemoryCopy(list, copy, data, 256, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  }
  REQUIRE(api.CommandListAppendBarrier(list, done, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
  for (int i = 0; i < 64; ++i) CHECK(copy[i] == 55 * 50);
}

TEST_CASE("a regular list can run many times, on a queue with a fence") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto list = f.list();
  const auto queue = f.queue();
  const auto fence = f.fence(queue);
  auto* data = f.memory(64);
  set(kernel, data, 3);
  REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kFour, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  auto handle = list;
  CHECK(api.CommandQueueExecuteCommandLists(queue, 1, &handle, nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  CHECK(api.FenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
  for (int i = 0; i < 5; ++i)
    REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &handle, i == 4 ? fence : nullptr) ==
            ZE_RESULT_SUCCESS);
  REQUIRE(api.FenceHostSynchronize(fence, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[63] == 15);
  REQUIRE(api.FenceReset(fence) == ZE_RESULT_SUCCESS);
  CHECK(api.FenceHostSynchronize(fence, 0) == ZE_RESULT_NOT_READY);
  REQUIRE(api.CommandListReset(list) == ZE_RESULT_SUCCESS);
  set(kernel, data, 100);
  REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kFour, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &handle, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandQueueSynchronize(queue, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 115);
}

TEST_CASE("synchronous lists and queues are done when the call returns") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  auto* data = f.memory(64);
  set(kernel, data, 1);
  const auto immediate = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  REQUIRE(api.CommandListAppendLaunchKernel(immediate, kernel, &kFour, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
  CHECK(data[63] == 1);
  auto list = f.list();
  REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kFour, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandQueueExecuteCommandLists(f.queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), 1, &list,
                                              nullptr) == ZE_RESULT_SUCCESS);
  CHECK(data[63] == 2);
}

TEST_CASE("an unsignalled event blocks its own list only") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto blocked = f.immediate();
  const auto free_running = f.immediate();
  auto gate = f.event();
  const auto blocked_done = f.event();
  const auto free_done = f.event();
  auto* data = f.memory(64);
  auto* other = f.memory(64);
  set(kernel, data, 1);
  REQUIRE(api.CommandListAppendLaunchKernel(blocked, kernel, &kFour, blocked_done, 1, &gate) ==
          ZE_RESULT_SUCCESS);
  set(kernel, other, 1);
  REQUIRE(api.CommandListAppendLaunchKernel(free_running, kernel, &kFour, free_done, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
  CHECK(api.EventHostSynchronize(free_done, kForever) == ZE_RESULT_SUCCESS);
  CHECK(api.EventQueryStatus(blocked_done) == ZE_RESULT_NOT_READY);
  CHECK(api.EventHostSynchronize(blocked_done, 2 * kMillisecond) == ZE_RESULT_NOT_READY);
  CHECK(data[0] == 0);
  CHECK(api.EventHostSignal(gate) == ZE_RESULT_SUCCESS);
  CHECK(api.EventHostSynchronize(blocked_done, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 1);
}

TEST_CASE("one list waits for another through an event, and resets it") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto first = f.immediate();
  const auto second = f.immediate();
  auto handover = f.event();
  const auto done = f.event();
  auto* data = f.memory(64);
  REQUIRE(api.CommandListAppendWaitOnEvents(second, 1, &handover) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendEventReset(second, handover) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendMemoryCopy(second, data + 32, data, 128, done, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
  set(kernel, data, 9, 8);
  REQUIRE(api.CommandListAppendLaunchKernel(first, kernel, &kFour, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendSignalEvent(first, handover) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[63] == 9);
  CHECK(api.EventQueryStatus(handover) == ZE_RESULT_NOT_READY);
}

TEST_CASE("a timeout ends, and not early") {
  Fixture f;
  const auto event = f.event();
  const auto start = Clock::now();
  CHECK(api.EventHostSynchronize(event, 5 * kMillisecond) == ZE_RESULT_NOT_READY);
  CHECK(elapsed_ns(start) >= 5 * kMillisecond);
  auto gate = f.event();
  auto regular = f.list();
  const auto queue = f.queue();
  REQUIRE(api.CommandListAppendBarrier(regular, nullptr, 1, &gate) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListClose(regular) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &regular, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandQueueSynchronize(queue, 0) == ZE_RESULT_NOT_READY);
  CHECK(api.CommandQueueSynchronize(queue, kMillisecond) == ZE_RESULT_NOT_READY);
  REQUIRE(api.EventHostSignal(gate) == ZE_RESULT_SUCCESS);
  // The largest timeout that is not "forever" must not wrap.
  CHECK(api.CommandQueueSynchronize(queue, UINT64_MAX - 1) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandQueueSynchronize(queue, INT64_MAX) == ZE_RESULT_SUCCESS);
}

TEST_CASE("host signals and resets") {
  Fixture f;
  const auto event = f.event();
  CHECK(api.EventQueryStatus(event) == ZE_RESULT_NOT_READY);
  CHECK(api.EventHostSignal(event) == ZE_RESULT_SUCCESS);
  CHECK(api.EventQueryStatus(event) == ZE_RESULT_SUCCESS);
  CHECK(api.EventHostReset(event) == ZE_RESULT_SUCCESS);
  CHECK(api.EventQueryStatus(event) == ZE_RESULT_NOT_READY);
  std::thread other([&] { api.EventHostSignal(event); });
  CHECK(api.EventHostSynchronize(event, kForever) == ZE_RESULT_SUCCESS);
  other.join();
}

TEST_CASE("timestamps follow the order of the work and stay within the host's time") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "slow");
  const auto list = f.immediate();
  ze_event_handle_t events[] = {f.event(), f.event()};
  auto* data = f.memory(64);
  ze_kernel_timestamp_result_t early{};
  CHECK(api.EventQueryKernelTimestamp(events[0], &early) == ZE_RESULT_NOT_READY);
  set(kernel, data, 200000);
  const auto start = Clock::now();
  for (ze_event_handle_t event : events)
    REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kFour, event, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostSynchronize(events[1], kForever) == ZE_RESULT_SUCCESS);
  const std::uint64_t host = elapsed_ns(start);
  ze_kernel_timestamp_result_t times[2] = {};
  for (int i = 0; i < 2; ++i)
    REQUIRE(api.EventQueryKernelTimestamp(events[i], &times[i]) == ZE_RESULT_SUCCESS);
  CHECK(times[0].global.kernelEnd > times[0].global.kernelStart);
  CHECK(times[1].global.kernelStart + 1 >= times[0].global.kernelEnd);
  CHECK(times[0].context.kernelStart == times[0].global.kernelStart);
  const std::uint64_t ticks = times[1].global.kernelEnd - times[0].global.kernelStart;
  CHECK(static_cast<double>(ticks) * 1e9 / 12000048 <= static_cast<double>(host));

  auto* queried = f.memory(16);
  std::uint64_t* stamp = reinterpret_cast<std::uint64_t*>(f.memory(2));
  const auto done = f.event();
  REQUIRE(api.CommandListAppendQueryKernelTimestamps(list, 2, events, queried, nullptr, nullptr, 0,
                                                     nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendWriteGlobalTimestamp(list, stamp, done, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
  const auto* results = reinterpret_cast<const ze_kernel_timestamp_result_t*>(queried);
  CHECK(results[1].global.kernelEnd == times[1].global.kernelEnd);
  CHECK(*stamp != 0);
}

TEST_CASE("group counts may come from memory, several kernels at once") {
  Fixture f;
  const auto module = f.module();
  ze_kernel_handle_t kernels[] = {f.kernel(module, "add"), f.kernel(module, "add"), f.kernel(module, "add")};
  auto* data = f.memory(64);
  auto* groups = reinterpret_cast<ze_group_count_t*>(f.memory(9));
  auto* count = f.memory(1);
  auto gate = f.event();
  const auto done = f.event();
  const auto list = f.immediate();
  for (std::uint32_t i = 0; i < 3; ++i) set(kernels[i], data, i + 1);
  REQUIRE(api.CommandListAppendLaunchKernelIndirect(list, kernels[0], groups, nullptr, 1, &gate) ==
          ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendLaunchMultipleKernelsIndirect(list, 3, kernels, count, groups, done, 0,
                                                             nullptr) == ZE_RESULT_SUCCESS);
  // Written after the append, before the work may start.
  for (std::uint32_t i = 0; i < 3; ++i) groups[i] = {i + 1, 1, 1};
  *count = 2;
  REQUIRE(api.EventHostSignal(gate) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 1 + 1 + 2);
  CHECK(data[31] == 2);
  CHECK(data[32] == 0);
}

TEST_CASE("empty launches signal and do nothing") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto list = f.immediate();
  const auto done = f.event();
  auto* data = f.memory(64);
  set(kernel, data, 1);
  const ze_group_count_t none{4, 0, 1};
  REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &none, done, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 0);
}

TEST_CASE("two threads with a list each do not disturb one another") {
  Fixture f;
  const auto module = f.module();
  struct Lane {
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    ze_event_handle_t done;
    std::uint32_t* data;
  };
  Lane lanes[2];
  for (Lane& lane : lanes) lane = {f.kernel(module, "add"), f.immediate(), f.event(), f.memory(64)};
  std::thread threads[2];
  ze_result_t results[2] = {};
  for (int t = 0; t < 2; ++t)
    threads[t] = std::thread([&, t] {
      const Lane& lane = lanes[t];
      const auto note = [&](ze_result_t result) {
        if (result != ZE_RESULT_SUCCESS) results[t] = result;
      };
      for (std::uint32_t i = 0; i < 300; ++i) {
        const std::uint32_t value = 1;
        note(api.KernelSetArgumentValue(lane.kernel, 0, sizeof(lane.data), &lane.data));
        note(api.KernelSetArgumentValue(lane.kernel, 1, sizeof(value), &value));
        note(api.KernelSetGroupSize(lane.kernel, 16, 1, 1));
        note(api.CommandListAppendLaunchKernel(lane.list, lane.kernel, &kFour, i == 299 ? lane.done : nullptr,
                                               0, nullptr));
      }
      note(api.EventHostSynchronize(lane.done, kForever));
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 2; ++t) {
    CHECK(results[t] == ZE_RESULT_SUCCESS);
    CHECK(lanes[t].data[63] == 300);
  }
}

TEST_CASE("lists, queues, kernels, modules and events may go while their work runs or waits") {
  Fixture f;
  auto* data = f.memory(64);
  const auto desc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  auto gate = f.event();
  for (const bool blocked : {false, true}) {
    Fixture inner;  // destroys kernel, module, event and lists at once, in flight
    const auto kernel = inner.kernel(inner.module(), "slow");
    const auto list = inner.immediate();
    const auto queue = inner.queue();
    const auto signal = inner.event();
    ze_command_list_handle_t regular = nullptr;
    REQUIRE(api.CommandListCreate(inner.context, inner.device, &desc, &regular) == ZE_RESULT_SUCCESS);
    set(kernel, data, 100000);
    const std::uint32_t waits = blocked ? 1 : 0;
    for (int i = 0; i < 3; ++i)
      REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kFour, signal, waits, &gate) ==
              ZE_RESULT_SUCCESS);
    REQUIRE(api.CommandListAppendLaunchKernel(regular, kernel, &kFour, signal, waits, &gate) ==
            ZE_RESULT_SUCCESS);
    REQUIRE(api.CommandListClose(regular) == ZE_RESULT_SUCCESS);
    REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &regular, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(api.CommandListDestroy(regular) == ZE_RESULT_SUCCESS);
  }
  CHECK(api.EventQueryStatus(gate) == ZE_RESULT_NOT_READY);
}

TEST_CASE("a list for copies copies, and runs no kernel") {
  Fixture f;
  auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.ordinal = 1;
  desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  ze_command_list_handle_t copies = nullptr;
  REQUIRE(api.CommandListCreateImmediate(f.context, f.device, &desc, &copies) == ZE_RESULT_SUCCESS);
  auto* data = f.memory(4);
  data[1] = 5;
  CHECK(api.CommandListAppendMemoryCopy(copies, data, data + 1, 4, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 5);
  const auto kernel = f.kernel(f.module(), "slow");
  set(kernel, data, 1);
  CHECK(api.CommandListAppendLaunchKernel(copies, kernel, &kFour, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  CHECK(api.CommandListDestroy(copies) == ZE_RESULT_SUCCESS);
  auto list = f.list();
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  ze_command_queue_handle_t queue = nullptr;
  REQUIRE(api.CommandQueueCreate(f.context, f.device, &desc, &queue) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandQueueExecuteCommandLists(queue, 1, &list, nullptr) ==
        ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  CHECK(api.CommandQueueDestroy(queue) == ZE_RESULT_SUCCESS);
}

// The loader's parameter checks know the flags of their own version only.
TEST_CASE("straight: every flag that the specification has is taken, and no other") {
  Fixture f;
  // Specification 1.17: explicit only, in order, copy offload.
  constexpr std::uint32_t kQueueFlags = 0x7;
  auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_queue_handle_t queue = nullptr;
  ze_command_list_handle_t list = nullptr;
  queue_desc.flags = kQueueFlags;
  REQUIRE(api.CommandQueueCreate(f.context, f.device, &queue_desc, &queue) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandQueueDestroy(queue) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListCreateImmediate(f.context, f.device, &queue_desc, &list) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  queue_desc.flags = kQueueFlags + 1;
  CHECK(api.CommandQueueCreate(f.context, f.device, &queue_desc, &queue) ==
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
  // Relaxed ordering, throughput, explicit only, in order, cloneable, copy offload.
  constexpr std::uint32_t kListFlags = 0x3f;
  auto list_desc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  list_desc.flags = kListFlags;
  REQUIRE(api.CommandListCreate(f.context, f.device, &list_desc, &list) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  list_desc.flags = ZE_COMMAND_LIST_FLAG_FORCE_UINT32;
  REQUIRE(api.CommandListCreate(f.context, f.device, &list_desc, &list) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  list_desc.flags = kListFlags + 1;
  CHECK(api.CommandListCreate(f.context, f.device, &list_desc, &list) == ZE_RESULT_ERROR_INVALID_ENUMERATION);
  // Host visible, between processes, kernel timestamps, mapped timestamps.
  constexpr std::uint32_t kPoolFlags = 0xf;
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.count = 1;
  pool_desc.flags = kPoolFlags;
  ze_event_pool_handle_t pool = nullptr;
  REQUIRE(api.EventPoolCreate(f.context, &pool_desc, 1, &f.device, &pool) == ZE_RESULT_SUCCESS);
  CHECK(api.EventPoolDestroy(pool) == ZE_RESULT_SUCCESS);
  pool_desc.flags = kPoolFlags + 1;
  CHECK(api.EventPoolCreate(f.context, &pool_desc, 1, &f.device, &pool) ==
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_CASE("straight: bad descriptions and lists of the wrong kind are refused") {
  Fixture f;
  auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_queue_handle_t queue = nullptr;
  desc.ordinal = 3;
  CHECK(api.CommandQueueCreate(f.context, f.device, &desc, &queue) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  desc.ordinal = 0;
  desc.index = 1;
  CHECK(api.CommandQueueCreate(f.context, f.device, &desc, &queue) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  desc.index = 0;
  desc.mode = static_cast<ze_command_queue_mode_t>(9);
  CHECK(api.CommandQueueCreate(f.context, f.device, &desc, &queue) == ZE_RESULT_ERROR_INVALID_ENUMERATION);
  auto immediate = f.immediate();
  CHECK(api.CommandQueueExecuteCommandLists(f.queue(), 1, &immediate, nullptr) ==
        ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  CHECK(api.CommandListAppendBarrier(immediate, nullptr, 1, nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
  auto pool = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  ze_event_pool_handle_t pool_handle = nullptr;
  CHECK(api.EventPoolCreate(f.context, &pool, 1, &f.device, &pool_handle) == ZE_RESULT_ERROR_INVALID_SIZE);
  pool.count = UINT32_MAX;
  CHECK(api.EventPoolCreate(f.context, &pool, 1, &f.device, &pool_handle) ==
        ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  pool.count = 2;
  REQUIRE(api.EventPoolCreate(f.context, &pool, 1, &f.device, &pool_handle) == ZE_RESULT_SUCCESS);
  auto event_desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
  event_desc.index = 2;
  ze_event_handle_t event = nullptr;
  CHECK(api.EventCreate(pool_handle, &event_desc, &event) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.EventPoolDestroy(pool_handle) == ZE_RESULT_SUCCESS);
}
