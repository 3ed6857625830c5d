// SPDX-License-Identifier: MIT
// What a capture says of a launch or a build, apart from when it is written.
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/layer/capture/hooks.hpp"
#include "drivers/layer/capture/launch.hpp"
#include "support/json.hpp"

namespace kiln::layer::capture {

/// An allocation that an argument points into.
struct Memory {
  std::byte* begin = nullptr;
  std::size_t size = 0;  ///< bytes
  ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
  std::span<std::byte> before, after;  ///< copies, in the staging memory
};

/// A launch that is kept, from its first copy until it is written.
struct Captured {
  std::uint64_t number = 0;
  detail::Json entry;
  std::shared_ptr<Source> source;
  ze_command_list_handle_t list = nullptr;
  std::vector<Memory> memories;
  // Made for it, and needed for as long as the list may run again.
  void* staging = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  ze_event_handle_t copied = nullptr, done = nullptr;  // behind the copies before it and after it
  bool submitted = false;
  bool written = false;  // or given up

  Captured() = default;
  Captured(Captured&&) = delete;
  ~Captured() {
    for (const ze_event_handle_t event : {copied, done})
      if (event) next.zeEventDestroy(event);
    if (pool) next.zeEventPoolDestroy(pool);
    if (staging) next.zeMemFree(source->context, staging);
  }
};

/// What each entry begins with.
[[nodiscard]] detail::Json start_entry(const char* what, const char* call, const Source& source);

[[nodiscard]] const char* kind_text(ze_memory_type_t type);

/// What stands in the way, in words; empty: nothing. `captured` has its description then.
[[nodiscard]] std::string describe(Captured& captured, const Launch& launch, const CapturedKernel& kernel,
                                   std::uint64_t of_kernel);

}  // namespace kiln::layer::capture
