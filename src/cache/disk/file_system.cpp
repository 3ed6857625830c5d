// SPDX-License-Identifier: MIT
// Types of file systems, by the magic numbers of statfs(2) and of the file systems' own sources.
#include "cache/disk/file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace kiln::cache {
namespace {

struct Type {
  std::uint32_t magic;
  std::string_view name;
};

constexpr std::array kShared{
    Type{0x00006969, "nfs"},    Type{0xff534d42, "cifs"},   Type{0xfe534d42, "smb"},
    Type{0x0000517b, "smb"},    Type{0x0bd00bd0, "lustre"}, Type{0x47504653, "gpfs"},
    Type{0x19830326, "beegfs"}, Type{0xaad7aaea, "panfs"},  Type{0x65735546, "fuse"},
    Type{0x01161970, "gfs2"},   Type{0x7461636f, "ocfs2"},  Type{0x01021997, "9p"},
    Type{0x00c36400, "ceph"},   Type{0x6b414653, "afs"},    Type{0x5346414f, "afs"},
    Type{0x73757245, "coda"},
};

}  // namespace

std::string_view shared_file_system(std::uint32_t type) {
  const auto* const found = std::ranges::find(kShared, type, &Type::magic);
  return found == kShared.end() ? std::string_view() : found->name;
}

std::string_view shared_file_system_of(int folder) {
  struct statfs status {};
  if (fstatfs(folder, &status) != 0) return "unknown";
  return shared_file_system(static_cast<std::uint32_t>(status.f_type));
}

}  // namespace kiln::cache
