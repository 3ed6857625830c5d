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
  for (const int each : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, each, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command[0], &actions, nullptr,
                                  const_cast<char* const*>(command.data()), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return !failed && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<std::vector<std::byte>> compile_native(const std::string& ocloc,
                                                     std::span<const std::byte> spirv,
                                                     const std::string& target, bool large_registers) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-agreement-XXXXXX").string();
  if (!mkdtemp(folder.data())) return std::nullopt;
  const std::filesystem::path place = folder;
  std::ofstream(place / "in.spv", std::ios::binary)
      .write(reinterpret_cast<const char*>(spirv.data()), static_cast<std::streamsize>(spirv.size()));
  std::vector<const char*> command{
      ocloc.c_str(),          "compile",     "-file",   "in.spv", "-spirv_input",      "-device",
      target.c_str(),         "-exclude_ir", "-output", "out",    "-output_no_suffix", "-internal_options",
      "-cl-intel-allow-zebin"};
  if (large_registers) command.insert(command.end(), {"-options", "-ze-opt-large-register-file"});
  std::optional<std::vector<std::byte>> binary;
  if (run(std::move(command), place))
    for (const char* name : {"out.bin", "out"})  // new and old releases
      if (std::ifstream file(place / name, std::ios::binary); file && !binary) {
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        const auto all = std::as_bytes(std::span(bytes));
        if (!bytes.empty()) binary.emplace(all.begin(), all.end());
      }
  std::error_code ignored;
  std::filesystem::remove_all(place, ignored);
  return binary;
}

}  // namespace kiln::agreement
