// SPDX-License-Identifier: MIT
// Sizes around the largest allocation and the memory of the device; alignments of all kinds.
#include "driver_agreement/allocations.hpp"

#include <algorithm>
#include <sstream>

#include "kiln/structures.hpp"

namespace kiln::agreement {
namespace {

constexpr const char* kKinds[] = {"device", "host", "shared"};  // by MemoryKind

std::uint64_t draw_size(Draw& draw, const AllocationLimits& limits) {
  const std::uint64_t bounds[] = {limits.largest, limits.memory, std::uint64_t{1} << 32,
                                  std::uint64_t{1} << 47};
  const std::uint64_t bound = draw.of(bounds);
  switch (draw.between(0, 5)) {
    case 0:
      return draw.between(0, 4);
    case 1:
      return std::uint64_t{1} << draw.between(0, 63);
    case 2:
      return UINT64_MAX - draw.between(0, 1 << 20);
    case 3:
      return bound + draw.between(1, bound);
    default:
      return bound + draw.of<std::int64_t>({-65536, -4097, -4096, -1, 0, 1, 4095, 4096, 65536});
  }
}

}  // namespace

AllocationRequest draw_allocation(Draw& draw, const AllocationLimits& limits) {
  AllocationRequest request;
  request.kind = static_cast<MemoryKind>(draw.between(0, 2));
  request.size = draw_size(draw, limits);
  request.alignment = std::uint64_t{1} << draw.between(0, 16);
  if (draw.one_in(6))
    request.alignment = draw.one_in(2) ? std::uint64_t{1} << draw.between(17, 63) : draw.between(0, 5000);
  request.relaxed_limits = draw.one_in(2);
  return request;
}

ze_result_t allocate_unchecked(const OpenDevice& device, const AllocationRequest& request) {
  auto on_device = make<ze_device_mem_alloc_desc_t>();
  auto on_host = make<ze_host_mem_alloc_desc_t>();
  auto relaxed = make<ze_relaxed_allocation_limits_exp_desc_t>();
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  if (request.relaxed_limits && request.kind == MemoryKind::host) chain(on_host, relaxed);
  if (request.relaxed_limits && request.kind != MemoryKind::host) chain(on_device, relaxed);
  const auto context = device.context.get().raw();
  const auto raw = device.device.raw();
  const Api& api = device.device.api();
  void* data = nullptr;
  ze_result_t code = ZE_RESULT_ERROR_UNKNOWN;
  switch (request.kind) {
    case MemoryKind::device:
      code = api.zeMemAllocDevice(context, &on_device, request.size, request.alignment, raw, &data);
      break;
    case MemoryKind::host:
      code = api.zeMemAllocHost(context, &on_host, request.size, request.alignment, &data);
      break;
    case MemoryKind::shared:
      code = api.zeMemAllocShared(context, &on_device, &on_host, request.size, request.alignment, raw, &data);
  }
  if (code == ZE_RESULT_SUCCESS && data) code = api.zeMemFree(context, data);
  return code;
}

std::string to_text(const AllocationRequest& request) {
  return std::string(kKinds[static_cast<int>(request.kind)]) + " " + std::to_string(request.size) + " " +
         std::to_string(request.alignment) + (request.relaxed_limits ? " relaxed" : " plain");
}

AllocationRequest parse_allocation(const std::string& text) {
  std::istringstream words(text);
  std::string kind, limits;
  AllocationRequest request;
  words >> kind >> request.size >> request.alignment >> limits;
  request.kind = static_cast<MemoryKind>(std::ranges::find(kKinds, kind) - std::begin(kKinds));
  request.relaxed_limits = limits == "relaxed";
  return request;
}

}  // namespace kiln::agreement
