// SPDX-License-Identifier: MIT
// Words and numbers that cannot be meant.
#include "tool/arguments/usage.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "support/digits.hpp"
#include "support/nearest.hpp"

namespace kiln::tool {
namespace {

std::string help_command(const std::string& page) {
  const auto space = page.find(' ');
  return "`kiln help" + (space == page.npos ? "" : page.substr(space)) + "`";
}

Error unknown(const std::string& page, std::string message, const std::string& word,
              const std::vector<std::string>& words, const char* lists) {
  auto help = detail::did_you_mean(word, words);
  help.push_back(help_command(page) + lists);
  return usage_error(std::move(message), std::move(help));
}

/// "1", "0.001", "86400".
std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

Error bad_number(const std::string& option, const std::string& text, const char* what, bool number,
                 const std::string& range) {
  return usage_error(
      number ? option + " is out of range: " + text : option + " takes " + what + ", not `" + text + "`",
      {"give " + option + " " + range});
}

}  // namespace

Error usage_error(std::string message, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln", {"K0400", std::move(message), {}, std::move(help)});
}

Error unknown_command(const std::string& page, const std::string& word,
                      const std::vector<std::string>& commands) {
  return unknown(page, "`" + page + "` has no command `" + word + "`", word, commands, " lists the commands");
}

Error unknown_option(const std::string& page, const std::string& word,
                     const std::vector<std::string>& options) {
  const std::string name = word.substr(0, word.find('='));
  return unknown(page, "`" + page + "` has no option `" + name + "`", name, options, " lists the options");
}

Error surplus_word(const std::string& page, const std::string& word,
                   const std::vector<std::string>& options) {
  // An option without its dashes.
  std::vector<std::string> meant;
  for (const std::string& option : options)
    if (option == "--" + word) meant.push_back(option);
  return unknown(page, "`" + page + "` has no use for `" + word + "`", "--" + word, meant,
                 " says what it takes");
}

Result<std::uint64_t> parse_whole(const std::string& option, const std::string& text, Range range) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const auto value =
      hexadecimal ? detail::parse_digits(std::string_view(text).substr(2), 16) : detail::parse_digits(text);
  if (value && *value >= range.least && *value <= range.most) return *value;
  return tl::unexpected(bad_number(option, text, "a whole number", value || is_number(text),
                                   std::to_string(range.least) + " to " + std::to_string(range.most)));
}

namespace {

Result<double> parse_decimal(const std::string& option, const std::string& text, double least, double most,
                             const char* what, const char* unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = end == text.data() + text.size() && !text.empty() &&
                      error != std::errc::invalid_argument && !std::isnan(value);
  if (number && error == std::errc{} && value >= least && value <= most) return value;
  return tl::unexpected(
      bad_number(option, text, what, number, short_text(least) + " to " + short_text(most) + unit));
}

}  // namespace

Result<double> parse_seconds(const std::string& option, const std::string& text, double least, double most) {
  return parse_decimal(option, text, least, most, "a number of seconds", " seconds");
}

Result<double> parse_real(const std::string& option, const std::string& text, double least, double most) {
  return parse_decimal(option, text, least, most, "a number", "");
}

bool wants_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

}  // namespace kiln::tool
