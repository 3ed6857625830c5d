// SPDX-License-Identifier: MIT
// driver_agreement PRODUCT [--cases N] [--seed S] [--module M] [--ocloc PATH]: draws modules and launches,
// puts them to Kiln's check and to Intel's driver without a GPU, and ends with 1 when they differ and nobody
// knows why.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "driver_agreement/examiner.hpp"

namespace kiln::agreement {
namespace {

constexpr std::size_t kNoteSize = 1024;  // bytes

struct Options {
  std::string product, ocloc, ask;
  std::uint64_t cases = 500, seed = 1;
  std::optional<std::uint64_t> module;
};

/// The last line that this program prints for one question alone.
std::string ask_process(const Options& options, std::uint64_t module, const std::string& question) {
  std::string command = "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "' " +
                        options.product + " --module " + std::to_string(module) + " --ask '" + question + "'";
  if (!options.ocloc.empty()) command += " --ocloc '" + options.ocloc + "'";
  std::FILE* answer = popen((command + " 2>/dev/null").c_str(), "r");
  std::string line;
  for (char text[256]; answer && std::fgets(text, sizeof text, answer);) line = text;
  if (!answer || pclose(answer) != 0) return "the process ended";
  return line.substr(0, line.find('\n'));
}

int run(const Options& options, char* note) {
  auto opened = open_device({DeviceKind::capture, options.product});
  if (!opened) {
    std::printf("%s", opened.error().text().c_str());
    if (opened.error().code() != ZE_RESULT_SUCCESS) std::printf("skipped: no such device here\n");
    return 77;
  }
  const Setting setting{&*opened, find_target(std::string_view(options.product)),
                        opened->driver.version().value_or(0) & 0xffff};
  std::uint64_t current = options.module.value_or(0);
  Examiner examiner(
      setting, options.ocloc,
      [note](const std::string& text) { std::strncpy(note, text.c_str(), kNoteSize - 1); },
      [&](const std::string& question) { return ask_process(options, current, question); });
  if (!options.ask.empty()) {
    std::printf("%s\n", examiner.answer(current, options.ask).c_str());
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  if (options.module) examiner.examine(*options.module);
  for (std::uint64_t i = 0; !options.module && examiner.counts().cases < options.cases; ++i)
    examiner.examine(current = options.seed * 1'000'000 + i);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Counts& counts = examiner.counts();
  std::printf("%s, driver %u: %llu cases, %llu refused, %llu unexplained, %.0f s\n", options.product.c_str(),
              setting.driver_build, static_cast<unsigned long long>(counts.cases),
              static_cast<unsigned long long>(counts.refused),
              static_cast<unsigned long long>(counts.unexplained), seconds.count());
  for (const auto* group : {&counts.by_kind, &counts.by_code, &counts.by_difference})
    for (const auto& [name, count] : *group)
      std::printf("  %-40s %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  return counts.unexplained ? 1 : 0;
}

}  // namespace
}  // namespace kiln::agreement

int main(int argc, char** argv) {
  using namespace kiln::agreement;
  Options options;
  const auto number = [](const char* text) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
  };
  bool understood = true;
  for (int i = 1; i < argc && understood; ++i) {
    const std::string name = argv[i];
    if (!name.starts_with("--")) {
      understood = options.product.empty();
      options.product = name;
      continue;
    }
    const char* value = ++i < argc ? argv[i] : "";
    const auto count = number(value);
    if (name == "--ask")
      options.ask = value;
    else if (name == "--ocloc")
      options.ocloc = value;
    else if (name == "--cases" && count)
      options.cases = *count;
    else if (name == "--seed" && count)
      options.seed = *count;
    else if (name == "--module" && count)
      options.module = *count;
    else
      understood = false;
  }
  if (!understood || options.product.empty()) {
    std::fprintf(stderr,
                 "usage: driver_agreement PRODUCT [--cases N] [--seed S] [--module M] [--ocloc PATH]\n");
    return 2;
  }
  // The driver may end its process: it works in a child, which leaves a note of what it is at.
  auto* note =
      static_cast<char*>(mmap(nullptr, kNoteSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (note == MAP_FAILED) return 1;
  const pid_t child = fork();
  if (child == 0) {
    const int status = run(options, note);
    std::fflush(nullptr);
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("the driver ended the process (signal %d) at: %s\n", WTERMSIG(status), note);
  return 1;
}
