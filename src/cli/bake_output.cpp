// SPDX-License-Identifier: MIT
// Puts a whole file in place of what was there, or leaves it alone.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/bake.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

/// Behind a link, so that the link stays.
fs::path place_of(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : place;
}

int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

/// The rights that a new file gets here; mkstemp closes it to others. No other thread runs by then.
mode_t usual_rights() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
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
  const fs::path place = place_of(path);
  std::string temporary = place.string() + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  int error = file < 0 ? errno : 0;
  if (file >= 0) {
    error = write_all(file, bytes);
    if (error == 0 && fchmod(file, usual_rights()) != 0) error = errno;
    // close() may be the first to say that the disk is full.
    if (close(file) != 0 && error == 0) error = errno;
    if (error == 0 && rename(temporary.c_str(), place.c_str()) != 0) error = errno;
    if (error != 0) unlink(temporary.c_str());
  }
  if (error == 0) return {};
  return tl::unexpected(
      bad_output(path, std::strerror(error), "see that there is room, and that you may write there"));
}

}  // namespace kiln::cli
