// SPDX-License-Identifier: MIT
// The forms of trace lines, as the tools print them.
#include "diagnose/trace_line.hpp"

#include "support/digits.hpp"

namespace kiln::detail {
namespace {

constexpr std::size_t kLongestName = 128;   // bytes of a call or a result; what is longer is none
constexpr std::size_t kLongestThread = 32;  // bytes

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view leading_name(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_name(text[length])) ++length;
  return text.substr(0, length);
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

/// "[182489164] <PID:7> <TID:8> [264 ns] rest": time, process and thread come in brackets.
std::string_view without_brackets(std::string_view text, std::string_view* thread = nullptr) {
  for (text = without_blanks(text); text.starts_with('[') || text.starts_with('<');
       text = without_blanks(text)) {
    const auto end = text.find(text[0] == '[' ? ']' : '>');
    if (end == text.npos) break;
    const std::string_view inside = text.substr(1, end - 1);
    if (thread && inside.starts_with("TID:") && inside.size() <= kLongestThread) *thread = inside;
    text.remove_prefix(end + 1);
  }
  return text;
}

/// "NAME(0xnumber)": the number where the tracer is older than the result.
std::string_view result_in(std::string_view text) {
  const std::string_view name = leading_name(text).substr(0, kLongestName);
  if (name != "UNKNOWN" || !text.substr(name.size()).starts_with("(0x")) return name;
  const std::string_view number = leading_name(text.substr(name.size() + 1)).substr(0, kLongestName);
  return number.size() > 2 ? number : name;
}

bool is_api_call(std::string_view name) {
  return name.size() > 2 && name.size() <= kLongestName && (name.starts_with("ze") || name.starts_with("cl"));
}

/// ">>>> [time] call: values" and "<<<< [time] call [duration] values -> RESULT(0xnumber)".
std::optional<TraceLine> parse_tracer(std::string_view line) {
  line = without_blanks(line);
  const bool entered = line.starts_with(">>>> ");
  if (!entered && !line.starts_with("<<<< ")) return std::nullopt;
  TraceLine parsed{entered ? TraceLine::Kind::entered : TraceLine::Kind::left, {}, {}, {}, {}};
  line = without_brackets(line.substr(5), &parsed.thread);
  parsed.call = leading_name(line);
  if (!is_api_call(parsed.call)) return std::nullopt;
  line.remove_prefix(parsed.call.size());
  if (entered) {
    parsed.values = line.starts_with(':') ? without_blanks(line.substr(1)) : line;
    return parsed;
  }
  const auto arrow = line.rfind("-> ");
  if (arrow == line.npos) return std::nullopt;
  parsed.values = without_brackets(line.substr(0, arrow));
  parsed.result = result_in(without_blanks(line.substr(arrow + 3)));
  return parsed;
}

/// "… ERROR (RESULT) in call(values)".
std::optional<TraceLine> parse_validation(std::string_view line) {
  constexpr std::string_view kIn = ") in ";
  const auto in = line.find(kIn);
  if (in == line.npos) return std::nullopt;
  const auto open = line.rfind('(', in);
  if (open == line.npos) return std::nullopt;
  const std::string_view result = line.substr(open + 1, in - open - 1).substr(0, kLongestName);
  const std::string_view rest = line.substr(in + kIn.size());
  const std::string_view call = leading_name(rest);
  if (!result.starts_with("ZE_RESULT_") || !is_api_call(call) || !rest.substr(call.size()).starts_with('('))
    return std::nullopt;
  return TraceLine{TraceLine::Kind::left, {}, call, rest.substr(call.size() + 1), result};
}

}  // namespace

std::optional<TraceLine> parse_trace_line(std::string_view line) {
  if (auto parsed = parse_tracer(line)) return parsed;
  return parse_validation(line);
}

std::string_view field_of(std::string_view values, std::string_view name) {
  for (std::size_t at = 0; (at = values.find(name, at)) != values.npos; ++at) {
    if (at > 0 && is_name(values[at - 1])) continue;
    std::string_view rest = without_blanks(values.substr(at + name.size()));
    if (!rest.starts_with('=')) continue;
    rest = without_blanks(rest.substr(1));
    return rest.substr(0, rest.find_first_of(" ,)"));
  }
  return {};
}

std::optional<std::uint64_t> parse_number(std::string_view word) {
  return word.starts_with("0x") ? parse_digits(word.substr(2), 16) : parse_digits(word);
}

}  // namespace kiln::detail
