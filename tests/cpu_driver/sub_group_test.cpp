// SPDX-License-Identifier: MIT
// Sub-group sizes in properties, and kernels that hang: an error wherever the application waits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fixture.hpp"

namespace {

constexpr ze_group_count_t kOneGroup{1, 1, 1};

std::uint32_t widest(Fixture& f) {
  const auto compute = f.compute();
  return *std::max_element(compute.subGroupSizes, compute.subGroupSizes + compute.numSubGroupSizes);
}

bool offers(Fixture& f, std::uint32_t size) {
  const auto compute = f.compute();
  const auto* end = compute.subGroupSizes + compute.numSubGroupSizes;
  return std::find(compute.subGroupSizes, end, size) != end;
}

ze_kernel_properties_t properties_of(ze_kernel_handle_t kernel) {
  auto properties = make<ze_kernel_properties_t>(ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
  REQUIRE(api.KernelGetProperties(kernel, &properties) == ZE_RESULT_SUCCESS);
  return properties;
}

/// A kernel that hangs, ready to be launched.
ze_kernel_handle_t hanging(Fixture& f) {
  const auto kernel = f.kernel(f.module("../cpu_program/spirv/execute.ocloc.spv"), "uneven");
  const void* data = f.memory(64);
  REQUIRE(api.KernelSetArgumentValue(kernel, 0, sizeof data, &data) == ZE_RESULT_SUCCESS);
  REQUIRE(api.KernelSetGroupSize(kernel, 64, 1, 1) == ZE_RESULT_SUCCESS);
  return kernel;
}

void check_text(Fixture& f) {
  const std::string text = f.last_error();
  CAPTURE(text);
  if (text == "no function") return;  // loader 1.8
  CHECK(text.find("kernel 'uneven' hangs in work-group (0, 0, 0)") != text.npos);
  CHECK(text.find("21 of 64 work-items have ended (linear local ids 2, 5, ..., 62)") != text.npos);
}

}  // namespace

TEST_CASE("sub-group sizes of kernels are sizes of the device") {
  Fixture f;
  const std::uint32_t most = f.compute().maxTotalGroupSize;
  const auto free = properties_of(f.kernel(f.module(), "add"));
  CHECK(free.requiredSubgroupSize == 0);
  CHECK(free.maxSubgroupSize == widest(f));
  CHECK(free.maxNumSubgroups == most / widest(f));

  const auto bytes = read_file("../cpu_program/spirv/sub_group.spv");
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  ze_module_handle_t module = nullptr;
  const ze_result_t result = api.ModuleCreate(f.context, f.device, &desc, &module, nullptr);
  // It has a kernel that requires 8.
  REQUIRE(result == (offers(f, 8) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE));
  if (result != ZE_RESULT_SUCCESS) return;
  for (const std::uint32_t size : {8u, 16u, 32u}) {
    CAPTURE(size);
    auto kernel_desc = make<ze_kernel_desc_t>(ZE_STRUCTURE_TYPE_KERNEL_DESC);
    const std::string name = "requires_" + std::to_string(size);
    kernel_desc.pKernelName = name.c_str();
    ze_kernel_handle_t kernel = nullptr;
    REQUIRE(api.KernelCreate(module, &kernel_desc, &kernel) == ZE_RESULT_SUCCESS);
    const auto required = properties_of(kernel);
    CHECK(required.requiredSubgroupSize == size);
    CHECK(required.maxSubgroupSize == size);
    CHECK(required.maxNumSubgroups == most / size);
    CHECK(api.KernelDestroy(kernel) == ZE_RESULT_SUCCESS);
  }
  CHECK(api.ModuleDestroy(module) == ZE_RESULT_SUCCESS);
}

TEST_CASE("the driver lists its sub-group functions") {
  Fixture f;
  std::uint32_t count = 0;
  REQUIRE(api.DriverGetExtensionProperties(f.driver, &count, nullptr) == ZE_RESULT_SUCCESS);
  std::vector<ze_driver_extension_properties_t> extensions(count);
  REQUIRE(api.DriverGetExtensionProperties(f.driver, &count, extensions.data()) == ZE_RESULT_SUCCESS);
  CHECK(std::ranges::count_if(extensions, [](const ze_driver_extension_properties_t& extension) {
          return std::strcmp(extension.name, "ZE_extension_subgroups") == 0;
        }) == 1);
}

TEST_CASE("a kernel that hangs is an error of a synchronous launch") {
  Fixture f;
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  CHECK(api.CommandListAppendLaunchKernel(list, hanging(f), &kOneGroup, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_DEVICE_LOST);
  check_text(f);
  CHECK(api.DeviceGetStatus(f.device) == ZE_RESULT_SUCCESS);
}

TEST_CASE("a kernel that hangs is an error of queue, event and fence, and later commands run") {
  Fixture f;
  const auto kernel = hanging(f);
  const auto hung = f.event(), after = f.event();
  const auto list = f.list();
  auto* data = f.memory(1);
  const std::uint32_t pattern = 7;
  REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kOneGroup, hung, 0, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendMemoryFill(list, data, &pattern, 4, 4, after, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  const auto queue = f.queue();
  const auto fence = f.fence(queue);
  auto handle = list;
  REQUIRE(api.CommandQueueExecuteCommandLists(queue, 1, &handle, fence) == ZE_RESULT_SUCCESS);
  CHECK(api.EventHostSynchronize(after, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 7);
  CHECK(api.EventHostSynchronize(hung, kForever) == ZE_RESULT_ERROR_DEVICE_LOST);
  check_text(f);
  CHECK(api.EventQueryStatus(hung) == ZE_RESULT_ERROR_DEVICE_LOST);
  CHECK(api.FenceHostSynchronize(fence, kForever) == ZE_RESULT_ERROR_DEVICE_LOST);
  CHECK(api.CommandQueueSynchronize(queue, kForever) == ZE_RESULT_ERROR_DEVICE_LOST);
  check_text(f);
  CHECK(api.CommandQueueSynchronize(queue, kForever) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventHostReset(hung) == ZE_RESULT_SUCCESS);
  CHECK(api.EventQueryStatus(hung) == ZE_RESULT_NOT_READY);
  REQUIRE(api.EventHostSignal(hung) == ZE_RESULT_SUCCESS);
  CHECK(api.EventQueryStatus(hung) == ZE_RESULT_SUCCESS);
}
