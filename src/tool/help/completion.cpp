// SPDX-License-Identifier: MIT
// Walks the pages and quotes words.
#include "tool/help/completion.hpp"

#include <algorithm>

namespace kiln::tool {

void for_each_page(const Page& page, const std::function<void(const Page&)>& visit) {
  visit(page);
  for (const Page& command : page.commands) for_each_page(command, visit);
}

ValueWords words_of(const std::vector<ValueWords>& values, const std::string& value) {
  const auto found = std::ranges::find(values, value, &ValueWords::value);
  return found == values.end() ? ValueWords{value, {}} : *found;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string single_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "’" : std::string(1, c);
  return quoted + "'";
}

std::string function_name(const Page& page) {
  std::string name =
      page.name.substr(page.name.find(' ') == page.name.npos ? page.name.size() : page.name.find(' '));
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace kiln::tool
