// SPDX-License-Identifier: MIT
// The CPU device with a context, and short ways to make what the tests need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api.hpp"

inline constexpr std::uint64_t kForever = UINT64_MAX;
inline constexpr std::uint64_t kMillisecond = 1'000'000;  // ns

/// A structure with its type set and all else zero.
template <class T>
T make(ze_structure_type_t type) {
  T value{};
  value.stype = type;
  return value;
}

[[nodiscard]] std::vector<std::uint8_t> read_file(const std::string& name);

/// One driver, one device, one context for a test; all that it makes is destroyed with it, last first.
class Fixture {
 public:
  Fixture();
  ~Fixture();
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;

  ze_module_handle_t module(const std::string& file = "kernels.spv", const char* flags = nullptr);
  ze_kernel_handle_t kernel(ze_module_handle_t module, const char* name);
  ze_command_list_handle_t immediate(ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     ze_command_queue_flags_t flags = 0);
  ze_command_list_handle_t list(ze_command_list_flags_t flags = 0);
  ze_command_queue_handle_t queue(ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ze_event_handle_t event();
  ze_fence_handle_t fence(ze_command_queue_handle_t queue);
  std::uint32_t* memory(std::size_t words);

  /// What the CPU driver says about the last refusal on this thread.
  std::string last_error();

  ze_device_compute_properties_t compute();

  /// A function of the driver that the tables of old loaders do not have. It takes the driver's own handles.
  template <class Function>
  Function* extension(const char* name) const {
    return reinterpret_cast<Function*>(extension_address(name));
  }

 private:
  [[nodiscard]] void* extension_address(const char* name) const;

  template <class Handle>
  Handle keep(Handle handle, ze_result_t (*destroy)(Handle)) {
    made_.push_back([=] { return destroy(handle); });
    return handle;
  }
  std::vector<std::function<ze_result_t()>> made_;
  std::vector<void*> memory_;
  ze_event_pool_handle_t pool_ = nullptr;
  std::uint32_t events_ = 0;
};
