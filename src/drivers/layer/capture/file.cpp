// SPDX-License-Identifier: MIT
#include "drivers/layer/capture/file.hpp"

#include <ar.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "binary/archive_member.hpp"
#include "support/descriptor.hpp"

namespace kiln::layer {
namespace {

/// What this process has written; another size means another's file.
off_t written = 0;

bool write_whole(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(to, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

bool write_members(int to, std::span<const CaptureMember> members) {
  if (written == 0 && !write_whole(to, ARMAG)) return false;
  for (const CaptureMember& each : members) {
    const auto* text = reinterpret_cast<const char*>(each.content.data());
    if (!write_whole(to, detail::archive_member_header(each.name, each.content.size())) ||
        !write_whole(to, {text, each.content.size()}) || (each.content.size() % 2 && !write_whole(to, "\n")))
      return false;
  }
  return true;
}

}  // namespace

std::string add_to_capture(const std::string& path, std::span<const CaptureMember> members) {
  const detail::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat status {};
  if (file.get() < 0 || flock(file.get(), LOCK_EX) != 0 || fstat(file.get(), &status) != 0)
    return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "it is no file";
  if (status.st_size != written)
    return written == 0 ? "another process of the program has captured something in it"
                        : "somebody else has changed it";
  if (!write_members(file.get(), members)) {
    const std::string why = std::strerror(errno);
    if (ftruncate(file.get(), written) != 0) written = -1;  // never again
    return why;
  }
  if (fstat(file.get(), &status) != 0) return std::strerror(errno);
  written = status.st_size;
  return {};
}

}  // namespace kiln::layer
