// SPDX-License-Identifier: MIT
// Memory and what is made of it: allocations and pools of events.
#include "drivers/layer/explain.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

/// Does the chain of a description ask for more than the device's largest allocation?
bool is_relaxed(const void* next) noexcept {
  struct Chained {
    ze_structure_type_t stype;
    const Chained* next;
  };
  constexpr auto kExtension = static_cast<ze_structure_type_t>(0x10016);  // the same in the core, since 1.9
  for (const auto* each = static_cast<const Chained*>(next); each; each = each->next)
    if (each->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC || each->stype == kExtension)
      return true;
  return false;
}

[[gnu::cold, gnu::noinline]] ze_result_t refused_memory(const Failed failed, ze_device_handle_t device,
                                                        MemoryKind kind, std::size_t size,
                                                        std::size_t alignment, const void* next) {
  tell([&] { return explain_allocation(failed, device, {kind, size, alignment, is_relaxed(next)}); });
  return failed.code;
}

}  // namespace

ze_result_t ZE_APICALL hook::zeMemAllocShared(ze_context_handle_t context,
                                              const ze_device_mem_alloc_desc_t* on_device,
                                              const ze_host_mem_alloc_desc_t* on_host, std::size_t size,
                                              std::size_t alignment, ze_device_handle_t device, void** data) {
  KILN_GUARD(first_of(
      need("zeMemAllocShared", "host description", on_host),
      guard_allocation("zeMemAllocShared", context,
                       {MemoryKind::shared, size, alignment, on_device && is_relaxed(on_device->pNext)},
                       on_device, data)));
  const Recording recording(record::Call::shared_memory, nullptr);
  recording.set_bytes(size);
  recording.begin();
  const ze_result_t code = real.zeMemAllocShared(context, on_device, on_host, size, alignment, device, data);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *data : nullptr);
  if (code == ZE_RESULT_SUCCESS) return code;
  return refused_memory({code, "zeMemAllocShared"}, device, MemoryKind::shared, size, alignment,
                        on_device ? on_device->pNext : nullptr);
}

ze_result_t ZE_APICALL hook::zeMemAllocDevice(ze_context_handle_t context,
                                              const ze_device_mem_alloc_desc_t* description, std::size_t size,
                                              std::size_t alignment, ze_device_handle_t device, void** data) {
  KILN_GUARD(first_of(
      need_handles("zeMemAllocDevice", device),
      guard_allocation("zeMemAllocDevice", context,
                       {MemoryKind::device, size, alignment, description && is_relaxed(description->pNext)},
                       description, data)));
  const Recording recording(record::Call::device_memory, nullptr);
  recording.set_bytes(size);
  recording.begin();
  const ze_result_t code = real.zeMemAllocDevice(context, description, size, alignment, device, data);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *data : nullptr);
  if (code == ZE_RESULT_SUCCESS) return code;
  return refused_memory({code, "zeMemAllocDevice"}, device, MemoryKind::device, size, alignment,
                        description ? description->pNext : nullptr);
}

ze_result_t ZE_APICALL hook::zeMemAllocHost(ze_context_handle_t context,
                                            const ze_host_mem_alloc_desc_t* description, std::size_t size,
                                            std::size_t alignment, void** data) {
  KILN_GUARD(guard_allocation(
      "zeMemAllocHost", context,
      {MemoryKind::host, size, alignment, description && is_relaxed(description->pNext)}, description, data));
  const Recording recording(record::Call::host_memory, nullptr);
  recording.set_bytes(size);
  recording.begin();
  const ze_result_t code = real.zeMemAllocHost(context, description, size, alignment, data);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *data : nullptr);
  if (code == ZE_RESULT_SUCCESS) return code;
  return refused_memory({code, "zeMemAllocHost"}, nullptr, MemoryKind::host, size, alignment,
                        description ? description->pNext : nullptr);
}

ze_result_t ZE_APICALL hook::zeMemFree(ze_context_handle_t context, void* data) {
  KILN_GUARD(first_of(need_handles("zeMemFree", context), need("zeMemFree", "address", data)));
  const Recording recording(record::Call::free, data);
  recording.begin();
  const ze_result_t code = real.zeMemFree(context, data);
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS) tell([&] { return explain_code_alone({code, "zeMemFree"}); });
  return code;
}

ze_result_t ZE_APICALL hook::zeEventPoolCreate(ze_context_handle_t context,
                                               const ze_event_pool_desc_t* description, std::uint32_t count,
                                               ze_device_handle_t* devices, ze_event_pool_handle_t* pool) {
  KILN_GUARD(guard_event_pool(context, description, pool));
  const ze_result_t code = real.zeEventPoolCreate(context, description, count, devices, pool);
  if (code != ZE_RESULT_SUCCESS)
    tell([&] {
      return explain_event_pool({code, "zeEventPoolCreate"}, description ? description->count : 0);
    });
  return code;
}

}  // namespace kiln::layer
