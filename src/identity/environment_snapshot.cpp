// SPDX-License-Identifier: MIT
// Samples the environment and the settings files that Intel's driver and compiler read unasked.
#include "identity/environment_snapshot.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "identity/libraries.hpp"

namespace kiln::detail {
namespace {

constexpr std::size_t kMostRead = std::size_t{1} << 20;

/// Null when all of it was read.
const char* read_all(int file, std::string& content) {
  content.resize(kMostRead + 1);
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t count = read(file, content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return "cannot be read";
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  content.resize(size);
  return size > kMostRead ? "is larger than 1 MiB" : nullptr;
}

const char* examine(int file, std::string& content) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return "is no regular file";
  if (status.st_uid != geteuid() && status.st_uid != 0) return "belongs to neither this user nor root";
  if (status.st_mode & S_IWOTH) return "can be written by everybody";
  return read_all(file, content);
}

// What is hot lies side by side: src/meson.build says why.
[[gnu::hot]] std::optional<SettingsFile> look_at(const char* name, const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 && errno == ENOENT)
    return std::nullopt;  // cheaper, and the usual case
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  // Who may not open it is not obeyed by a compiler of his own either.
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return std::nullopt;
  SettingsFile found{name, path, {}, {}};
  const char* distrust = file < 0 ? "is a link, or no regular file" : examine(file, found.content);
  if (file >= 0) close(file);
  if (distrust) found.distrust = distrust, found.content.clear();
  return found;
}

/// "libigc" of "/usr/lib/libigc.so.1".
std::string_view stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.find(".so"));
}

/// Also Intel's OpenCL driver brings the compiler. Opens no file, as dlopen(RTLD_NOLOAD) would.
bool came_before_kiln(const char* chosen) {
  if (!chosen) return true;
  const std::string_view names[] = {"libze_intel_gpu", "libigc", "libigdfcl", stem(chosen)};
  const cache::MappedLibraries mapped(nullptr);
  return std::ranges::any_of(mapped.all(), [&](const cache::Library& library) {
    return std::ranges::count(names, stem(library.name)) + std::ranges::count(names, stem(library.path)) != 0;
  });
}

std::vector<std::string> environment_at_start() {
  std::vector<std::string> entries;
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) entries.push_back(std::move(entry));
  return entries;
}

[[gnu::hot]] std::span<char* const> environment_now() {
  std::size_t count = 0;
  while (environ && environ[count]) ++count;
  return {environ, count};
}

}  // namespace

[[gnu::hot]] std::vector<SettingsFile> compiler_files(const SettingsPlaces& places) {
  std::vector<SettingsFile> found;
  if (auto file = look_at("Options.txt", places.temporary + "/IntelIGC/debugFlags/Options.txt"))
    found.push_back(*std::move(file));
  return found;
}

EnvironmentSnapshot take_build_snapshot(const SettingsPlaces& places) {
  EnvironmentSnapshot snapshot;
  const auto variables = environment_now();
  snapshot.environment.assign(variables.begin(), variables.end());
  std::ranges::copy_if(variables, std::back_inserter(snapshot.shaping), &may_shape_code);
  snapshot.inputs = environment_inputs(snapshot.shaping);
  snapshot.compiler_files = compiler_files(places);
  return snapshot;
}

[[gnu::hot]] bool is_environment_of(const EnvironmentSnapshot& snapshot) {
  auto expected = snapshot.shaping.begin();
  for (const char* variable : environment_now()) {
    if (!may_shape_code(variable)) continue;
    if (expected == snapshot.shaping.end() || *expected != variable) return false;
    ++expected;
  }
  return expected == snapshot.shaping.end();
}

EnvironmentSnapshot take_snapshot(const SettingsPlaces& places) {
  EnvironmentSnapshot snapshot = take_build_snapshot(places);
  for (const char* name : {"igdrcl.config", "neo.config"})
    if (auto file = look_at(name, places.current + "/" + name))
      snapshot.driver_files.push_back(*std::move(file));
  return snapshot;
}

EnvironmentSnapshot snapshot_of_loading(const char* library) {
  EnvironmentSnapshot snapshot = take_snapshot();
  if (came_before_kiln(library)) snapshot.started = environment_inputs(environment_at_start());
  return snapshot;
}

}  // namespace kiln::detail
