// SPDX-License-Identifier: MIT
// Calls through the dispatch table whose failure is an Error that names the call.
#pragma once

#include <span>

#include "kiln/api.hpp"
#include "kiln/event.hpp"
#include "kiln/log.hpp"

// Calls an entry point by name and gives a Result<void>.
#define KILN_CALL(name, ...) ::kiln::check(::kiln::api().name(__VA_ARGS__), #name)

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

/// Refs are one word each, the raw handle: a span of them is an array of handles.
template <class R>
auto* raw_array(std::span<const R> refs) {
  using Handle = typename R::Handle;
  static_assert(sizeof(R) == sizeof(Handle));
  return refs.empty() ? nullptr : const_cast<Handle*>(reinterpret_cast<const Handle*>(refs.data()));
}

/// Level Zero takes nanoseconds, UINT64_MAX for "until done".
inline std::uint64_t timeout_of(Timeout timeout) {
  if (timeout == kForever) return UINT64_MAX;
  return timeout.count() < 0 ? 0 : static_cast<std::uint64_t>(timeout.count());
}

}  // namespace kiln::detail
