// SPDX-License-Identifier: MIT
// Errors of calls that never reached a driver, and the facts gathered around one that failed.
#include "kiln/refusal.hpp"

#include <cstdio>

#include "kiln/structures.hpp"
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

namespace {

/// Its memory is the host's.
bool is_integrated(DeviceRef device) {
  auto properties = make<ze_device_properties_t>();
  return device.api().zeDeviceGetProperties(device.raw(), &properties) == ZE_RESULT_SUCCESS &&
         (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
}

constexpr const char* kNoCard = "none";  // of the system's

/// Files of /proc and /sys: milliseconds, so only where a call has failed for want of memory.
void add_account(Refusal& refusal, DeviceRef device, MemoryRequest asked) {
  if (device) {
    asked.card = card_of(device);
    if (asked.card.empty()) asked.card = kNoCard;
  }
  // Of an integrated card that is the host's, as the account has it; the CPU device has a share of its own.
  if (device && refusal.memory && (asked.card == kNoCard || !is_integrated(device))) {
    asked.total = refusal.memory;
    asked.free = refusal.free_memory;
  }
  const MemoryAccount account = memory_account();
  refusal.account = memory_rows(account, asked);
  refusal.causes = memory_causes(account, asked);
}

}  // namespace

Refusal survey(ze_result_t code, const char* call, DeviceRef device, MemoryRequest asked) {
  Refusal refusal;
  refusal.code = code;
  refusal.call = call;
  if (device) {
    refusal.device_status = device.status();
    if (const auto properties = device.properties()) {
      refusal.free_memory = properties->usable_memory;
      refusal.threads = properties->threads();
    }
    refusal.memory = memory_of(device);
  }
  const bool no_memory =
      code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY || code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  if (no_memory && !is_lost(refusal)) add_account(refusal, device, std::move(asked));
  return refusal;
}

std::string card_of(DeviceRef device) {
  auto pci = make<ze_pci_ext_properties_t>();
  const auto get_pci = device.api().zeDevicePciGetPropertiesExt;
  if (!get_pci || get_pci(device.raw(), &pci) != ZE_RESULT_SUCCESS) return {};
  const ze_pci_address_ext_t& at = pci.address;
  char text[64];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", at.domain, at.bus, at.device, at.function);
  return text;
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
