// SPDX-License-Identifier: MIT
// Device and driver properties as plain structs.
#include "kiln/device.hpp"

#include <algorithm>
#include <cstring>

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/drivers.hpp"

namespace kiln {
namespace {

template <std::size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

/// Level Zero's two-call pattern: ask for the count, then for that many filled structs.
template <class T, class Function>
Result<std::vector<T>> list_of(const char* name, Function* Api::*function, DeviceRef device) {
  std::uint32_t count = 0;
  KILN_TRY(detail::call(name, function, device, &count, static_cast<T*>(nullptr)));
  std::vector<T> items(count, make<T>());
  if (count) KILN_TRY(detail::call(name, function, device, &count, items.data()));
  items.resize(count);
  return items;
}

/// The same for drivers, whose function `get` is.
template <class Get>
Result<std::vector<DriverRef>> list_drivers(const Api& api, const char* name, Get get) {
  std::uint32_t count = 0;
  KILN_TRY(check(get(&count, nullptr), name));
  std::vector<ze_driver_handle_t> handles(count);
  if (count) KILN_TRY(check(get(&count, handles.data()), name));
  std::vector<DriverRef> drivers;
  for (std::uint32_t i = 0; i < count; ++i) drivers.emplace_back(handles[i], api);
  return drivers;
}

}  // namespace

Result<std::vector<DriverRef>> detail::drivers_by_init(const Api& api) {
  return list_drivers(api, "zeDriverGet", api.zeDriverGet);
}

Result<std::vector<DriverRef>> detail::drivers_by_type(const Api& api) {
  return list_drivers(api, "zeInitDrivers", [&](std::uint32_t* count, ze_driver_handle_t* handles) {
    auto type = make<abi::InitDriverType>();
    type.flags = abi::kInitGpu;
    return api.zeInitDrivers(count, handles, &type);
  });
}

bool detail::has_gpu(std::span<const DriverRef> drivers) {
  return std::ranges::any_of(drivers, [](DriverRef driver) {
    const auto devices = driver.devices();
    return devices && std::ranges::any_of(*devices, [](DeviceRef device) {
             auto properties = make<ze_device_properties_t>();
             return device.api().zeDeviceGetProperties(device.raw(), &properties) == ZE_RESULT_SUCCESS &&
                    properties.type == ZE_DEVICE_TYPE_GPU;
           });
  });
}

std::chrono::nanoseconds timestamp_duration(std::uint64_t start, std::uint64_t end, std::uint32_t valid_bits,
                                            std::uint64_t ticks_per_second) {
  if (ticks_per_second == 0) return {};
  const std::uint64_t mask =
      valid_bits == 0 || valid_bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << valid_bits) - 1;
  const std::uint64_t ticks = (end - start) & mask;
  const std::uint64_t seconds = ticks / ticks_per_second, rest = ticks % ticks_per_second;
  constexpr std::uint64_t kMostSeconds = 9'000'000'000;  // nanoseconds hold 9.2e9 of them
  if (seconds >= kMostSeconds) return std::chrono::nanoseconds::max();
  const auto fraction = static_cast<std::uint64_t>(static_cast<long double>(rest) * 1e9L / ticks_per_second);
  return std::chrono::seconds(seconds) + std::chrono::nanoseconds(fraction);
}

Result<DeviceProperties> DeviceRef::properties() const {
  auto raw_properties = make<ze_device_properties_t>();
  KILN_TRY(KILN_CALL(zeDeviceGetProperties, *this, &raw_properties));
  DeviceProperties p;
  p.name = bounded(raw_properties.name);
  p.type = raw_properties.type;
  p.vendor_id = raw_properties.vendorId;
  p.device_id = raw_properties.deviceId;
  p.slices = raw_properties.numSlices;
  p.sub_slices_per_slice = raw_properties.numSubslicesPerSlice;
  p.eus_per_sub_slice = raw_properties.numEUsPerSubslice;
  p.threads_per_eu = raw_properties.numThreadsPerEU;
  p.simd_width = raw_properties.physicalEUSimdWidth;
  p.largest_allocation = raw_properties.maxMemAllocSize;
  p.timer_ticks_per_second = raw_properties.timerResolution;
  p.timestamp_bits = raw_properties.kernelTimestampValidBits;

  // Drivers ignore a struct they do not know: what stays zero was not offered. One a call, for old drivers'
  // sake.
  auto again = make<ze_device_properties_t>();
  auto ip = make<abi::DeviceIpVersion>();
  chain(again, ip);
  if (api().zeDeviceGetProperties(raw(), &again) == ZE_RESULT_SUCCESS && ip.ipVersion)
    p.ip_version = ip.ipVersion;
  again = make<ze_device_properties_t>();
  auto memory = make<abi::DeviceUsableMemory>();
  chain(again, memory);
  if (api().zeDeviceGetProperties(raw(), &again) == ZE_RESULT_SUCCESS && memory.currUsableMemSize)
    p.usable_memory = memory.currUsableMemSize;
  return p;
}

