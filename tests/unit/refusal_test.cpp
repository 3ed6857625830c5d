// SPDX-License-Identifier: MIT
// What is said when a driver refuses, and what is refused before it hears: every code through the public API.
#include "kiln/refusal.hpp"

#include <doctest/doctest.h>

#include "kiln/bundle.hpp"
#include "kiln/cooperative.hpp"
#include "kiln/sharing.hpp"
#include "support/stub_driver.hpp"
#include "unit/golden.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr auto kLost = ZE_RESULT_ERROR_DEVICE_LOST;
constexpr auto kNoDeviceMemory = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
constexpr auto kNoHostMemory = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A device of 4 x 8 x 8 x 8 threads with 8 GiB, 2 GiB of them free.
struct Fixture {
  Fixture() {
    stub.free_memory = 2 * kGiB;
    auto& properties = stub.device_properties;
    properties.numSlices = 4;
    properties.numSubslicesPerSlice = properties.numEUsPerSubslice = properties.numThreadsPerEU = 8;
    std::snprintf(properties.name, sizeof properties.name, "Fake GPU");
    auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
    REQUIRE(opened);
    device = *std::move(opened);
    stub.forget();
  }
  [[nodiscard]] ContextRef context() const { return device.context.get(); }

  /// A kernel with local memory, private memory and scratch.
  static KernelFacts heavy_facts() {
    KernelFacts kernel;
    kernel.name = "heavy";
    kernel.arguments = {{ArgumentKind::global_pointer, 8, 16, "out"},
                        {ArgumentKind::local_pointer, 0, 16, "tile"}};
    kernel.arguments_known = true;
    kernel.simd_size = 32;
    kernel.grf_count = 128;
    kernel.private_per_thread = 4 << 20;
    kernel.scratch_per_thread = {200'000, 0};
    kernel.required_group_size = {64, 32, 1};
    return kernel;
  }
  Result<void> launch_heavy(const CheckedKernel& kernel) {
    return launch(list, kernel, {{10, 1, 1}, {64, 4, 1}}, static_cast<void*>(nullptr), LocalMemory{5000});
  }

  StubDriver stub;
  OpenDevice device;
  CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
};

Refusal refusal(ze_result_t code, const char* call) {
  Refusal refusal;
  refusal.code = code;
  refusal.call = call;
  return refusal;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "K0204, K0205, K0207, K0225: allocations that never reach the driver") {
  using enum AllocationVerdict;
  const AllocationLimits limits{kGiB, 8 * kGiB, {}};
  const auto verdict = [&](MemoryKind kind, std::uint64_t size, std::uint64_t alignment, bool relaxed) {
    return check_allocation(limits, {kind, size, alignment, relaxed});
  };
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host, MemoryKind::shared}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(verdict(kind, 0, 64, false) == zero_size);
    for (const std::uint64_t odd : {std::uint64_t{3}, std::uint64_t{48}, kGiB * 4})
      CHECK(verdict(kind, 1, odd, false) == alignment);
    for (const std::uint64_t even : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{64}, kGiB * 2})
      CHECK(verdict(kind, 1, even, false) == fits);
    CHECK(verdict(kind, kGiB, 64, false) == fits);
    CHECK(verdict(kind, kGiB + 1, 64, false) == above_largest);
    CHECK(verdict(kind, kGiB + 1, 64, true) == fits);
    CHECK(verdict(kind, 8 * kGiB, 64, true) == fits);
    CHECK(verdict(kind, 8 * kGiB + 1, 64, true) == (kind == MemoryKind::host ? fits : above_memory));
    CHECK(check_allocation({}, {kind, std::uint64_t{1} << 47, 64, true}) == fits);
    CHECK(check_allocation({}, {kind, (std::uint64_t{1} << 47) + 1, 64, true}) == above_addresses);
    CHECK(check_allocation({}, {kind, UINT64_MAX, 64, false}) == fits);  // the driver's to say
  }

  check_diagnostic("K0205", ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                   context().allocate_shared(device.device, 64, {.alignment = std::size_t{1} << 40}),
                   "too-large");
  check_diagnostic("K0207", ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                   context().allocate_device(device.device, kGiB + 1), "free");
  check_diagnostic("K0225", ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                   context().allocate_shared(device.device, 8 * kGiB + 1, {.relaxed_limits = true}));
  check_diagnostic("K0225", kNoHostMemory, context().allocate_host(SIZE_MAX - 4096, {.relaxed_limits = true}),
                   "addresses");
  using enum Call;
  CHECK(stub.calls(zeMemAllocDevice) + stub.calls(zeMemAllocHost) + stub.calls(zeMemAllocShared) == 0);
}

