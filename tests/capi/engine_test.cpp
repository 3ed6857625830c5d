// SPDX-License-Identifier: MIT
// What an engine asks of the C interface beyond a launch, on the device that KILN_DEVICE names: lists in
// order, queues, events without pools, regions, sharing, siblings. A feature that is lacking is refused as
// such (K0230).
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "capi/capi.hpp"

using namespace kiln::test;

namespace {

constexpr uint32_t kSteps = 64;

struct Engine {
  Device device;
  BufferHandle buffer;
  Caught caught;
  bool executes = false;

  Engine() {
    good(kiln_device_open(nullptr, device.out(), caught.out()), caught);
    kiln_device_info info = KILN_INIT(kiln_device_info);
    good(kiln_device_get_info(device, &info, caught.out()), caught);
    executes = info.kind != KILN_DEVICE_CAPTURE;
    good(kiln_buffer_allocate(device, KILN_MEMORY_SHARED, kSteps * sizeof(uint32_t), nullptr, buffer.out(),
                              caught.out()),
         caught);
    std::memset(words(), 0, kSteps * sizeof(uint32_t));
  }
  uint32_t* words() { return static_cast<uint32_t*>(kiln_buffer_data(buffer)); }
  bool has(uint32_t feature) {
    uint32_t has = 2;
    Caught own;  // what is in `caught` may be asked of behind this
    good(kiln_device_has(device, feature, &has, own.out()), own);
    REQUIRE(has <= 1);
    return has == 1;
  }
  /// True where the feature is there; else it was refused as lacking.
  bool there(uint32_t feature, kiln_result result) {
    if (has(feature)) {
      good(result, caught);
      return true;
    }
    bad(result, caught, KILN_ERROR_UNSUPPORTED_FEATURE, "K0230");
    return false;
  }
  /// Each word is copied from the one before it: another order leaves zeros.
  void append_chain(kiln_list list) {
    const uint32_t first = 7;
    good(kiln_list_fill(list, words(), &first, 4, 4, nullptr, caught.out()), caught);
    for (uint32_t i = 0; i + 1 < kSteps; ++i)
      good(kiln_list_copy(list, words() + i + 1, words() + i, 4, nullptr, caught.out()), caught);
  }
  /// Waits, also where a list cannot be waited for.
  void finish(kiln_list list) {
    Pool pool;
    EventHandle done;
    good(kiln_event_pool_create(device, 1, 0, pool.out(), caught.out()), caught);
    good(kiln_event_create(pool, 0, done.out(), caught.out()), caught);
    kiln_sync sync = KILN_INIT(kiln_sync);
    sync.signal = done;
    good(kiln_list_barrier(list, &sync, caught.out()), caught);
    good(kiln_event_wait(done, KILN_FOREVER, caught.out()), caught);
  }
  void check_chain() {
    for (uint32_t i = 0; executes && i < kSteps; ++i) REQUIRE(words()[i] == 7);
  }
};

}  // namespace

