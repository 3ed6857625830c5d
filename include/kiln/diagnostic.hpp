// SPDX-License-Identifier: MIT
// A diagnostic as a value: what was asked, what there is, and what to change.
#pragma once

#include <cstdint>
#include <optional>
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

enum class AnsweredBy : std::uint8_t {
  driver,         ///< the call was made, and gave it
  before_driver,  ///< Kiln, before the driver heard of it, which would answer the same
  kiln,           ///< Kiln: the driver was not asked, or would not say so
};

/// The result code that a program gets where a diagnostic is the reason.
struct Answer {
  AnsweredBy by = AnsweredBy::kiln;
  std::uint32_t code = 0;  ///< a ze_result_t
  std::string call{};      ///< "zeModuleCreate", or a function of Kiln's
};

/// A finding for people and machines. Plain value; thread-compatible.
struct Diagnostic {
  std::string code;     ///< stable, "K0101"
  std::string message;  ///< lower case, no final period
  std::vector<DiagnosticRow> rows;
  std::vector<std::string> help;  ///< what to change; only these suggest
  Severity severity = Severity::error;
  std::optional<Answer> answer{};  ///< nothing: no call has failed or would. An Error fills in its own
};

/// "error" or "warning".
[[nodiscard]] const char* to_string(Severity severity);

/// "driver", "kiln, before the driver" or "kiln".
[[nodiscard]] const char* to_string(AnsweredBy by);

/// "zeModuleCreate gave ZE_RESULT_… (0x7…); the driver answered", or who else did. Pure.
[[nodiscard]] std::string to_text(const Answer& answer);

/// Text in the manner of rustc: `error[K0101]: …` or `warning[…]: …`, the answer, a line a row, a line a
/// help. The command's own diagnostics (K04) have no line for the answer: its exit status tells. Ends with a
/// newline. Pure.
[[nodiscard]] std::string to_text(const Diagnostic& diagnostic);

/// One JSON object: code, severity, message, rows (label, value and unit or text), help; of the answer call,
/// result (the name), result_value and answered_by. Pure.
[[nodiscard]] std::string to_json(const Diagnostic& diagnostic);

}  // namespace kiln