TEST_CASE_FIXTURE(Fixture, "K0205: an alignment that the driver forgets") {
  std::optional<Result<Buffer>> last;  // the stub's memory is the heap's: some address will be odd
  for (int i = 0; i < 64 && (!last || *last); ++i)
    last = context().allocate_device(device.device, 64, {.alignment = std::size_t{1} << 30});
  check_diagnostic("K0205", ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, *last, "forgotten");
  CHECK(stub.calls(Call::zeMemFree) == stub.calls(Call::zeMemAllocDevice));
}

TEST_CASE_FIXTURE(Fixture, "K0214 to K0216, K0220: allocations that the driver refuses") {
  const auto allocate = [&](ze_result_t code) {
    stub.fail(Call::zeMemAllocDevice, code);
    return context().allocate_device(device.device, 4096);
  };
  check_diagnostic("K0214", kNoDeviceMemory, allocate(kNoDeviceMemory));
  stub.fail(Call::zeMemAllocHost, kNoHostMemory);
  check_diagnostic("K0215", kNoHostMemory, context().allocate_host(4096));
  check_diagnostic("K0216", kLost, allocate(kLost));
  CHECK(allocate(ZE_RESULT_ERROR_UNKNOWN).error().diagnostic() == nullptr);
  stub.device_status = kLost;
  for (const ze_result_t code : {kLost, kNoDeviceMemory}) {
    const auto lost = allocate(code);
    CHECK(lost.error().code() == code);
    CHECK(lost.error().diagnostic()->code == "K0220");
  }
}

