// SPDX-License-Identifier: MIT
// Errors of calls that never reached a driver, and the facts gathered around one that failed.
#include "kiln/refusal.hpp"

#include "level_zero/call.hpp"
#include "level_zero/survey.hpp"

namespace kiln::detail {

Error empty_handle(const char* call) {
  return Error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call,
               {"K0222",
                "an empty handle was given",
                {{"call", call}},
                {"look for an owner that was moved from, released or reset, or that was never filled"}});
}

Error null_pointer(const char* call, const char* what) {
  return Error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, call,
               {"K0222",
                "a null pointer was given",
                {{"call", call}, {"null", what}},
                {"look for a buffer that was moved from, released or reset"}});
}

Error foreign_handle(const char* call) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
      {"K0228",
       "handles of two drivers were given in one call",
       {{"call", call}},
       {"keep the objects of each device apart: contexts, lists, events and kernels go with the driver "
        "that made them",
        "a raw handle is taken for the loader's; name the table of any other, as in "
        "`EventRef(handle, device.api())`"}});
}

Error refused(ze_result_t code, const char* call) {
  if (code != ZE_RESULT_ERROR_DEVICE_LOST) return Error(code, call);
  Refusal refusal;
  refusal.code = code;
  refusal.call = call;
  return Error(code, call, explain_lost_device(refusal));
}

Refusal survey(ze_result_t code, const char* call, DeviceRef device) {
  Refusal refusal;
  refusal.code = code;
  refusal.call = call;
  if (!device) return refusal;
  refusal.device_status = device.status();
  if (const auto properties = device.properties()) {
    refusal.free_memory = properties->usable_memory;
    refusal.threads = properties->threads();
  }
  refusal.memory = memory_of(device);
  return refusal;
}

std::uint64_t memory_of(DeviceRef device) {
  std::uint64_t sum = 0;
  if (const auto memories = device.memory_properties())
    for (const MemoryProperties& memory : *memories) sum += memory.total;
  return sum;
}

Error explained(Error error, std::optional<Diagnostic> diagnostic) {
  if (!diagnostic) return error;
  return Error(error.code(), error.call(), *std::move(diagnostic));
}

}  // namespace kiln::detail
