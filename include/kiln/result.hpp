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
