// SPDX-License-Identifier: MIT
// A diagnostic as a value: what was asked, what there is, and what to change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// One line of evidence. `unit` is "B" for bytes, "" for a plain count; a row without a number has `text`
/// alone.
struct DiagnosticRow {
  std::string label{};
  std::string text{};  ///< shown instead of the number when not empty
  std::uint64_t value = 0;
  std::string unit{};
};

enum class Severity : std::uint8_t {
  error,    ///< certain: the driver refuses it, or has refused it
  warning,  ///< an estimate from outside, or something that works and is not what it looks like
};

/// A finding for people and machines. Plain value; thread-compatible.
struct Diagnostic {
  std::string code;     ///< stable, "K0101"
  std::string message;  ///< lower case, no final period
  std::vector<DiagnosticRow> rows;
  std::vector<std::string> help;  ///< what to change; only these suggest
  Severity severity = Severity::error;
};

/// "error" or "warning".
[[nodiscard]] const char* to_string(Severity severity);

/// Text in the manner of rustc: `error[K0101]: …` or `warning[…]: …`, a line a row, a line a help. Ends with
/// a newline. Pure.
[[nodiscard]] std::string to_text(const Diagnostic& diagnostic);

/// One JSON object: code, severity, message, rows (label, value and unit or text), help. Pure.
[[nodiscard]] std::string to_json(const Diagnostic& diagnostic);

}  // namespace kiln
