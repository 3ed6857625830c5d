// SPDX-License-Identifier: MIT
// Rows, helps and doubts of a finding.
#include "diagnose/finding_parts.hpp"

#include <algorithm>

namespace kiln::detail {

Diagnostic finding_of(Cause cause, std::string_view message) {
  const CauseText& text = text_of(cause);
  Diagnostic diagnostic{
      std::string(text.code), std::string(message.empty() ? text.message : message), {}, {}};
  for (const std::string_view help : text.help)
    if (!help.empty()) diagnostic.help.emplace_back(help);
  return diagnostic;
}

DiagnosticRow words_row(std::string label, std::string text) { return {std::move(label), std::move(text)}; }
DiagnosticRow bytes_row(std::string label, std::uint64_t value) { return {std::move(label), {}, value, "B"}; }

void add_failure(Diagnostic& diagnostic, const LoggedFailure& failure) {
  diagnostic.rows.push_back(words_row("call", failure.call + " gave " + failure.result));
  diagnostic.rows.push_back(words_row("at", "line " + std::to_string(failure.line) + " of the log"));
  if (!failure.kernel.name.empty()) diagnostic.rows.push_back(words_row("kernel", failure.kernel.name));
}

void not_sure(Diagnostic& diagnostic, Cause cause) {
  if (cause != Cause::no_device) diagnostic.message = "most likely " + diagnostic.message;
}

void leave_open(Diagnostic& diagnostic, Cause first, std::span<const Cause> others) {
  if (others.empty()) return;
  std::string list;
  for (const Cause other : others) (list += list.empty() ? "" : "; ").append(text_of(other).name);
  diagnostic.rows.push_back(words_row("undecided", "this log leaves it open; other causes: " + list));
  std::vector<std::string> decide{"to decide: " + std::string(text_of(first).decide)};
  for (const Cause other : others) decide.push_back("to decide: " + std::string(text_of(other).decide));
  decide.erase(std::unique(decide.begin(), decide.end()), decide.end());
  decide.emplace_back("to decide: `kiln exec -- PROGRAM` names the call that is refused, and why");
  diagnostic.help.insert(diagnostic.help.end(), decide.begin(), decide.end());
}

void add_line(Diagnostic& diagnostic, const std::string& text, std::uint64_t line) {
  diagnostic.rows.push_back(words_row("log", text));
  diagnostic.rows.push_back(words_row("at", "line " + std::to_string(line) + " of the log"));
}

void add_meaning(Diagnostic& diagnostic, const std::string& code) {
  if (const auto meaning = explain_code(code)) {
    std::string name = meaning->name == code ? "" : meaning->name + ", ";
    diagnostic.rows.push_back(words_row("meaning", name + meaning->meaning));
  }
}

}  // namespace kiln::detail
