// SPDX-License-Identifier: MIT
// The driver, its one device, and contexts.
#pragma once

#include <cstdint>

#include "object.hpp"
#include "profile.hpp"

namespace kiln::cpu {

class Device : public Object {
 public:
  using Handle = ze_device_handle_t;
  const Profile* profile = nullptr;
  std::uint64_t total_memory = 0;    ///< bytes the host has
  std::uint64_t max_allocation = 0;  ///< bytes: the smaller of the profile's and the host's
  std::uint32_t workers = 1;         ///< work-groups that run at the same time
};

class Driver : public Object {
 public:
  using Handle = ze_driver_handle_t;
  Device device;
};

class Context : public Object {
 public:
  using Handle = ze_context_handle_t;
};

/// The driver, or null before the first zeInit that succeeded. Lives until the process ends.
[[nodiscard]] Driver* driver();

/// The device; only after zeInit.
[[nodiscard]] inline Device& device() { return driver()->device; }

/// The context of zeDriverGetDefaultContext and zerGetDefaultContext.
[[nodiscard]] Context& default_context();

/// Reads the profile from the environment. Thread-safe; does nothing after it succeeded once.
[[nodiscard]] ze_result_t initialize();

/// Bytes of host memory that a new allocation could use now.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace kiln::cpu
