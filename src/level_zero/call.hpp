// SPDX-License-Identifier: MIT
// Calls through the dispatch table: empty handles never reach a driver, and a failure is an Error that names
// the call.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "kiln/api.hpp"
#include "kiln/event.hpp"
#include "kiln/log.hpp"

// Calls an entry point by name, in the table of the first argument, which is a ref, and gives a Result<void>.
#define KILN_CALL(name, ...) ::kiln::detail::call(#name, &::kiln::Api::name, __VA_ARGS__)

// Calls a destroying entry point in the table of the first argument; a failure is logged.
#define KILN_DESTROY(name, ...) ::kiln::detail::destroy(#name, &::kiln::Api::name, __VA_ARGS__)

namespace kiln::detail {

/// Set when the process exits: from then on the loader and the drivers take themselves apart.
[[gnu::visibility("hidden")]] extern bool tearing_down;

/// A ref that may be empty, such as the event that an append signals.
template <class Handle>
struct Optional {
  Ref<Handle> ref;
};
template <class R>
Optional(R) -> Optional<typename R::Handle>;

/// The raw handles behind refs, none of which may be empty. Allocates for more than kFew alone.
template <class Handle>
class Handles {
 public:
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  template <class R>
  explicit Handles(std::span<const R> refs) : size_(static_cast<std::uint32_t>(refs.size())) {
    if (refs.empty()) return;
    if (refs.size() > kFew) [[unlikely]]
      many_ = std::make_unique<Handle[]>(refs.size());
    data_ = many_ ? many_.get() : few_.data();
    api_ = refs[0].table();
    for (Handle* to = data_; const R& ref : refs) {
      has_empty_ = !ref;
      is_mixed_ = ref.table() != api_;
      if (has_empty_ || is_mixed_) [[unlikely]]
        return;
      *to++ = ref.raw();
    }
  }
  [[nodiscard]] Handle* data() const { return data_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool has_empty() const { return has_empty_; }
  [[nodiscard]] bool is_of(const Api& api) const { return !api_ || (api_ == &api && !is_mixed_); }

 private:
  static constexpr std::size_t kFew = 16;
  Handle* data_ = nullptr;
  const Api* api_ = nullptr;
  std::uint32_t size_ = 0;
  bool has_empty_ = false, is_mixed_ = false;
  std::unique_ptr<Handle[]> many_;
  std::array<Handle, kFew> few_;  // left as it is: only what was asked for is written
};
template <class R>
Handles(std::span<const R>) -> Handles<typename R::Handle>;

template <class T>
concept RawHandle = std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>> &&
                    !std::is_function_v<std::remove_pointer_t<T>> && !requires {
  sizeof(std::remove_pointer_t<T>);
};

// What the driver gets for an argument, whether it is an empty handle, and whether it is of that driver.
template <class T>
const T& raw_of(const T& value) {
  static_assert(!RawHandle<T>, "give the ref, so that it is checked");
  return value;
}
template <class Handle>
Handle raw_of(const Ref<Handle>& ref) {
  return ref.raw();
}
template <class Handle>
Handle raw_of(const Optional<Handle>& optional) {
  return optional.ref.raw();
}
template <class Handle>
Handle* raw_of(const Handles<Handle>& handles) {
  return handles.data();
}

template <class T>
bool is_empty(const T&) {
  return false;
}
template <class Handle>
bool is_empty(const Ref<Handle>& ref) {
  return !ref;
}
template <class Handle>
bool is_empty(const Handles<Handle>& handles) {
  return handles.has_empty();
}

template <class T>
bool is_of(const Api&, const T&) {
  return true;
}
template <class Handle>
bool is_of(const Api& api, const Ref<Handle>& ref) {
  return ref.table() == &api;
}
template <class Handle>
bool is_of(const Api& api, const Optional<Handle>& optional) {
  return !optional.ref || optional.ref.table() == &api;
}
template <class Handle>
bool is_of(const Api& api, const Handles<Handle>& handles) {
  return handles.is_of(api);
}

/// An argument as it is, and a derived ref as the one that the functions above know.
template <class T>
const T& plain(const T& value) {
  return value;
}
template <class T>
requires requires { typename T::Handle; }
const Ref<typename T::Handle>& plain(const T& ref) { return ref; }

/// Destructors cannot fail: a driver that refuses to destroy is logged, and one that is going away is left
/// alone.
template <class... Parameters, class First, class... Rest>
void destroy(const char* call, ze_result_t (*Api::*function)(Parameters...), const First& first,
             const Rest&... rest) {
  if (tearing_down) return;
  const ze_result_t code = (first.api().*function)(first.raw(), rest...);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    log(LogLevel::warning, std::string(call) + " failed: " + result_name(code));
}

/// K0222: an empty handle or a null pointer was given. Intel's driver follows it without a look (22.43 to
/// 26.31), which ends the process.
[[nodiscard]] Error empty_handle(const char* call);
[[nodiscard]] Error null_pointer(const char* call, const char* what);

/// K0228: a handle of one driver was given beside that of another, which would take it for its own.
[[nodiscard]] Error foreign_handle(const char* call);

/// What is known of a failure by its code alone: K0220 when the device is lost.
[[nodiscard]] Error refused(ze_result_t code, const char* call);

template <class... Parameters, class First, class... Rest>
Result<void> call(const char* name, ze_result_t (*Api::*function)(Parameters...), const First& first,
                  const Rest&... rest) {
  if (is_empty(plain(first)) || (is_empty(plain(rest)) || ...)) [[unlikely]]
    return tl::unexpected(empty_handle(name));
  const Api& api = *first.table();  // what is not empty has one
  if (!(is_of(api, plain(rest)) && ...)) [[unlikely]]
    return tl::unexpected(foreign_handle(name));
  const ze_result_t code = (api.*function)(first.raw(), raw_of(plain(rest))...);
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