TEST_CASE_FIXTURE(Fixture, "K0217, K0218, K0223, K0224: pools, lists and queues") {
  check_diagnostic("K0223", ZE_RESULT_ERROR_INVALID_SIZE, EventPoolRef::create(context(), 0));
  check_diagnostic("K0223", kNoDeviceMemory, EventPoolRef::create(context(), UINT32_MAX), "many");
  CHECK(stub.calls(Call::zeEventPoolCreate) == 0);
  CHECK(EventPoolRef::create(context(), 1u << 24));
  stub.fail(Call::zeEventPoolCreate, kNoDeviceMemory);
  check_diagnostic("K0217", kNoDeviceMemory, EventPoolRef::create(context(), 100'000));

  stub.forget();
  check_diagnostic("K0224", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   CommandListRef::create(context(), device.device, 1));
  CHECK(CommandListRef::create_immediate(context(), device.device, {}, 7).error().diagnostic()->code ==
        "K0224");
  CHECK(CommandQueueRef::create(context(), device.device, {}, UINT32_MAX).error().diagnostic()->code ==
        "K0224");
  using enum Call;
  CHECK(stub.calls(zeCommandListCreate) + stub.calls(zeCommandListCreateImmediate) +
            stub.calls(zeCommandQueueCreate) ==
        0);
  stub.fail(zeCommandListCreate, kNoDeviceMemory);
  check_diagnostic("K0218", kNoDeviceMemory, CommandListRef::create(context(), device.device));
  stub.fail(zeCommandListCreateImmediate, kNoHostMemory);
  CHECK(CommandListRef::create_immediate(context(), device.device).error().diagnostic()->code == "K0218");
  stub.fail(zeCommandQueueCreate, kNoDeviceMemory);
  stub.device_status = kLost;
  CHECK(CommandQueueRef::create(context(), device.device).error().diagnostic()->code == "K0220");
}

TEST_CASE_FIXTURE(Fixture, "K0210: a build that fails without a word") {
  const KernelFile file{"saxpy.spv", read_file(std::filesystem::path(KILN_TEST_SPIRV) / "saxpy.spv")};
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  check_diagnostic("K0210", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, Bundle::load(device, {file}));
  stub.fail(Call::zeModuleCreate, kNoDeviceMemory);
  check_diagnostic("K0210", kNoDeviceMemory, Bundle::load(device, {file}), "memory");
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  check_diagnostic("K0210", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                   Bundle::load(device, {file}, {.constants = {{7, 16}, {9, 1}}}), "constants");
}

TEST_CASE_FIXTURE(Fixture, "K0211 to K0213: kernels that the driver refuses") {
  const KernelFile file{"saxpy.spv", read_file(std::filesystem::path(KILN_TEST_SPIRV) / "saxpy.spv")};
  auto bundle = Bundle::load(device, {file});
  REQUIRE(bundle);
  const auto kernel = [&](ze_result_t code) {
    stub.fail(Call::zeKernelCreate, code);
    return bundle->kernel("saxpy");
  };
  stub.last_error_of_next = "private memory is too large";
  const auto memory = kernel(kNoDeviceMemory);
  CHECK(memory.error().diagnostic()->code == "K0212");
  CHECK(memory.error().diagnostic()->rows.at(0).text == "private memory is too large");
  CHECK(kernel(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY).error().diagnostic()->code == "K0211");
  CHECK(kernel(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION).error().diagnostic()->code == "K0213");
  CHECK(kernel(kLost).error().diagnostic()->code == "K0220");
  CHECK(kernel(ZE_RESULT_ERROR_UNKNOWN).error().diagnostic() == nullptr);
  CHECK(kernel(ZE_RESULT_SUCCESS));

  // With all that a native binary tells.
  Refusal known = refusal(kNoDeviceMemory, "zeKernelCreate");
  known.memory = 8 * kGiB;
  known.threads = 2048;
  check_diagnostic("K0212", *explain_kernel(known, heavy_facts()));
  known.code = ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  check_diagnostic("K0211", *explain_kernel(known, heavy_facts()));
  known.code = ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  check_diagnostic("K0213", *explain_kernel(known, heavy_facts()));
}

TEST_CASE_FIXTURE(Fixture, "K0117, K0118, K0120: kernels that are not launched in the ordinary way") {
  KernelFacts facts = heavy_facts();
  facts.required_group_size = {};
  const auto with = [&](const KernelFacts& kernel) {
    return CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), kernel, device.compute,
                                 {stub.driver, stub.device})
        .value();
  };
  facts.is_invalid = true;
  check_diagnostic("K0117", ZE_RESULT_ERROR_INVALID_ARGUMENT, launch_heavy(with(facts)), "launch");
  facts.is_invalid = false;
  facts.needs_sync_buffer = true;
  const CheckedKernel kernel = with(facts);
  check_diagnostic("K0118", ZE_RESULT_ERROR_INVALID_ARGUMENT, launch_heavy(kernel), "error");

  void* out = nullptr;
  const std::array<LaunchArgument, 2> arguments{
      {{ArgumentKind::global_pointer, 8, &out}, {ArgumentKind::local_pointer, 5000, nullptr}}};
  stub.cooperative_groups = 12;
  CHECK(max_cooperative_groups(kernel, {64, 4, 1}, arguments) == 12);
  CHECK(launch_cooperative_with(list, kernel, {{3, 4, 1}, {64, 4, 1}}, arguments));
  check_diagnostic("K0120", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   launch_cooperative_with(list, kernel, {{13, 1, 1}, {64, 4, 1}}, arguments));
  // 2^32 x 2^32 groups are 0 to a driver that counts in 32 bits.
  CHECK_FALSE(launch_cooperative_with(list, kernel, {{UINT32_MAX, UINT32_MAX, 4}, {64, 4, 1}}, arguments));
}

