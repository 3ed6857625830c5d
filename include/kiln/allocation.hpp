// SPDX-License-Identifier: MIT
// Will the driver grant an allocation? Asked before the driver, which answers some requests by ending the
// process.
#pragma once

#include <cstdint>
#include <optional>

#include "kiln/diagnostic.hpp"
#include "kiln/result.hpp"

namespace kiln {

enum class MemoryKind : std::uint8_t { device, host, shared };

struct AllocationRequest {
  MemoryKind kind = MemoryKind::device;
  std::uint64_t size = 0;       ///< bytes
  std::uint64_t alignment = 0;  ///< bytes; 0: the driver's own
  bool relaxed_limits = false;
};

/// What bounds an allocation; 0 where it is not known, and then nothing is compared with it.
struct AllocationLimits {
  std::uint64_t largest = 0;                 ///< bytes, without relaxed limits
  std::uint64_t memory = 0;                  ///< bytes that the device has in all
  std::optional<std::uint64_t> free_memory;  ///< bytes at the moment: a note, never a reason
};

enum class AllocationVerdict : std::uint8_t {
  fits,
  zero_size,       ///< K0204
  alignment,       ///< K0205
  above_largest,   ///< K0207
  above_memory,    ///< K0225
  above_addresses  ///< K0225: host memory with relaxed limits has no other bound
};

/// What drivers 22.43 to 26.31 refuse, and what ends the process there or passes for something else: size 0
/// (shared memory on 22.43), odd and enormous alignments, sizes that wrap round. Whether the memory is there
/// is the driver's to say: pages are bound late. Pure; thread-safe.
/// Source: context.cpp:108-262 of intel/compute-runtime 26.31, and 22.43 and 26.27 without a GPU.
[[nodiscard]] AllocationVerdict check_allocation(const AllocationLimits& limits,
                                                 const AllocationRequest& request);

/// The result code that the driver gives, or should. Pure.
[[nodiscard]] ze_result_t code_of(AllocationVerdict verdict);

/// `verdict` is what check_allocation gave. Pure.
[[nodiscard]] Diagnostic explain_allocation(AllocationVerdict verdict, const AllocationLimits& limits,
                                            const AllocationRequest& request);

}  // namespace kiln
