// SPDX-License-Identifier: MIT
// The estimate of a folder's size, as the length of a file.
#include "cache/usage.hpp"

#include "support/limits.hpp"

namespace kiln::cache {
namespace {

constexpr const char* kName = "usage";

/// Ours, and no second name of another file: what is written here must hurt nobody.
bool is_usage(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1;
}

std::optional<std::uint64_t> length(const Folder& folder) {
  struct stat status {};
  if (fstatat(folder.descriptor(), kName, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (is_usage(status)) return static_cast<std::uint64_t>(status.st_size);
  // Out of the way, so that a new one can be made.
  unlinkat(folder.descriptor(), kName, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
  return std::nullopt;
}

Descriptor open_usage(const Folder& folder, int flags) {
  Descriptor file(
      openat(folder.descriptor(), kName, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600));
  struct stat status {};
  return file && fstat(file.get(), &status) == 0 && is_usage(status) ? std::move(file) : Descriptor();
}

}  // namespace

std::optional<std::uint64_t> estimated_usage(const Folder& folder) {
  const auto blocks = length(folder);
  return blocks.value_or(0) != 0 ? std::optional(*blocks * kBlock) : std::nullopt;
}

void add_usage(const Folder& folder, std::uint64_t bytes) {
  if (const Descriptor file = open_usage(folder, O_APPEND)) {
    const detail::NoFileSizeSignal guard;
    const std::string added(blocks_of(bytes), '.');
    // Without effect where there is no space: then nothing was stored either.
    [[maybe_unused]] const ssize_t count = write(file.get(), added.data(), added.size());
  }
}

std::uint64_t start_count(const Folder& folder) {
  const auto blocks = length(folder);
  if (!blocks) (void)open_usage(folder, O_CREAT);
  return blocks.value_or(0);
}

void set_usage(const Folder& folder, std::uint64_t before, std::uint64_t blocks) {
  const std::uint64_t now = length(folder).value_or(0);
  if (const Descriptor file = open_usage(folder, O_CREAT)) {
    const detail::NoFileSizeSignal guard;
    [[maybe_unused]] const int error =
        ftruncate(file.get(), static_cast<off_t>(blocks + (now > before ? now - before : 0)));
  }
}

}  // namespace kiln::cache
