// SPDX-License-Identifier: MIT
// Event pools and events.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "drivers/cpu/memory/shared_file.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/object.hpp"
#include "drivers/cpu/streams/event_state.hpp"

namespace kiln::cpu {

/// The places of a pool. Outlives it with its events.
struct EventPlaces {
  explicit EventPlaces(std::uint32_t count) : taken(count) {}
  std::mutex mutex;
  std::vector<bool> taken;
  std::shared_ptr<Mapping> cells;  ///< an EventCell a place, in memory that processes share; null: none
  Descriptor file;                 ///< of the cells
  std::optional<SharedHandle> shared;
};

class EventPool : public Object {
 public:
  using Handle = ze_event_pool_handle_t;
  explicit EventPool(ze_context_handle_t context)
      : Object(HandleKind::event_pool), context(context), losses(object<Context>(context)->life.losses()) {}
  const ze_context_handle_t context;
  const LossesBefore losses;
  ze_event_pool_flags_t flags = 0;
  std::uint32_t count = 0;
  bool counter_based = false;
  bool opened = false;  ///< belongs to another process
  std::shared_ptr<EventPlaces> places;
};

/// What an event has whose every append makes it stand for that command, and that nobody resets.
struct CounterBased {
  std::uint32_t flags = 0;
  std::shared_ptr<Mapping> cell;  ///< in memory that processes share; null: its own
  Descriptor file;
  std::optional<SharedHandle> shared;
};

class Event : public Object {
 public:
  using Handle = ze_event_handle_t;
  explicit Event(LossesBefore losses) : Object(HandleKind::event), losses(losses) {}
  ~Event();
  const LossesBefore losses;
  EventPool* pool = nullptr;  ///< may be gone already: never looked into
  bool mapped_timestamps = false;
  ze_event_scope_flags_t signal_scope = 0;
  ze_event_scope_flags_t wait_scope = 0;
  EventRef state;
  std::shared_ptr<EventPlaces> places;  ///< null: not from a pool
  std::uint32_t index = 0;
  std::optional<CounterBased> counter_based;
};

/// Maps the file's cells. False: no memory.
[[nodiscard]] bool map_cells(EventPlaces& places, std::size_t bytes);

/// The state that a command which is appended now signals. May throw bad_alloc.
[[nodiscard]] EventRef begin_append(Event& event);

/// The times of an event in device ticks, cut to the profile's valid bits.
[[nodiscard]] ze_kernel_timestamp_result_t kernel_timestamp(const EventState& event);

}  // namespace kiln::cpu
