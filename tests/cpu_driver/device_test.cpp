// SPDX-License-Identifier: MIT
// Driver and device properties, and the limits of the profile that the environment names.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "fixture.hpp"

namespace {

struct Limits {
  std::uint32_t slm, group, device_id, ip_version, threads;
  std::vector<std::uint32_t> sub_groups;
};

// Intel's driver 26.27 without a GPU.
const std::map<std::string, Limits> kLimits{
    {"tgllp", {65536, 512, 0x9a49, 0x03000000, 7, {8, 16, 32}}},
    {"dg2", {65536, 1024, 0x4f80, 0x030dc008, 8, {8, 16, 32}}},
    {"pvc", {131072, 1024, 0x0bd5, 0x030f0007, 8, {16, 32}}},
    {"bmg", {131072, 1024, 0xe202, 0x05004000, 8, {16, 32}}},
    {"lnl", {131072, 1024, 0x6420, 0x05010004, 8, {16, 32}}},
    {"ptl", {131072, 1024, 0xb080, 0x07800004, 10, {16, 32}}},
};

std::string profile() {
  const char* name = std::getenv("KILN_CPU_PROFILE");
  return name ? name : "bmg";
}

struct IpVersion {
  ze_structure_type_t stype;
  void* next;
  std::uint32_t version;
};

}  // namespace

