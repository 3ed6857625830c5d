// SPDX-License-Identifier: MIT
// Messages of the compiler, taken apart.
#include "offline/compiler_messages.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "support/digits.hpp"

namespace kiln {

Diagnostic to_diagnostic(const CompilerMessage& message) {
  Diagnostic diagnostic{"K0424", "the compiler says: " + message.text, {}, {}};
  std::string place = message.file + ":" + std::to_string(message.line);
  if (message.column) place += ":" + std::to_string(message.column);
  diagnostic.rows.push_back({"place", std::move(place)});
  std::string targets;
  for (const std::string& each : message.targets) targets += (targets.empty() ? "" : ", ") + each;
  if (!targets.empty()) diagnostic.rows.push_back({"targets", std::move(targets)});
  if (message.kind != MessageKind::error) diagnostic.severity = Severity::warning;
  return diagnostic;
}

}  // namespace kiln

namespace kiln::offline {
namespace {

struct Word {
  std::string_view text;
  MessageKind kind;
};
constexpr std::array kWords{Word{": fatal error: ", MessageKind::error},
                            Word{": error: ", MessageKind::error}, Word{": warning: ", MessageKind::warning},
                            Word{": note: ", MessageKind::note}};

/// Takes ":NUMBER" from the end of a text.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return std::nullopt;
  const auto number = detail::parse_digits(text.substr(colon + 1));
  if (!number || *number > UINT32_MAX) return std::nullopt;
  text = text.substr(0, colon);
  return static_cast<std::uint32_t>(*number);
}

std::optional<CompilerMessage> read_message(const std::string& line) {
  // The first of them: a text may quote another.
  const Word* word = nullptr;
  auto at = std::string::npos;
  for (const Word& each : kWords)
    if (const auto found = line.find(each.text); found < at) {
      at = found;
      word = &each;
    }
  if (!word) return std::nullopt;
  std::string_view place = std::string_view(line).substr(0, at);
  const auto column = take_number(place);
  const auto number = take_number(place);
  if (!column || !number) return std::nullopt;
  return CompilerMessage{word->kind, std::string(place), *number, *column,
                         line.substr(at + word->text.size())};
}

}  // namespace

std::string with_file(std::string line, const std::string& file) {
  constexpr std::string_view kIncluded = "In file included from ";
  const std::size_t at = line.starts_with(kIncluded) ? kIncluded.size() : 0;
  const auto digits = line.find_first_not_of("0123456789", at + 2);
  if (line.compare(at, 2, "1:") != 0 || digits == at + 2 || digits == line.npos || line[digits] != ':')
    return line;
  return line.replace(at, 1, file);
}

std::vector<CompilerMessage> read_messages(std::string_view said, const Compilation& source) {
  std::vector<CompilerMessage> messages;
  while (!said.empty()) {
    const auto end = std::min(said.find('\n'), said.size());
    const std::string line(said.substr(0, end));
    said.remove_prefix(std::min(end + 1, said.size()));
    auto message =
        read_message(source.language == SourceLanguage::opencl_c ? with_file(line, source.file) : line);
    if (!message) continue;
    message->targets = {source.target};
    messages.push_back(*std::move(message));
  }
  return messages;
}

void add_messages(std::vector<CompilerMessage>& all, std::vector<CompilerMessage> more) {
  const auto key = [](const CompilerMessage& each) {
    return std::tie(each.kind, each.file, each.line, each.column, each.text);
  };
  for (CompilerMessage& message : more) {
    const auto same =
        std::ranges::find_if(all, [&](const CompilerMessage& each) { return key(each) == key(message); });
    if (same == all.end())
      all.push_back(std::move(message));
    else
      for (std::string& target : message.targets)
        if (std::ranges::find(same->targets, target) == same->targets.end())
          same->targets.push_back(std::move(target));
  }
}

}  // namespace kiln::offline