Result<ComputeProperties> DeviceRef::compute_properties() const {
  auto c = make<ze_device_compute_properties_t>();
  KILN_TRY(KILN_CALL(zeDeviceGetComputeProperties, *this, &c));
  ComputeProperties p;
  p.slm_per_group = c.maxSharedLocalMemory;
  p.max_total_group_size = c.maxTotalGroupSize;
  p.max_group_size = {c.maxGroupSizeX, c.maxGroupSizeY, c.maxGroupSizeZ};
  p.max_group_count = {c.maxGroupCountX, c.maxGroupCountY, c.maxGroupCountZ};
  const auto count = std::min<std::uint32_t>(c.numSubGroupSizes, ZE_SUBGROUPSIZE_COUNT);
  p.sub_group_sizes.assign(c.subGroupSizes, c.subGroupSizes + count);
  return p;
}

Result<std::vector<MemoryProperties>> DeviceRef::memory_properties() const {
  auto items = list_of<ze_device_memory_properties_t>("zeDeviceGetMemoryProperties",
                                                      &Api::zeDeviceGetMemoryProperties, *this);
  KILN_TRY(items);
  std::vector<MemoryProperties> result;
  for (const auto& item : *items)
    result.push_back({bounded(item.name), item.totalSize, item.maxClockRate, item.maxBusWidth});
  return result;
}

Result<ModuleProperties> DeviceRef::module_properties() const {
  auto m = make<ze_device_module_properties_t>();
  KILN_TRY(KILN_CALL(zeDeviceGetModuleProperties, *this, &m));
  ModuleProperties p;
  p.spirv_version = m.spirvVersionSupported;
  p.max_arguments_size = m.maxArgumentsSize;
  p.printf_buffer_size = m.printfBufferSize;
  p.fp64 = (m.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
  p.int64_atomics = (m.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0;
  std::memcpy(p.native_kernel_id.data(), m.nativeKernelSupported.id, p.native_kernel_id.size());
  return p;
}

Result<std::vector<CacheProperties>> DeviceRef::cache_properties() const {
  auto items = list_of<ze_device_cache_properties_t>("zeDeviceGetCacheProperties",
                                                     &Api::zeDeviceGetCacheProperties, *this);
  KILN_TRY(items);
  std::vector<CacheProperties> result;
  for (const auto& item : *items)
    result.push_back({item.cacheSize, (item.flags & ZE_DEVICE_CACHE_PROPERTY_FLAG_USER_CONTROL) != 0});
  return result;
}

Result<std::vector<QueueGroup>> DeviceRef::queue_groups() const {
  auto items = list_of<ze_command_queue_group_properties_t>(
      "zeDeviceGetCommandQueueGroupProperties", &Api::zeDeviceGetCommandQueueGroupProperties, *this);
  KILN_TRY(items);
  std::vector<QueueGroup> result;
  for (const auto& item : *items)
    result.push_back({item.flags, item.numQueues, item.maxMemoryFillPatternSize});
  return result;
}

Result<std::uint32_t> DeviceRef::compute_queue_group() const {
  auto groups = queue_groups();
  KILN_TRY(groups);
  for (std::uint32_t i = 0; i < groups->size(); ++i)
    if ((*groups)[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) return i;
  return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "zeDeviceGetCommandQueueGroupProperties"));
}

Result<std::uint32_t> DriverRef::version() const {
  auto properties = make<ze_driver_properties_t>();
  KILN_TRY(KILN_CALL(zeDriverGetProperties, *this, &properties));
  return properties.driverVersion;
}

Result<ze_api_version_t> DriverRef::api_version() const {
  ze_api_version_t version{};
  KILN_TRY(KILN_CALL(zeDriverGetApiVersion, *this, &version));
  return version;
}

Result<std::vector<std::string>> DriverRef::extensions() const {
  std::uint32_t count = 0;
  KILN_TRY(KILN_CALL(zeDriverGetExtensionProperties, *this, &count, nullptr));
  std::vector<ze_driver_extension_properties_t> items(count);
  if (count) KILN_TRY(KILN_CALL(zeDriverGetExtensionProperties, *this, &count, items.data()));
  items.resize(count);
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(bounded(item.name));
  return names;
}

Result<std::vector<DeviceRef>> DriverRef::devices() const {
  std::uint32_t count = 0;
  KILN_TRY(KILN_CALL(zeDeviceGet, *this, &count, nullptr));
  std::vector<ze_device_handle_t> handles(count);
  if (count) KILN_TRY(KILN_CALL(zeDeviceGet, *this, &count, handles.data()));
  std::vector<DeviceRef> devices;
  for (std::uint32_t i = 0; i < count; ++i) devices.emplace_back(handles[i], api());
  return devices;
}

std::string DriverRef::last_error_description() const {
  const char* text = nullptr;
  if (!*this || !api().zeDriverGetLastErrorDescription ||
      api().zeDriverGetLastErrorDescription(raw(), &text) != ZE_RESULT_SUCCESS || !text)
    return {};
  return text;
}

Result<std::vector<DriverRef>> drivers(const Api& api) {
  auto shown = detail::drivers_by_init(api);
  if (!api.zeInitDrivers || (shown && detail::has_gpu(*shown))) return shown;
  // None: another part of the program asked zeInit for other kinds alone.
  auto more = detail::drivers_by_type(api);
  return more && !more->empty() ? more : shown;
}

}  // namespace kiln
