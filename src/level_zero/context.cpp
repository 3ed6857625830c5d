// SPDX-License-Identifier: MIT
// Contexts and their allocations.
#include "kiln/context.hpp"

#include "kiln/allocation.hpp"
#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

/// What the device says of its limits; of an empty one nothing, which leaves them to the driver.
AllocationLimits limits_of(DeviceRef device, const AllocationRequest& request) {
  AllocationLimits limits;
  auto properties = make<ze_device_properties_t>();
  if (device && device.api().zeDeviceGetProperties(device.raw(), &properties) == ZE_RESULT_SUCCESS)
    limits.largest = properties.maxMemAllocSize;
  if (device && request.relaxed_limits) limits.memory = detail::memory_of(device);
  return limits;
}

Result<void> check_request(const AllocationRequest& request, DeviceRef device, const char* call) {
  AllocationLimits limits = limits_of(device, request);
  const AllocationVerdict verdict = check_allocation(limits, request);
  if (verdict == AllocationVerdict::fits) return {};
  if (device && verdict != AllocationVerdict::zero_size && verdict != AllocationVerdict::alignment)
    if (const auto properties = device.properties()) limits.free_memory = properties->usable_memory;
  return tl::unexpected(Error(code_of(verdict), call, explain_allocation(verdict, limits, request)));
}

Error explain(Error error, DeviceRef device, const AllocationRequest& request) {
  // Made anew below from the code: here DEVICE_LOST first of all means a device of another context.
  MemoryRequest asked;
  asked.kind = request.kind;
  asked.size = request.size;
  const Refusal refusal = detail::survey(error.code(), error.call(), device, std::move(asked));
  return detail::explained(std::move(error), explain_allocation(refusal, request));
}

/// Owns what the driver gave, if it kept the alignment: 22.43 takes large ones and forgets them.
Result<Buffer> keep(ContextRef context, void* data, const AllocationRequest& request, const char* call) {
  Buffer buffer = Buffer::adopt(context, data, request.size, request.kind);
  detail::tell_allocation({data, request.size, request.kind, false, context.raw()});
  const bool any = request.alignment == 0;
  if (any || reinterpret_cast<std::uintptr_t>(data) % request.alignment == 0) return buffer;
  return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, call,
                              {"K0205",
                               "the driver does not keep the alignment of an allocation",
                               {{"alignment asked for", {}, request.alignment, "B"}},
                               {"use at most 65536 bytes for device and host memory"}}));
}

AllocationRequest request_of(MemoryKind kind, std::size_t size, const AllocationOptions& options) {
  return {kind, size, options.alignment, options.relaxed_limits};
}

Result<Buffer> take_host(ContextRef context, std::size_t size, AllocationOptions options) {
  const AllocationRequest request = request_of(MemoryKind::host, size, options);
  KILN_TRY(check_request(request, {}, "zeMemAllocHost"));
  auto description = make<ze_host_mem_alloc_desc_t>();
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (options.relaxed_limits) chain(description, relaxed);
  void* data = nullptr;
  if (auto result = KILN_CALL(zeMemAllocHost, context, &description, size, options.alignment, &data); !result)
    return tl::unexpected(explain(std::move(result).error(), {}, request));
  return keep(context, data, request, "zeMemAllocHost");
}

Result<Buffer> take_shared(ContextRef context, DeviceRef device, std::size_t size,
                           AllocationOptions options) {
  const AllocationRequest request = request_of(MemoryKind::shared, size, options);
  KILN_TRY(check_request(request, device, "zeMemAllocShared"));
  auto on_device =
      make<ze_device_mem_alloc_desc_t>();  // the driver reads the relaxed limits from this one alone
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (options.relaxed_limits) chain(on_device, relaxed);
  const auto on_host = make<ze_host_mem_alloc_desc_t>();
  void* data = nullptr;
  if (auto result = KILN_CALL(zeMemAllocShared, context, &on_device, &on_host, size, options.alignment,
                              detail::Optional{device}, &data);
      !result)
    return tl::unexpected(explain(std::move(result).error(), device, request));
  return keep(context, data, request, "zeMemAllocShared");
}

}  // namespace

Result<Buffer> detail::take_device(ContextRef context, DeviceRef device, std::size_t size,
                                   AllocationOptions options, void* extension) {
  const AllocationRequest request = request_of(MemoryKind::device, size, options);
  KILN_TRY(check_request(request, device, "zeMemAllocDevice"));
  auto description = make<ze_device_mem_alloc_desc_t>();
  description.pNext = extension;
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (options.relaxed_limits) chain(description, relaxed);
  void* data = nullptr;
  if (auto result =
          KILN_CALL(zeMemAllocDevice, context, &description, size, options.alignment, device, &data);
      !result)
    return tl::unexpected(explain(std::move(result).error(), device, request));
  return keep(context, data, request, "zeMemAllocDevice");
}

Result<Context> ContextRef::create(DriverRef driver) {
  const auto description = make<ze_context_desc_t>();
  Handle handle = nullptr;
  KILN_TRY(KILN_CALL(zeContextCreate, driver, &description, &handle));
  return Context::adopt(handle, driver.api());
}

Result<Buffer> ContextRef::allocate_device(DeviceRef device, std::size_t size,
                                           AllocationOptions options) const {
  return detail::told(Refused::allocation, detail::take_device(*this, device, size, options));
}

Result<HostBuffer> ContextRef::allocate_host(std::size_t size, AllocationOptions options) const {
  KILN_TRY(auto buffer, detail::told(Refused::allocation, take_host(*this, size, options)));
  return HostBuffer(std::move(buffer));
}

Result<HostBuffer> ContextRef::allocate_shared(DeviceRef device, std::size_t size,
                                               AllocationOptions options) const {
  KILN_TRY(auto buffer, detail::told(Refused::allocation, take_shared(*this, device, size, options)));
  return HostBuffer(std::move(buffer));
}

void ContextRef::destroy(ContextRef ref) { KILN_DESTROY(zeContextDestroy, ref); }

}  // namespace kiln
