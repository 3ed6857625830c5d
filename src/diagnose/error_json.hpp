// SPDX-License-Identifier: MIT
// An error as JSON, with the same members whatever is known of it.
#pragma once

#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::detail {

/// Its diagnostic; where it has none, one without a code that says what the call gave. Who reads it needs no
/// question. Pure.
[[nodiscard]] inline std::string error_json(const Error& error) {
  if (error.diagnostic()) return to_json(*error.diagnostic());
  const std::string_view call = error.call();
  const AnsweredBy by = call.starts_with("ze") ? AnsweredBy::driver : AnsweredBy::kiln;
  return to_json(Diagnostic{"",
                            std::string(call) + " failed: " + result_text(error.code()),
                            {},
                            {},
                            Severity::error,
                            Answer{by, static_cast<std::uint32_t>(error.code()), std::string(call)}});
}

}  // namespace kiln::detail
