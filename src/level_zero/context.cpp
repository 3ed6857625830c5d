// SPDX-License-Identifier: MIT
// Contexts and their allocations.
#include "kiln/context.hpp"

#include <bit>

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"

namespace kiln {
namespace {

/// Size 0 and odd alignments pass on driver 22.43 and may abort later ones, so they never reach a driver.
Result<void> check_request(std::size_t size, std::size_t alignment, const char* call) {
  if (size == 0)
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, call,
              {"K0204", "an allocation of 0 bytes was asked for", {}, {"ask for at least 1 byte"}}));
  if (!std::has_single_bit(alignment))
    return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, call,
                                {"K0205",
                                 "the alignment of an allocation is not a power of two",
                                 {{"alignment asked for", "", alignment, "B"}},
                                 {"use " + std::to_string(std::bit_ceil(alignment)) + " bytes"}}));
  return {};
}

/// Says how much was asked for and how much there is, when the driver refuses a size.
Error explain(Error error, DeviceRef device, std::size_t size) {
  if (error.code() != ZE_RESULT_ERROR_UNSUPPORTED_SIZE) return error;
  const auto properties = device.properties();
  if (!properties) return error;
  Diagnostic diagnostic{"K0207", "an allocation is larger than the device allows", {}, {}};
  diagnostic.rows = {{"asked for", "", size, "B"},
                     {"largest allocation", "", properties->largest_allocation, "B"}};
  diagnostic.help = {
      "split the data over several allocations",
      "or set AllocationOptions::relaxed_limits, and build the kernels that read it for buffers above 4 GB"};
  return Error(error.code(), error.call(), std::move(diagnostic));
}

}  // namespace

Result<Context> ContextRef::create(DriverRef driver) {
  const auto description = make<ze_context_desc_t>();
  Handle handle = nullptr;
  KILN_TRY(KILN_CALL(zeContextCreate, driver.raw(), &description, &handle));
  return Context::adopt(handle);
}

Result<Buffer> ContextRef::allocate_device(DeviceRef device, std::size_t size,
                                           AllocationOptions options) const {
  KILN_TRY(check_request(size, options.alignment, "zeMemAllocDevice"));
  auto description = make<ze_device_mem_alloc_desc_t>();
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (options.relaxed_limits) chain(description, relaxed);
  void* data = nullptr;
  if (auto result =
          KILN_CALL(zeMemAllocDevice, raw(), &description, size, options.alignment, device.raw(), &data);
      !result)
    return tl::unexpected(explain(std::move(result).error(), device, size));
  return Buffer::adopt(raw(), data, size, MemoryKind::device);
}

Result<HostBuffer> ContextRef::allocate_host(std::size_t size, AllocationOptions options) const {
  KILN_TRY(check_request(size, options.alignment, "zeMemAllocHost"));
  auto description = make<ze_host_mem_alloc_desc_t>();
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (options.relaxed_limits) chain(description, relaxed);
  void* data = nullptr;
  KILN_TRY(KILN_CALL(zeMemAllocHost, raw(), &description, size, options.alignment, &data));
  return HostBuffer(Buffer::adopt(raw(), data, size, MemoryKind::host));
}

Result<HostBuffer> ContextRef::allocate_shared(DeviceRef device, std::size_t size,
                                               AllocationOptions options) const {
  KILN_TRY(check_request(size, options.alignment, "zeMemAllocShared"));
  auto on_device =
      make<ze_device_mem_alloc_desc_t>();  // the driver reads the relaxed limits from this one alone
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (options.relaxed_limits) chain(on_device, relaxed);
  const auto on_host = make<ze_host_mem_alloc_desc_t>();
  void* data = nullptr;
  if (auto result = KILN_CALL(zeMemAllocShared, raw(), &on_device, &on_host, size, options.alignment,
                              device.raw(), &data);
      !result)
    return tl::unexpected(explain(std::move(result).error(), device, size));
  return HostBuffer(Buffer::adopt(raw(), data, size, MemoryKind::shared));
}

void ContextRef::destroy(Handle handle) { KILN_DESTROY(zeContextDestroy, handle); }

}  // namespace kiln
