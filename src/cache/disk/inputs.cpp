// SPDX-License-Identifier: MIT
// Keeps what entries were compiled from.
#include "cache/disk/inputs.hpp"

#include <algorithm>
#include <cerrno>

#include "cache/entry_file.hpp"
#include "cache/usage.hpp"

namespace kiln::cache {
namespace {

constexpr std::size_t kInputDigits = 64;

bool is_input_name(std::string_view name) {
  return name.size() == kInputDigits && name.find_first_not_of("0123456789abcdef") == name.npos;
}

struct KeptInput {
  std::string name;
  std::uint64_t size = 0;  // bytes on disk
  timespec used{};
};

std::vector<KeptInput> list_inputs(int place) {
  std::vector<KeptInput> all;
  each_name(place, [&](const char* name) {
    struct stat status {};
    if (!is_input_name(name) || fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    all.push_back({name, blocks_of(static_cast<std::uint64_t>(status.st_size)) * kBlock, status.st_mtim});
  });
  return all;
}

void shrink_inputs(int place, std::uint64_t most) {
  std::vector<KeptInput> all = list_inputs(place);
  std::uint64_t bytes = 0;
  for (const KeptInput& each : all) bytes += each.size;
  if (bytes <= most) return;
  std::ranges::sort(all, {},
                    [](const KeptInput& each) { return std::pair(each.used.tv_sec, each.used.tv_nsec); });
  for (const KeptInput& each : all) {
    if (bytes <= most - most / 5) return;
    if (unlinkat(place, each.name.c_str(), 0) == 0 || errno == ENOENT) bytes -= each.size;
  }
}

/// Nothing where it is none of this folder's own.
Descriptor open_input(const Folder& folder, const std::string& digest, struct stat& status) {
  if (!is_input_name(digest)) return {};
  const auto place = folder.subfolder(kInputsFolder, false);
  if (!place) return {};
  Descriptor file(openat(place->get(), digest.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool own =
      file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && folder.trusts(status);
  return own ? std::move(file) : Descriptor();
}

}  // namespace

int keep_input(const Folder& folder, std::span<const std::byte> bytes, std::uint64_t most) {
  if (blocks_of(bytes.size()) * kBlock > most) return EFBIG;
  const auto place = folder.subfolder(kInputsFolder, true);
  if (!place) return place.error();
  const std::string name = digest(bytes);
  if (utimensat(place->get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0 && has_input(folder, name))
    return 0;
  if (const int error = publish_file(folder, place->get(), name.c_str(), bytes, true)) return error;
  shrink_inputs(place->get(), most);
  return 0;
}

bool has_input(const Folder& folder, const std::string& digest) {
  struct stat status {};
  return static_cast<bool>(open_input(folder, digest, status));
}

std::optional<std::vector<std::byte>> read_input(const Folder& folder, const std::string& digest) {
  struct stat status {};
  const Descriptor file = open_input(folder, digest, status);
  if (!file || static_cast<std::uint64_t>(status.st_size) > kLargestEntry) return std::nullopt;
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  if (!read_all(file.get(), bytes.data(), bytes.size()) || kiln::digest(bytes) != digest) return std::nullopt;
  return bytes;
}

InputsSize inputs_size(const Folder& folder) {
  InputsSize size;
  if (const auto place = folder.subfolder(kInputsFolder, false))
    for (const KeptInput& each : list_inputs(place->get())) ++size.count, size.bytes += each.size;
  return size;
}

int clear_inputs(const Folder& folder) {
  const auto place = folder.subfolder(kInputsFolder, false);
  if (!place) return place.error() == ENOENT ? 0 : place.error();
  int failure = 0;
  for (const KeptInput& each : list_inputs(place->get()))
    if (unlinkat(place->get(), each.name.c_str(), 0) != 0 && errno != ENOENT) failure = errno;
  return failure;
}

}  // namespace kiln::cache
