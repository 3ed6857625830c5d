// SPDX-License-Identifier: MIT
// zeInit and zeDriver*: reads the profile and hands out the one driver.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/settings/affinity.hpp"
#include "drivers/cpu/settings/fault.hpp"
#include "drivers/cpu/settings/setting.hpp"
#include "drivers/cpu/streams/order.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kApiVersion = ZE_MAKE_VERSION(1, 17);
constexpr std::uint32_t kDriverVersion = 0x00010000;  // Kiln 0.1, in the manner 0x00MMmmmm

std::mutex init_mutex;
std::atomic<Driver*> the_driver = nullptr;

/// As much of the host's memory as a device takes at most, in percent: the host keeps some for itself.
constexpr std::uint64_t kMostOfHost = 80;

struct Extension {
  const char* name;
  std::uint32_t version;
};
constexpr Extension kExtensions[] = {
    {"ZE_extension_device_ip_version", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_device_usablemem_size_properties", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_device_cache_line_size", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_driver_ddi_handles", ZE_MAKE_VERSION(1, 1)},
    {"ZE_extension_eu_count", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_event_query_kernel_timestamps", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_external_memmap_sysmem", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_float_atomics", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_kernel_max_group_size_properties", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_memory_free_policies", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_subgroups", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_command_list_clone", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_event_pool_counter_based", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_event_query_timestamps", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_global_offset", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_immediate_command_list_append", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_module_program", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_relaxed_allocation_limits", ZE_MAKE_VERSION(1, 0)},
};

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// What KILN_CPU_TYPE, KILN_CPU_DEVICES and KILN_CPU_SYSTEM_MEMORY ask for.
struct Shape {
  bool as_gpu = false;
  bool system_memory = false;
  std::uint32_t devices = 1;
};

std::optional<Shape> chosen_shape() {
  constexpr std::uint32_t kMostDevices = 16;
  Shape shape;
  const std::string_view type = setting("KILN_CPU_TYPE"), number = setting("KILN_CPU_DEVICES");
  if (!type.empty() && type != "cpu" && type != "gpu") {
    refuse_setting("KILN_CPU_TYPE", type, "cpu or gpu");
    return std::nullopt;
  }
  shape.as_gpu = type == "gpu";
  const std::string_view system = setting("KILN_CPU_SYSTEM_MEMORY");
  if (!system.empty() && system != "on" && system != "off") {
    refuse_setting("KILN_CPU_SYSTEM_MEMORY", system, "on or off");
    return std::nullopt;
  }
  shape.system_memory = system == "on";
  if (number.empty()) return shape;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), shape.devices);
  if (error == std::errc() && end == number.data() + number.size() && shape.devices >= 1 &&
      shape.devices <= kMostDevices)
    return shape;
  refuse_setting("KILN_CPU_DEVICES", number, "a number from 1 to " + std::to_string(kMostDevices));
  return std::nullopt;
}

const product::Profile* chosen_profile() {
  const std::string_view wanted = setting("KILN_CPU_PROFILE");
  const std::string_view name = wanted.empty() ? product::kDefaultProfile : wanted;
  if (const product::Profile* profile = product::find_profile(name)) return profile;
  std::string known;
  for (const product::Profile& profile : product::profiles())
    known.append(known.empty() ? "" : ", ").append(profile.name);
  refuse_setting("KILN_CPU_PROFILE", name, "one of " + known);
  return nullptr;
}

bool choose_faults() {
  const std::string_view wanted = setting("KILN_CPU_FAULT");
  const auto parsed = parse_faults(wanted);
  if (parsed) set_faults(*parsed);
  if (!parsed)
    refuse_setting("KILN_CPU_FAULT", wanted,
                   "a list with commas of allocation=N, lost=N, reset=N, memory=BYTES, build, event");
  return parsed.has_value();
}

/// Seconds that a launch may take, 0 for no limit; nothing when what is asked for is none.
std::optional<std::chrono::nanoseconds> chosen_limit() {
  constexpr double kMost = 1e6;  // s
  const std::string_view wanted = setting("KILN_CPU_TIMEOUT");
  if (wanted.empty()) return std::chrono::nanoseconds(0);
  double seconds = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), seconds);
  const bool is_number = error == std::errc() && end == wanted.data() + wanted.size();
  if (is_number && seconds >= 1e-3 && seconds <= kMost && can_limit_launches())
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  refuse_setting("KILN_CPU_TIMEOUT", wanted,
                 can_limit_launches() ? "a number of seconds from 0.001 to 1000000"
                                      : "nothing: this machine, or this build, cannot stop a kernel");
  return std::nullopt;
}

bool choose_order() {
  const std::string_view wanted = setting("KILN_CPU_ORDER");
  const auto parsed = parse_order(wanted);
  if (parsed) set_order(*parsed);
  if (!parsed) refuse_setting("KILN_CPU_ORDER", wanted, "shuffle or shuffle:SEED");
  return parsed.has_value();
}

}  // namespace

Driver* driver() { return the_driver.load(std::memory_order_acquire); }

Context& default_context() {
  static auto* context = new Context;
  return *context;
}

std::uint64_t available_memory() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<std::uint64_t>(info.freeram + info.bufferram) * info.mem_unit;
}

