// SPDX-License-Identifier: MIT
// Contexts, which own memory and everything that is made on a device.
#pragma once

#include "kiln/device.hpp"
#include "kiln/memory.hpp"

namespace kiln {

struct AllocationOptions {
  std::size_t alignment = 64;  ///< bytes: a power of two, of which drivers keep up to 65536; 0: any
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

  /// `size` in bytes. Before the driver hears of it: those of check_allocation (K0204, K0205, K0207, K0225),
  /// K0222 for an empty handle. Then UNSUPPORTED_ALIGNMENT (K0205) where the driver did not keep it; else the
  /// driver's, with what is known (K0214 to K0216, K0220). An empty device is allowed for shared memory only.
  [[nodiscard]] Result<Buffer> allocate_device(DeviceRef device, std::size_t size,
                                               AllocationOptions = {}) const;
  [[nodiscard]] Result<HostBuffer> allocate_host(std::size_t size, AllocationOptions = {}) const;
  [[nodiscard]] Result<HostBuffer> allocate_shared(DeviceRef device, std::size_t size,
                                                   AllocationOptions = {}) const;

  static void destroy(ContextRef);
};
KILN_HANDLE_CHECKS(ContextRef);

}  // namespace kiln