TEST_CASE("lists in order, of a queue by group, index and priority") {
  Engine engine;
  Caught& caught = engine.caught;
  uint32_t groups = 0;
  good(kiln_device_queue_group_count(engine.device, &groups, caught.out()), caught);
  REQUIRE(groups > 0);
  uint32_t compute = groups;
  kiln_queue_group group = KILN_INIT(kiln_queue_group);
  for (uint32_t i = groups; i-- > 0;) {
    good(kiln_device_get_queue_group(engine.device, i, &group, caught.out()), caught);
    if (group.flags & KILN_QUEUE_GROUP_COMPUTE) compute = i;
  }
  REQUIRE(compute < groups);
  good(kiln_device_get_queue_group(engine.device, compute, &group, caught.out()), caught);
  REQUIRE(group.queues > 0);
  bad(kiln_device_get_queue_group(engine.device, groups, &group, caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0903");

  kiln_list_options options = KILN_INIT(kiln_list_options);
  options.flags = KILN_LIST_IMMEDIATE | KILN_LIST_IN_ORDER | KILN_LIST_COPY_OFFLOAD | KILN_LIST_QUEUE_GROUP;
  options.priority = KILN_PRIORITY_HIGH;
  options.queue_group = compute;
  options.queue_index = group.queues - 1;
  List list;
  if (engine.there(KILN_FEATURE_IN_ORDER_LISTS,
                   kiln_list_create_with(engine.device, &options, list.out(), caught.out()))) {
    engine.append_chain(list);
    engine.finish(list);
    engine.check_chain();
  }
  // A regular one on a queue of low priority.
  std::memset(engine.words(), 0, kSteps * sizeof(uint32_t));
  List regular;
  if (engine.there(KILN_FEATURE_IN_ORDER_LISTS,
                   kiln_list_create(engine.device, KILN_LIST_IN_ORDER, regular.out(), caught.out()))) {
    engine.append_chain(regular);
    good(kiln_list_close(regular, caught.out()), caught);
    kiln_queue_options of_queue = KILN_INIT(kiln_queue_options);
    of_queue.flags = KILN_QUEUE_QUEUE_GROUP;
    of_queue.queue_group = compute;
    of_queue.priority = KILN_PRIORITY_LOW;
    Queue queue;
    good(kiln_queue_create_with(engine.device, &of_queue, queue.out(), caught.out()), caught);
    const kiln_list lists[] = {regular};
    good(kiln_queue_execute(queue, lists, 1, caught.out()), caught);
    good(kiln_queue_synchronize(queue, KILN_FOREVER, caught.out()), caught);
    engine.check_chain();
  }

  const auto refused = [&](auto change, kiln_result result, const char* code) {
    kiln_list_options wrong = KILN_INIT(kiln_list_options);
    wrong.flags = KILN_LIST_IMMEDIATE;
    change(wrong);
    bad(kiln_list_create_with(engine.device, &wrong, List().out(), caught.out()), caught, result, code);
  };
  using Options = kiln_list_options;
  refused([](Options& o) { o.flags = 1u << 30; }, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  refused([](Options& o) { o.priority = 3; }, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  refused([](Options& o) { o.queue_group = 1; }, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  refused([](Options& o) { o.flags = 0, o.priority = 1; }, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  refused([](Options& o) { o.flags = 0, o.queue_index = 1; }, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  refused([](Options& o) { o.struct_size = 4; }, KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  refused([&](Options& o) { o.flags |= KILN_LIST_QUEUE_GROUP, o.queue_group = groups; },
          KILN_ERROR_INVALID_ARGUMENT, "K0224");
  bad(kiln_list_create_with(engine.device, nullptr, List().out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  kiln_queue_options wrong = KILN_INIT(kiln_queue_options);
  wrong.queue_index = 1u << 20;
  bad(kiln_queue_create_with(engine.device, &wrong, Queue().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0224");
  wrong.queue_index = 0;
  wrong.queue_group = 1;
  bad(kiln_queue_create_with(engine.device, &wrong, Queue().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0903");
}

TEST_CASE("events by scope, and counter-based") {
  Engine engine;
  Caught& caught = engine.caught;
  Pool pool;
  good(kiln_event_pool_create(engine.device, 5, KILN_EVENTS_DEVICE_ONLY, pool.out(), caught.out()), caught);
  kiln_event_options options = KILN_INIT(kiln_event_options);
  for (uint32_t scope = KILN_SCOPE_DEFAULT; scope <= KILN_SCOPE_HOST; ++scope) {
    options.signal_scope = options.wait_scope = scope;
    EventHandle event;
    good(kiln_event_create_with(pool, scope, &options, event.out(), caught.out()), caught);
  }
  options.wait_scope = KILN_SCOPE_HOST + 1;
  bad(kiln_event_create_with(pool, 0, &options, EventHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ENUMERATION, "K0903");
  options.wait_scope = 0;
  options.flags = KILN_EVENTS_TIMESTAMPS;
  bad(kiln_event_create_with(pool, 0, &options, EventHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0903");

  EventHandle counted;
  if (!engine.there(KILN_FEATURE_COUNTER_BASED_EVENTS,
                    kiln_event_create_counter_based(engine.device, &options, counted.out(), caught.out())))
    return;
  EventHandle usual;
  good(kiln_event_create_counter_based(engine.device, nullptr, usual.out(), caught.out()), caught);
  List list;
  good(kiln_list_create(engine.device, KILN_LIST_IMMEDIATE | KILN_LIST_IN_ORDER, list.out(), caught.out()),
       caught);
  engine.append_chain(list);
  kiln_sync sync = KILN_INIT(kiln_sync);
  sync.signal = counted;
  good(kiln_list_barrier(list, &sync, caught.out()), caught);
  if (!engine.executes) return;  // Intel's driver 26.27 does not count then
  good(kiln_event_wait(counted, KILN_FOREVER, caught.out()), caught);
  good(kiln_event_status(counted, caught.out()), caught);
  engine.check_chain();
}

TEST_CASE("regions, hints, and the clock of the device") {
  Engine engine;
  Caught& caught = engine.caught;
  List list;
  good(kiln_list_create(engine.device, KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS, list.out(), caught.out()),
       caught);
  // Two rows of eight bytes out of rows of sixteen, to rows of thirty-two.
  BufferHandle from;
  good(kiln_buffer_allocate(engine.device, KILN_MEMORY_SHARED, 64, nullptr, from.out(), caught.out()),
       caught);
  auto* const source = static_cast<unsigned char*>(kiln_buffer_data(from));
  for (int i = 0; i < 64; ++i) source[i] = static_cast<unsigned char>(i);
  const kiln_region_place from_place = {4, 1, 0, 16, 0}, to_place = {0, 1, 0, 32, 0};
  const auto copy = [&](const kiln_region_place* to, kiln_extent size) {
    return kiln_list_copy_region(list, engine.words(), to, source, &from_place, size, nullptr, caught.out());
  };
  good(copy(&to_place, {8, 2, 0}), caught);
  if (engine.executes) {
    const auto* const target = reinterpret_cast<const unsigned char*>(engine.words());
    for (int i = 0; i < 8; ++i) {
      CHECK(target[32 + i] == 20 + i);
      CHECK(target[64 + i] == 36 + i);
    }
    CHECK(target[40] == 0);
  }
  bad(copy(&to_place, {0, 2, 1}), caught, KILN_ERROR_INVALID_SIZE, "K0231");
  bad(copy(&to_place, {33, 2, 1}), caught, KILN_ERROR_INVALID_SIZE, "K0231");
  bad(copy(nullptr, {8, 2, 1}), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");

  good(kiln_list_prefetch(list, engine.words(), 64, caught.out()), caught);
  bad(kiln_list_prefetch(list, nullptr, 64, caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0222");
  good(kiln_list_advise(list, engine.words(), 64, KILN_ADVICE_SET_READ_MOSTLY, caught.out()), caught);
  bad(kiln_list_advise(list, engine.words(), 64, 8, caught.out()), caught, KILN_ERROR_INVALID_ENUMERATION,
      "K0903");

  auto* const ticks = reinterpret_cast<uint64_t*>(engine.words());
  ticks[0] = ticks[1] = 0;
  good(kiln_list_write_timestamp(list, ticks, nullptr, caught.out()), caught);
  good(kiln_list_write_timestamp(list, ticks + 1, nullptr, caught.out()), caught);
  if (engine.executes) CHECK(ticks[0] != 0);
  if (engine.executes) CHECK(ticks[1] >= ticks[0]);
  bad(kiln_list_write_timestamp(list, nullptr, nullptr, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0222");
}

TEST_CASE("closed lists and host functions in an immediate list") {
  Engine engine;
  Caught& caught = engine.caught;
  List closed, list;
  good(kiln_list_create(engine.device, 0, closed.out(), caught.out()), caught);
  const uint32_t nine = 9;
  good(kiln_list_fill(closed, engine.words(), &nine, 4, kSteps * 4, nullptr, caught.out()), caught);
  good(kiln_list_close(closed, caught.out()), caught);
  good(kiln_list_create(engine.device, KILN_LIST_IMMEDIATE, list.out(), caught.out()), caught);
  const kiln_list lists[] = {closed};
  if (engine.there(KILN_FEATURE_APPEND_LISTS, kiln_list_append(list, lists, 1, nullptr, caught.out()))) {
    engine.finish(list);
    for (uint32_t i = 0; engine.executes && i < kSteps; ++i) REQUIRE(engine.words()[i] == 9);
  }
  bad(kiln_list_append(list, lists, 0, nullptr, caught.out()), caught, KILN_ERROR_INVALID_SIZE, "K0903");
  bad(kiln_list_append(list, nullptr, 1, nullptr, caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER,
      "K0903");

  static std::atomic<int> called;
  called = 0;
  const auto call = [](void* user) { called = *static_cast<int*>(user); };
  int five = 5;
  if (engine.there(KILN_FEATURE_HOST_FUNCTIONS,
                   kiln_list_host_function(list, call, &five, nullptr, caught.out()))) {
    engine.finish(list);
    if (engine.executes) CHECK(called == 5);
    bad(kiln_list_host_function(list, nullptr, nullptr, nullptr, caught.out()), caught,
        KILN_ERROR_INVALID_NULL_POINTER, "K0222");
  }
}

TEST_CASE("a device is told from another, and has siblings in its context") {
  Engine engine;
  Caught& caught = engine.caught;
  kiln_identity identity = KILN_INIT(kiln_identity);
  good(kiln_device_get_identity(engine.device, &identity, caught.out()), caught);
  CHECK(std::any_of(std::begin(identity.uuid), std::end(identity.uuid),
                    [](uint8_t byte) { return byte != 0; }));
  CHECK((identity.flags & KILN_IDENTITY_SUB_DEVICE) == 0);
  uint32_t count = 0, tiles = 77, can = 0;
  good(kiln_device_count(engine.device, &count, caught.out()), caught);
  REQUIRE(count > 0);
  good(kiln_device_sub_device_count(engine.device, &tiles, caught.out()), caught);
  bad(kiln_device_sub_device(engine.device, tiles, Device().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0903");
  bad(kiln_device_at(engine.device, count, Device().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  Device last;
  good(kiln_device_at(engine.device, count - 1, last.out(), caught.out()), caught);
  good(kiln_device_can_access(engine.device, last, &can, caught.out()), caught);
  CHECK(can <= 1);
  kiln_native_device one = KILN_INIT(kiln_native_device), other = KILN_INIT(kiln_native_device);
  good(kiln_device_get_native(engine.device, &one, caught.out()), caught);
  good(kiln_device_get_native(last, &other, caught.out()), caught);
  CHECK(one.context == other.context);
  CHECK((one.device == other.device) == (count == 1));

  void* address = nullptr;
  good(kiln_device_entry_point(engine.device, "zeMemAllocDevice", &address, caught.out()), caught);
  CHECK(address != nullptr);
  bad(kiln_device_entry_point(engine.device, "zeNothing", &address, caught.out()), caught,
      KILN_ERROR_UNSUPPORTED_FEATURE, "K0232");
  bad(kiln_device_has(engine.device, 1000, &can, caught.out()), caught, KILN_ERROR_INVALID_ENUMERATION,
      "K0903");

  // The context goes with the last that is in it, in whatever order.
  engine.buffer.reset();
  engine.device.reset();
  BufferHandle buffer;
  good(kiln_buffer_allocate(last, KILN_MEMORY_SHARED, 64, nullptr, buffer.out(), caught.out()), caught);
}

TEST_CASE("a device in the context of an engine") {
  Engine engine;
  Caught& caught = engine.caught;
  kiln_native_device native = KILN_INIT(kiln_native_device);
  good(kiln_device_get_native(engine.device, &native, caught.out()), caught);
  {
    Device lent;
    good(kiln_device_lend(engine.device, &native, lent.out(), caught.out()), caught);
    BufferHandle buffer;
    good(kiln_buffer_allocate(lent, KILN_MEMORY_DEVICE, 64, nullptr, buffer.out(), caught.out()), caught);
  }
  // The context is still there.
  BufferHandle buffer;
  good(kiln_buffer_allocate(engine.device, KILN_MEMORY_SHARED, 64, nullptr, buffer.out(), caught.out()),
       caught);
  native.context = nullptr;
  bad(kiln_device_lend(engine.device, &native, Device().out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_HANDLE, "K0222");
  native.struct_version = 9;
  bad(kiln_device_lend(engine.device, &native, Device().out(), caught.out()), caught,
      KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
}

TEST_CASE("memory leaves and comes as far as the device says") {
  Engine engine;
  Caught& caught = engine.caught;
  uint32_t flags = ~0u;
  good(kiln_device_get_external_memory(engine.device, &flags, caught.out()), caught);
  CHECK(flags < 16);
  kiln_buffer_options options = KILN_INIT(kiln_buffer_options);
  const auto allocate = [&](uint32_t kind, uint32_t of, BufferHandle& into) {
    options.flags = of;
    return kiln_buffer_allocate(engine.device, kind, 4096, &options, into.out(), caught.out());
  };
  BufferHandle exported;
  if (!(flags & KILN_EXPORTS_DMA_BUF)) {
    bad(allocate(KILN_MEMORY_DEVICE, KILN_ALLOCATE_EXPORT_DMA_BUF, exported), caught,
        KILN_ERROR_UNSUPPORTED_FEATURE, "K0234");
  } else {
    good(allocate(KILN_MEMORY_DEVICE, KILN_ALLOCATE_EXPORT_DMA_BUF, exported), caught);
    int fd = -1;
    const kiln_result result = kiln_buffer_export_fd(exported, KILN_EXTERNAL_DMA_BUF, &fd, caught.out());
    if (result == KILN_SUCCESS) {
      CHECK(fd >= 0);
      close(fd);
    } else {
      CHECK(caught.code() == "K0235");
    }
  }
  BufferHandle none;
  bad(allocate(KILN_MEMORY_HOST, KILN_ALLOCATE_EXPORT_DMA_BUF, none), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  bad(allocate(KILN_MEMORY_DEVICE, KILN_ALLOCATE_EXPORT_DMA_BUF | KILN_ALLOCATE_EXPORT_OPAQUE_FD, none),
      caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  int fd = -1;
  bad(kiln_buffer_export_fd(engine.buffer, 2, &fd, caught.out()), caught, KILN_ERROR_INVALID_ENUMERATION,
      "K0903");
  const auto import = [&](int from, uint32_t kind) {
    return kiln_buffer_import_fd(engine.device, from, 4096, kind, BufferHandle().out(), caught.out());
  };
  bad(import(-1, KILN_EXTERNAL_DMA_BUF), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  bad(import(0, 7), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  if (!(flags & KILN_IMPORTS_OPAQUE_FD))
    bad(import(0, KILN_EXTERNAL_OPAQUE_FD), caught, KILN_ERROR_UNSUPPORTED_FEATURE, "K0234");

  kiln_ipc_handle ipc{};
  BufferHandle device_memory;
  good(allocate(KILN_MEMORY_DEVICE, 0, device_memory), caught);
  if (kiln_buffer_get_ipc(device_memory, &ipc, caught.out()) == KILN_SUCCESS) {
    BufferHandle opened;
    if (kiln_buffer_open_ipc(engine.device, &ipc, 4096, opened.out(), caught.out()) == KILN_SUCCESS) {
      CHECK(kiln_buffer_data(opened) != nullptr);
      CHECK(kiln_buffer_size(opened) == 4096);
    }
    good(kiln_buffer_put_ipc(device_memory, &ipc, caught.out()), caught);
  }
  bad(kiln_buffer_open_ipc(engine.device, &ipc, 0, BufferHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_SIZE, "K0903");
  bad(kiln_buffer_get_ipc(device_memory, nullptr, caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER,
      "K0903");

  if (engine.executes) {
    good(kiln_device_make_resident(engine.device, kiln_buffer_data(device_memory), 4096, caught.out()),
         caught);
    good(kiln_device_evict(engine.device, kiln_buffer_data(device_memory), 4096, caught.out()), caught);
  }
  bad(kiln_device_make_resident(engine.device, nullptr, 4096, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0222");
}

TEST_CASE("variables and functions of a module, registers, and what would fit") {
  Engine engine;
  Caught& caught = engine.caught;
  BundleHandle bundle;
  kiln_bundle_options options = KILN_INIT(kiln_bundle_options);
  options.flags = "-ze-take-global-address";
  options.registers = KILN_REGISTERS_AUTOMATIC;
  const auto load = [&](const char* path) {
    bundle.reset();
    return kiln_bundle_load(engine.device, path, &options, nullptr, bundle.out(), caught.out());
  };
  good(load(KILN_TEST_SPIRV "/../tests/device/spirv/global.spv"), caught);
  void* address = nullptr;
  size_t size = 0;
  good(kiln_bundle_global(bundle, "counter", &address, &size, caught.out()), caught);
  CHECK(address != nullptr);
  CHECK(size == 4);
  const auto refused = [&](kiln_result result) {
    CHECK(result != KILN_SUCCESS);
    CHECK(caught.code() == "K0233");
  };
  refused(kiln_bundle_global(bundle, "none", &address, &size, caught.out()));
  refused(kiln_bundle_function(bundle, "none", &address, caught.out()));
  bad(kiln_bundle_global(bundle, nullptr, &address, &size, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  kiln_bundle_info info = KILN_INIT(kiln_bundle_info);
  good(kiln_bundle_get_info(bundle, &info, caught.out()), caught);
  CHECK(info.registers <= KILN_REGISTERS_256);
  CHECK(info.register_choice == std::string());  // nothing spills
  options.registers = 4;
  bad(load(KILN_TEST_SPIRV "/saxpy"), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");

  options = KILN_INIT(kiln_bundle_options);
  good(load(KILN_TEST_SPIRV "/matmul"), caught);
  KernelHandle kernel;
  good(kiln_kernel_create(bundle, "tiled", kernel.out(), caught.out()), caught);
  const uint32_t edge = 16;
  kiln_device_info device = KILN_INIT(kiln_device_info);
  good(kiln_device_get_info(engine.device, &device, caught.out()), caught);
  const uint64_t tile =
      4 * device.slm_per_group / 4;  // a square of floats, four times too large with its twin
  std::array<kiln_argument, 9> arguments{};
  for (int i = 0; i < 3; ++i) arguments[i] = kiln_buffer_argument(engine.buffer.out());
  for (int i = 3; i < 7; ++i) arguments[i] = kiln_value(&edge, sizeof edge);
  arguments[7] = arguments[8] = kiln_local_argument(tile);
  kiln_launch_info launch = KILN_INIT(kiln_launch_info);
  launch.groups.x = 1;
  launch.group_size = {16, 16, 1};
  launch.arguments = arguments.data();
  launch.argument_count = 9;
  kiln_room room = KILN_INIT(kiln_room);
  good(kiln_kernel_what_fits(kernel, &launch, &room, caught.out()), caught);
  CHECK(room.slm_per_group == device.slm_per_group);
  CHECK(room.asked_slm == 2 * tile);
  CHECK(room.local_bytes == device.slm_per_group);
  CHECK(room.local_bytes_per_item == 2 * tile / 256);
  CHECK(room.largest_group == 128);
  bad(kiln_kernel_what_fits(kernel, nullptr, &room, caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER,
      "K0903");
}
