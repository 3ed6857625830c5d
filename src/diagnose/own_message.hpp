// SPDX-License-Identifier: MIT
// Finds Kiln's own diagnostics in a log, as text and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/diagnostic.hpp"

namespace kiln::detail {

/// A diagnostic as a log shows it.
struct LoggedDiagnostic {
  std::uint64_t line = 0;
  Severity severity = Severity::error;
  std::string code, message;
  std::string result;  ///< who gave which code
  std::vector<DiagnosticRow> rows;
  std::vector<std::string> help;
};

/// Takes lines, and keeps the first error, or else the first warning. One thread at a time.
class OwnMessages {
 public:
  /// False: the line is no part of a diagnostic. `number` is its place in the log.
  bool line(std::string_view text, std::uint64_t number);
  [[nodiscard]] const LoggedDiagnostic* found() const { return found_ ? &*found_ : nullptr; }

 private:
  bool text_line(std::string_view text, std::uint64_t number);
  bool json_line(std::string_view text, std::uint64_t number);
  void start(std::string code, Severity severity, std::string message, std::uint64_t number);
  /// The one that further lines belong to; null: they are passed over.
  [[nodiscard]] LoggedDiagnostic* open();

  std::optional<LoggedDiagnostic> found_;
  bool inside_ = false;   // a diagnostic has begun,
  bool ours_ = false;     // which is the one that is kept,
  bool json_ = false;     // as JSON
  std::size_t left_ = 0;  // lines that may still belong to it
};

}  // namespace kiln::detail
