// SPDX-License-Identifier: MIT
// Result and Error: how every function that can fail answers.
#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "kiln/diagnostic.hpp"

namespace kiln {

/// Why a call failed. Copyable; holds the driver's code, the call that gave it (or would have given it), and
/// a diagnostic when more is known. Making one from a code alone neither allocates nor formats.
class Error {
 public:
  Error(ze_result_t code, const char* call) : code_(code), call_(call) {}
  /// Code and call become those of the diagnostic's answer; who answered stays, and is Kiln where it does not
  /// say.
  Error(ze_result_t code, const char* call, Diagnostic diagnostic);

  [[nodiscard]] ze_result_t code() const { return code_; }
  [[nodiscard]] const char* call() const { return call_; }  ///< static storage, such as "zeModuleCreate"
  [[nodiscard]] const Diagnostic* diagnostic() const { return diagnostic_.get(); }  ///< null: the code is all

  /// The diagnostic's text, or one line with the call and the code's name.
  [[nodiscard]] std::string text() const;

 private:
  ze_result_t code_;
  const char* call_;
  std::shared_ptr<const Diagnostic> diagnostic_;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Turns a code into a Result. `call` needs static storage.
[[nodiscard]] inline Result<void> check(ze_result_t code, const char* call) {
  if (code == ZE_RESULT_SUCCESS) [[likely]]
    return {};
  return tl::unexpected(Error(code, call));
}

/// "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY" and so on; "0x…" for a code that is not known. Reentrant.
[[nodiscard]] std::string result_name(ze_result_t code);

/// "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)". Reentrant.
[[nodiscard]] std::string result_text(ze_result_t code);

}  // namespace kiln

/// Hands an error on to the caller, and goes on with the value otherwise. The enclosing function, or lambda
/// with its type written down, returns a Result of whatever type:
///
///     Result<void> run(const OpenDevice& device, CommandListRef list) {
///       KILN_TRY(auto bundle, Bundle::load(device, "kernels/saxpy"));  // declares `bundle`
///       KILN_TRY(list.close());  // a Result<void>; another's value is dropped
///       return {};
///     }
///
/// Before the comma stands a declaration, or a variable that gets the value. The expression is evaluated
/// once; what it refers to by name is copied, not moved from. Two statements where it declares: in braces
/// behind an `if`, which does not compile otherwise.
#define KILN_TRY(first, ...) KILN_DETAIL_TRY##__VA_OPT__(_BIND)(first __VA_OPT__(, ) __VA_ARGS__)

#define KILN_DETAIL_TRY(expression)                                                                \
  do {                                                                                             \
    if (auto&& kiln_try_result = (expression); !kiln_try_result) [[unlikely]]                      \
      return ::tl::unexpected(::std::forward<decltype(kiln_try_result)>(kiln_try_result).error()); \
  } while (false)
#define KILN_DETAIL_TRY_BIND(declaration, ...) \
  KILN_DETAIL_TRY_NAMED(KILN_DETAIL_JOIN(kiln_try_result_, __LINE__), declaration, __VA_ARGS__)
#define KILN_DETAIL_TRY_NAMED(result, declaration, ...)                        \
  auto&& result = (__VA_ARGS__);                                               \
  if (!result) [[unlikely]]                                                    \
    return ::tl::unexpected(::std::forward<decltype(result)>(result).error()); \
  declaration = *::std::forward<decltype(result)>(result)
#define KILN_DETAIL_JOIN(first, second) KILN_DETAIL_JOIN_NOW(first, second)
#define KILN_DETAIL_JOIN_NOW(first, second) first##second
