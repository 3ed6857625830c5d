// SPDX-License-Identifier: MIT
// Fuzz target: kernel files of any format, fat binaries above all.
#include <algorithm>

#include "bundle/candidates.hpp"
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

namespace {

using namespace kiln;

/// The members that a device would be offered lie in the file, and the order is the same each time.
void check_candidates(std::span<const std::byte> file, std::span<const BinaryPart> parts) {
  const std::vector<KernelFile> files{{"f", {file.begin(), file.end()}}};
  const std::byte *begin = files[0].bytes.data(), *end = begin + file.size();
  for (const std::uint32_t version : {0u, 12u << 22 | 60u << 14 | 7u}) {
    DeviceProperties device;
    if (version) device.ip_version = version;
    const auto list = detail::find_candidates(files, device);
    fuzz::claim(list.candidates.size() <= 2 * parts.size(), "a part is offered at most twice");
    for (const detail::Candidate& each : list.candidates) {
      fuzz::claim(
          each.code.empty() || (each.code.data() >= begin && each.code.data() + each.code.size() <= end),
          "what is offered lies in the file");
      if (each.by_name) (void)detail::archive_of(each);
    }
  }
}

}  // namespace

FUZZ_TARGET(parts) {
  using namespace kiln;
  const auto file = fuzz::bytes(data, size);
  const auto parts = read_parts(file);
  fuzz::claim(!parts.empty(), "a file has a part, if only one that cannot be read");
  for (const BinaryPart& part : parts) {
    if (!part.facts) {
      fuzz::claim(!part.facts.error().message.empty(), "an error says what is wrong");
      continue;
    }
    const Target* target = target_of(part);
    if (target) fuzz::claim(find_target(target->name) == target, "a target is found by its name");
    fuzz::claim(!ip_version_text(part.facts->ip_version).empty(), "an IP version can be written");
  }
  const auto members = read_archive(file);
  if (members)
    for (const ArchiveMember& member : *members)
      fuzz::claim(
          member.content.empty() || (member.content.data() > file.data() &&
                                     member.content.data() + member.content.size() <= file.data() + size),
          "a member lies inside its archive");
  if (const auto written = members ? write_archive(*members) : tl::unexpected(BinaryError{})) {
    const auto again = read_archive(*written);
    const auto same = [](const ArchiveMember& a, const ArchiveMember& b) {
      return a.name == b.name && std::ranges::equal(a.content, b.content);
    };
    fuzz::claim(again && std::ranges::equal(*again, *members, same), "what is written is read again");
  }
  check_candidates(file, parts);
  return 0;
}
