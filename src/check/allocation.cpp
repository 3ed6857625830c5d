// SPDX-License-Identifier: MIT
// The check of an allocation: a pure comparison of what is asked for with what the device takes.
#include "kiln/allocation.hpp"

#include <bit>

namespace kiln {
namespace {

// Driver 26.27 crashes on an alignment of 2^63 for shared memory, and no hardware has pages of this size.
constexpr std::uint64_t kLargestAlignment = std::uint64_t{1} << 31;  // bytes
// The addresses of a process on x86-64. Host memory with relaxed limits has no other bound: just below 2^64
// the size wraps round, which 22.43 grants with a page and 26.27 answers by ending the process.
constexpr std::uint64_t kAddresses = std::uint64_t{1} << 47;  // bytes

const char* kind_name(MemoryKind kind) {
  return kind == MemoryKind::device ? "device" : kind == MemoryKind::host ? "host" : "shared";
}

const char* call_of(MemoryKind kind) {
  return kind == MemoryKind::device ? "zeMemAllocDevice"
         : kind == MemoryKind::host ? "zeMemAllocHost"
                                    : "zeMemAllocShared";
}

/// 22.43 grants 0 bytes, all drivers some odd alignments, and beyond all addresses one crashes.
bool driver_refuses(AllocationVerdict verdict) {
  return verdict == AllocationVerdict::above_largest || verdict == AllocationVerdict::above_memory;
}

}  // namespace

AllocationVerdict check_allocation(const AllocationLimits& limits, const AllocationRequest& request) {
  if (request.size == 0) return AllocationVerdict::zero_size;
  // 0 is the driver's default: specification 1.9, zeMemAllocDevice; 22.43 and 26.27 take it too.
  if ((request.alignment != 0 && !std::has_single_bit(request.alignment)) ||
      request.alignment > kLargestAlignment)
    return AllocationVerdict::alignment;
  if (!request.relaxed_limits)
    return limits.largest != 0 && request.size > limits.largest ? AllocationVerdict::above_largest
                                                                : AllocationVerdict::fits;
  if (request.kind != MemoryKind::host && limits.memory != 0 && request.size > limits.memory)
    return AllocationVerdict::above_memory;
  return request.size > kAddresses ? AllocationVerdict::above_addresses : AllocationVerdict::fits;
}

ze_result_t code_of(AllocationVerdict verdict) {
  switch (verdict) {
    case AllocationVerdict::fits:
      return ZE_RESULT_SUCCESS;
    case AllocationVerdict::alignment:
      return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    case AllocationVerdict::zero_size:
    case AllocationVerdict::above_largest:
    case AllocationVerdict::above_memory:
      return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    case AllocationVerdict::above_addresses:
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

namespace {

Diagnostic explain_verdict(AllocationVerdict verdict, const AllocationLimits& limits,
                           const AllocationRequest& request) {
  Diagnostic diagnostic;
  diagnostic.rows = {{"asked for", {}, request.size, "B"}, {"kind", kind_name(request.kind)}};
  switch (verdict) {
    case AllocationVerdict::fits:
      break;
    case AllocationVerdict::zero_size:
      return {"K0204", "an allocation of 0 bytes was asked for", {}, {"ask for at least 1 byte"}};
    case AllocationVerdict::alignment:
      diagnostic = {"K0205",
                    "the alignment of an allocation is not a power of two",
                    {{"alignment asked for", {}, request.alignment, "B"}},
                    {"use " + std::to_string(std::bit_ceil(request.alignment)) + " bytes"}};
      if (request.alignment <= kLargestAlignment) return diagnostic;
      diagnostic.message = "the alignment of an allocation is larger than any driver takes";
      diagnostic.help = {"use at most 65536 bytes, which every driver keeps"};
      return diagnostic;
    case AllocationVerdict::above_largest:
      diagnostic.code = "K0207";
      diagnostic.message = "an allocation is larger than the device allows";
      if (limits.largest) diagnostic.rows.push_back({"largest allocation", {}, limits.largest, "B"});
      diagnostic.help = {"split the data over several allocations",
                         "or set AllocationOptions::relaxed_limits, and build the kernels that read it for "
                         "buffers above 4 GB"};
      break;
    case AllocationVerdict::above_memory:
      diagnostic.code = "K0225";
      diagnostic.message = "an allocation is larger than the memory of the device";
      diagnostic.rows.push_back({"memory of the device", {}, limits.memory, "B"});
      diagnostic.help = {"split the data, and keep on the device only the part that is worked on"};
      break;
    case AllocationVerdict::above_addresses:
      diagnostic.code = "K0225";
      diagnostic.message = "an allocation is larger than the addresses that a process has";
      diagnostic.rows.push_back({"addresses", {}, kAddresses, "B"});
      diagnostic.help = {"look for a size that was computed from a negative number"};
      break;
  }
  if (limits.free_memory) diagnostic.rows.push_back({"free at the moment", {}, *limits.free_memory, "B"});
  return diagnostic;
}

}  // namespace

Diagnostic explain_allocation(AllocationVerdict verdict, const AllocationLimits& limits,
                              const AllocationRequest& request) {
  Diagnostic diagnostic = explain_verdict(verdict, limits, request);
  diagnostic.answer = {driver_refuses(verdict) ? AnsweredBy::before_driver : AnsweredBy::kiln,
                       static_cast<std::uint32_t>(code_of(verdict)), call_of(request.kind)};
  return diagnostic;
}

}  // namespace kiln
