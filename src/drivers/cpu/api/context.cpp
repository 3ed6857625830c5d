// SPDX-License-Identifier: MIT
// zeContext*: contexts hold nothing here, since all memory is the host's and always resident.
#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/device.hpp"

namespace kiln::cpu {

ze_result_t context_create(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                           ze_context_handle_t* context) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(context);
  if (desc->flags & ~ze_context_flags_t{ZE_CONTEXT_FLAG_TBD}) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return guarded([&] {
    *context = handle(new Context);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t* desc, std::uint32_t count,
                              ze_device_handle_t* devices, ze_context_handle_t* context) {
  if (driver && count > 0 && !devices) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return context_create(driver, desc, context);
}

ze_result_t context_destroy(ze_context_handle_t context) {
  KILN_NEED_HANDLE(context);
  if (object<Context>(context) == &default_context()) return ZE_RESULT_SUCCESS;  // the driver's own
  delete object<Context>(context);
  return ZE_RESULT_SUCCESS;
}

ze_result_t context_get_status(ze_context_handle_t context) {
  KILN_NEED_HANDLE(context);
  return object<Context>(context)->life.losses().state();
}

ze_result_t context_system_barrier(ze_context_handle_t context, ze_device_handle_t device) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  return ZE_RESULT_SUCCESS;
}

ze_result_t context_make_memory_resident(ze_context_handle_t context, ze_device_handle_t device, void* memory,
                                         std::size_t) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(memory);
  return ZE_RESULT_SUCCESS;
}

ze_result_t context_evict_memory(ze_context_handle_t context, ze_device_handle_t device, void* memory,
                                 std::size_t) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(memory);
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