TEST_CASE_FIXTURE(Fixture, "K0219, K0220: launches that the driver refuses") {
  KernelFacts facts = heavy_facts();
  facts.required_group_size = {};
  const auto made = CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, device.compute,
                                          {stub.driver, stub.device});
  REQUIRE(made);
  const auto send = [&](Call call, ze_result_t code) {
    stub.fail(call, code);
    return launch_heavy(*made);
  };
  const Call append = Call::zeCommandListAppendLaunchKernel;
  stub.last_error = "Size of SLM (15120) larger than available (5120)";  // another launch's
  check_diagnostic("K0219", kNoDeviceMemory, send(append, kNoDeviceMemory));
  stub.last_error = "Size of SLM (5120) larger than available (4096)";
  check_diagnostic("K0219", kNoDeviceMemory, send(append, kNoDeviceMemory), "text");
  stub.last_error.clear();
  check_diagnostic("K0219", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   send(Call::zeKernelSetArgumentValue, ZE_RESULT_ERROR_INVALID_ARGUMENT), "argument");
  check_diagnostic("K0122", ZE_RESULT_ERROR_INVALID_ARGUMENT, send(append, ZE_RESULT_ERROR_INVALID_ARGUMENT),
                   "ordinary");
  check_diagnostic("K0220", kLost, send(append, kLost));
  stub.device_status = kLost;  // what an immediate list calls lack of memory
  check_diagnostic("K0220", kNoDeviceMemory, send(append, kNoDeviceMemory), "memory");
  CHECK(launch_heavy(*made));
}

TEST_CASE_FIXTURE(Fixture, "K0220, K0221: submission and waiting") {
  const CommandQueueRef queue = stub.new_handle<ze_command_queue_handle_t>();
  const EventRef event = stub.new_handle<ze_event_handle_t>();
  const FenceRef fence = stub.new_handle<ze_fence_handle_t>();
  stub.fail(Call::zeCommandQueueExecuteCommandLists, kNoHostMemory);
  check_diagnostic("K0221", kNoHostMemory, queue.execute(list));
  stub.fail(Call::zeCommandListAppendBarrier, kNoDeviceMemory);
  check_diagnostic("K0221", kNoDeviceMemory, list.barrier(), "list");
  stub.device_status = kLost;
  stub.fail(Call::zeCommandListAppendBarrier, kNoDeviceMemory);
  CHECK(list.barrier().error().diagnostic()->code == "K0220");

  const auto lost = [&](Call call, auto wait) {
    CAPTURE(name_of(call));
    stub.fail(call, kLost);
    const auto answer = wait();
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == kLost);
    REQUIRE(answer.error().diagnostic());
    CHECK(answer.error().diagnostic()->code == "K0220");
  };
  using enum Call;
  lost(zeEventHostSynchronize, [&] { return event.wait(); });
  lost(zeEventQueryStatus, [&] { return event.is_signalled(); });
  lost(zeFenceHostSynchronize, [&] { return fence.wait(); });
  lost(zeFenceQueryStatus, [&] { return fence.is_signalled(); });
  lost(zeCommandQueueSynchronize, [&] { return queue.synchronize(); });
  lost(zeCommandListHostSynchronize, [&] { return list.synchronize(); });
  lost(zeCommandQueueExecuteCommandLists, [&] { return queue.execute(list); });
}

TEST_CASE("K0227: a compiler that crashed") {
  check_diagnostic("K0227",
                   explain_dead_compiler("gemm.spv", "SPIR-V",
                                         "the compiler ended its process (SIGSEGV); the last that it "
                                         "printed:\nunhandled instruction"));
  check_diagnostic("K0227",
                   explain_dead_compiler("scale.cl", "OpenCL C", "the compiler ended its process (SIGSEGV)"),
                   "source");
}

