// SPDX-License-Identifier: MIT
// Contexts, which own memory and everything that is made on a device.
#pragma once

#include "kiln/device.hpp"
#include "kiln/memory.hpp"

namespace kiln {

struct AllocationOptions {
  std::size_t alignment = 64;  ///< bytes, a power of two
  /// Lifts largest_allocation. Kernels that read such a buffer must be built for it
  /// (`-ze-opt-greater-than-4GB-buffer-required` on Xe-HPG and older).
  bool relaxed_limits = false;
};

class ContextRef;
using Context = Unique<ContextRef>;

/// A context. Thread-safe, as the specification asks.
class ContextRef : public Ref<ze_context_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] static Result<Context> create(DriverRef driver);

  /// `size` in bytes. Errors: UNSUPPORTED_SIZE (K0204) for 0, UNSUPPORTED_ALIGNMENT (K0205) for an alignment
  /// that is no power of two (driver 22.43 accepts both in silence); UNSUPPORTED_SIZE (K0207) for more than
  /// the device allows; else the driver's.
  [[nodiscard]] Result<Buffer> allocate_device(DeviceRef device, std::size_t size,
                                               AllocationOptions = {}) const;
  [[nodiscard]] Result<HostBuffer> allocate_host(std::size_t size, AllocationOptions = {}) const;
  [[nodiscard]] Result<HostBuffer> allocate_shared(DeviceRef device, std::size_t size,
                                                   AllocationOptions = {}) const;

  static void destroy(Handle handle);
};
KILN_HANDLE_CHECKS(ContextRef);

}  // namespace kiln
