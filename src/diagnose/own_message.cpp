// SPDX-License-Identifier: MIT
// The forms in which Kiln prints a diagnostic: `error[K0101]: …` with its lines, and JSON in one line or
// many.
#include "diagnose/own_message.hpp"

#include <algorithm>

#include "support/json.hpp"

namespace kiln::detail {
namespace {

constexpr std::size_t kMostLines = 400;    // of one diagnostic; build logs have many
constexpr std::size_t kMostRows = 40;      // that are kept
constexpr std::size_t kLongestText = 400;  // bytes of each

std::string kept(std::string_view text) { return std::string(text.substr(0, kLongestText)); }

bool is_code(std::string_view text) {
  return text.size() == 5 && text[0] == 'K' &&
         std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

/// The string behind `"key":` in a line of JSON; nothing where there is none.
std::optional<std::string> json_string(std::string_view line, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  const auto at = line.find(quoted);
  if (at == line.npos) return std::nullopt;
  std::string_view rest = line.substr(at + quoted.size());
  const auto value = rest.find_first_not_of(" \t");
  if (value == rest.npos || rest[value] != ':') return std::nullopt;
  const auto open = rest.find_first_not_of(" \t", value + 1);
  if (open == rest.npos || rest[open] != '"') return std::nullopt;
  std::size_t end = open + 1;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  if (end >= rest.size()) return std::nullopt;
  const auto text = Json::parse(rest.substr(open, end + 1 - open));
  if (!text || !text->is_string()) return std::nullopt;
  return kept(text->get<std::string>());
}

}  // namespace

bool OwnMessages::line(std::string_view text, std::uint64_t number) {
  return text_line(text, number) || json_line(text, number);
}

void OwnMessages::start(std::string code, Severity severity, std::string message, std::uint64_t number) {
  ours_ = !found_ || (found_->severity == Severity::warning && severity == Severity::error);
  inside_ = true;
  left_ = kMostLines;
  if (ours_) found_ = {number, severity, std::move(code), std::move(message), {}, {}, {}};
}

LoggedDiagnostic* OwnMessages::open() { return ours_ ? &*found_ : nullptr; }

bool OwnMessages::text_line(std::string_view text, std::uint64_t number) {
  for (const Severity severity : {Severity::error, Severity::warning}) {
    const std::string head = std::string(to_string(severity)) + "[";
    const auto at = text.find(head);
    if (at == text.npos) continue;
    const std::string_view rest = text.substr(at + head.size());
    if (!is_code(rest.substr(0, 5)) || !rest.substr(5).starts_with("]: ")) continue;
    json_ = false;
    start(std::string(rest.substr(0, 5)), severity, kept(rest.substr(8)), number);
    return true;
  }
  if (!inside_ || json_ || left_ == 0) return false;
  --left_;
  LoggedDiagnostic* diagnostic = open();
  constexpr std::string_view kResult = "  result: ", kHelp = "  help: ", kRow = "  = ";
  if (text.starts_with(kResult)) {
    if (diagnostic) diagnostic->result = kept(text.substr(kResult.size()));
  } else if (text.starts_with(kHelp)) {
    if (diagnostic && diagnostic->help.size() < kMostRows)
      diagnostic->help.push_back(kept(text.substr(kHelp.size())));
  } else if (text.starts_with(kRow)) {
    const std::string_view row = text.substr(kRow.size());
    const auto colon = row.find(": ");
    if (colon == row.npos) return true;
    const auto value = row.find_first_not_of(' ', colon + 2);
    if (diagnostic && diagnostic->rows.size() < kMostRows && value != row.npos)
      diagnostic->rows.push_back({kept(row.substr(0, colon)), kept(row.substr(value))});
  } else {
    return false;
  }
  return true;
}

bool OwnMessages::json_line(std::string_view text, std::uint64_t number) {
  const auto code = json_string(text, "code");
  if (code && is_code(*code)) {
    const bool warning = json_string(text, "severity") == "warning";
    start(*code, warning ? Severity::warning : Severity::error, "", number);
    json_ = true;
  } else if (!inside_ || !json_ || left_ == 0) {
    return false;
  } else {
    --left_;
  }
  LoggedDiagnostic* diagnostic = open();
  if (!diagnostic) return code.has_value();
  if (const auto severity = json_string(text, "severity"); severity == "warning")
    diagnostic->severity = Severity::warning;
  bool part = code.has_value();
  if (auto message = json_string(text, "message"); message && diagnostic->message.empty()) {
    diagnostic->message = *std::move(message);
    part = true;
  }
  for (const char* key : {"call", "result", "answered_by"})
    if (const auto word = json_string(text, key)) {
      diagnostic->result += (diagnostic->result.empty() ? "" : ", ") + *word;
      part = true;
    }
  return part;
}

}  // namespace kiln::detail
