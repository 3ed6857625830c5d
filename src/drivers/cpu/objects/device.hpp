// SPDX-License-Identifier: MIT
// The driver, its devices, and contexts.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "drivers/cpu/objects/object.hpp"
#include "drivers/cpu/settings/fault.hpp"
#include "product/profile.hpp"

namespace kiln::cpu {

class Device : public Object {
 public:
  using Handle = ze_device_handle_t;
  Device(std::uint32_t index, std::uint32_t number)
      : Object(HandleKind::device), index(index), number(number) {}
  const std::uint32_t index;   ///< among those of the driver
  const std::uint32_t number;  ///< its own, whatever is masked
  const product::Profile* profile = nullptr;
  std::uint64_t total_memory = 0;    ///< bytes the host has
  std::uint64_t max_allocation = 0;  ///< bytes: the smaller of the profile's and the host's
};

class Driver : public Object {
 public:
  using Handle = ze_driver_handle_t;
  Driver() : Object(HandleKind::driver) {}
  std::deque<Device> devices;               ///< at least one; all alike
  bool as_gpu = false;                      ///< the devices say that they are GPUs
  bool system_memory = false;               ///< kernels take pointers to any memory of the process
  std::chrono::nanoseconds launch_limit{};  ///< 0: none
};

class Context : public Object {
 public:
  using Handle = ze_context_handle_t;
  Context() : Object(HandleKind::context) {}
  const ContextLife life;
};

/// The driver, or null before the first zeInit that succeeded. Lives until the process ends.
[[nodiscard]] Driver* driver();

/// The first device, whose limits are those of all; only after zeInit.
[[nodiscard]] inline Device& device() { return driver()->devices.front(); }

/// The context of zeDriverGetDefaultContext and zerGetDefaultContext.
[[nodiscard]] Context& default_context();

/// Reads the profile from the environment. Thread-safe; does nothing after it succeeded once.
[[nodiscard]] ze_result_t initialize();

/// Bytes of host memory that a new allocation could use now.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace kiln::cpu
