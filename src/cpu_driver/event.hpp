// SPDX-License-Identifier: MIT
// Event pools and events.
#pragma once

#include <cstdint>
#include <memory>

#include "event_state.hpp"
#include "object.hpp"

namespace kiln::cpu {

class EventPool : public Object {
 public:
  using Handle = ze_event_pool_handle_t;
  ze_context_handle_t context = nullptr;
  ze_event_pool_flags_t flags = 0;
  std::uint32_t count = 0;
};

class Event : public Object {
 public:
  using Handle = ze_event_handle_t;
  EventPool* pool = nullptr;  ///< may be gone already: never looked into
  bool mapped_timestamps = false;
  ze_event_scope_flags_t signal_scope = 0;
  ze_event_scope_flags_t wait_scope = 0;
  EventRef state;
};

/// The times of an event in device ticks, cut to the profile's valid bits.
[[nodiscard]] ze_kernel_timestamp_result_t kernel_timestamp(const EventState& event);

}  // namespace kiln::cpu
