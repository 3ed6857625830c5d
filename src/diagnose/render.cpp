// SPDX-License-Identifier: MIT
// Renders a diagnostic as text for people and as JSON for machines.
#include <algorithm>

#include "kiln/result.hpp"
#include "support/json.hpp"
#include "support/printable.hpp"

namespace kiln {

const char* to_string(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

const char* to_string(AnsweredBy by) {
  switch (by) {
    case AnsweredBy::driver:
      return "driver";
    case AnsweredBy::before_driver:
      return "kiln, before the driver";
    case AnsweredBy::kiln:
      break;
  }
  return "kiln";
}

std::string to_text(const Answer& answer) {
  const std::string result = result_text(static_cast<ze_result_t>(answer.code));
  switch (answer.by) {
    case AnsweredBy::driver:
      return answer.call + " gave " + result + "; the driver answered";
    case AnsweredBy::before_driver:
      return answer.call + " would answer " + result + "; Kiln answered before the driver";
    case AnsweredBy::kiln:
      break;
  }
  const bool level_zero = answer.call.starts_with("ze");
  return result + (level_zero ? " for " + answer.call : "") + "; Kiln's answer, not the driver's";
}

std::string to_text(const Diagnostic& diagnostic) {
  using detail::printable;
  std::string text = std::string(to_string(diagnostic.severity)) + "[" + diagnostic.code +
                     "]: " + printable(diagnostic.message) + "\n";
  if (diagnostic.answer && !diagnostic.code.starts_with("K04"))
    text += "  result: " + printable(to_text(*diagnostic.answer)) + "\n";
  std::size_t width = 0;
  for (const DiagnosticRow& row : diagnostic.rows) width = std::max(width, printable(row.label).size());
  for (const DiagnosticRow& row : diagnostic.rows) {
    const std::string label = printable(row.label);
    text += "  = " + label + ": " + std::string(width - label.size(), ' ');
    text += row.text.empty() ? std::to_string(row.value) + (row.unit.empty() ? "" : " " + row.unit)
                             : printable(row.text, "\n\t");  // build logs have lines
    text += "\n";
  }
  for (const std::string& help : diagnostic.help) text += "  help: " + printable(help) + "\n";
  return text;
}

std::string to_json(const Diagnostic& diagnostic) {
  using detail::Json;
  Json rows = Json::array();
  for (const DiagnosticRow& row : diagnostic.rows) {
    Json entry{{"label", row.label}};
    if (row.text.empty()) {
      entry["value"] = row.value;
      if (!row.unit.empty()) entry["unit"] = row.unit;
    } else {
      entry["text"] = row.text;
    }
    rows.push_back(std::move(entry));
  }
  Json whole{{"code", diagnostic.code},
             {"severity", to_string(diagnostic.severity)},
             {"message", diagnostic.message},
             {"rows", rows},
             {"help", diagnostic.help}};
  if (const auto& answer = diagnostic.answer) {
    whole["call"] = answer->call;
    whole["result"] = result_name(static_cast<ze_result_t>(answer->code));
    whole["result_value"] = answer->code;
    whole["answered_by"] = to_string(answer->by);
  }
  return whole.dump();
}

}  // namespace kiln
