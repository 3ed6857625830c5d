// SPDX-License-Identifier: MIT
// The kinds of options, and CLI11's definitions as a page.
#include "tool/arguments/options.hpp"

#include "kiln/target.hpp"
#include "level_zero/open/simulated.hpp"
#include "product/profile.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {
namespace {

Parameter parameter_of(const CLI::Option& option) {
  Parameter parameter;
  for (const std::string& name : option.get_snames()) parameter.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) parameter.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) parameter.value = option.get_type_name();
  parameter.summary = option.get_description();
  parameter.required = option.get_required();
  parameter.several = option.get_items_expected_max() > 1;
  return parameter;
}

}  // namespace

std::vector<ValueWords> value_words() {
  ValueWords devices{kDevice, {"auto", "gpu", "cpu"}}, products{kTargets, {}}, samples{kSample, {}};
  for (const std::string_view name : product::kProfileNames)
    for (const char* kind : {"cpu:", "capture:"}) devices.words.push_back(kind + std::string(name));
  for (const char* name : detail::kSimulated) devices.words.push_back("sim:" + std::string(name));
  devices.words.emplace_back("driver:");
  for (const Target& target : targets()) products.words.emplace_back(target.name);
  products.comma_list = true;
  for (const samples::Sample& sample : samples::all()) samples.words.emplace_back(sample.name);
  ValueWords files{kFile, {}}, folders{kFolder, {}}, when{"WHEN", {"auto", "always", "never"}},
      kinds{"KIND", {"device", "host", "shared"}},
      simulated{kSimulatedProduct, {std::begin(detail::kSimulated), std::end(detail::kSimulated)}};
  files.files = folders.folders = true;
  return {devices, products,  samples,
          files,   folders,   when,
          kinds,   simulated, {kShell, {"man", "bash", "zsh", "fish"}}};
}

CLI::Option* add_text(CLI::App& command, const std::string& names, std::string& to, const char* kind,
                      const std::string& help) {
  return command.add_option(names, to, help)->type_name(kind);
}

CLI::Option* add_texts(CLI::App& command, const std::string& names, std::vector<std::string>& to,
                       const char* kind, const std::string& help) {
  return command.add_option(names, to, help)->type_name(kind);
}

CLI::Option* add_flag(CLI::App& command, const std::string& names, bool& to, const std::string& help) {
  return command.add_flag(names, to, help)->disable_flag_override();
}

CLI::Option* add_json(CLI::App& command, bool& to) {
  return add_flag(command, "--json", to, "Machine-readable output");
}

CLI::Option* add_seconds(CLI::App& command, double& to, double least, double most, const std::string& help) {
  return command
      .add_option_function<std::string>(
          "--timeout",
          [&to, least, most](const std::string& text) {
            auto value = parse_seconds("--timeout", text, least, most);
            if (!value) throw Misuse(std::move(value).error());
            to = *value;
          },
          help)
      ->type_name(kSeconds);
}

CLI::Option* add_real(CLI::App& command, const std::string& name, std::optional<double>& to, double least,
                      double most, const std::string& help) {
  return command
      .add_option_function<std::string>(
          name,
          [&to, name, least, most](const std::string& text) {
            auto value = parse_real(name, text, least, most);
            if (!value) throw Misuse(std::move(value).error());
            to = *value;
          },
          help)
      ->type_name(kNumber);
}

std::string needs_a_value(const std::string& value) { return value.empty() ? "a value is needed" : ""; }

Page page_of(const CLI::App& command, const std::string& above) {
  Page page;
  page.name = above.empty() ? command.get_name() : above + " " + command.get_name();
  page.summary = command.get_description();
  page.notes = command.get_footer();
  for (const CLI::Option* option : command.get_options()) {
    const bool argument = option->get_snames().empty() && option->get_lnames().empty();
    if (!option->get_group().empty())
      (argument ? page.arguments : page.options).push_back(parameter_of(*option));
  }
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!one->get_group().empty()) page.commands.push_back(page_of(*one, page.name));
  return page;
}

}  // namespace kiln::tool
