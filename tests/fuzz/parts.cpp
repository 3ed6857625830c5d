// SPDX-License-Identifier: MIT
// Fuzz target: kernel files of any format, fat binaries above all.
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
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
  if (const auto members = read_archive(file))
    for (const ArchiveMember& member : *members)
      fuzz::claim(
          member.content.empty() || (member.content.data() > file.data() &&
                                     member.content.data() + member.content.size() <= file.data() + size),
          "a member lies inside its archive");
  return 0;
}
