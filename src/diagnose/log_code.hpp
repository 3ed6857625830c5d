// SPDX-License-Identifier: MIT
// Finds result codes in lines of any program, by name and number, and what sort of call gave them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnose/log_causes.hpp"

namespace kiln::detail {

/// The Level Zero code that a code mostly comes from, whatever explain_code() takes. Pure.
[[nodiscard]] std::optional<std::uint32_t> level_zero_code(std::string_view word);
/// The name behind UR_RESULT_ERROR_ of a number of UR; empty: none. Pure.
[[nodiscard]] std::string_view ur_name(std::uint32_t number);

/// What a call does, for which the same code has other causes.
enum class CallKind : std::uint8_t {
  unknown,
  allocation,
  copy,
  build,
  kernel,  ///< its creation
  launch,
  submission,
  wait,
  start,  ///< of the driver
  peer,   ///< copies from one device to another
};

/// Words that tell of a kind, in small letters; of several in a line the first of this list counts.
struct KindWord {
  std::string_view word;
  CallKind kind;
};
[[nodiscard]] std::span<const KindWord> kind_words();
/// By the name of the call. Pure.
[[nodiscard]] CallKind kind_of_call(std::string_view call);

/// Words without which no line has a code, in small letters.
[[nodiscard]] std::span<const std::string_view> code_words();
/// The first result code that means a failure: a name, Level Zero's number however it is written, and a
/// number of OpenCL or UR where the line says whose it is. In a form that explain_code() takes. Pure.
[[nodiscard]] std::optional<std::string> find_code(std::string_view line);

/// The causes of a code from such a call, the likeliest first; none at the end. Pure.
[[nodiscard]] std::span<const Cause> causes_of(std::uint32_t level_zero_code, CallKind kind);

}  // namespace kiln::detail
