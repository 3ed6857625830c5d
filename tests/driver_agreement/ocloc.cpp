// SPDX-License-Identifier: MIT
// Runs ocloc in a folder of its own: it takes options from files that lie beside its input.
#include "driver_agreement/ocloc.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace kiln::agreement {
namespace {

/// Not fork(): the driver may have mapped more memory in this process than a copy could have.
bool run(std::vector<const char*> command, const std::filesystem::path& folder) {
  command.push_back(nullptr);
  std::vector<char*> environment;  // without the driver's overrides, which ocloc would take for its own
  for (char** each = environ; *each; ++each)
    if (!std::string_view(*each).starts_with("NEOReadDebugKeys=")) environment.push_back(*each);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = folder / "log";
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command[0], &actions, nullptr,
                                  const_cast<char* const*>(command.data()), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return !failed && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A file's content, empty where there is none.
std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Compiled compile_native(const std::string& ocloc, std::span<const std::byte> spirv, const std::string& target,
                        bool large_registers) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-agreement-XXXXXX").string();
  if (!mkdtemp(folder.data())) return {};
  const std::filesystem::path place = folder;
  std::ofstream(place / "in.spv", std::ios::binary)
      .write(reinterpret_cast<const char*>(spirv.data()), static_cast<std::streamsize>(spirv.size()));
  std::vector<const char*> command{
      ocloc.c_str(),          "compile",     "-file",   "in.spv", "-spirv_input",      "-device",
      target.c_str(),         "-exclude_ir", "-output", "out",    "-output_no_suffix", "-internal_options",
      "-cl-intel-allow-zebin"};
  if (large_registers) command.insert(command.end(), {"-options", "-ze-opt-large-register-file"});
  const bool done = run(std::move(command), place);
  Compiled compiled{{}, content(place / "log")};
  for (const char* name : {"out.bin", "out"})  // new and old releases
    if (const std::string bytes = content(place / name); done && !compiled.binary && !bytes.empty()) {
      const auto all = std::as_bytes(std::span(bytes));
      compiled.binary.emplace(all.begin(), all.end());
    }
  std::error_code ignored;
  std::filesystem::remove_all(place, ignored);
  return compiled;
}

}  // namespace kiln::agreement
