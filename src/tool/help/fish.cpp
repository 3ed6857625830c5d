// SPDX-License-Identifier: MIT
// Completion for fish. Source: fish's complete(1).
#include "tool/help/completion.hpp"

namespace kiln::tool {
namespace {

std::string values_of(const ValueWords& value) {
  if (value.files) return " -F";
  if (value.folders) return " -a '(__fish_complete_directories)'";
  if (value.words.empty()) return "";
  return " -a " + (value.comma_list ? "'(__fish_append , " + joined(value.words, " ") + ")'"
                                    : single_quoted(joined(value.words, " ")));
}

}  // namespace

std::string fish_completion(const Page& page, const std::vector<ValueWords>& values) {
  std::string cases;
  for_each_page(page, [&](const Page& each) {
    if (&each != &page) cases += " " + single_quoted(each.name);
  });
  std::string text =
      "# Completion of kiln in fish. Made from the options of the command itself.\n"
      "function __kiln_is\n"
      "  set -l path kiln\n"
      "  for word in (commandline -opc)[2..]\n"
      "    switch \"$path $word\"\n"
      "      case" +
      cases +
      "\n"
      "        set path \"$path $word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$path\" = \"$argv\"\n"
      "end\n"
      "complete -c kiln -f\n";
  for_each_page(page, [&](const Page& each) {
    const std::string here = "complete -c kiln -n " + single_quoted("__kiln_is " + each.name);
    for (const Page& command : each.commands)
      text += here + " -a " + command.name.substr(each.name.size() + 1) + " -d " +
              single_quoted(command.summary) + "\n";
    for (const Parameter& option : each.options) {
      text += here;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) {
        const ValueWords value = words_of(values, option.value);
        text += (value.files ? " -r" : " -x") + values_of(value);
      }
      text += " -d " + single_quoted(option.summary) + "\n";
    }
    for (const Parameter& argument : each.arguments)
      if (const ValueWords value = words_of(values, argument.value); value.files || !value.words.empty())
        text += here + values_of(value) + "\n";
  });
  return text;
}

}  // namespace kiln::tool
