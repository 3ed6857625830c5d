// SPDX-License-Identifier: MIT
// Puts a whole file in place of what was there, or leaves it alone.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "offline/bake/parts.hpp"
#include "support/whole_file.hpp"

namespace kiln::offline {
namespace {

namespace fs = std::filesystem;

/// Behind a link, so that the link stays.
fs::path place_of(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : place;
}

}  // namespace

Error bad_output(const std::string& path, std::string why, std::string help) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "bake",
      {"K0421", "`" + path + "` cannot be written", {{"reason", std::move(why)}}, {std::move(help)}});
}

Result<void> check_output(const std::string& path) {
  const fs::path place = place_of(path);
  struct stat status {};
  if (stat(place.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return tl::unexpected(bad_output(
        path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file", "name a file"));
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return tl::unexpected(bad_output(path, folder.string() + ": " + std::strerror(errno),
                                     "name a folder that you may write to"));
  return {};
}

Result<void> write_output(const std::string& path, std::span<const std::byte> bytes) {
  detail::WholeFile file(path);
  file.write(bytes);
  if (const int error = file.finish(); error != 0)
    return tl::unexpected(
        bad_output(path, std::strerror(error), "see that there is room, and that you may write there"));
  return {};
}

}  // namespace kiln::offline
