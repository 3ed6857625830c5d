// SPDX-License-Identifier: MIT
// Finds Kiln's own diagnostics in a log, as text and as JSON, and what `kiln memory` shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/diagnostic.hpp"
#include "kiln/memory_account.hpp"

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

/// K0240 to K0249: a cause that numbers of memory tell.
[[nodiscard]] bool is_memory_cause(std::string_view code);

/// Takes lines, and keeps the first error and the first warning, and those of an account of memory too. One
/// thread at a time.
class OwnMessages {
 public:
  /// False: the line is no part of a diagnostic. `number` is its place in the log.
  bool line(std::string_view text, std::uint64_t number);
  /// The first error, or else the first warning.
  [[nodiscard]] const LoggedDiagnostic* found() const;
  /// The same of those that are causes of an account of memory.
  [[nodiscard]] const LoggedDiagnostic* memory_cause() const;

 private:
  bool text_line(std::string_view text, std::uint64_t number);
  bool json_line(std::string_view text, std::uint64_t number);
  void start(std::string code, Severity severity, std::string message, std::uint64_t number);
  /// The one that further lines belong to, kept or not.
  [[nodiscard]] LoggedDiagnostic& open();

  std::vector<LoggedDiagnostic> kept_;
  LoggedDiagnostic passed_over_;
  bool inside_ = false;   // a diagnostic has begun,
  bool ours_ = false;     // which is the last that is kept,
  bool json_ = false;     // as JSON
  std::size_t left_ = 0;  // lines that may still belong to it
};

/// What `kiln memory` prints of a machine, as far as the causes need it. Sizes are those that were printed,
/// of three digits. One thread at a time.
class PrintedAccount {
 public:
  /// False: the line is none of its.
  bool line(std::string_view text);
  /// Null: there is none in the log.
  [[nodiscard]] const MemoryAccount* found() const { return found_ ? &account_ : nullptr; }
  /// Does it show how much the kernel promises? Older output does for vm.overcommit_memory=2 alone.
  [[nodiscard]] bool says_promises() const { return says_promises_; }

 private:
  void start_again();
  bool promises(std::string_view text);

  MemoryAccount account_;
  bool found_ = false, says_promises_ = false;
  enum class Inside : std::uint8_t { nothing, card, host, process } inside_ = Inside::nothing;
};

}  // namespace kiln::detail
