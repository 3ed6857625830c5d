// SPDX-License-Identifier: MIT
// How the commands define their options: flags, numbers with a range, and kinds of value that shells
// complete.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/help/page.hpp"

namespace kiln::tool {

/// Thrown while CLI11 parses: a mistake of the caller's with its own words.
class Misuse : public CLI::ParseError {
 public:
  explicit Misuse(kiln::Error error) : ParseError("Misuse", error.text(), 2), error_(std::move(error)) {}
  [[nodiscard]] const kiln::Error& error() const { return error_; }

 private:
  kiln::Error error_;
};

/// What the command line asks for; set by parsing.
using Action = std::function<int()>;

/// The kinds of value that options and arguments take. What is none of these is free text.
inline constexpr const char* kDevice = "DEVICE";
inline constexpr const char* kTargets = "PRODUCT,...";
inline constexpr const char* kSample = "SAMPLE";
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kNumber = "NUMBER";
inline constexpr const char* kSeconds = "SECONDS";
inline constexpr const char* kBuildOptions = "OPTIONS";
inline constexpr const char* kCommand = "COMMAND";
inline constexpr const char* kShell = "SHELL";
inline constexpr const char* kSimulatedProduct = "PRODUCT";

/// The words of each kind, for the shells and for suggestions.
[[nodiscard]] std::vector<ValueWords> value_words();

inline constexpr const char* kDeviceHelp =
    "auto, gpu, cpu, cpu:PRODUCT, capture:PRODUCT (Intel's driver without a GPU), sim:PRODUCT (a simulated "
    "GPU) "
    "or driver:LIBRARY";

CLI::Option* add_text(CLI::App& command, const std::string& names, std::string& to, const char* kind,
                      const std::string& help);
CLI::Option* add_texts(CLI::App& command, const std::string& names, std::vector<std::string>& to,
                       const char* kind, const std::string& help);
CLI::Option* add_flag(CLI::App& command, const std::string& names, bool& to, const std::string& help);
CLI::Option* add_json(CLI::App& command, bool& to);
CLI::Option* add_seconds(CLI::App& command, double& to, double least, double most, const std::string& help);

/// A number; outside of the range it is refused.
CLI::Option* add_real(CLI::App& command, const std::string& name, std::optional<double>& to, double least,
                      double most, const std::string& help);

/// A whole number; outside of the range it is refused.
template <class T>
CLI::Option* add_whole(CLI::App& command, const std::string& name, T& to, Range range,
                       const std::string& help) {
  return command
      .add_option_function<std::string>(
          name,
          [&to, name, range](const std::string& text) {
            auto value = parse_whole(name, text, range);
            if (!value) throw Misuse(std::move(value).error());
            if constexpr (requires { to.emplace(*value); })
              to.emplace(*value);
            else
              to = static_cast<T>(*value);
          },
          help + " (" + std::to_string(range.least) + " to " + std::to_string(range.most) + ")")
      ->type_name(kNumber);
}

/// For CLI11's check(): an unset variable of a script must not name the user's own folder, or no bound at
/// all.
std::string needs_a_value(const std::string& value);

/// The page of a command and of those below it; `above` is the name of the command that has it.
[[nodiscard]] Page page_of(const CLI::App& command, const std::string& above = "");

/// Why parsing ended, as the command itself says it. CLI11's own words tell neither command nor cure.
[[nodiscard]] Error misuse_of(const CLI::App& app, const CLI::ParseError& error);

/// The command that was given, with its name from `kiln` on.
struct Given {
  const CLI::App* command;
  std::string name;
};
[[nodiscard]] Given given_command(const CLI::App& app);

// Each registers a command; parsing it sets `action`.
void define_devices(CLI::App& app, Action& action);
void define_doctor(CLI::App& app, Action& action);
void define_memory(CLI::App& app, Action& action);
void define_inspect(CLI::App& app, Action& action);
void define_check(CLI::App& app, Action& action);
void define_analyze(CLI::App& app, Action& action);
void define_bake(CLI::App& app, Action& action);
void define_explain(CLI::App& app, Action& action);
/// `program` are the words behind `--`, which are not parsed.
void define_exec(CLI::App& app, Action& action, const std::vector<std::string>& program);
void define_simulate(CLI::App& app, Action& action, const std::vector<std::string>& program);
void define_replay(CLI::App& app, Action& action);
void define_run(CLI::App& app, Action& action);
void define_test(CLI::App& app, Action& action);
void define_cache(CLI::App& app, Action& action);

}  // namespace kiln::tool
