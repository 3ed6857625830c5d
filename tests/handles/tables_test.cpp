// SPDX-License-Identifier: MIT
// Two drivers in one process: each handle calls the one that it came from.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/bundle.hpp"

using namespace kiln;

namespace {

/// A driver of two devices, of which there can be several. Its handles are numbers that no other gives.
template <int Number>
struct Fake {
  inline static int launches = 0, waits = 0, alive = 0;
  inline static std::vector<ze_event_handle_t> waited;  // for, by the last command

  template <class Handle>
  static Handle next() {
    static std::uintptr_t last = 0x10000 * (Number + 1);
    return reinterpret_cast<Handle>(last += 16);
  }
  static bool is_own(const void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle) >> 16 == Number + 1;
  }
  template <class... Handles>
  static ze_result_t expect(Handles... handles) {
    CHECK((is_own(handles) && ...));
    return ZE_RESULT_SUCCESS;
  }
  static ze_result_t wait_for(ze_command_list_handle_t list, std::uint32_t count, ze_event_handle_t* events) {
    waited.assign(events, events + count);
    for (const ze_event_handle_t event : waited) CHECK(is_own(event));
    return expect(list);
  }
  template <class Parent, class Handle>
  static ze_result_t make(Parent parent, Handle* out) {
    ++alive;
    *out = next<Handle>();
    return expect(parent);
  }
  template <class Handle>
  static ze_result_t destroy(Handle handle) {
    --alive;
    return expect(handle);
  }

  static Api table() {
    Api api;
    api.zeDriverGet = [](std::uint32_t* count, ze_driver_handle_t* out) {
      *count = 1;
      if (out) *out = next<ze_driver_handle_t>();
      return ZE_RESULT_SUCCESS;
    };
    api.zeDeviceGet = [](ze_driver_handle_t driver, std::uint32_t* count, ze_device_handle_t* out) {
      *count = 2;
      for (int i = 0; out && i < 2; ++i) out[i] = next<ze_device_handle_t>();
      return expect(driver);
    };
    api.zeDeviceGetCommandQueueGroupProperties = [](ze_device_handle_t device, std::uint32_t* count,
                                                    ze_command_queue_group_properties_t*) {
      *count = 1;
      return expect(device);
    };
    api.zeContextCreate = [](ze_driver_handle_t driver, const ze_context_desc_t*, ze_context_handle_t* out) {
      return make(driver, out);
    };
    api.zeContextDestroy = destroy<ze_context_handle_t>;
    api.zeEventPoolCreate = [](ze_context_handle_t context, const ze_event_pool_desc_t*, std::uint32_t,
                               ze_device_handle_t*,
                               ze_event_pool_handle_t* out) { return make(context, out); };
    api.zeEventPoolDestroy = destroy<ze_event_pool_handle_t>;
    api.zeEventCreate = [](ze_event_pool_handle_t pool, const ze_event_desc_t*, ze_event_handle_t* out) {
      return make(pool, out);
    };
    api.zeEventDestroy = destroy<ze_event_handle_t>;
    api.zeCommandListCreateImmediate = [](ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_queue_desc_t*, ze_command_list_handle_t* out) {
      CHECK(is_own(device));
      return make(context, out);
    };
    api.zeCommandListDestroy = destroy<ze_command_list_handle_t>;
    api.zeCommandListAppendWaitOnEvents = [](ze_command_list_handle_t list, std::uint32_t count,
                                             ze_event_handle_t* events) {
      waits += static_cast<int>(count);
      return wait_for(list, count, events);
    };
    api.zeCommandListAppendBarrier = [](ze_command_list_handle_t list, ze_event_handle_t, std::uint32_t count,
                                        ze_event_handle_t* events) { return wait_for(list, count, events); };
    api.zeCommandListAppendMemoryCopy =
        [](ze_command_list_handle_t list, void*, const void*, std::size_t, ze_event_handle_t,
           std::uint32_t count, ze_event_handle_t* events) { return wait_for(list, count, events); };
    api.zeCommandListAppendWriteGlobalTimestamp =
        [](ze_command_list_handle_t list, std::uint64_t*, ze_event_handle_t, std::uint32_t count,
           ze_event_handle_t* events) { return wait_for(list, count, events); };
    api.zeMemAllocHost = [](ze_context_handle_t context, const ze_host_mem_alloc_desc_t*, std::size_t,
                            std::size_t, void** out) {
      static std::array<std::byte, 4096> room;
      void* place = room.data();
      std::size_t size = room.size();
      *out = std::align(64, 64, place, size);
      ++alive;
      return expect(context);
    };
    api.zeMemFree = [](ze_context_handle_t context, void*) { return destroy(context); };
    api.zeKernelGetProperties = [](ze_kernel_handle_t kernel, ze_kernel_properties_t*) {
      return expect(kernel);
    };
    api.zeKernelSetIndirectAccess = [](ze_kernel_handle_t kernel, ze_kernel_indirect_access_flags_t) {
      return expect(kernel);
    };
    api.zeKernelSetGroupSize = [](ze_kernel_handle_t kernel, std::uint32_t, std::uint32_t, std::uint32_t) {
      return expect(kernel);
    };
    api.zeCommandListAppendLaunchKernel = [](ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                             const ze_group_count_t*, ze_event_handle_t signal,
                                             std::uint32_t count, ze_event_handle_t* events) {
      ++launches;
      (void)wait_for(list, count, events);
      return expect(list, kernel, signal);
    };
    return api;
  }
};

