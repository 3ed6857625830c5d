// SPDX-License-Identifier: MIT
// zeDevice*: the devices, their status, their clock, and what they share: all memory.
#include "drivers/cpu/objects/device.hpp"

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/settings/fault.hpp"
#include "drivers/cpu/streams/clock.hpp"
#include "drivers/cpu/streams/stream.hpp"

namespace kiln::cpu {

ze_result_t device_get(ze_driver_handle_t driver_handle, std::uint32_t* count, ze_device_handle_t* devices) {
  KILN_NEED_HANDLE(driver_handle);
  auto& all = driver()->devices;
  return enumerate(static_cast<std::uint32_t>(all.size()), count, devices,
                   [&](std::uint32_t i) { devices[i] = handle(&all[i]); });
}

ze_result_t device_get_root_device(ze_device_handle_t device, ze_device_handle_t* root) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(root);
  *root = nullptr;  // null: the device is a root device itself
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_sub_devices(ze_device_handle_t device, std::uint32_t* count, ze_device_handle_t*) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(count);
  *count = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_p2p_properties(ze_device_handle_t device, ze_device_handle_t peer,
                                      ze_device_p2p_properties_t* properties) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_HANDLE(peer);
  KILN_NEED_POINTER(properties);
  properties->flags =
      device == peer ? 0 : ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_can_access_peer(ze_device_handle_t device, ze_device_handle_t peer, ze_bool_t* value) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_HANDLE(peer);
  KILN_NEED_POINTER(value);
  *value = true;  // one memory, the host's
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_status(ze_device_handle_t device) {
  KILN_NEED_HANDLE(device);
  return device_state();
}

ze_result_t device_get_global_timestamps(ze_device_handle_t device_handle, std::uint64_t* host,
                                         std::uint64_t* device_ticks) {
  KILN_NEED_HANDLE(device_handle);
  KILN_NEED_POINTER(host);
  KILN_NEED_POINTER(device_ticks);
  *host = now_ns();
  *device_ticks = low_bits(ns_to_ticks(*host), device().profile->timestamp_bits);
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_synchronize(ze_device_handle_t device) {
  KILN_NEED_HANDLE(device);
  return guarded([] {
    for (const auto& progress : all_progress())
      progress->wait(progress->submitted(), Clock::time_point::max());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t get_last_error_description(const char** text) {
  KILN_NEED_POINTER(text);
  *text = last_error();
  return ZE_RESULT_SUCCESS;
}

std::uint32_t translate_device_handle_to_identifier(ze_device_handle_t device_handle) {
  return check_handle(device_handle, "hDevice") == ZE_RESULT_SUCCESS ? object<Device>(device_handle)->index
                                                                     : UINT32_MAX;
}

ze_device_handle_t translate_identifier_to_device_handle(std::uint32_t identifier) {
  return driver() && identifier < driver()->devices.size() ? handle(&driver()->devices[identifier]) : nullptr;
}

ze_context_handle_t get_default_context() { return driver() ? handle(&default_context()) : nullptr; }

}  // namespace kiln::cpu
