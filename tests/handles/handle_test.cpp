// SPDX-License-Identifier: MIT
// Ownership: moves, adoption, release, reset and destroy counts of every owner and of Buffer.
#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "kiln/bundle.hpp"
#include "kiln/log.hpp"
#include "kiln/sharing.hpp"
#include "support/stub_driver.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

template <class Owner, Call Destroy>
struct Case {
  using Type = Owner;
  using Handle = typename Owner::Handle;
  static constexpr Call kDestroy = Destroy;
};

// What does not compile, for one owner.
template <class Owner>
concept AdoptsInt = requires {
  Owner::adopt(0);
};
template <class Owner>
concept AdoptsNull = requires {
  Owner::adopt(nullptr);
};
template <class Owner>
concept GetsFromTemporary = requires(Owner owner) {
  std::move(owner).get();
};
template <class Owner>
concept ArrowOnTemporary = requires(Owner owner) {
  std::move(owner).operator->();
};

template <class Owner, class R>
consteval bool right_types() {
  using Handle = typename Owner::Handle;
  static_assert(std::same_as<Owner, Unique<R>>);
  static_assert(sizeof(Owner) == 2 * sizeof(void*) && sizeof(R) == sizeof(Owner));
  static_assert(std::is_trivially_copyable_v<R> && std::is_nothrow_move_constructible_v<Owner> &&
                std::is_nothrow_move_assignable_v<Owner>);
  static_assert(!std::copyable<Owner> && !std::is_copy_constructible_v<Owner> &&
                !std::is_copy_assignable_v<Owner>);
  static_assert(!std::convertible_to<Owner, Handle> && !std::convertible_to<Owner&, Handle> &&
                !std::convertible_to<const Owner&, Handle> && !std::constructible_from<Handle, Owner&>);
  static_assert(!std::convertible_to<R, Handle>);
  static_assert(!std::convertible_to<Handle, Owner> && !std::constructible_from<Owner, Handle>);
  static_assert(std::convertible_to<Handle, R> && std::convertible_to<Owner&, R>);
  static_assert(!std::convertible_to<Owner, R> && !std::convertible_to<const Owner, R>);
  static_assert(!AdoptsInt<Owner> && !AdoptsNull<Owner> && !GetsFromTemporary<Owner> &&
                !ArrowOnTemporary<Owner>);
  static_assert(!std::convertible_to<Owner, bool> && std::constructible_from<bool, const Owner&>);
  static_assert(std::same_as<decltype(std::declval<const Owner&>().get()), R>);
  return true;
}
static_assert(right_types<Context, ContextRef>());
static_assert(right_types<CommandQueue, CommandQueueRef>());
static_assert(right_types<Fence, FenceRef>());
static_assert(right_types<EventPool, EventPoolRef>());
static_assert(right_types<Event, EventRef>());
static_assert(right_types<CommandList, CommandListRef>());
static_assert(right_types<Module, ModuleRef>());
static_assert(right_types<Kernel, KernelRef>());
static_assert(std::is_trivially_copyable_v<DeviceRef> && std::is_trivially_copyable_v<DriverRef>);

// A device-only buffer has no spans: only what the host may touch has them.
template <class B>
concept HasSpan = requires(const B& buffer) {
  buffer.template span<float>();
};
static_assert(HasSpan<HostBuffer> && !HasSpan<Buffer>);
static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
static_assert(!std::is_copy_constructible_v<Bundle> && std::is_nothrow_move_constructible_v<Bundle>);

template <class Bundle>
concept ModuleFromTemporary = requires(Bundle bundle) {
  std::move(bundle).module();
};
static_assert(!ModuleFromTemporary<Bundle>);

struct Lines {
  Lines() { set_log_sink(add, this); }
  ~Lines() { set_log_sink(nullptr, nullptr); }
  static void add(void* user, LogLevel level, std::string_view line) {
    auto& self = *static_cast<Lines*>(user);
    self.last = line;
    self.level = level;
    ++self.count;
  }
  std::string last;
  LogLevel level = LogLevel::debug;
  int count = 0;
};

}  // namespace

