// SPDX-License-Identifier: MIT
// Files that drivers and compilers read without being told to, and the driver's caches.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "doctor/gather.hpp"
#include "doctor/names.hpp"

namespace kiln::doctor {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostRead = 64 << 10;   // bytes of a settings file
constexpr std::size_t kMostEntries = 20'000;  // of a folder

std::string trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) - begin + 1));
}

/// The lines `KEY = VALUE` (or `KEY` alone) of a regular file; nothing where there is none that can be read.
std::optional<Settings> read_settings(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not block
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::string text(kMostRead, '\0');
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t count = regular ? read(file, text.data(), text.size()) : -1;
  close(file);
  if (count < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(count));
  Settings settings{path.string(), is_foreign(status.st_uid), {}};
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const auto equals = line.find('=');
    if (const std::string key = trimmed(line.substr(0, equals)); !key.empty())
      settings.keys.emplace(key, equals == line.npos ? "" : trimmed(line.substr(equals + 1)));
    begin = end + 1;
  }
  return settings;
}

std::string value_of(const Facts& facts, const char* name) {
  const auto found = facts.environment.find(name);
  return found == facts.environment.end() ? std::string() : found->second;
}

Folder look_at(const fs::path& path) {
  Folder folder;
  folder.path = path.string();
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return folder;
  folder.exists = true;
  folder.is_folder = S_ISDIR(status.st_mode);
  folder.owner = user_name(status.st_uid);
  folder.foreign = is_foreign(status.st_uid);
  folder.writable = access(path.c_str(), W_OK | X_OK) == 0;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end && folder.files < kMostEntries;
       at.increment(error)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    const std::uintmax_t size = at->file_size(ignored);
    if (!ignored) folder.bytes += size, ++folder.files;
  }
  return folder;
}

/// NAME of NAME_options.txt, NAME_internal_options.txt and NAME_ocloc_options.txt; empty when it is none of
/// them.
std::string_view source_of(std::string_view file) {
  for (const std::string_view ending : {"_internal_options.txt", "_ocloc_options.txt", "_options.txt"})
    if (file.ends_with(ending)) return file.substr(0, file.size() - ending.size());
  return {};
}

/// Option files count where ocloc has their input; others (meson_options.txt) are not its business.
bool has_source(const fs::path& folder, const std::string& file) {
  std::error_code error;
  for (const char* ending : {".cl", ".spv", ".spirv", ".bc", ".ll"})
    if (fs::exists(folder / (std::string(source_of(file)) + ending), error)) return true;
  return false;
}

}  // namespace

void gather_files(const Places& places, Facts& facts) {
  for (const char* name : {"igdrcl.config", "neo.config"})
    if (auto settings = read_settings((places.current / name).lexically_normal()))
      facts.driver_settings.push_back(*std::move(settings));
  facts.compiler_settings = read_settings(places.temporary / "IntelIGC" / "debugFlags" / "Options.txt");
  std::size_t seen = 0;
  std::error_code error;
  for (fs::directory_iterator at(places.current, error), end; !error && at != end && seen < kMostEntries;
       at.increment(error), ++seen)
    if (const std::string name = at->path().filename().string();
        !source_of(name).empty() && has_source(places.current, name))
      facts.ocloc_files.push_back(name);
  std::ranges::sort(facts.ocloc_files);
}

void gather_caches(const Places& places, Facts& facts) {
  facts.caches.push_back(look_at((places.current / "l0_cache").lexically_normal()));
  fs::path folder = value_of(facts, "NEO_CACHE_DIR");
  if (folder.empty())
    if (const std::string xdg = value_of(facts, "XDG_CACHE_HOME"); !xdg.empty())
      folder = fs::path(xdg) / "neo_compiler_cache";
  if (folder.empty())
    if (const std::string home = value_of(facts, "HOME"); !home.empty())
      folder = fs::path(home) / ".cache" / "neo_compiler_cache";
  facts.caches.push_back(folder.empty() ? Folder{} : look_at(folder));
}

}  // namespace kiln::doctor
