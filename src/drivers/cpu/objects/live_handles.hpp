// SPDX-License-Identifier: MIT
// The set of live objects, so that a handle of another type, of another driver or of something destroyed is
// an error and never a wild access.
#pragma once

#include <cstdint>

#include "drivers/cpu/api/abi.hpp"

namespace kiln::cpu {

enum class HandleKind : std::uint8_t {
  driver,
  device,
  context,
  command_queue,
  command_list,
  fence,
  event_pool,
  event,
  module,
  build_log,
  kernel,
  physical_memory,
};

/// Thread-safe. May throw bad_alloc.
void enter_live(const void* object, HandleKind kind);
void leave_live(const void* object);

/// Thread-safe.
[[nodiscard]] bool is_live(const void* object, HandleKind kind);

/// SUCCESS when it is alive and of that kind; INVALID_NULL_HANDLE; else INVALID_ARGUMENT, and the last error
/// of this thread says what it is. `name` is that of the parameter. Thread-safe.
[[nodiscard]] ze_result_t check_live(const void* handle, HandleKind kind, const char* name);

// The handle's own type says what it must be.
[[nodiscard]] inline ze_result_t check_handle(ze_driver_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::driver, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_device_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::device, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_context_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::context, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_command_queue_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::command_queue, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_command_list_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::command_list, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_fence_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::fence, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_event_pool_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::event_pool, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_event_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::event, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_module_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::module, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_module_build_log_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::build_log, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_kernel_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::kernel, name);
}
[[nodiscard]] inline ze_result_t check_handle(ze_physical_mem_handle_t handle, const char* name) {
  return check_live(handle, HandleKind::physical_memory, name);
}

}  // namespace kiln::cpu