ze_result_t initialize() {
  if (driver()) return ZE_RESULT_SUCCESS;
  return guarded([] {
    const std::lock_guard lock(init_mutex);
    if (driver()) return ZE_RESULT_SUCCESS;
    const product::Profile* profile = chosen_profile();
    const auto shape = chosen_shape();
    const auto limit = chosen_limit();
    if (!profile || !shape || !limit || !choose_faults() || !choose_order())
      return ZE_RESULT_ERROR_UNINITIALIZED;
    // Never destroyed: the application's threads and static destructors may still hold handles at exit.
    auto* driver = new Driver;
    driver->as_gpu = shape->as_gpu;
    driver->system_memory = shape->system_memory;
    driver->launch_limit = *limit;
    for (const std::uint32_t number : unmasked_devices(setting("ZE_AFFINITY_MASK"), shape->devices)) {
      Device& device =
          driver->devices.emplace_back(static_cast<std::uint32_t>(driver->devices.size()), number);
      device.profile = profile;
      const std::uint64_t most = host_memory() / 100 * kMostOfHost;
      device.total_memory = profile->memory == 0 ? most : std::min(profile->memory, most);
      if (faults().memory) device.total_memory = faults().memory;
      device.max_allocation = profile->max_allocation == 0
                                  ? device.total_memory
                                  : std::min(profile->max_allocation, device.total_memory);
    }
    (void)default_context();  // there from the start: what loses the device takes it too
    the_driver.store(driver, std::memory_order_release);
    return ZE_RESULT_SUCCESS;
  });
}

// Flags that ask for GPUs only are granted: who names this library in ZE_ENABLE_ALT_DRIVERS wants it to stand
// in.
ze_result_t init(ze_init_flags_t flags) {
  constexpr ze_init_flags_t kKnown = 0x3;
  if (flags & ~kKnown) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return initialize();
}

ze_result_t init_drivers(std::uint32_t* count, ze_driver_handle_t* drivers, abi::InitDriverType* desc) {
  KILN_NEED_POINTER(count);
  KILN_NEED_POINTER(desc);
  if (desc->flags == 0) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  if (!(desc->flags & abi::kInitDriverTypeGpu)) {
    *count = 0;
    return ZE_RESULT_SUCCESS;
  }
  if (const auto result = initialize(); result != ZE_RESULT_SUCCESS) return result;
  return driver_get(count, drivers);
}

ze_result_t driver_get(std::uint32_t* count, ze_driver_handle_t* drivers) {
  if (!driver()) return ZE_RESULT_ERROR_UNINITIALIZED;
  return enumerate(1, count, drivers, [&](std::uint32_t i) { drivers[i] = handle(driver()); });
}

ze_result_t driver_get_api_version(ze_driver_handle_t driver, ze_api_version_t* version) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(version);
  *version = static_cast<ze_api_version_t>(kApiVersion);
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_properties(ze_driver_handle_t driver, ze_driver_properties_t* properties) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(properties);
  properties->uuid = {{'k', 'i', 'l', 'n', '-', 'c', 'p', 'u', '-', 'd', 'r', 'i', 'v', 'e', 'r', 1}};
  properties->driverVersion = kDriverVersion;
  if (auto* handles = find_chained<abi::DriverDdiHandles>(properties->pNext, abi::kDriverDdiHandles))
    handles->flags = abi::kDdiHandlesSupported;
  if (auto* policies = find_chained<ze_driver_memory_free_ext_properties_t>(
          properties->pNext, ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES))
    policies->freePolicies = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                             ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_ipc_properties(ze_driver_handle_t driver, ze_driver_ipc_properties_t* properties) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(properties);
  properties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_extension_properties(ze_driver_handle_t driver, std::uint32_t* count,
                                            ze_driver_extension_properties_t* properties) {
  KILN_NEED_HANDLE(driver);
  return enumerate(std::size(kExtensions), count, properties, [&](std::uint32_t i) {
    std::snprintf(properties[i].name, sizeof(properties[i].name), "%s", kExtensions[i].name);
    properties[i].version = kExtensions[i].version;
  });
}

ze_result_t driver_get_extension_function_address(ze_driver_handle_t driver, const char* name,
                                                  void** address) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(name);
  KILN_NEED_POINTER(address);
  const std::string_view wanted = name;
  *address = wanted == kKernelGetCounters ? reinterpret_cast<void*>(kernel_get_counters)
             : wanted == kModuleGetInfo   ? reinterpret_cast<void*>(module_get_info)
             : wanted == "zexDriverImportExternalPointer"  // Intel's own, which engines know
                 ? reinterpret_cast<void*>(driver_import_external_pointer)
                 : wanted == "zexDriverReleaseImportedPointer"
                       ? reinterpret_cast<void*>(driver_release_imported_pointer)
                       : find_function(wanted);
  return *address ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t driver_get_last_error_description(ze_driver_handle_t driver, const char** text) {
  // Of the thread: programs that got this function from the driver call it with the loader's handle.
  if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  KILN_NEED_POINTER(text);
  *text = last_error();
  return ZE_RESULT_SUCCESS;
}

ze_context_handle_t driver_get_default_context(ze_driver_handle_t driver) {
  return driver ? handle(&default_context()) : nullptr;
}

}  // namespace kiln::cpu
