// SPDX-License-Identifier: MIT
// Makes and destroys the objects of the tests.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace {
constexpr std::uint32_t kMaxEvents = 64;
}

std::vector<std::uint8_t> read_file(const std::string& name) {
  std::ifstream file(KILN_TEST_KERNELS "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Fixture::Fixture() {
  REQUIRE(api.Init(0) == ZE_RESULT_SUCCESS);
  std::uint32_t count = 0;
  REQUIRE(api.DriverGet(&count, nullptr) == ZE_RESULT_SUCCESS);
  std::vector<ze_driver_handle_t> drivers(count);
  REQUIRE(api.DriverGet(&count, drivers.data()) == ZE_RESULT_SUCCESS);
  // With several drivers ours is the one whose device is a CPU.
  for (ze_driver_handle_t candidate : drivers) {
    std::uint32_t one = 1;
    ze_device_handle_t found = nullptr;
    if (api.DeviceGet(candidate, &one, &found) != ZE_RESULT_SUCCESS || one == 0) continue;
    auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    if (api.DeviceGetProperties(found, &properties) != ZE_RESULT_SUCCESS) continue;
    if (properties.type != ZE_DEVICE_TYPE_CPU) continue;
    driver = candidate;
    device = found;
  }
  REQUIRE(device);
  const auto desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  REQUIRE(api.ContextCreate(driver, &desc, &context) == ZE_RESULT_SUCCESS);
  auto pool = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  pool.count = kMaxEvents;
  REQUIRE(api.EventPoolCreate(context, &pool, 1, &device, &pool_) == ZE_RESULT_SUCCESS);
}

Fixture::~Fixture() {
  while (!made_.empty()) {
    CHECK(made_.back()() == ZE_RESULT_SUCCESS);
    made_.pop_back();
  }
  for (void* pointer : memory_) CHECK(api.MemFree(context, pointer) == ZE_RESULT_SUCCESS);
  CHECK(api.EventPoolDestroy(pool_) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextDestroy(context) == ZE_RESULT_SUCCESS);
}

ze_module_handle_t Fixture::module(const std::string& file, const char* flags) {
  const auto bytes = read_file(file);
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  desc.pBuildFlags = flags;
  ze_module_handle_t module = nullptr;
  REQUIRE(api.ModuleCreate(context, device, &desc, &module, nullptr) == ZE_RESULT_SUCCESS);
  return keep(module, api.ModuleDestroy);
}

ze_kernel_handle_t Fixture::kernel(ze_module_handle_t module, const char* name) {
  auto desc = make<ze_kernel_desc_t>(ZE_STRUCTURE_TYPE_KERNEL_DESC);
  desc.pKernelName = name;
  ze_kernel_handle_t kernel = nullptr;
  REQUIRE(api.KernelCreate(module, &desc, &kernel) == ZE_RESULT_SUCCESS);
  return keep(kernel, api.KernelDestroy);
}

ze_command_list_handle_t Fixture::immediate(ze_command_queue_mode_t mode, ze_command_queue_flags_t flags) {
  auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.mode = mode;
  desc.flags = flags;
  ze_command_list_handle_t list = nullptr;
  REQUIRE(api.CommandListCreateImmediate(context, device, &desc, &list) == ZE_RESULT_SUCCESS);
  return keep(list, api.CommandListDestroy);
}

ze_command_list_handle_t Fixture::list(ze_command_list_flags_t flags) {
  auto desc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  desc.flags = flags;
  ze_command_list_handle_t list = nullptr;
  REQUIRE(api.CommandListCreate(context, device, &desc, &list) == ZE_RESULT_SUCCESS);
  return keep(list, api.CommandListDestroy);
}

ze_command_queue_handle_t Fixture::queue(ze_command_queue_mode_t mode) {
  auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.mode = mode;
  ze_command_queue_handle_t queue = nullptr;
  REQUIRE(api.CommandQueueCreate(context, device, &desc, &queue) == ZE_RESULT_SUCCESS);
  return keep(queue, api.CommandQueueDestroy);
}

ze_event_handle_t Fixture::event() {
  auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
  desc.index = events_++;
  desc.signal = desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t event = nullptr;
  REQUIRE(api.EventCreate(pool_, &desc, &event) == ZE_RESULT_SUCCESS);
  return keep(event, api.EventDestroy);
}

ze_fence_handle_t Fixture::fence(ze_command_queue_handle_t queue) {
  const auto desc = make<ze_fence_desc_t>(ZE_STRUCTURE_TYPE_FENCE_DESC);
  ze_fence_handle_t fence = nullptr;
  REQUIRE(api.FenceCreate(queue, &desc, &fence) == ZE_RESULT_SUCCESS);
  return keep(fence, api.FenceDestroy);
}

std::uint32_t* Fixture::memory(std::size_t words) {
  const auto device_desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  const auto host_desc = make<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  void* pointer = nullptr;
  REQUIRE(api.MemAllocShared(context, &device_desc, &host_desc, words * 4, 64, device, &pointer) ==
          ZE_RESULT_SUCCESS);
  memory_.push_back(pointer);
  auto* first = static_cast<std::uint32_t*>(pointer);
  std::fill(first, first + words, 0);
  return first;
}

std::string Fixture::last_error() {
  void* address = nullptr;
  if (api.DriverGetExtensionFunctionAddress(driver, "zeDriverGetLastErrorDescription", &address) !=
      ZE_RESULT_SUCCESS)
    return "no function";
  // The function takes the driver's own handle; it only looks at whether it is null.
  const char* text = nullptr;
  const auto get = reinterpret_cast<ze_result_t (*)(ze_driver_handle_t, const char**)>(address);
  return get(driver, &text) == ZE_RESULT_SUCCESS ? text : "no text";
}

void* Fixture::extension_address(const char* name) const {
  void* address = nullptr;
  REQUIRE(api.DriverGetExtensionFunctionAddress(driver, name, &address) == ZE_RESULT_SUCCESS);
  return address;
}

ze_device_compute_properties_t Fixture::compute() {
  auto properties = make<ze_device_compute_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
  REQUIRE(api.DeviceGetComputeProperties(device, &properties) == ZE_RESULT_SUCCESS);
  return properties;
}
