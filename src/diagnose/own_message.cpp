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
constexpr std::size_t kMostKept = 8;       // diagnostics; there are four sorts
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

/// Rows and helps of a diagnostic that stands in one line, as `kiln exec --json` writes them.
void take_whole(LoggedDiagnostic& diagnostic, std::string_view line) {
  const auto json = Json::parse(line);
  if (!json || !json->is_object()) return;
  for (const Json& help : (*json)["help"])
    if (help.is_string() && diagnostic.help.size() < kMostRows)
      diagnostic.help.push_back(kept(help.get<std::string>()));
  for (const Json& row : (*json)["rows"]) {
    const Json *label = row.find("label"), *text = row.find("text"), *value = row.find("value"),
               *unit = row.find("unit");
    if (!label || !label->is_string() || diagnostic.rows.size() >= kMostRows) continue;
    DiagnosticRow taken{kept(label->get<std::string>()), {}};
    if (text && text->is_string())
      taken.text = kept(text->get<std::string>());
    else if (value && value->is_number_unsigned())
      taken.value = value->get<std::uint64_t>();
    else
      continue;
    if (unit && unit->is_string()) taken.unit = kept(unit->get<std::string>());
    diagnostic.rows.push_back(std::move(taken));
  }
}

/// "15.6 GiB", taken away from `text` with what separates it from the next.
std::optional<std::uint64_t> take_size(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::uint64_t tenths = 0;
  bool point = false;
  for (const char c : text.substr(0, end)) {
    if (c == '.') {
      point = true;
      continue;
    }
    if (tenths > 100'000) return std::nullopt;
    tenths = tenths * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (end == 0 || !text.substr(end).starts_with(' ')) return std::nullopt;
  if (!point) tenths *= 10;
  text.remove_prefix(end + 1);
  for (const auto& [unit, shift] : {std::pair{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}})
    if (text.starts_with(unit)) {
      text.remove_prefix(std::string_view(unit).size());
      if (text.starts_with(", ")) text.remove_prefix(2);
      return tenths * (std::uint64_t{1} << shift) / 10;
    }
  return std::nullopt;
}

/// The size behind a word that the text begins with.
std::optional<std::uint64_t> take_size(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  return take_size(text);
}

}  // namespace

bool is_memory_cause(std::string_view code) { return code.starts_with("K024"); }

/// The last of several accounts counts, such as those of --watch. One whose host is known is whole.
void PrintedAccount::start_again() {
  if (account_.host.total == 0) return;
  account_ = {};
  found_ = says_promises_ = false;
}

/// "at most 19.3 GiB at once", "without limit", "8.0 GiB of 9.5 GiB": vm.overcommit_memory of 0 to 2.
bool PrintedAccount::promises(std::string_view text) {
  HostMemory& host = account_.host;
  const auto committed = take_size(text), limit = take_size(text, " of ");
  if (committed && limit) {
    host.overcommit = 2;
    host.committed = *committed;
    host.commit_limit = *limit;
  } else if (text.starts_with("without limit")) {
    host.overcommit = 1;
  } else if (!text.starts_with("at most ")) {
    return false;
  }
  return says_promises_ = true;
}

bool PrintedAccount::line(std::string_view text) {
  if (text.starts_with("card       0")) {  // "card       0000:03:00.0, 8086:e223, xe"
    start_again();
    std::string_view rest = text.substr(11);
    const auto comma = rest.find(", "), last = rest.rfind(", ");
    if (comma == rest.npos || last == comma || account_.cards.size() == kMostRows) return false;
    MemoryCard card;
    card.address = kept(rest.substr(0, comma));
    card.driver = kept(rest.substr(last + 2));
    account_.cards.push_back(std::move(card));
    inside_ = Inside::card;
    return true;
  }
  if (text.starts_with("host       ")) {
    std::string_view rest = text.substr(11);
    const auto total = take_size(rest), available = take_size(rest, "available ");
    if (!total || !available) return false;
    start_again();
    account_.host.total = *total;
    account_.host.available = *available;
    found_ = true;
    inside_ = Inside::host;
    return true;
  }
  if (inside_ == Inside::nothing) return false;
  if (text.starts_with("process    ")) {
    inside_ = Inside::process;
    return true;
  }
  if (inside_ == Inside::card && text.starts_with("  memory   ")) {
    std::string_view rest = text.substr(11);
    account_.cards.back().total = take_size(rest);
    account_.cards.back().free = take_size(rest, "free ");
    return true;
  }
  if (inside_ == Inside::host && text.starts_with("  swap     ")) {
    std::string_view rest = text.substr(11);
    account_.host.swap_total = take_size(rest).value_or(0);
    account_.host.swap_free = take_size(rest, "free ").value_or(0);
    return true;
  }
  if (inside_ == Inside::host && text.starts_with("  promised ")) return promises(text.substr(11));
  if (inside_ == Inside::process && text.starts_with("  group    ")) {  // "PATH: 8.8 GiB, left 7.8 GiB"
    const auto colon = text.rfind(": ");
    std::string_view rest = text.substr(colon == text.npos ? text.size() : colon + 2);
    const auto limit = take_size(rest), left = take_size(rest, "left ");
    if (!limit || !left || account_.groups.size() == kMostRows) return false;
    MemoryGroup group;
    group.path = kept(text.substr(11, colon - 11));
    group.limit = *limit;
    group.used = *limit - std::min(*limit, *left);
    account_.groups.push_back(std::move(group));
    return true;
  }
  return false;
}

bool OwnMessages::line(std::string_view text, std::uint64_t number) {
  return text_line(text, number) || json_line(text, number);
}

void OwnMessages::start(std::string code, Severity severity, std::string message, std::uint64_t number) {
  ours_ = kept_.size() < kMostKept && std::ranges::none_of(kept_, [&](const LoggedDiagnostic& each) {
            return each.severity == severity && is_memory_cause(each.code) == is_memory_cause(code);
          });
  inside_ = true;
  left_ = kMostLines;
  LoggedDiagnostic begun{number, severity, std::move(code), std::move(message), {}, {}, {}};
  if (ours_)
    kept_.push_back(std::move(begun));
  else
    passed_over_ = std::move(begun);
}

LoggedDiagnostic& OwnMessages::open() { return ours_ ? kept_.back() : passed_over_; }

const LoggedDiagnostic* OwnMessages::found() const {
  const auto first = std::ranges::min_element(
      kept_, {}, [](const LoggedDiagnostic& each) { return std::pair(each.severity, each.line); });
  return first == kept_.end() ? nullptr : &*first;
}

const LoggedDiagnostic* OwnMessages::memory_cause() const {
  const LoggedDiagnostic* best = nullptr;
  for (const LoggedDiagnostic& each : kept_)
    if (is_memory_cause(each.code) && (!best || each.severity < best->severity)) best = &each;
  return best;
}

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
  LoggedDiagnostic& diagnostic = open();
  constexpr std::string_view kResult = "  result: ", kHelp = "  help: ", kRow = "  = ";
  if (text.starts_with(kResult)) {
    diagnostic.result = kept(text.substr(kResult.size()));
  } else if (text.starts_with(kHelp)) {
    if (diagnostic.help.size() < kMostRows) diagnostic.help.push_back(kept(text.substr(kHelp.size())));
  } else if (text.starts_with(kRow)) {
    const std::string_view row = text.substr(kRow.size());
    const auto colon = row.find(": ");
    if (colon == row.npos) return true;
    const auto value = row.find_first_not_of(' ', colon + 2);
    if (diagnostic.rows.size() < kMostRows && value != row.npos)
      diagnostic.rows.push_back({kept(row.substr(0, colon)), kept(row.substr(value))});
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
    if (text.starts_with('{')) take_whole(open(), text);
  } else if (!inside_ || !json_ || left_ == 0) {
    return false;
  } else {
    --left_;
  }
  // In lines the severity stands between code and message: what was taken for an error is perhaps not the
  // first warning. Behind the message it is the program's own.
  if (!code && open().message.empty() && json_string(text, "severity") == "warning") {
    const LoggedDiagnostic warning = open();
    if (ours_) kept_.pop_back();
    start(warning.code, Severity::warning, warning.message, warning.line);
  }
  LoggedDiagnostic& diagnostic = open();
  // The number of the result says no more than its name.
  bool part = code || text.find("\"result_value\"") != text.npos;
  if (auto message = json_string(text, "message"); message && diagnostic.message.empty()) {
    diagnostic.message = *std::move(message);
    part = true;
  }
  for (const char* key : {"call", "result", "answered_by"})
    if (const auto word = json_string(text, key)) {
      diagnostic.result += (diagnostic.result.empty() ? "" : ", ") + *word;
      part = true;
    }
  return part;
}

}  // namespace kiln::detail
