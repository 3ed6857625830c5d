// SPDX-License-Identifier: MIT
// Completion for bash. Source: bash(1), "Programmable Completion".
#include <map>

#include "tool/help/completion.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kHead = R"(# Completion of kiln in bash. Made from the options of the command itself.

# Commands, options, and the kind of the arguments of a command.
_kiln_page() {
  case $1 in
)";

constexpr const char* kMiddle = R"(    *) return 1 ;;
  esac
}

# The kind of value that an option takes; none for a flag.
_kiln_value() {
  case $1 in
)";

// bash splits words at `:` and `=` too, so that the line is read here, and what it would not replace is left
// out.
constexpr const char* kTail = R"(    *) return 1 ;;
  esac
}

_kiln() {
  local line=${COMP_LINE:0:COMP_POINT} path=kiln commands options arguments value= before= words word
  local -a given
  read -ra given <<<"$line"
  [[ $line == *[[:space:]] ]] && given+=('')
  local current=${given[-1]} option=
  for word in "${given[@]:1:${#given[@]}-2}"; do
    if [[ $option ]]; then option=
    elif _kiln_value "$word"; then option=$word
    elif _kiln_page "$path $word"; then path+=" $word"
    fi
  done
  _kiln_page "$path"
  value=
  if [[ $option ]]; then _kiln_value "$option"
  elif [[ $current == --*=* ]] && _kiln_value "${current%%=*}"; then current=${current#*=}
  elif [[ $current == -* ]]; then words=$options
  elif [[ $commands ]]; then words=$commands
  else value=$arguments
  fi
  COMPREPLY=()
  _kiln_words "$value"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${current#"$before"}")
  COMPREPLY=("${COMPREPLY[@]/#/"$before"}")
  case $value in
    $_kiln_files) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
    $_kiln_folders) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    before=${current%"${current##*:}"}
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
  [[ ${#COMPREPLY[@]} == 1 && ! ${COMPREPLY[0]} ]] && COMPREPLY=()
  return 0
}
complete -F _kiln kiln
)";

}  // namespace

std::string bash_completion(const Page& page, const std::vector<ValueWords>& values) {
  std::string text = kHead;
  std::map<std::string, std::string> takes;
  for_each_page(page, [&](const Page& each) {
    std::vector<std::string> commands, options;
    for (const Page& command : each.commands) commands.push_back(command.name.substr(each.name.size() + 1));
    for (const Parameter& option : each.options)
      for (const std::string& name : option.names) {
        options.push_back(name);
        if (!option.value.empty()) takes[name] = option.value;
      }
    const std::string argument = each.arguments.empty() ? "" : each.arguments.front().value;
    text += "    " + single_quoted(each.name) + ") commands=" + single_quoted(joined(commands, " ")) +
            " options=" + single_quoted(joined(options, " ")) + " arguments=" + single_quoted(argument) +
            " ;;\n";
  });
  text += kMiddle;
  for (const auto& [name, value] : takes) text += "    " + name + ") value=" + single_quoted(value) + " ;;\n";
  std::string tail = kTail, words;
  std::vector<std::string> files, folders;
  for (const ValueWords& value : values) {
    if (value.files) files.push_back(single_quoted(value.value));
    if (value.folders) folders.push_back(single_quoted(value.value));
    if (value.words.empty()) continue;
    words += "    " + single_quoted(value.value) + ") words=" + single_quoted(joined(value.words, " "));
    if (value.comma_list) words += " before=${current%\"${current##*,}\"}";
    words += " ;;\n";
  }
  const auto put = [&](const std::string& mark, const std::string& with) {
    tail.replace(tail.find(mark), mark.size(), with);
  };
  put("  _kiln_words \"$value\"\n", "  case $value in\n" + words + "  esac\n");
  put("$_kiln_files", joined(files, " | "));
  put("$_kiln_folders", joined(folders, " | "));
  return text + tail;
}

}  // namespace kiln::tool