TEST_CASE_FIXTURE(Fixture, "K0224, K0230 to K0232: queues, features, regions, functions that are not there") {
  check_diagnostic("K0224", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   CommandQueueRef::create(context(), device.device, {.index = 1}), "queue");

  constexpr auto kUnsupported = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  const ListOptions in_order{.in_order = true, .copy_offload = true};
  check_diagnostic("K0230", kUnsupported, CommandListRef::create(context(), device.device, 0, in_order));
  CHECK(stub.calls(Call::zeCommandListCreate) == 0);
  stub.fail(Call::zeCommandListHostSynchronize, ZE_RESULT_ERROR_UNINITIALIZED);  // as a newer loader does
  check_diagnostic("K0230", kUnsupported, list.synchronize(), "loader");
  stub.fail(Call::zeEventCounterBasedCreate, kUnsupported);
  check_diagnostic("K0230", kUnsupported, EventRef::create_counter_based(context(), device.device), "driver");

  stub.api_version = ZE_MAKE_VERSION(1, 7);
  CHECK(CommandListRef::create(context(), device.device, 0, in_order));
  CHECK(stub.last<ze_command_list_desc_t>().flags == 0x8);  // the hint is left out
  stub.api_version = ZE_MAKE_VERSION(1, 14);
  CHECK(CommandListRef::create(context(), device.device, 0, in_order));
  CHECK(stub.last<ze_command_list_desc_t>().flags == 0x28);
  CHECK(CommandListRef::create_immediate(context(), device.device, {.priority = QueuePriority::high}, 0,
                                         in_order));
  CHECK(stub.last<ze_command_queue_desc_t>().flags == 0x6);
  CHECK(stub.last<ze_command_queue_desc_t>().priority == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
  stub.fail(Call::zeCommandListCreate,
            ZE_RESULT_ERROR_INVALID_ENUMERATION);  // a loader that checks, and is older
  CHECK(CommandListRef::create(context(), device.device, 0, in_order).error().diagnostic()->code == "K0230");

  std::byte bytes[64]{};
  const RegionPlace place{.x = 8, .pitch = 16, .slice_pitch = 32};
  check_diagnostic("K0231", ZE_RESULT_ERROR_INVALID_SIZE,
                   list.copy_region(bytes, place, bytes, place, {9, 2}));
  // Rows times pitch is a little above 2^64.
  const RegionPlace huge{.y = 0xffffffff, .pitch = 0x80000001, .slice_pitch = 0xffffffff};
  CHECK(!list.copy_region(bytes, huge, bytes, huge, {1, 0xffffffff, 2}));
  CHECK(stub.calls(Call::zeCommandListAppendMemoryCopyRegion) == 0);
  CHECK(list.copy_region(bytes, place, bytes, place, {8, 2, 2}));

  check_diagnostic("K0232", kUnsupported, device.driver.entry_point("zeNoSuchThing"));
  stub.loader_wraps = true;
  check_diagnostic("K0232", kUnsupported, device.driver.entry_point("zeNoSuchThing"), "wrapped");
}

TEST_CASE_FIXTURE(Fixture, "K0233 to K0235: names of a module, and memory that is shared") {
  const ModuleRef module = stub.new_handle<ze_module_handle_t>();
  stub.fail(Call::zeModuleGetGlobalPointer, ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
  check_diagnostic("K0233", ZE_RESULT_ERROR_INVALID_GLOBAL_NAME, module.global("sum"));
  stub.fail(Call::zeModuleGetFunctionPointer, ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
  check_diagnostic("K0233", ZE_RESULT_ERROR_INVALID_FUNCTION_NAME, module.function("twice"), "function");
  check_diagnostic("K0234", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                   allocate_exportable(context(), device.device, 64, ExternalKind::opaque_fd));
  check_diagnostic("K0234", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                   import_fd(context(), device.device, 3, 64, ExternalKind::dma_buf), "import");
  CHECK(stub.calls(Call::zeMemAllocDevice) == 0);
  const auto buffer = context().allocate_device(device.device, 64);
  REQUIRE(buffer);
  check_diagnostic("K0235", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   export_fd(context(), *buffer, ExternalKind::dma_buf));
}

TEST_CASE_FIXTURE(Fixture, "K0238: a descriptor that the driver does not take") {
  stub.external = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
  const auto import = [&](std::size_t size) {
    return import_fd(context(), device.device, 1000, size, ExternalKind::opaque_fd);
  };
  CHECK(import(0).error().diagnostic()->code == "K0204");
  CHECK(stub.calls(Call::zeMemAllocDevice) == 0);
  stub.fail(Call::zeMemAllocDevice, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  check_diagnostic("K0238", ZE_RESULT_ERROR_INVALID_ARGUMENT, import(64));
  stub.fail(Call::zeMemAllocDevice, kNoDeviceMemory);
  CHECK(import(64).error().diagnostic() == nullptr);
  stub.fail(Call::zeMemAllocDevice, kLost);
  CHECK(import(64).error().diagnostic()->code == "K0220");
  stub.device_properties.maxMemAllocSize = 4096;
  CHECK(import(8192));  // how large it is was the exporter's to say
}

TEST_CASE_FIXTURE(Fixture, "memory to be exported is checked and explained as other memory is") {
  stub.external = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
  const auto allocate = [&](std::size_t size, AllocationOptions options = {}) {
    return allocate_exportable(context(), device.device, size, ExternalKind::opaque_fd, options);
  };
  CHECK(allocate(0).error().diagnostic()->code == "K0204");
  CHECK(allocate(64, {.alignment = 48}).error().diagnostic()->code == "K0205");
  CHECK(allocate(kGiB + 1).error().diagnostic()->code == "K0207");
  CHECK(stub.calls(Call::zeMemAllocDevice) == 0);
  stub.recording = true;
  REQUIRE(allocate(kGiB + 1, {.relaxed_limits = true}));
  const auto sent = std::ranges::find(stub.structs, Call::zeMemAllocDevice, &SentStruct::call);
  REQUIRE(sent != stub.structs.end());
  CHECK(std::ranges::count(sent->chain, StructureType<ze_relaxed_allocation_limits_exp_desc_t>::value) == 1);
  CHECK(std::ranges::count(sent->chain, StructureType<ze_external_memory_export_desc_t>::value) == 1);
  stub.fail(Call::zeMemAllocDevice, kNoDeviceMemory);
  check_diagnostic("K0214", kNoDeviceMemory, allocate(4096));
}

TEST_CASE_FIXTURE(Fixture, "K0236 and K0237: modules that do not link, and memory that is no pages") {
  const ModuleRef modules[] = {stub.new_handle<ze_module_handle_t>(), stub.new_handle<ze_module_handle_t>()};
  CHECK(link_modules(modules));
  stub.build_log = "error: function 'twice' is not defined by any of the modules";
  stub.fail(Call::zeModuleDynamicLink, ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
  check_diagnostic("K0236", ZE_RESULT_ERROR_MODULE_LINK_FAILURE, link_modules(modules));
  CHECK(stub.calls(Call::zeModuleBuildLogDestroy) == 2);
  Api table = default_api();
  table.zeCommandListGetDeviceHandle = nullptr;  // as of an old loader
  const Api& old = load_table(table);
  const ModuleRef behind[] = {ModuleRef(modules[0].raw(), old)};
  CHECK(link_modules(behind));
  stub.loader_wraps = true;
  check_diagnostic("K0236", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, link_modules(behind), "loader");
  CHECK(stub.calls(Call::zeModuleDynamicLink) == 3);

  auto* const address = reinterpret_cast<void*>(std::uintptr_t{0x7f0000001010});
  check_diagnostic("K0237", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   import_host(device.driver, context(), address, 100));
}

TEST_CASE("K0230: an engine's own table without what is newer") {
  const StubDriver stub(StubDriver::Optional::absent);
  const ContextRef context = reinterpret_cast<ze_context_handle_t>(16);
  const CommandListRef list = reinterpret_cast<ze_command_list_handle_t>(32);
  CHECK(EventRef::create_counter_based(context, stub.device).error().diagnostic()->code == "K0230");
  CHECK(list.synchronize().error().diagnostic()->code == "K0230");
  CHECK(list.append(list).error().diagnostic()->code == "K0230");
  CHECK(list.host_function([](void*) {}, nullptr).error().diagnostic()->code == "K0230");
  CHECK(stub.all_calls() == 0);
  const DriverRef driver = stub.driver;
  for (const Feature feature :
       {Feature::in_order_lists, Feature::copy_offload, Feature::list_synchronize,
        Feature::counter_based_events, Feature::append_lists, Feature::host_functions})
    CHECK_FALSE(driver.has(feature));
}

TEST_CASE_FIXTURE(Fixture, "K0222, K0226, K0228, K0239: what never reaches the driver") {
  const std::byte bytes[64]{};
  void* to = const_cast<std::byte*>(bytes);
  check_diagnostic("K0222", ZE_RESULT_ERROR_INVALID_NULL_HANDLE, CommandListRef().close());
  check_diagnostic("K0222", ZE_RESULT_ERROR_INVALID_NULL_POINTER, list.copy(to, nullptr, 64), "pointer");
  check_diagnostic("K0226", ZE_RESULT_ERROR_INVALID_SIZE, list.fill(to, std::span(bytes, 3), 63));
  const EventRef foreign(stub.new_handle<ze_event_handle_t>(), load_table({}));
  check_diagnostic("K0228", ZE_RESULT_ERROR_INVALID_ARGUMENT, list.signal(foreign));
  auto* const odd = reinterpret_cast<std::uint64_t*>(std::uintptr_t{0x1003});
  check_diagnostic("K0239", ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, list.write_timestamp(odd));
  CHECK_FALSE(list.fill(to, {}, 64));
  CHECK(stub.all_calls() == 0);
  CHECK(list.fill(to, std::span(bytes, 4), 63));
  CHECK(list.fill(to, std::span(bytes, 4), 64));
}

TEST_CASE_FIXTURE(Fixture, "K0252: the host and an event that counts") {
  const EventRef event = stub.new_handle<ze_event_handle_t>();
  stub.fail(Call::zeEventHostReset, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  check_diagnostic("K0252", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, event.reset());
  stub.fail(Call::zeEventHostSignal, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  CHECK(event.signal().error().diagnostic()->code == "K0252");
}

TEST_CASE_FIXTURE(Fixture, "K0121, K0122, K0229: arguments and lists that do not go with a launch") {
  KernelFacts facts;
  facts.name = "blur";
  facts.arguments_known = true;
  facts.arguments = {{ArgumentKind::image, 0, 16, "in"}, {ArgumentKind::global_pointer, 8, 16, "out"}};
  const auto kernel = CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, device.compute,
                                            {stub.driver, stub.device});
  REQUIRE(kernel);
  const auto image = stub.new_handle<ze_image_handle_t>();
  void* const host = reinterpret_cast<void*>(0x5550);
  const Launch shape{{1}, {16}};
  check_diagnostic("K0121", ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                   launch(list, *kernel, shape, ze_image_handle_t{}, host));
  stub.fail(Call::zeKernelSetArgumentValue, ZE_RESULT_ERROR_INVALID_ARGUMENT, 2);
  check_diagnostic("K0229", ZE_RESULT_ERROR_INVALID_ARGUMENT, launch(list, *kernel, shape, image, host));
  const LaunchArgument arguments[] = {{ArgumentKind::image, 8, &image},
                                      {ArgumentKind::global_pointer, 8, &host}};
  stub.fail(Call::zeCommandListAppendLaunchCooperativeKernel, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  check_diagnostic("K0122", ZE_RESULT_ERROR_INVALID_ARGUMENT,
                   launch_cooperative_with(list, *kernel, shape, arguments));
  stub.fail(Call::zeKernelSetGroupSize, ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  const auto refused = max_cooperative_groups(*kernel, {16}, arguments);
  REQUIRE_FALSE(refused);
  REQUIRE(refused.error().diagnostic());
  CHECK(refused.error().diagnostic()->code == "K0219");
}

TEST_CASE_FIXTURE(Fixture, "K0112: buffers above 4 GiB") {
  KernelFacts facts = heavy_facts();
  facts.required_group_size = {};
  const auto large = [&](bool built_for_it, std::uint64_t bytes) {
    facts.has_4gb_buffers = built_for_it;
    const auto kernel = CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, device.compute,
                                              {stub.driver, stub.device, largest_buffer(facts, "", 0)});
    REQUIRE(kernel);
    stub.forget();
    Buffer buffer = Buffer::adopt(context(), &facts, bytes, MemoryKind::device);
    auto answer = launch(list, *kernel, {{10, 1, 1}, {64, 4, 1}}, buffer, LocalMemory{5000});
    (void)buffer.release();
    return answer;
  };
  check_diagnostic("K0112", ZE_RESULT_ERROR_UNSUPPORTED_SIZE, large(false, 4 * kGiB + 1));
  CHECK(stub.all_calls() == 0);
  CHECK(large(false, 4 * kGiB));
  CHECK(large(true, 64 * kGiB));

  // Not compiled yet: by the flags, where the device has the bound at all.
  KernelFacts source;
  CHECK(largest_buffer(source, "", 4 * kGiB - 8192) == 4 * kGiB);
  CHECK(largest_buffer(source, "-a -ze-opt-greater-than-4GB-buffer-required", 4 * kGiB - 8192) == UINT64_MAX);
  CHECK(largest_buffer(source, "", 16 * kGiB) == UINT64_MAX);
  CHECK(largest_buffer(source, "", 0) == UINT64_MAX);
}

TEST_CASE_FIXTURE(Fixture, "K0113, K0114: modules that no driver must see") {
  ModuleFacts module;
  module.kernels = {heavy_facts()};
  CHECK(!check_module(module, kGiB));
  module.global_data = kGiB;
  module.constant_data = kGiB;
  CHECK(!check_module(module, kGiB));
  module.constant_data = 4 * kGiB;
  CHECK(!check_module(module, 8 * kGiB));
  module.spirv_version = 0x00010000;
  CHECK(check_module(module, 8 * kGiB)->code == "K0113");
  CHECK(check_module(module, 0)->code == "K0113");
  module.spirv_version = 0;
  module.constant_data = kGiB + 1;
  CHECK(!check_module(module, 0));
  check_diagnostic("K0113", *check_module(module, kGiB));
  module.kernels[0].malformed = "slm_alloc_mode is 7, neither 0 nor 1";
  check_diagnostic("K0114", *check_module(module, kGiB));
}

TEST_CASE("K0114: what `.ze_info` must not say") {
  const auto malformed = [](const std::string& environment, const std::string& argument) {
    const auto facts =
        read_ze_info("version: '1.20'\nkernels:\n  - name: k\n    execution_env:\n      simd_size: 16\n" +
                     environment + "    payload_arguments:\n      - arg_type: arg_bypointer\n" + argument +
                     "        size: 8\n        arg_index: 0\n        addrmode: slm\n");
    REQUIRE(facts);
    return facts->kernels.at(0).malformed;
  };
  const std::string offset = "        offset: 32\n", env = "      ";
  CHECK(malformed("", offset).empty());
  CHECK(malformed(env + "slm_alloc_mode: 1\n", offset).empty());
  CHECK(malformed(env + "required_work_group_size: [ 0, 0, 0 ]\n", offset).empty());
  CHECK(malformed(env + "required_work_group_size: [ 32, 1, 1 ]\n", offset).empty());
  CHECK(malformed("", "").find("offset") != std::string::npos);
  for (const char* mode : {"2", "-1", "7"})
    CHECK(malformed(env + "slm_alloc_mode: " + mode + "\n", offset).find(mode) != std::string::npos);
  for (const char* size : {"[ 32, 0, 1 ]", "[ 32, 1, 0 ]", "[ 1, 0, 0 ]"})
    CHECK(!malformed(env + "required_work_group_size: " + size + "\n", offset).empty());
}
