// SPDX-License-Identifier: MIT
// Bundles, module builds and waits against the fake driver.
#include <doctest/doctest.h>

#include "kiln/bundle.hpp"
#include "level_zero/create_module.hpp"
#include "support/stub_driver.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("a bundle destroys its kernels before its module, also when another moves in") {
  StubDriver stub;
  const auto load = [&] {
    auto device = open_device({stub.driver, stub.device}, DeviceKind::gpu);
    REQUIRE(device);
    auto bundle = Bundle::load(
        *device, {{"slm_table.spv", read_file(std::filesystem::path(KILN_TEST_SPIRV) / "slm_table.spv")}});
    REQUIRE(bundle);
    REQUIRE(bundle->kernel("strided"));
    REQUIRE(bundle->kernel("every_item"));
    return *std::move(bundle);
  };
  using enum Call;
  const auto order = [&] {
    std::vector<Call> calls;
    for (const Destroyed& entry : stub.destroyed)
      if (entry.call == zeKernelDestroy || entry.call == zeModuleDestroy) calls.push_back(entry.call);
    return calls;
  };
  const std::vector<Call> right{zeKernelDestroy, zeKernelDestroy, zeModuleDestroy};
  SUBCASE("destruction") {
    { const Bundle bundle = load(); }
    CHECK(order() == right);
  }
  SUBCASE("move assignment") {
    Bundle first = load(), second = load();
    const ModuleRef kept = second.module();
    first = std::move(second);
    CHECK(order() == right);
    CHECK(first.module() == kept);
    Bundle& same = first;
    first = std::move(same);
    CHECK(order() == right);
    CHECK(first.module() == kept);
    CHECK(first.kernel("strided").value_or(nullptr) != nullptr);
    CHECK(stub.calls(zeKernelCreate) == 4);  // found, not made again
  }
}

TEST_CASE("module builds") {
  StubDriver stub;
  const ContextRef context = stub.new_handle<ze_context_handle_t>();
  const std::uint32_t header[5] = {0x07230203, 0x00010000};
  const auto code = std::as_bytes(std::span(header));
  const auto build = [&] {
    const ModuleInput input{ModuleFormat::spirv, code};
    return detail::create_module(stub.driver, context, stub.device, {&input, 1});
  };

  SUBCASE("the log comes back after success and is destroyed") {
    stub.build_log = "warning: something";
    const ModuleBuild result = build();
    CHECK(result.code() == ZE_RESULT_SUCCESS);
    CHECK(result.module);
    CHECK(result.log == "warning: something");
    CHECK(result.last_error.empty());
    CHECK(stub.calls(Call::zeModuleBuildLogDestroy) == 1);
    CHECK(stub.module_formats == std::vector{ZE_MODULE_FORMAT_IL_SPIRV});
  }
  SUBCASE("and after failure") {
    stub.build_log = "error: no";
    stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    const ModuleBuild result = build();
    CHECK(result.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK_FALSE(result.module);
    CHECK(result.log == "error: no");
    CHECK(stub.calls(Call::zeModuleBuildLogDestroy) == 1);
    CHECK(stub.calls(Call::zeModuleDestroy) == 0);
  }
  SUBCASE("a loader that wraps handles forgets the log of a failure, which is not touched then") {
    stub.loader_wraps = true;
    stub.build_log = "error: no";
    stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(build().log.find("ZE_ENABLE_ALT_DRIVERS") != std::string::npos);
    CHECK(stub.calls(Call::zeModuleBuildLogGetString) == 0);
    CHECK(stub.calls(Call::zeModuleBuildLogDestroy) == 0);
    CHECK(build().log == "error: no");  // success
  }
  SUBCASE("a log that cannot be read is empty and still destroyed") {
    stub.build_log = "lost";
    stub.fail(Call::zeModuleBuildLogGetString, ZE_RESULT_ERROR_UNKNOWN, 2);
    CHECK(build().log.empty());
    CHECK(stub.calls(Call::zeModuleBuildLogDestroy) == 1);
  }
  SUBCASE("what is no SPIR-V never reaches the compiler, which would leave the process") {
    const std::uint32_t future[5] = {0x07230203, 0x00020000}, other[5] = {0x03022307};
    for (const std::span<const std::byte> bad : std::initializer_list<std::span<const std::byte>>{
             std::as_bytes(std::span(future)), std::as_bytes(std::span(other)), code.first(4), code.first(19),
             code.first(0)}) {
      const ModuleInput input{ModuleFormat::spirv, bad};
      const ModuleBuild result = detail::create_module(stub.driver, context, stub.device, {&input, 1});
      CHECK(result.code() != ZE_RESULT_SUCCESS);
      CHECK_FALSE(result.log.empty());
    }
    CHECK(stub.calls(Call::zeModuleCreate) == 0);
  }
  SUBCASE("the last-error description counts only when this build changed it") {
    stub.last_error = "of long ago";
    stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(build().last_error.empty());
    stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    stub.last_error_of_next = "Size of SLM (102400) larger than available (65536)";
    CHECK(build().last_error == "Size of SLM (102400) larger than available (65536)");
    CHECK(build().last_error.empty());  // success
  }
}

TEST_CASE("without the optional entry points") {
  StubDriver stub(StubDriver::Optional::absent);
  const std::byte code[4]{};
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  const ContextRef context = stub.new_handle<ze_context_handle_t>();
  const ModuleInput input{ModuleFormat::native, code};
  CHECK(detail::create_module(stub.driver, context, stub.device, {&input, 1}).last_error.empty());
  const CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
  CHECK(list.synchronize().error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("waits: timeouts as Level Zero counts them, NOT_READY as it is") {
  StubDriver stub;
  const EventRef event = stub.new_handle<ze_event_handle_t>();
  CHECK(event.wait());
  CHECK(event.wait(std::chrono::microseconds(3)));
  CHECK(event.wait(Timeout(-1)));
  CHECK(stub.timeouts == std::vector<std::uint64_t>{UINT64_MAX, 3'000, 0});
  stub.signalled = false;
  CHECK(event.wait(Timeout(0)).error().code() == ZE_RESULT_NOT_READY);
  CHECK(event.is_signalled().value_or(true) == false);
  stub.signalled = true;
  CHECK(event.is_signalled().value_or(false) == true);
  stub.fail(Call::zeEventQueryStatus, ZE_RESULT_ERROR_DEVICE_LOST);
  CHECK(event.is_signalled().error().code() == ZE_RESULT_ERROR_DEVICE_LOST);

  stub.timestamps.global = {0xfffffff0, 0x10};
  DeviceProperties device;
  device.timestamp_bits = 32;
  device.timer_ticks_per_second = 1'000'000'000;
  CHECK(event.kernel_duration(device).value_or(std::chrono::nanoseconds(0)).count() == 0x20);
}
