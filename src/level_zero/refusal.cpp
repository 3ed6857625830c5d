// SPDX-License-Identifier: MIT
// Errors of calls that never reached a driver, and the facts gathered around one that failed.
#include "kiln/refusal.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/survey.hpp"
#include "memory/own.hpp"

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

/// Why a driver refuses the host an event of EventRef::create_counter_based().
static Error counting_event(ze_result_t code, const char* call) {
  Diagnostic diagnostic{"K0252",
                        "the host can neither signal nor reset an event that counts",
                        {{"call", call}},
                        {"leave the reset out: each command that signals the event makes it stand for that "
                         "command alone",
                         "take an event of an EventPool where the host is to signal it"}};
  diagnostic.answer = {AnsweredBy::driver};
  return Error(code, call, std::move(diagnostic));
}

Error refused(ze_result_t code, const char* call) {
  const std::string_view name = call;
  if (code == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE &&
      (name == "zeEventHostSignal" || name == "zeEventHostReset"))  // as driver 26.27 answers
    return counting_event(code, call);
  if (code != ZE_RESULT_ERROR_DEVICE_LOST) return Error(code, call);
  Refusal refusal;
  refusal.code = code;
  refusal.call = call;
  return Error(code, call, explain_lost_device(refusal));
}

namespace {

/// Its memory is the host's; nothing where the driver does not say.
std::optional<bool> is_integrated(DeviceRef device) {
  auto properties = make<ze_device_properties_t>();
  if (device.api().zeDeviceGetProperties(device.raw(), &properties) != ZE_RESULT_SUCCESS) return std::nullopt;
  return (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
}

/// For what is done beside a program's call.
class KeptErrno {
 public:
  KeptErrno() = default;
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = kept_; }

 private:
  int kept_ = errno;
};

constexpr const char* kNoCard = "none";  // of the system's

bool is_same(const OwnMemory& a, const OwnMemory& b) {
  return a.device.bytes == b.device.bytes && a.host.bytes == b.host.bytes && a.shared.bytes == b.shared.bytes;
}

/// Files of /proc and /sys take milliseconds: programs that try one size after the other have those of a
/// second before, unless something was freed or taken since: `free` is what the device has free now.
/// Thread-safe.
MemoryAccount recent_account(std::optional<std::uint64_t> free) {
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::mutex mutex;
    std::optional<MemoryAccount> account;
    std::optional<std::uint64_t> free;
    Clock::time_point at;
    pid_t process = 0;
    std::string root;
  };
  static auto* const kept = new Kept;  // asked until the process is gone
  // Who finds it locked does not wait: a child of fork() would for ever.
  const std::unique_lock lock(kept->mutex, std::try_to_lock);
  if (!lock) return memory_account();
  const char* const set = secure_getenv("KILN_MEMORY_ROOT");
  const std::string_view root = set ? set : "";
  const OwnMemory own = own_memory();
  if (!kept->account || kept->process != getpid() || kept->root != root || kept->free != free ||
      !is_same(kept->account->own, own) || Clock::now() - kept->at > std::chrono::seconds(1)) {
    kept->account = memory_account();
    kept->account->own = own;
    kept->free = free;
    kept->process = getpid();
    kept->root = root;
    kept->at = Clock::now();
  }
  return *kept->account;
}

/// Only where a call has failed for want of memory.
void add_account(Refusal& refusal, DeviceRef device, MemoryRequest asked) {
  if (device) {
    asked.card = card_of(device);
    if (asked.card.empty()) asked.card = kNoCard;
    asked.integrated = is_integrated(device);
  }
  // Of an integrated card that is the host's, as the account has it; the CPU device has a share of its own.
  if (device && refusal.memory && (asked.card == kNoCard || !asked.integrated.value_or(false))) {
    asked.total = refusal.memory;
    asked.free = refusal.free_memory;
  }
  const MemoryAccount account = recent_account(refusal.free_memory);
  refusal.account = memory_rows(account, asked);
  refusal.causes = memory_causes(account, asked);
}

}  // namespace

Refusal survey(ze_result_t code, const char* call, DeviceRef device, MemoryRequest asked) {
  const KeptErrno kept;  // files are read that need not be there
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
