// SPDX-License-Identifier: MIT
// The `kiln` command: its log, its standard files, and its end.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "kiln/log.hpp"
#include "support/printable.hpp"
#include "tool/arguments/command_line.hpp"
#include "tool/common/output.hpp"

namespace {

void to_spdlog(void*, kiln::LogLevel level, std::string_view text) {
  const std::string message = kiln::detail::printable(text, "\n\t");
  switch (level) {
    case kiln::LogLevel::debug:
      spdlog::debug("{}", message);
      break;
    case kiln::LogLevel::info:
      spdlog::info("{}", message);
      break;
    case kiln::LogLevel::warning:
      spdlog::warn("{}", message);
      break;
    case kiln::LogLevel::error:
      spdlog::error("{}", message);
      break;
  }
}

void set_up_log() {
  const auto mode = kiln::tool::is_colored(stderr) ? spdlog::color_mode::always : spdlog::color_mode::never;
  spdlog::set_default_logger(spdlog::stderr_color_mt("kiln", mode));
  spdlog::set_pattern("kiln: %^%l%$: %v");
  const char* level = secure_getenv("KILN_LOG");
  auto chosen = level && *level ? spdlog::level::from_str(level) : spdlog::level::warn;
  if (chosen == spdlog::level::off && std::string_view(level) != "off") {  // what it makes of any other word
    chosen = spdlog::level::warn;
    kiln::tool::complain(
        "kiln: KILN_LOG is none of debug, info, warning, error and off: `%s`; warning it is\n", level);
  }
  spdlog::set_level(chosen);
  kiln::set_log_sink(to_spdlog, nullptr);
}

[[noreturn]] void end_for_want_of_memory() {
  const std::exception_ptr reason = std::current_exception();
  try {
    if (reason) std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
    _exit(kiln::tool::out_of_memory());
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kiln::tool;
  keep_standard_files();
  std::set_terminate(end_for_want_of_memory);  // threads
  choose_color(color_of(argc, argv));
  try {
    set_up_log();
    return finish_output(command(argc, argv));
  } catch (const std::bad_alloc&) {  // it comes through the library too: nothing there catches it
    return out_of_memory();
  }
}
