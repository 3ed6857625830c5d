// SPDX-License-Identifier: MIT
// Drivers and devices, and what a device says about itself as plain structs.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/api.hpp"
#include "kiln/feature.hpp"
#include "kiln/handle.hpp"

namespace kiln {

struct DeviceProperties {
  std::string name;
  ze_device_type_t type = ZE_DEVICE_TYPE_GPU;
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::uint32_t slices = 0;
  std::uint32_t sub_slices_per_slice = 0;
  std::uint32_t eus_per_sub_slice = 0;
  std::uint32_t threads_per_eu = 0;
  std::uint32_t simd_width = 0;
  std::uint64_t largest_allocation = 0;  ///< bytes
  std::uint64_t timer_ticks_per_second = 0;
  std::uint32_t timestamp_bits = 64;           ///< valid bits of a kernel timestamp
  std::optional<std::uint32_t> ip_version;     ///< Intel: architecture << 22 | release << 14 | revision
  std::optional<std::uint64_t> usable_memory;  ///< free bytes, where the driver offers them

  [[nodiscard]] std::uint64_t threads() const {
    return std::uint64_t{slices} * sub_slices_per_slice * eus_per_sub_slice * threads_per_eu;
  }
};

struct PciAddress {
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
  friend bool operator==(const PciAddress&, const PciAddress&) = default;
};

/// What tells a device from another, also in other interfaces to it.
struct DeviceIdentity {
  std::array<std::uint8_t, 16> uuid{};  ///< Vulkan: VkPhysicalDeviceIDProperties::deviceUUID
  std::optional<PciAddress> pci;        ///< Vulkan: VkPhysicalDevicePCIBusInfoPropertiesEXT
  std::optional<std::array<std::uint8_t, 8>>
      luid;                         ///< Vulkan: deviceLUID, where the system has them (Windows)
  std::uint32_t luid_nodes = 0;     ///< Vulkan: deviceNodeMask
  bool integrated = false;          ///< shares the memory of the host
  bool sub_device = false;          ///< a tile of a device: DeviceRef::sub_devices()
  std::uint32_t sub_device_id = 0;  ///< of a sub-device
  bool error_correction = false;    ///< of memory
  bool on_demand_paging = false;
};

struct ComputeProperties {
  std::uint64_t slm_per_group = 0;  ///< bytes, the most one work-group can have
  std::uint32_t max_total_group_size = 0;
  std::array<std::uint32_t, 3> max_group_size{};
  std::array<std::uint32_t, 3> max_group_count{};
  std::vector<std::uint32_t> sub_group_sizes;
};

struct MemoryProperties {
  std::string name;
  std::uint64_t total = 0;  ///< bytes
  std::uint32_t max_clock_rate = 0;
  std::uint32_t max_bus_width = 0;
};

struct ModuleProperties {
  std::uint32_t spirv_version = 0;       ///< major << 16 | minor << 8
  std::uint32_t max_arguments_size = 0;  ///< bytes
  std::uint32_t printf_buffer_size = 0;  ///< bytes
  bool fp64 = false;
  bool int64_atomics = false;
  std::array<std::uint8_t, 16> native_kernel_id{};
};

struct CacheProperties {
  std::uint64_t size = 0;  ///< bytes
  bool user_control = false;
};

struct QueueGroup {
  ze_command_queue_group_property_flags_t flags = 0;
  std::uint32_t queues = 0;
  std::uint64_t max_fill_pattern = 0;  ///< bytes
};

/// The time between two kernel timestamps, across at most one wrap-around of the counter. Pure.
/// Source: Level Zero specification, "Kernel timestamp", kernelTimestampValidBits.
[[nodiscard]] std::chrono::nanoseconds timestamp_duration(std::uint64_t start, std::uint64_t end,
                                                          std::uint32_t valid_bits,
                                                          std::uint64_t ticks_per_second);

/// A device; owned by its driver. Thread-safe.
class DeviceRef : public Ref<ze_device_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] Result<DeviceProperties> properties() const;
  [[nodiscard]] Result<ComputeProperties> compute_properties() const;
  [[nodiscard]] Result<std::vector<MemoryProperties>> memory_properties() const;
  [[nodiscard]] Result<ModuleProperties> module_properties() const;
  [[nodiscard]] Result<std::vector<CacheProperties>> cache_properties() const;
  [[nodiscard]] Result<std::vector<QueueGroup>> queue_groups() const;
  [[nodiscard]] Result<DeviceIdentity> identity() const;
  /// The tiles of a device of several; none of one. They take what a device takes.
  [[nodiscard]] Result<std::vector<DeviceRef>> sub_devices() const;
  /// Whether kernels of this device reach the memory of that one.
  [[nodiscard]] Result<bool> can_access(DeviceRef peer) const;
  /// The first queue group that can compute. Error: UNSUPPORTED_FEATURE when there is none.
  [[nodiscard]] Result<std::uint32_t> compute_queue_group() const;
  /// Success, or DEVICE_LOST. Believe it before an out-of-memory from an immediate list.
  [[nodiscard]] ze_result_t status() const {
    return *this ? api().zeDeviceGetStatus(raw()) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  }
};
KILN_HANDLE_CHECKS(DeviceRef);

/// A driver; lives as long as the process. Thread-safe.
class DriverRef : public Ref<ze_driver_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] Result<std::uint32_t> version() const;  ///< Intel: 0x01030000 + build
  [[nodiscard]] Result<ze_api_version_t> api_version() const;
  [[nodiscard]] Result<std::vector<std::string>> extensions() const;
  [[nodiscard]] Result<std::vector<DeviceRef>> devices() const;
  /// Whether driver and loader have it.
  [[nodiscard]] bool has(Feature feature) const;

  /// An entry point that Kiln does not wrap, by its name: of the loader or library that this driver was
  /// opened by, or an extension of the driver. It takes the handles of this driver alone. Error:
  /// UNSUPPORTED_FEATURE (K0232) where there is none.
  [[nodiscard]] Result<void*> entry_point(const char* name) const;
  /// `driver.entry_point<decltype(&zeImageCreate)>("zeImageCreate")`
  template <class Function>
  [[nodiscard]] Result<Function> entry_point(const char* name) const {
    static_assert(std::is_pointer_v<Function> && std::is_function_v<std::remove_pointer_t<Function>>);
    const auto address = entry_point(name);
    if (!address) return tl::unexpected(address.error());
    return reinterpret_cast<Function>(*address);
  }
  /// The calling thread's last text, empty where the driver has none. It stays after success: compare before
  /// and after a call. Source: specification 1.6; Intel's driver since 23.30.
  [[nodiscard]] std::string last_error_description() const;
};
KILN_HANDLE_CHECKS(DriverRef);

/// All drivers behind a table that load_…() gave, as zeDriverGet shows them; where none of these has a GPU,
/// those that zeInitDrivers shows for GPUs, if there are any. Error: UNINITIALIZED when nothing was loaded.
[[nodiscard]] Result<std::vector<DriverRef>> drivers(const Api& api = default_api());

struct SelectedDevice {
  DriverRef driver;
  DeviceRef device;
};

/// The first device of that type. Error: UNINITIALIZED with a diagnostic when there is none.
[[nodiscard]] Result<SelectedDevice> first_device(ze_device_type_t type, const Api& api = default_api());

}  // namespace kiln
