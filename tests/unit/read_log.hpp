// SPDX-License-Identifier: MIT
// Logs in the tests: what is found in them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "kiln/explain.hpp"
#include "unit/golden.hpp"

namespace kiln::test {

inline std::optional<Diagnostic> read_log(std::string_view log) {
  LogReader reader;
  for (std::size_t start = 0; start < log.size();) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    reader.line(log.substr(start, end - start));
    start = end + 1;
  }
  return reader.finding();
}

inline void check_log(const char* code, std::string_view log, const std::string& variant = "") {
  const auto finding = read_log(log);
  REQUIRE(finding);
  check_diagnostic(code, *finding, variant);
}

inline std::string code_in(std::string_view log) {
  const auto finding = read_log(log);
  return finding ? finding->code : "";
}

inline const DiagnosticRow* row(const Diagnostic& diagnostic, std::string_view label) {
  for (const DiagnosticRow& row : diagnostic.rows)
    if (row.label == label) return &row;
  return nullptr;
}

}  // namespace kiln::test
