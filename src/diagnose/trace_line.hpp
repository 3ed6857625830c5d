// SPDX-License-Identifier: MIT
// Takes lines of call traces apart: onetrace, unitrace, ze_tracer, and the loader's validation layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::detail {

/// One line of a trace; views into it.
struct TraceLine {
  enum class Kind : std::uint8_t {
    entered,  ///< the call with its arguments
    left      ///< its result, and what it gave back
  } kind;
  std::string_view thread;  ///< "TID:8"; empty: the tracer does not say
  std::string_view call;
  std::string_view values;  ///< "hKernel = 0x1fa33f0 argIndex = 0 …"
  /// Of `left`: the name alone, without the number; "0x1879048196" where the tracer has no name for it.
  std::string_view result;
};

/// Nothing when the line is no such line. Pure.
[[nodiscard]] std::optional<TraceLine> parse_trace_line(std::string_view line);

/// The word behind `name = ` or `name=`, empty when there is none. Pure.
[[nodiscard]] std::string_view field_of(std::string_view values, std::string_view name);

/// Decimal, or hexadecimal behind 0x. Pure.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view word);

}  // namespace kiln::detail
