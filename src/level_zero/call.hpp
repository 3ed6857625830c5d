// SPDX-License-Identifier: MIT
// Calls through the dispatch table: empty handles never reach a driver, and a failure is an Error that names
// the call.
#pragma once

#include <span>

#include "kiln/api.hpp"
#include "kiln/event.hpp"
#include "kiln/log.hpp"

// Calls an entry point by name and gives a Result<void>.
#define KILN_CALL(name, ...) ::kiln::detail::call(#name, ::kiln::api().name, __VA_ARGS__)

// Calls a destroying entry point; a failure is logged.
#define KILN_DESTROY(name, ...) ::kiln::detail::destroy(#name, ::kiln::api().name, __VA_ARGS__)

// Returns from the enclosing function when a Result holds an error.
#define KILN_TRY(expression)                                              \
  do {                                                                    \
    if (auto&& result_of_try = (expression); !result_of_try) [[unlikely]] \
      return ::tl::unexpected(std::move(result_of_try).error());          \
  } while (false)

namespace kiln::detail {

/// Set when the process exits: from then on the loader and the drivers take themselves apart.
extern bool tearing_down;

/// Destructors cannot fail: a driver that refuses to destroy is logged, and one that is going away is left
/// alone.
template <class... Arguments>
void destroy(const char* call, ze_result_t (*function)(Arguments...), Arguments... arguments) {
  if (tearing_down) return;
  if (const ze_result_t code = function(arguments...); code != ZE_RESULT_SUCCESS) [[unlikely]]
    log(LogLevel::warning, std::string(call) + " failed: " + result_name(code));
}

/// A handle that may be empty, such as the event that an append signals.
template <class Handle>
struct Optional {
  Handle handle;
  operator Handle() const { return handle; }
};
template <class Handle>
Optional(Handle) -> Optional<Handle>;

/// An array of handles, none of which may be empty.
template <class Handle>
struct Handles {
  Handle* data;
  std::size_t size;
  operator Handle*() const { return data; }
};

/// Refs are one word each, the raw handle: a span of them is an array of handles.
template <class R>
Handles<typename R::Handle> raw_array(std::span<const R> refs) {
  using Handle = typename R::Handle;
  static_assert(sizeof(R) == sizeof(Handle));
  if (refs.empty()) return {nullptr, 0};
  return {const_cast<Handle*>(reinterpret_cast<const Handle*>(refs.data())), refs.size()};
}

template <class T>
bool is_empty(const T&) {
  return false;
}
#define KILN_HANDLE(type) \
  inline bool is_empty(const type& handle) { return handle == nullptr; }
KILN_HANDLE(ze_driver_handle_t)
KILN_HANDLE(ze_device_handle_t)
KILN_HANDLE(ze_context_handle_t)
KILN_HANDLE(ze_command_queue_handle_t)
KILN_HANDLE(ze_command_list_handle_t)
KILN_HANDLE(ze_fence_handle_t)
KILN_HANDLE(ze_event_pool_handle_t)
KILN_HANDLE(ze_event_handle_t)
KILN_HANDLE(ze_module_handle_t)
KILN_HANDLE(ze_kernel_handle_t)
#undef KILN_HANDLE
template <class Handle>
bool is_empty(const Handles<Handle>& handles) {
  for (std::size_t i = 0; i < handles.size; ++i)
    if (!handles.data[i]) return true;
  return false;
}

/// K0222: an empty handle or a null pointer was given. Intel's driver follows it without a look (22.43 to
/// 26.31), which ends the process.
[[nodiscard]] Error empty_handle(const char* call);
[[nodiscard]] Error null_pointer(const char* call, const char* what);

/// What is known of a failure by its code alone: K0220 when the device is lost.
[[nodiscard]] Error refused(ze_result_t code, const char* call);

template <class... Parameters, class... Arguments>
Result<void> call(const char* name, ze_result_t (*function)(Parameters...), const Arguments&... arguments) {
  if ((is_empty(arguments) || ...)) [[unlikely]]
    return tl::unexpected(empty_handle(name));
  const ze_result_t code = function(arguments...);
  if (code == ZE_RESULT_SUCCESS) [[likely]]
    return {};
  return tl::unexpected(refused(code, name));
}

/// Level Zero takes nanoseconds, UINT64_MAX for "until done".
inline std::uint64_t timeout_of(Timeout timeout) {
  if (timeout == kForever) return UINT64_MAX;
  return timeout.count() < 0 ? 0 : static_cast<std::uint64_t>(timeout.count());
}

}  // namespace kiln::detail
