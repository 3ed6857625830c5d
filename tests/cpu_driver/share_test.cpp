// SPDX-License-Identifier: MIT
// IPC handles within one process, and counter-based events.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "fixture.hpp"

namespace {

constexpr std::uint32_t kImmediateInOrder = 2, kListInOrder = 8;  // flags of newer headers

struct CounterBasedDesc {
  ze_structure_type_t stype;
  const void* next;
  std::uint32_t flags;
  ze_event_scope_flags_t signal, wait;
};

constexpr std::uint32_t kImmediate = 1, kNonImmediate = 2, kHostVisible = 4;

ze_event_handle_t counter_event(const Fixture& f, std::uint32_t flags) {
  auto* create = f.extension<ze_result_t(ze_context_handle_t, ze_device_handle_t, const CounterBasedDesc*,
                                         ze_event_handle_t*)>("zeEventCounterBasedCreate");
  const CounterBasedDesc desc{static_cast<ze_structure_type_t>(0x2003a), nullptr, flags, 0, 0};
  ze_event_handle_t event = nullptr;
  REQUIRE(create(f.context, f.device, &desc, &event) == ZE_RESULT_SUCCESS);
  return event;
}

}  // namespace

TEST_CASE("shared memory is the same at its two addresses, and what is no handle is refused") {
  Fixture f;
  auto* data = f.memory(5000);
  data[4999] = 77;
  ze_ipc_mem_handle_t handle{};
  void* other = nullptr;
  CHECK(api.MemOpenIpcHandle(f.context, f.device, handle, 0, &other) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  REQUIRE(api.MemGetIpcHandle(f.context, data, &handle) == ZE_RESULT_SUCCESS);
  REQUIRE(api.MemOpenIpcHandle(f.context, f.device, handle, 0, &other) == ZE_RESULT_SUCCESS);
  auto* words = static_cast<std::uint32_t*>(other);
  CHECK(words != data);
  CHECK(words[4999] == 77);
  words[0] = 5;
  CHECK(data[0] == 5);
  void* base = nullptr;
  std::size_t size = 0;
  CHECK(api.MemGetAddressRange(f.context, words + 7, &base, &size) == ZE_RESULT_SUCCESS);
  CHECK(base == other);
  CHECK(size == 20000);
  CHECK(api.MemFree(f.context, other) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.MemCloseIpcHandle(f.context, data) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.MemCloseIpcHandle(f.context, other) == ZE_RESULT_SUCCESS);
  int local = 0;
  CHECK(api.MemGetIpcHandle(f.context, &local, &handle) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  handle.data[4] ^= 1;
  CHECK(api.MemOpenIpcHandle(f.context, f.device, handle, 0, &other) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.count = 1;
  ze_event_pool_handle_t pool = nullptr, opened = nullptr;
  REQUIRE(api.EventPoolCreate(f.context, &pool_desc, 1, &f.device, &pool) == ZE_RESULT_SUCCESS);
  ze_ipc_event_pool_handle_t pool_handle{};
  CHECK(api.EventPoolGetIpcHandle(pool, &pool_handle) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.EventPoolOpenIpcHandle(f.context, pool_handle, &opened) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.EventPoolDestroy(pool) == ZE_RESULT_SUCCESS);
}

TEST_CASE("straight: imported memory stays that of its source, and what is no import is refused") {
  Fixture f;
  auto* data = f.memory(1024);
  const auto exported_by_descriptor = [&](void* memory) {
    auto exported = make<ze_external_memory_export_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
    auto properties = make<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    properties.pNext = &exported;
    exported.fd = -1;
    (void)api.MemGetAllocProperties(f.context, memory, &properties, nullptr);
    return exported.fd;
  };
  auto from = make<ze_external_memory_import_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
  from.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
  from.fd = exported_by_descriptor(data);
  REQUIRE(from.fd >= 0);
  auto desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  desc.pNext = &from;
  void* imported = nullptr;
  REQUIRE(api.MemAllocDevice(f.context, &desc, 4096, 4096, f.device, &imported) == ZE_RESULT_SUCCESS);
  ze_ipc_mem_handle_t handle{};
  void* opened = nullptr;
  REQUIRE(api.MemGetIpcHandle(f.context, data, &handle) == ZE_RESULT_SUCCESS);
  REQUIRE(api.MemOpenIpcHandle(f.context, f.device, handle, 0, &opened) == ZE_RESULT_SUCCESS);
  std::uint32_t value = 7;
  for (void* memory : {imported, opened}) {
    CHECK(api.MemGetIpcHandle(f.context, memory, &handle) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(f.last_error().find("the descriptor or the handle that it came by") != std::string::npos);
    CHECK(exported_by_descriptor(memory) == -1);
    data[0] = ++value;
    CHECK(*static_cast<std::uint32_t*>(memory) == value);
  }
  CHECK(api.MemCloseIpcHandle(f.context, opened) == ZE_RESULT_SUCCESS);
  CHECK(api.MemFree(f.context, imported) == ZE_RESULT_SUCCESS);

  CHECK(api.MemAllocDevice(f.context, &desc, 4096, 65536, f.device, &imported) ==
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
  const std::string path = "/proc/self/fd/" + std::to_string(from.fd);
  from.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(from.fd >= 0);
  CHECK(api.MemAllocDevice(f.context, &desc, 4096, 0, f.device, &imported) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(f.last_error().find("open for reading and writing") != std::string::npos);
  close(from.fd);
}

TEST_CASE("straight: memory of the application is released as such, and no other") {
  Fixture f;
  auto* import =
      f.extension<ze_result_t(ze_driver_handle_t, void*, std::size_t)>("zexDriverImportExternalPointer");
  auto* release = f.extension<ze_result_t(ze_driver_handle_t, void*)>("zexDriverReleaseImportedPointer");
  std::uint32_t words[16] = {};
  CHECK(import(f.driver, words, 0) == ZE_RESULT_ERROR_INVALID_SIZE);
  REQUIRE(import(f.driver, words, sizeof words) == ZE_RESULT_SUCCESS);
  CHECK(import(f.driver, words + 8, 4) == ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  void* base = nullptr;
  CHECK(api.MemGetAddressRange(f.context, words + 8, &base, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(base == words);
  auto* data = f.memory(4);
  CHECK(release(f.driver, data) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.MemGetAddressRange(f.context, data, &base, nullptr) == ZE_RESULT_SUCCESS);  // still there
  CHECK(release(f.driver, words) == ZE_RESULT_SUCCESS);
  CHECK(release(f.driver, words) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

// As threads do that share one memory, each with handles of its own.
TEST_CASE("straight: a handle is good until as many were put back as were asked for") {
  Fixture f;
  auto* put = f.extension<ze_result_t(ze_context_handle_t, ze_ipc_mem_handle_t)>("zeMemPutIpcHandle");
  auto* data = f.memory(1);
  data[0] = 3;
  ze_ipc_mem_handle_t first{}, second{};
  REQUIRE(api.MemGetIpcHandle(f.context, data, &first) == ZE_RESULT_SUCCESS);
  REQUIRE(api.MemGetIpcHandle(f.context, data, &second) == ZE_RESULT_SUCCESS);
  CHECK(put(f.context, first) == ZE_RESULT_SUCCESS);
  void* other = nullptr;
  REQUIRE(api.MemOpenIpcHandle(f.context, f.device, second, 0, &other) == ZE_RESULT_SUCCESS);
  CHECK(*static_cast<std::uint32_t*>(other) == 3);
  CHECK(api.MemCloseIpcHandle(f.context, other) == ZE_RESULT_SUCCESS);
  CHECK(put(f.context, second) == ZE_RESULT_SUCCESS);
  CHECK(put(f.context, second) == ZE_RESULT_SUCCESS);  // no mistake
  CHECK(put(f.context, ze_ipc_mem_handle_t{}) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.MemOpenIpcHandle(f.context, f.device, second, 0, &other) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  // A descriptor that the application closed is replaced.
  REQUIRE(api.MemGetIpcHandle(f.context, data, &first) == ZE_RESULT_SUCCESS);
  int descriptor = -1;
  std::memcpy(&descriptor, first.data, sizeof descriptor);
  CHECK(close(descriptor) == 0);
  REQUIRE(api.MemGetIpcHandle(f.context, data, &second) == ZE_RESULT_SUCCESS);
  REQUIRE(api.MemOpenIpcHandle(f.context, f.device, second, 0, &other) == ZE_RESULT_SUCCESS);
  CHECK(api.MemCloseIpcHandle(f.context, other) == ZE_RESULT_SUCCESS);
}

TEST_CASE("a signal ends the waits that began before it, also when it is reset at once") {
  Fixture f;
  const auto event = f.event();
  for (int round = 0; round < 200; ++round) {
    std::thread waiter(
        [&] { CHECK(api.EventHostSynchronize(event, 20 * 1000 * kMillisecond) == ZE_RESULT_SUCCESS); });
    // Until the waiter waits there is nothing to see; the last signal stays.
    for (int i = 0; i < 50; ++i) {
      api.EventHostSignal(event);
      api.EventHostReset(event);
      std::this_thread::yield();
    }
    api.EventHostSignal(event);
    waiter.join();
    api.EventHostReset(event);
  }
}

TEST_CASE("straight: a counter-based event stands for the command that it was appended with last") {
  Fixture f;
  const auto gate = f.event();
  const auto first = f.immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, kImmediateInOrder),
             second = f.immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, kImmediateInOrder);
  const auto event = counter_event(f, kImmediate | kHostVisible);
  CHECK(api.EventHostSynchronize(event, 0) == ZE_RESULT_SUCCESS);  // nothing to wait for yet
  CHECK(api.EventHostReset(event) == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  CHECK(api.EventHostSignal(event) == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  for (const auto unordered : {f.list(), f.immediate(), f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)})
    CHECK(api.CommandListAppendBarrier(unordered, event, 0, nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  auto* data = f.memory(4);
  const std::uint32_t seven = 7, eight = 8;
  for (int round = 0; round < 3; ++round) {
    ze_event_handle_t waits = gate;
    REQUIRE(api.CommandListAppendMemoryFill(first, data, &seven, 4, 4, event, 1, &waits) ==
            ZE_RESULT_SUCCESS);
    CHECK(api.EventQueryStatus(event) == ZE_RESULT_NOT_READY);
    waits = event;
    REQUIRE(api.CommandListAppendMemoryCopy(second, data + 1, data, 4, nullptr, 1, &waits) ==
            ZE_RESULT_SUCCESS);
    CHECK(api.EventHostSignal(gate) == ZE_RESULT_SUCCESS);
    CHECK(api.EventHostSynchronize(event, kForever) == ZE_RESULT_SUCCESS);
    const auto done = counter_event(f, kImmediate);
    REQUIRE(api.CommandListAppendMemoryFill(second, data, &eight, 4, 4, done, 0, nullptr) ==
            ZE_RESULT_SUCCESS);
    CHECK(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
    CHECK(api.EventDestroy(done) == ZE_RESULT_SUCCESS);
    CHECK(data[1] == 7);
    CHECK(api.EventHostReset(gate) == ZE_RESULT_SUCCESS);
  }
  CHECK(api.EventDestroy(event) == ZE_RESULT_SUCCESS);
}

TEST_CASE("straight: each run of a regular list signals its counter-based event anew") {
  Fixture f;
  const auto gate = f.event();
  const auto event = counter_event(f, kNonImmediate | kHostVisible);
  const auto list = f.list(kListInOrder);
  const auto queue = f.queue();
  ze_event_handle_t waits = gate;
  REQUIRE(api.CommandListAppendBarrier(list, event, 1, &waits) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  auto run = list;
  for (int round = 0; round < 3; ++round) {
    REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &run, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(api.EventQueryStatus(event) == ZE_RESULT_NOT_READY);
    CHECK(api.EventHostSignal(gate) == ZE_RESULT_SUCCESS);
    CHECK(api.EventHostSynchronize(event, kForever) == ZE_RESULT_SUCCESS);
    CHECK(api.CommandQueueSynchronize(queue, kForever) == ZE_RESULT_SUCCESS);
    CHECK(api.EventHostReset(gate) == ZE_RESULT_SUCCESS);
  }
  CHECK(api.EventDestroy(event) == ZE_RESULT_SUCCESS);
}

TEST_CASE("straight: newer calls that are not implemented answer, and lists remember how they were made") {
  Fixture f;
  void* address = nullptr;
  const auto list = f.list();
  auto* clone = f.extension<ze_result_t(ze_command_list_handle_t, ze_command_list_handle_t*)>(
      "zeCommandListCreateCloneExp");
  ze_command_list_handle_t copy = nullptr;
  auto* data = f.memory(2);
  const std::uint32_t one = 1;
  REQUIRE(api.CommandListAppendMemoryFill(list, data, &one, 4, 4, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(clone(list, &copy) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  REQUIRE(clone(list, &copy) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandListReset(list) == ZE_RESULT_SUCCESS);
  const auto queue = f.queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &copy, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 1);
  CHECK(api.CommandListDestroy(copy) == ZE_RESULT_SUCCESS);
  auto* host = f.extension<ze_result_t(ze_command_list_handle_t, void (*)(void*), void*, const void*,
                                       ze_event_handle_t, std::uint32_t, ze_event_handle_t*)>(
      "zeCommandListAppendHostFunction");
  int called = 0;
  const auto immediate = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  REQUIRE(host(
              immediate, [](void* count) { ++*static_cast<int*>(count); }, &called, nullptr, nullptr, 0,
              nullptr) == ZE_RESULT_SUCCESS);
  CHECK(called == 1);
  auto* mode = f.extension<ze_result_t(ze_command_list_handle_t, ze_command_queue_mode_t*)>(
      "zeCommandListImmediateGetMode");
  ze_command_queue_mode_t asked = ZE_COMMAND_QUEUE_MODE_DEFAULT;
  CHECK(mode(immediate, &asked) == ZE_RESULT_SUCCESS);
  CHECK(asked == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  CHECK(mode(list, &asked) == ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  CHECK(api.DriverGetExtensionFunctionAddress(f.driver, "zeImageViewCreateExt", &address) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
}
