// SPDX-License-Identifier: MIT
// Parses the command line, and answers what is asked of the command itself: help, pages, completions.
#include "tool/arguments/command_line.hpp"

#include <memory>

#include "kiln/version.hpp"
#include "support/nearest.hpp"
#include "tool/analyze/command.hpp"
#include "tool/arguments/options.hpp"
#include "tool/cache/command.hpp"
#include "tool/check/driver_question.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kFooter = R"(
Exit status: 0 right, 1 wrong answer, a defect found or output that is lost, 2 usage, 3 refused by the launch check,
4 no device, 5 driver error, or a file or folder that cannot be read or written.

Environment:
  KILN_DEVICE       the device when --device is not given
  KILN_CPU_PROFILE  product whose limits the CPU device has: tgllp, dg2, pvc, bmg, lnl, ptl
  KILN_CPU_DRIVER   path of the CPU driver, libze_kiln_cpu.so
  KILN_KERNEL_PATH  folder of the sample kernels
  KILN_CACHE        off, read or on (the default): the cache of compiled kernels; `kiln cache` looks into it
  KILN_CACHE_DIR    its folder (~/.cache/kiln); KILN_CACHE_MAX_SIZE, KILN_CACHE_VERIFY, KILN_CACHE_READ_ONLY
  KILN_LOG          debug, info, warning (the default), error or off
  NO_COLOR          not empty: no colours where --color does not ask for them)";

/// `kiln help cache warm`.
int show_help(const CLI::App& app, const std::vector<std::string>& words) {
  const Page whole = page_of(app);
  const Page* page = &whole;
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const Page* next = nullptr;
    for (const Page& command : page->commands) {
      names.push_back(command.name.substr(page->name.size() + 1));
      if (names.back() == word) next = &command;
    }
    if (!next)
      throw Misuse(names.empty() ? surplus_word(page->name, word, {})
                                 : unknown_command(page->name, word, names));
    page = next;
  }
  say("%s", help_text(*page, text_width(stdout)).c_str());
  return kOk;
}

int generate(const CLI::App& app, const std::string& what) {
  const Page page = page_of(app);
  auto values = value_words();
  for (values.push_back({kCommand, {}}); const Page& command : page.commands)
    values.back().words.push_back(command.name.substr(page.name.size() + 1));
  const std::string text = what == "man"    ? man_page(page, KILN_VERSION)
                           : what == "bash" ? bash_completion(page, values)
                           : what == "zsh"  ? zsh_completion(page, values)
                           : what == "fish" ? fish_completion(page, values)
                                            : "";
  if (text.empty())
    throw Misuse(usage_error("`" + what + "` is nothing that is made here", {"give man, bash, zsh or fish"}));
  say_exactly(stdout, text);
  return kOk;
}

/// For the command and all below it. What it says was taken before parsing, so that mistakes have it too.
void add_color(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--color",
          [](const std::string& when) {
            if (parse_color(when)) return;
            const std::vector<std::string> known{"auto", "always", "never"};
            auto help = detail::did_you_mean(when, known);
            help.emplace_back("give --color auto, always or never");
            throw Misuse(usage_error("--color is none of these: `" + when + "`", std::move(help)));
          },
          "Colours: auto (on a terminal, without NO_COLOR), always or never")
      ->type_name("WHEN");
  for (CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty()) add_color(*below);
}

void define_itself(CLI::App& app, Action& action) {
  CLI::App* help = app.add_subcommand("help", "List the commands, or say all about one");
  const auto words = std::make_shared<std::vector<std::string>>();
  add_texts(*help, "command", *words, kCommand, "The command, such as cache warm");
  help->callback([&app, &action, words] { action = [&app, words] { return show_help(app, *words); }; });

  CLI::App* make = app.add_subcommand("generate", "Writes the manual page or a completion")->group("");
  const auto what = std::make_shared<std::string>();
  add_text(*make, "what", *what, kShell, "man, bash, zsh or fish")->required();
  make->callback([&app, &action, what] { action = [&app, what] { return generate(app, *what); }; });

  app.add_subcommand("disassembly-child", "Serves analyze")->group("")->callback([&action] {
    action = [] { return disassemble_stdin(); };
  });
  CLI::App* child = app.add_subcommand("driver-child", "Serves check --driver")->group("");
  const auto question = std::make_shared<std::string>();
  child->add_option("question", *question)->required();
  child->callback([&action, question] { action = [question] { return answer_question(*question); }; });
}

/// Cuts off the program of `kiln exec -- PROGRAM …` and of `kiln simulate`, whose words are nobody's but the
/// program's.
std::vector<std::string> take_program(int& argc, char** argv) {
  int at = 1;
  while (at < argc && argv[at][0] == '-') at += std::string_view(argv[at]) == "--color" ? 2 : 1;
  if (at >= argc || (std::string_view(argv[at]) != "exec" && std::string_view(argv[at]) != "simulate"))
    return {};
  while (at < argc && std::string_view(argv[at]) != "--") ++at;
  if (at == argc) return {};
  std::vector<std::string> program(argv + at + 1, argv + argc);
  argc = at;
  return program;
}

int refuse(const CLI::App& app, const CLI::ParseError& error, bool json) {
  const Error misuse = misuse_of(app, error);
  const auto [command, name] = given_command(app);
  const Page page = page_of(*command, name.substr(0, name.rfind(' ') == name.npos ? 0 : name.rfind(' ')));
  const bool needs_command = misuse.diagnostic()->message.ends_with("needs a command");
  if (needs_command)
    complain("%s", command_list(page, text_width(stderr)).c_str());
  else
    complain("%s", misuse.text().c_str());
  if (json) print({{"error", to_json(misuse)}});
  return kUsage;
}

}  // namespace

int command(int argc, char** argv) {
  CLI::App app("Native kernels on Intel GPUs through Level Zero, checked before the launch.", "kiln");
  Action action;
  const std::vector<std::string> program = take_program(argc, argv);
  app.set_version_flag("--version", "kiln " KILN_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.footer(kFooter);
  define_devices(app, action);
  define_doctor(app, action);
  define_memory(app, action);
  define_run(app, action);
  define_test(app, action);
  define_inspect(app, action);
  define_check(app, action);
  define_analyze(app, action);
  define_bake(app, action);
  define_explain(app, action);
  define_exec(app, action, program);
  define_simulate(app, action, program);
  define_replay(app, action);
  define_cache(app, action);
  define_itself(app, action);
  add_color(app);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::CallForHelp&) {
    const auto [command, name] = given_command(app);
    const auto space = name.rfind(' ');
    say("%s",
        help_text(page_of(*command, space == name.npos ? "" : name.substr(0, space)), text_width(stdout))
            .c_str());
    return kOk;
  } catch (const CLI::CallForVersion& version) {
    say("%s\n", version.what());
    return kOk;
  } catch (const CLI::ParseError& error) {
    return refuse(app, error, wants_json(argc, argv));
  }
}

}  // namespace kiln::tool
