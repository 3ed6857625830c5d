// SPDX-License-Identifier: MIT
// Append functions that order and time: barriers, events, timestamps.
#include <cstring>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/command_list.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/streams/clock.hpp"

namespace kiln::cpu {
namespace {
constexpr auto kNothing = [](Command&) {};

constexpr auto kBarrier = [](Command& command) { command.barrier = true; };
}  // namespace

ze_result_t command_list_append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                        std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  return append(list, {signal, wait_count, waits}, kBarrier);
}

ze_result_t command_list_append_memory_ranges_barrier(ze_command_list_handle_t list, std::uint32_t,
                                                      const std::size_t* sizes, const void** ranges,
                                                      ze_event_handle_t signal, std::uint32_t wait_count,
                                                      ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(sizes);
  KILN_NEED_POINTER(ranges);
  return append(list, {signal, wait_count, waits}, kBarrier);
}

ze_result_t command_list_append_signal_event(ze_command_list_handle_t list, ze_event_handle_t event) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(event);
  return append(list, {event}, kNothing);
}

ze_result_t command_list_append_wait_on_events(ze_command_list_handle_t list, std::uint32_t count,
                                               ze_event_handle_t* events) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(events);
  return append(list, {nullptr, count, events}, kNothing);
}

ze_result_t command_list_append_event_reset(ze_command_list_handle_t list, ze_event_handle_t event) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(event);
  if (object<Event>(event)->counter_based) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return append(list, {}, [&](Command& command) {
    command.action = [state = object<Event>(event)->state](Stream&) {
      state->reset();
      return ZE_RESULT_SUCCESS;
    };
  });
}

ze_result_t command_list_append_host_function(ze_command_list_handle_t list, void (*function)(void*),
                                              void* user, const void*, ze_event_handle_t signal,
                                              std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(function);
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    command.action = [function, user](Stream&) {
      function(user);
      return ZE_RESULT_SUCCESS;
    };
  });
}

ze_result_t command_list_append_write_global_timestamp(ze_command_list_handle_t list, std::uint64_t* to,
                                                       ze_event_handle_t signal, std::uint32_t wait_count,
                                                       ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(to);
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    command.action = [to](Stream&) {
      const std::uint64_t ticks = low_bits(ns_to_ticks(now_ns()), device().profile->timestamp_bits);
      std::memcpy(to, &ticks, sizeof(ticks));
      return ZE_RESULT_SUCCESS;
    };
  });
}

ze_result_t command_list_append_query_kernel_timestamps(ze_command_list_handle_t list, std::uint32_t count,
                                                        ze_event_handle_t* events, void* to,
                                                        const std::size_t* offsets, ze_event_handle_t signal,
                                                        std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(events);
  KILN_NEED_POINTER(to);
  for (std::uint32_t i = 0; i < count; ++i) KILN_NEED_HANDLE(events[i]);
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    struct Query {
      EventRef event;
      std::byte* to;
    };
    std::vector<Query> queries(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t offset = offsets ? offsets[i] : i * sizeof(ze_kernel_timestamp_result_t);
      queries[i] = {object<Event>(events[i])->state, static_cast<std::byte*>(to) + offset};
    }
    command.action = [queries = std::move(queries)](Stream&) {
      for (const Query& query : queries) {
        const ze_kernel_timestamp_result_t result = kernel_timestamp(*query.event);
        std::memcpy(query.to, &result, sizeof(result));
      }
      return ZE_RESULT_SUCCESS;
    };
  });
}

}  // namespace kiln::cpu