TEST_CASE_TEMPLATE("owners", C, Case<Context, Call::zeContextDestroy>,
                   Case<CommandQueue, Call::zeCommandQueueDestroy>, Case<Fence, Call::zeFenceDestroy>,
                   Case<EventPool, Call::zeEventPoolDestroy>, Case<Event, Call::zeEventDestroy>,
                   Case<CommandList, Call::zeCommandListDestroy>, Case<Module, Call::zeModuleDestroy>,
                   Case<Kernel, Call::zeKernelDestroy>) {
  using Owner = typename C::Type;
  StubDriver stub;
  const auto handle = stub.new_handle<typename C::Handle>(), other = stub.new_handle<typename C::Handle>();
  const auto destroys = [&] { return stub.calls(C::kDestroy); };

  SUBCASE("an empty owner destroys nothing") {
    {
      Owner empty;
      CHECK_FALSE(empty);
      CHECK(empty.get().raw() == nullptr);
      CHECK(empty.release() == nullptr);
      empty.reset();
      Owner moved = std::move(empty);
      moved = Owner();
    }
    CHECK(stub.all_calls() == 0);
  }
  SUBCASE("adopt and destroy, once") {
    {
      const Owner owner = Owner::adopt(handle);
      CHECK(owner);
      CHECK(owner.get().raw() == handle);
      CHECK(owner->raw() == handle);
      CHECK(destroys() == 0);
    }
    CHECK(stub.destroyed == std::vector<Destroyed>{{C::kDestroy, handle}});
    CHECK(stub.all_calls() == 1);
  }
  SUBCASE("release gives the handle away") {
    {
      Owner owner = Owner::adopt(handle);
      CHECK(owner.release() == handle);
      CHECK_FALSE(owner);
    }
    CHECK(stub.all_calls() == 0);
  }
  SUBCASE("reset destroys at once and only once") {
    Owner owner = Owner::adopt(handle);
    owner.reset();
    CHECK(destroys() == 1);
    CHECK_FALSE(owner);
    owner.reset();
    CHECK(destroys() == 1);
  }
  SUBCASE("move construction") {
    {
      Owner first = Owner::adopt(handle);
      const Owner second = std::move(first);
      CHECK_FALSE(first);
      CHECK(second.get().raw() == handle);
    }
    CHECK(destroys() == 1);
  }
  SUBCASE("move into a non-empty owner destroys what it held, and nothing else") {
    {
      Owner first = Owner::adopt(handle), second = Owner::adopt(other);
      second = std::move(first);
      CHECK(stub.destroyed == std::vector<Destroyed>{{C::kDestroy, other}});
      CHECK_FALSE(first);
      CHECK(second.get().raw() == handle);
    }
    CHECK(destroys() == 2);
    CHECK(stub.destroyed[1].handle == handle);
  }
  SUBCASE("move of an empty owner into a full one") {
    Owner full = Owner::adopt(handle);
    full = Owner();
    CHECK(destroys() == 1);
    CHECK_FALSE(full);
  }
  SUBCASE("self-move changes nothing") {
    {
      Owner owner = Owner::adopt(handle);
      Owner& same = owner;
      owner = std::move(same);
      CHECK(owner.get().raw() == handle);
      CHECK(destroys() == 0);
    }
    CHECK(destroys() == 1);
  }
  SUBCASE("swap") {
    {
      Owner first = Owner::adopt(handle), second = Owner::adopt(other);
      std::swap(first, second);
      CHECK(first.get().raw() == other);
      CHECK(second.get().raw() == handle);
      CHECK(destroys() == 0);
    }
    CHECK(destroys() == 2);
  }
  SUBCASE("a failed destroy is logged and forgotten") {
    const Lines lines;
    stub.fail(C::kDestroy, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    { const Owner owner = Owner::adopt(handle); }
    CHECK(destroys() == 1);
    CHECK(lines.count == 1);
    CHECK(lines.level == LogLevel::warning);
    CHECK(lines.last == std::string(name_of(C::kDestroy)) + " failed: ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE");
  }
  SUBCASE("refs compare by handle and pass through functions that take them") {
    const Owner owner = Owner::adopt(handle);
    const auto same = [](decltype(owner.get()) ref) { return ref; };
    CHECK(same(owner) == owner.get());
    CHECK(same(handle) == owner.get());
    CHECK_FALSE(same(other) == owner.get());
  }
}

TEST_CASE("buffers") {
  StubDriver stub;
  const auto context_handle = stub.new_handle<ze_context_handle_t>();
  const ContextRef context = context_handle;
  const auto frees = [&] { return stub.calls(Call::zeMemFree); };

  SUBCASE("each kind is allocated and freed once") {
    {
      auto device = context.allocate_device(stub.device, 256);
      auto host = context.allocate_host(256);
      const auto shared = context.allocate_shared(stub.device, 260);
      REQUIRE((device && host && shared));
      CHECK(device->kind() == MemoryKind::device);
      CHECK(host->kind() == MemoryKind::host);
      CHECK(shared->kind() == MemoryKind::shared);
      CHECK(shared->size() == 260);
      CHECK(shared->span<std::uint64_t>().size() == 32);  // whole elements only
      CHECK(host->span<float>().data() == host->data());
      CHECK(frees() == 0);
      Buffer& base = *host;
      base = *std::move(device);
      CHECK(host->span<float>().empty());  // memory of the device, which the host may not touch
      CHECK(frees() == 1);
    }
    CHECK(frees() == 3);
  }
  SUBCASE("moves, self-move, move into a non-empty buffer") {
    {
      HostBuffer first = *context.allocate_host(64), second = *context.allocate_host(128);
      void* const data = first.data();
      second = std::move(first);
      CHECK(frees() == 1);
      CHECK(second.data() == data);
      CHECK(second.size() == 64);
      CHECK_FALSE(first);
      CHECK(first.size() == 0);
      HostBuffer& same = second;
      second = std::move(same);
      CHECK(second.data() == data);
      CHECK(second.size() == 64);
      HostBuffer third = std::move(second);
      CHECK(third.data() == data);
      std::swap(third, first);
      CHECK(first.data() == data);
      CHECK(frees() == 1);
    }
    CHECK(frees() == 2);
  }
  SUBCASE("adopt, release, reset") {
    int memory = 0;
    {
      Buffer buffer = Buffer::adopt(context_handle, &memory, 4, MemoryKind::shared);
      CHECK(buffer.release() == &memory);
      CHECK_FALSE(buffer);
      CHECK(buffer.size() == 0);
      buffer = Buffer::adopt(context_handle, &memory, 4, MemoryKind::device);
      buffer.reset();
      buffer.reset();
      CHECK(frees() == 1);
    }
    CHECK(frees() == 1);
    CHECK(stub.destroyed == std::vector<Destroyed>{{Call::zeMemFree, &memory}});
  }
  SUBCASE("a failed free is logged") {
    const Lines lines;
    stub.fail(Call::zeMemFree, ZE_RESULT_ERROR_DEVICE_LOST);
    { const auto buffer = context.allocate_host(64); }
    CHECK(lines.last == "zeMemFree failed: ZE_RESULT_ERROR_DEVICE_LOST");
  }
  SUBCASE("a failed allocation owns nothing") {
    stub.fail(Call::zeMemAllocHost, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    const auto buffer = context.allocate_host(64);
    REQUIRE_FALSE(buffer);
    CHECK(buffer.error().code() == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(std::string(buffer.error().call()) == "zeMemAllocHost");
    CHECK(frees() == 0);
  }
}

TEST_CASE("a failed creation gives the driver's code and the call, and owns nothing") {
  StubDriver stub;
  const auto check_failure = [&](Call call, auto create) {
    CAPTURE(name_of(call));
    stub.fail(call, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    const auto result = create();
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(std::string(result.error().call()) == name_of(call));
    CHECK(stub.destroyed.empty());
  };
  const ContextRef context = stub.new_handle<ze_context_handle_t>();
  const DeviceRef device = stub.device;
  check_failure(Call::zeContextCreate, [&] { return ContextRef::create(stub.driver); });
  check_failure(Call::zeCommandQueueCreate, [&] { return CommandQueueRef::create(context, device); });
  check_failure(Call::zeCommandListCreate, [&] { return CommandListRef::create(context, device); });
  check_failure(Call::zeCommandListCreateImmediate,
                [&] { return CommandListRef::create_immediate(context, device); });
  check_failure(Call::zeEventPoolCreate, [&] { return EventPoolRef::create(context, 1); });
  check_failure(Call::zeEventCreate,
                [&] { return EventPoolRef(stub.new_handle<ze_event_pool_handle_t>()).event(0); });
  check_failure(Call::zeFenceCreate,
                [&] { return CommandQueueRef(stub.new_handle<ze_command_queue_handle_t>()).create_fence(); });
  check_failure(Call::zeKernelCreate,
                [&] { return ModuleRef(stub.new_handle<ze_module_handle_t>()).kernel("k"); });
}

TEST_CASE("descriptors arrive as they were asked for") {
  StubDriver stub;
  const ContextRef context{stub.new_handle<ze_context_handle_t>()};
  const DeviceRef device{stub.device};
  const auto pool = EventPoolRef::create(context, 7, {.host_visible = true, .timestamps = true});
  REQUIRE(pool);
  const auto asked = stub.last<ze_event_pool_desc_t>();
  CHECK(asked.count == 7);
  CHECK(asked.flags == (ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP));
  REQUIRE(EventPoolRef::create(context, 1, {.host_visible = false}));
  CHECK(stub.last<ze_event_pool_desc_t>().flags == 0);
  // What a kernel wrote is there for the host that waited, and the other way round.
  REQUIRE(pool->get().event(5));
  const auto event = stub.last<ze_event_desc_t>();
  CHECK(event.index == 5);
  CHECK(event.signal == ZE_EVENT_SCOPE_FLAG_HOST);
  CHECK(event.wait == ZE_EVENT_SCOPE_FLAG_HOST);
  stub.queue_groups.resize(4, stub.queue_groups[0]);
  REQUIRE(CommandListRef::create(context, device, 3));
  CHECK(stub.last<ze_command_list_desc_t>().commandQueueGroupOrdinal == 3);
  REQUIRE(CommandListRef::create_immediate(context, device, {.synchronous = true}));
  CHECK(stub.last<ze_command_queue_desc_t>().mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  REQUIRE(CommandListRef::create_immediate(context, device));
  CHECK(stub.last<ze_command_queue_desc_t>().mode == ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
}

TEST_CASE("the fake driver complains of structs that a driver would misread") {
  StubDriver stub;
  const DeviceRef device(stub.device);
  const Api& api = device.api();
  auto event = make<ze_event_desc_t>();
  ze_event_handle_t handle = nullptr;
  const auto complaints = [&] {
    (void)api.zeEventCreate(stub.new_handle<ze_event_pool_handle_t>(), &event, &handle);
    return std::exchange(stub.complaints, {}).size();
  };
  CHECK(complaints() == 0);
  event.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  CHECK(complaints() == 1);
  event = make<ze_event_desc_t>();
  auto other = make<ze_fence_desc_t>();
  event.pNext = &other;
  CHECK(complaints() == 1);
  std::uint32_t count = 2;
  ze_command_queue_group_properties_t groups[2] = {make<ze_command_queue_group_properties_t>(), {}};
  (void)api.zeDeviceGetCommandQueueGroupProperties(stub.device, &count, groups);
  CHECK(std::exchange(stub.complaints, {}).size() == 1);
}

TEST_CASE("a list that is shorter when it is asked for the second time") {
  StubDriver stub;
  const DeviceRef device{stub.device};
  const ModuleRef module{stub.new_handle<ze_module_handle_t>()};
  stub.kernel_names = {"one", "two"};
  stub.native_binary.assign(10, std::byte{1});
  stub.vanishing = 1;
  CHECK(module.kernel_names().value() == std::vector<std::string>{"one"});
  CHECK(module.native_binary().value().size() == 9);
  CHECK(DriverRef(stub.driver).devices().value().empty());
  CHECK(drivers(device.api()).value().empty());
  CHECK(device.queue_groups().value().empty());
}

namespace {

/// Stands in for Intel's driver, which has these two beside the tables.
struct ImportedPages {
  static inline void* data = nullptr;
  static inline std::size_t size = 0;
  static inline int released = 0;
  static inline ze_result_t answer = ZE_RESULT_SUCCESS;
  static ze_result_t import(ze_driver_handle_t, void* pages, std::size_t bytes) {
    data = pages;
    size = bytes;
    return answer;
  }
  static ze_result_t release(ze_driver_handle_t, void* pages) {
    released += pages == data;
    return ZE_RESULT_SUCCESS;
  }
};

}  // namespace

TEST_CASE("memory of the host is imported by Intel's own functions, and released by them once") {
  StubDriver stub;
  const ContextRef context = stub.new_handle<ze_context_handle_t>();
  alignas(4096) static std::byte pages[8192];
  const auto lacking = import_host(stub.driver, context, pages, sizeof pages);
  REQUIRE_FALSE(lacking);
  CHECK(lacking.error().diagnostic()->code == "K0230");
  stub.extension_functions = {
      {"zexDriverImportExternalPointer", reinterpret_cast<void*>(ImportedPages::import)},
      {"zexDriverReleaseImportedPointer", reinterpret_cast<void*>(ImportedPages::release)}};
  const auto part = import_host(stub.driver, context, pages, 64);
  REQUIRE_FALSE(part);
  CHECK(part.error().diagnostic()->code == "K0237");
  ImportedPages::answer = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;  // switched off in the driver
  const auto off = import_host(stub.driver, context, pages, sizeof pages);
  REQUIRE_FALSE(off);
  CHECK(off.error().diagnostic()->code == "K0230");
  CHECK(ImportedPages::released == 0);
  ImportedPages::answer = ZE_RESULT_SUCCESS;
  {
    auto imported = import_host(stub.driver, context, pages, sizeof pages);
    REQUIRE(imported);
    CHECK(imported->data() == pages);
    CHECK(ImportedPages::data == pages);
    CHECK(ImportedPages::size == sizeof pages);
    const ImportedHost moved = *std::move(imported);
    CHECK(ImportedPages::released == 0);
  }
  CHECK(ImportedPages::released == 1);
  CHECK(stub.calls(Call::zeMemFree) == 0);
}