struct Objects {
  Context context;
  EventPool pool;
  Event event;
  CommandList list;
  HostBuffer buffer;
  CheckedKernel kernel;
};

template <class T>
T need(Result<T> result) {
  REQUIRE(result);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

template <class Driver>
Objects open(const Api& api) {
  const DriverRef driver = need(drivers(api)).at(0);
  const DeviceRef device = need(driver.devices()).at(1);
  Objects made;
  made.context = need(ContextRef::create(driver));
  made.pool = need(EventPoolRef::create(made.context, 1));
  made.event = need(made.pool->event(0));
  made.list = need(CommandListRef::create_immediate(made.context, device));
  made.buffer = need(made.context->allocate_host(64));
  ComputeProperties compute;
  compute.max_total_group_size = 64;
  compute.max_group_size = compute.max_group_count = {64, 64, 64};
  const KernelRef kernel(Driver::template next<ze_kernel_handle_t>(), api);
  made.kernel = need(CheckedKernel::create(kernel, {}, compute));
  return made;
}

void use(const Objects& made) {
  const EventRef wait[] = {made.event, made.event};
  CHECK(made.list->wait(wait));
  CHECK(launch(made.list, made.kernel, {{1}, {1}, {made.event, wait}}));
}

template <class T>
void refused(const Result<T>& answer, std::string_view code = "K0228") {
  REQUIRE_FALSE(answer);
  REQUIRE(answer.error().diagnostic());
  CHECK(answer.error().diagnostic()->code == code);
}

/// Each command that is sent where it stands, behind those events.
template <class Check>
void each_behind(const Objects& objects, std::span<const EventRef> events, const Check& check) {
  const Sync sync{objects.event, events};
  const CommandListRef list = objects.list;
  void* const data = objects.buffer.data();
  check(list.barrier(sync));
  check(list.copy(data, data, 8, sync));
  check(list.write_timestamp(static_cast<std::uint64_t*>(data), sync));
  check(launch(list, objects.kernel, {{1}, {1}, sync}));
}

using One = Fake<0>;
using Two = Fake<1>;

}  // namespace

TEST_CASE("two drivers are used in turns, and let go in any order") {
  const Api &one = load_table(One::table()), &two = load_table(Two::table());
  CHECK(&one != &two);
  CHECK(&load_table(One::table()) == &one);  // known already
  for (int order = 0; order < 4; ++order) {
    CAPTURE(order);
    Objects first = open<One>(one), second = open<Two>(two);
    use(first), use(second), use(first), use(second);
    if (order == 1) second = {};
    if (order == 2) first = {};
    if (order == 3) std::swap(first, second), use(first), use(second);
  }
  CHECK(One::alive == 0);
  CHECK(Two::alive == 0);
  CHECK(One::launches == 9);
  CHECK(Two::launches == 9);
}

