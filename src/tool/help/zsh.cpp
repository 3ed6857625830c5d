// SPDX-License-Identifier: MIT
// Completion for zsh. Source: zshcompsys(1), `_arguments`, `_describe`, `_values`.
#include "tool/help/completion.hpp"

namespace kiln::tool {
namespace {

/// A description inside an optspec: brackets and colons mean something there.
std::string description(const std::string& text) {
  std::string safe;
  for (const char c : text)
    safe += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
  return safe;
}

/// ":FILE:_files" and the like.
std::string value_spec(const ValueWords& value) {
  std::string action;
  if (value.files)
    action = "_files";
  else if (value.folders)
    action = "_files -/";
  else if (!value.words.empty() && value.comma_list)
    action = "_sequence compadd - " + joined(value.words, " ");
  else if (!value.words.empty())
    action = "compadd - " + joined(value.words, " ");
  return ":" + description(value.value) + ":" + action;
}

std::string option_spec(const Parameter& option, const std::vector<ValueWords>& values) {
  const bool long_value = !option.value.empty();
  std::string text;
  for (const std::string& name : option.names) {
    std::string spec = option.several ? "*" : "(" + joined(option.names, " ") + ")";
    spec += name + (!long_value ? "" : name.starts_with("--") ? "=" : "+");
    spec += "[" + description(option.summary) + "]";
    if (long_value) spec += value_spec(words_of(values, option.value));
    text += " \\\n    " + single_quoted(spec);
  }
  return text;
}

}  // namespace

std::string zsh_completion(const Page& page, const std::vector<ValueWords>& values) {
  std::string text =
      "#compdef kiln\n# Completion of kiln in zsh. Made from the options of the command itself.\n";
  for_each_page(page, [&](const Page& each) {
    text += "\n_kiln" + function_name(each) + "() {\n";
    if (!each.commands.empty()) text += "  local state line\n  local -a commands\n";
    text += "  _arguments -s";
    if (!each.commands.empty()) text += " -C";
    for (const Parameter& option : each.options) text += option_spec(option, values);
    if (!each.commands.empty()) {
      text +=
          " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n    command)\n      "
          "commands=(";
      for (const Page& command : each.commands)
        text +=
            "\n        " + single_quoted(command.name.substr(each.name.size() + 1) + ":" + command.summary);
      text += "\n      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
      for (const Page& command : each.commands)
        text += "        " + command.name.substr(each.name.size() + 1) + ") _kiln" + function_name(command) +
                " ;;\n";
      text += "      esac ;;\n  esac\n";
    } else {
      for (const Parameter& argument : each.arguments)
        text += " \\\n    " +
                single_quoted((argument.several ? "*" : "") + value_spec(words_of(values, argument.value)));
      text += "\n";
    }
    text += "}\n";
  });
  return text + "\n_kiln \"$@\"\n";
}

}  // namespace kiln::tool