TEST_CASE("the driver describes itself") {
  Fixture f;
  ze_api_version_t version{};
  CHECK(api.DriverGetApiVersion(f.driver, &version) == ZE_RESULT_SUCCESS);
  CHECK(version >= ZE_API_VERSION_1_4);
  auto properties = make<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
  CHECK(api.DriverGetProperties(f.driver, &properties) == ZE_RESULT_SUCCESS);
  CHECK(properties.driverVersion != 0);
  auto ipc = make<ze_driver_ipc_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES);
  ipc.flags = 3;
  CHECK(api.DriverGetIpcProperties(f.driver, &ipc) == ZE_RESULT_SUCCESS);
  CHECK(ipc.flags == (ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL));
  std::uint32_t count = 0;
  CHECK(api.DriverGetExtensionProperties(f.driver, &count, nullptr) == ZE_RESULT_SUCCESS);
  std::vector<ze_driver_extension_properties_t> extensions(count);
  CHECK(api.DriverGetExtensionProperties(f.driver, &count, extensions.data()) == ZE_RESULT_SUCCESS);
  bool offsets = false;
  for (const auto& extension : extensions)
    offsets |= std::strcmp(extension.name, "ZE_experimental_global_offset") == 0;
  CHECK(offsets);
  void* address = nullptr;
  CHECK(api.DriverGetExtensionFunctionAddress(f.driver, "zeKernelSetGlobalOffsetExp", &address) ==
        ZE_RESULT_SUCCESS);
  CHECK(address != nullptr);
  CHECK(api.DriverGetExtensionFunctionAddress(f.driver, "zeNoSuchFunction", &address) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("the device has the limits of the profile") {
  Fixture f;
  const Limits& limits = kLimits.at(profile());
  const auto compute = f.compute();
  CHECK(compute.maxSharedLocalMemory == limits.slm);
  CHECK(compute.maxTotalGroupSize == limits.group);
  CHECK(compute.maxGroupSizeX == limits.group);
  CHECK(compute.maxGroupCountX == UINT32_MAX);
  REQUIRE(compute.numSubGroupSizes == limits.sub_groups.size());
  for (std::size_t i = 0; i < limits.sub_groups.size(); ++i)
    CHECK(compute.subGroupSizes[i] == limits.sub_groups[i]);
  auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
  CHECK(api.DeviceGetProperties(f.device, &properties) == ZE_RESULT_SUCCESS);
  CHECK(properties.type == ZE_DEVICE_TYPE_CPU);
  CHECK(properties.vendorId != 0x8086);
  CHECK(properties.deviceId == limits.device_id);
  CHECK(properties.numThreadsPerEU == limits.threads);
  CHECK(std::string(properties.name) == "Kiln CPU device (" + profile() + " limits)");
}

// Each is tried in tests/cpu_program/properties_test.cpp.
TEST_CASE("the module properties are those of Intel's driver") {
  Fixture f;
  auto properties = make<ze_device_module_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  REQUIRE(api.DeviceGetModuleProperties(f.device, &properties) == ZE_RESULT_SUCCESS);
  const bool fp64 = profile() != "tgllp" && profile() != "dg2";
  CHECK(properties.flags == (ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS |
                             ZE_DEVICE_MODULE_FLAG_DP4A | (fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0)));
  auto atomics = make<ze_float_atomic_ext_properties_t>(ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
  properties.pNext = &atomics;
  REQUIRE(api.DeviceGetModuleProperties(f.device, &properties) == ZE_RESULT_SUCCESS);
  CHECK(atomics.fp16Flags == 0x70007);
  CHECK(atomics.fp32Flags == 0x70007);
  CHECK(atomics.fp64Flags == (fp64 ? 0x70007 : 0));
  CHECK(properties.fp16flags == 0x3f);
  CHECK(properties.fp32flags == (fp64 ? 0x7f : 0x3f));
  CHECK(properties.fp64flags == (fp64 ? 0x7f : 0));
  CHECK(properties.spirvVersionSupported >= ZE_MAKE_VERSION(1, 4));
}

TEST_CASE("straight: chained structures are filled, unknown ones passed over") {
  Fixture f;
  auto ip = make<IpVersion>(static_cast<ze_structure_type_t>(0x1000f));
  auto unknown = make<IpVersion>(static_cast<ze_structure_type_t>(0x7abcdef0));
  unknown.next = &ip;
  unknown.version = 77;
  auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
  properties.pNext = &unknown;
  CHECK(api.DeviceGetProperties(f.device, &properties) == ZE_RESULT_SUCCESS);
  CHECK(ip.version == kLimits.at(profile()).ip_version);
  CHECK(unknown.version == 77);
}

TEST_CASE("the timer resolution changes its unit with the structure") {
  Fixture f;
  auto old = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
  auto recent = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
  CHECK(api.DeviceGetProperties(f.device, &old) == ZE_RESULT_SUCCESS);
  CHECK(api.DeviceGetProperties(f.device, &recent) == ZE_RESULT_SUCCESS);
  CHECK(old.timerResolution == 83);
  CHECK(recent.timerResolution == 12000048);
}

TEST_CASE("memory is the host's and the largest allocation fits into it") {
  Fixture f;
  std::uint32_t count = 0;
  CHECK(api.DeviceGetMemoryProperties(f.device, &count, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(count == 1);
  auto memory = make<ze_device_memory_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
  CHECK(api.DeviceGetMemoryProperties(f.device, &count, &memory) == ZE_RESULT_SUCCESS);
  auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
  CHECK(api.DeviceGetProperties(f.device, &properties) == ZE_RESULT_SUCCESS);
  CHECK(memory.totalSize > 0);
  CHECK(properties.maxMemAllocSize <= memory.totalSize);
  const bool capped = profile() == "tgllp" || profile() == "dg2";
  if (capped) CHECK(properties.maxMemAllocSize <= 4294959104);
}

TEST_CASE("there are no sub-devices, images or samplers, and a queue for everything and one for copies") {
  Fixture f;
  std::uint32_t count = 5;
  CHECK(api.DeviceGetSubDevices(f.device, &count, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(count == 0);
  auto images = make<ze_device_image_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES);
  CHECK(api.DeviceGetImageProperties(f.device, &images) == ZE_RESULT_SUCCESS);
  CHECK(images.maxImageDims2D == 0);
  count = 0;
  CHECK(api.DeviceGetCommandQueueGroupProperties(f.device, &count, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(count == 2);
  auto group = make<ze_command_queue_group_properties_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
  ze_command_queue_group_properties_t groups[2] = {group, group};
  CHECK(api.DeviceGetCommandQueueGroupProperties(f.device, &count, groups) == ZE_RESULT_SUCCESS);
  CHECK((groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0);
  CHECK(groups[1].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
  CHECK(groups[1].maxMemoryFillPatternSize == 16);
  auto image = make<ze_image_desc_t>(ZE_STRUCTURE_TYPE_IMAGE_DESC);
  image.width = 4;
  ze_image_handle_t image_handle = nullptr;
  CHECK(api.ImageCreate(f.context, f.device, &image, &image_handle) == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  const auto sampler = make<ze_sampler_desc_t>(ZE_STRUCTURE_TYPE_SAMPLER_DESC);
  ze_sampler_handle_t sampler_handle = nullptr;
  CHECK(api.SamplerCreate(f.context, f.device, &sampler, &sampler_handle) ==
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("host and device clocks go on together") {
  Fixture f;
  std::uint64_t host[2] = {};
  std::uint64_t ticks[2] = {};
  CHECK(api.DeviceGetGlobalTimestamps(f.device, &host[0], &ticks[0]) == ZE_RESULT_SUCCESS);
  do {
    CHECK(api.DeviceGetGlobalTimestamps(f.device, &host[1], &ticks[1]) == ZE_RESULT_SUCCESS);
  } while (host[1] - host[0] < kMillisecond);
  const double seconds = static_cast<double>(host[1] - host[0]) * 1e-9;
  CHECK(static_cast<double>(ticks[1] - ticks[0]) == doctest::Approx(seconds * 12000048).epsilon(0.01));
}

// Through a loader null handles end in the loader itself.
TEST_CASE("straight: null handles and pointers are refused in the order of the specification") {
  Fixture f;
  CHECK(api.DeviceGetStatus(nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(api.DeviceGetProperties(nullptr, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(api.DeviceGetProperties(f.device, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(api.DriverGet(nullptr, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(api.ContextCreate(f.driver, nullptr, &f.context) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(api.ContextDestroy(nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(api.CommandListClose(nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(api.EventHostSignal(nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(api.KernelSetGroupSize(nullptr, 1, 1, 1) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(api.ModuleCreate(f.context, f.device, nullptr, nullptr, nullptr) ==
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(api.MemFree(f.context, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("contexts succeed in what the host always does") {
  Fixture f;
  auto* memory = f.memory(16);
  CHECK(api.ContextGetStatus(f.context) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextSystemBarrier(f.context, f.device) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextMakeMemoryResident(f.context, f.device, memory, 64) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextEvictMemory(f.context, f.device, memory, 64) == ZE_RESULT_SUCCESS);
}