TEST_CASE("handles of two drivers do not meet in one call") {
  const Objects one = open<One>(load_table(One::table())), two = open<Two>(load_table(Two::table()));
  const DeviceRef device(Two::next<ze_device_handle_t>());
  const EventRef own[] = {one.event}, mixed[] = {one.event, two.event}, other[] = {two.event};
  const int launches = One::launches, waits = One::waits;
  const Launch shape{{1}, {1}};
  refused(CommandListRef::create_immediate(one.context, device));
  refused(one.list->signal(two.event));
  refused(one.list->barrier({two.event, {}}));
  refused(one.list->wait(mixed));
  refused(one.list->wait(other));
  refused(one.list->launch_unchecked(two.kernel.kernel(), {1}));
  refused(launch(one.list, two.kernel, shape));
  refused(launch(one.list, one.kernel, {{1}, {1}, {two.event, {}}}));
  for (const auto events : {std::span<const EventRef>(mixed), std::span<const EventRef>(other)})
    each_behind(one, events, [](const auto& answer) { refused(answer); });
  CHECK(One::launches == launches);
  CHECK(One::waits == waits);
  CHECK(launch(one.list, one.kernel, {{1}, {1}, {one.event, own}}));
}

TEST_CASE("a raw handle is of the default driver, or of the one that is named") {
  const Api &one = load_table(One::table()), &two = load_table(Two::table());
  CHECK(&default_api() == &two);
  const auto handle = One::next<ze_event_handle_t>();
  CHECK(&EventRef(handle).api() == &two);
  CHECK(&EventRef(handle, one).api() == &one);
  CHECK(EventRef(handle) == EventRef(handle, one));
  Unique<EventRef> owner = Event::adopt(handle, one);
  CHECK(&owner->api() == &one);
  Event moved = std::move(owner);
  CHECK(&moved->api() == &one);
  CHECK(moved.release() == handle);
}

TEST_CASE("commands wait for the events they were given, few or many, of which none is empty") {
  const Objects made = open<One>(load_table(One::table()));
  std::vector<EventRef> events;
  std::vector<ze_event_handle_t> handles;
  for (int count = 0; count < 20; ++count) {
    CAPTURE(count);
    each_behind(made, events, [&](const auto& answer) {
      CHECK(answer);
      CHECK(One::waited == handles);
      One::waited.clear();
    });
    auto with_empty = events;
    with_empty.insert(with_empty.begin() + count / 2, EventRef());
    each_behind(made, with_empty, [](const auto& answer) { refused(answer, "K0222"); });
    CHECK(One::waited.empty());
    handles.push_back(One::next<ze_event_handle_t>());
    events.emplace_back(handles.back(), made.list->api());
  }
}

TEST_CASE("more events than fit a small array") {
  const Objects made = open<One>(load_table(One::table()));
  const std::vector<EventRef> events(100, made.event.get());
  const int waits = One::waits;
  CHECK(made.list->wait(events));
  CHECK(One::waits == waits + 100);
}

TEST_CASE("a program whose headers know fewer entry points is read to the end of its table") {
  // The last entry point is newer than that program: what stands behind its table is no address.
  struct Older {
    std::array<std::byte, offsetof(Api, zelLoaderTranslateHandle)> known;
    void* beyond;
  } older;
  const Api now = One::table();
  std::memcpy(older.known.data(), &now, older.known.size());
  older.beyond = &older;
  const Api& api = detail::load_table(reinterpret_cast<const Api&>(older), sizeof older.known);
  CHECK((api.zelLoaderTranslateHandle == nullptr));
  CHECK((api.zeEventDestroy == now.zeEventDestroy));
  CHECK(&api == &load_table(now));
}

TEST_CASE("without a driver each call says so") {
  const Api& none = load_table({});
  CHECK(drivers(none).error().code() == ZE_RESULT_ERROR_UNINITIALIZED);
  const EventRef event(One::next<ze_event_handle_t>());
  CHECK(event.wait().error().code() == ZE_RESULT_ERROR_UNINITIALIZED);
  CHECK(EventRef().wait().error().code() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(ContextRef::create({}).error().code() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(EventRef().table() == nullptr);
  CHECK(EventRef().api().zeEventHostReset(nullptr) == ZE_RESULT_ERROR_UNINITIALIZED);
}
