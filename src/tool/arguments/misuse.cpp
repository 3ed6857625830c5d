// SPDX-License-Identifier: MIT
// Turns CLI11's exceptions into what the command says.
#include <algorithm>

#include "tool/arguments/options.hpp"

namespace kiln::tool {
namespace {

struct Surplus {
  Given where;
  std::string word;
};

/// The first word that no command had a use for, and the command that met it.
std::optional<Surplus> surplus_of(const CLI::App& app) {
  Given at{&app, app.get_name()};
  for (;;) {
    std::vector<std::string> words = at.command->remaining(false);
    std::erase(words, "--");
    if (!words.empty()) {
      // A value of an unknown option is left over too, and is not the mistake; nor are options of a command
      // that is not known.
      const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
      const auto option = std::ranges::find_if(words, is_option);
      const bool takes_command =
          !at.command->get_subcommands({}).empty() && at.command->get_subcommands().empty();
      const bool command = takes_command && !is_option(words.front());
      return Surplus{at, command || option == words.end() ? words.front() : *option};
    }
    const auto below = at.command->get_subcommands();
    if (below.empty()) return std::nullopt;
    at = {below.front(), at.name + " " + below.front()->get_name()};
  }
}

std::vector<std::string> option_names(const Page& page) {
  std::vector<std::string> names;
  for (const Parameter& option : page.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const Page& page) {
  std::vector<std::string> names;
  for (const Page& command : page.commands) names.push_back(command.name.substr(page.name.size() + 1));
  return names;
}

Error surplus_error(const Surplus& surplus) {
  const std::string& name = surplus.where.name;
  const Page page = page_of(*surplus.where.command);
  if (surplus.word.starts_with('-')) return unknown_option(name, surplus.word, option_names(page));
  if (!page.commands.empty() && surplus.where.command->get_subcommands().empty())
    return unknown_command(name, surplus.word, command_names(page));
  return surplus_word(name, surplus.word, option_names(page));
}

/// "--output" as it is, "files" as FILE: what the help calls it.
std::string label_of(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_name() == name && option->get_lnames().empty()) return option->get_type_name();
  return name;
}

/// Cuts `text` at the only `mark`; both parts empty where there is none.
std::pair<std::string, std::string> cut(const std::string& text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == text.npos) return {};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

}  // namespace

Given given_command(const CLI::App& app) {
  Given given{&app, app.get_name()};
  for (auto below = app.get_subcommands(); !below.empty(); below = given.command->get_subcommands())
    given = {below.front(), given.name + " " + below.front()->get_name()};
  return given;
}

Error misuse_of(const CLI::App& app, const CLI::ParseError& error) {
  if (const auto* own = dynamic_cast<const Misuse*>(&error)) return own->error();
  const auto [command, name] = given_command(app);
  const std::string said = error.what();
  const auto with_help = [&, name = name](const std::string& message) {
    const auto space = name.find(' ');
    return usage_error(message,
                       {"`kiln help" + (space == name.npos ? "" : name.substr(space)) + "` says more"});
  };
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (missing || dynamic_cast<const CLI::ExtrasError*>(&error))
    if (const auto surplus = surplus_of(app)) return surplus_error(*surplus);
  if (missing) {
    const std::string what = cut(said, " is required").first;
    if (what.empty() || what == "A subcommand") return with_help("`" + name + "` needs a command");
    return with_help("`" + name + "` needs " + label_of(*command, what));
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error))
    if (const auto [one, other] = cut(said, " excludes "); !one.empty())
      return with_help(label_of(*command, one) + " and " + label_of(*command, other) + " do not go together");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    if (said.find("flag override") != said.npos)
      return with_help("--" + said.substr(0, said.find(' ')) + " takes no value");
    const std::string option = label_of(*command, said.substr(0, said.find(':')));
    return with_help(option + (said.ends_with("missing") ? " needs a value" : " is given more than once"));
  }
  return with_help(said);
}

}  // namespace kiln::tool
