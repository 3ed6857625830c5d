// SPDX-License-Identifier: MIT
// Reads a kernel file of any format, member by member.
#include "kiln/binary.hpp"

namespace kiln {
namespace {

BinaryPart unreadable(std::string name, BinaryFormat format, std::string message) {
  return {std::move(name), format, tl::unexpected(BinaryError{std::move(message), 0})};
}

BinaryPart read_part(std::string name, std::span<const std::byte> bytes) {
  const BinaryFormat format = identify(bytes);
  switch (format) {
    case BinaryFormat::spirv:
      return {std::move(name), format, read_spirv(bytes)};
    case BinaryFormat::elf:
      return {std::move(name), format, read_zebin(bytes)};
    case BinaryFormat::patch_tokens:
      // The same wrapper holds the `generic_ir` of a fat binary: SPIR-V and no machine code.
      if (const auto spirv = embedded_spirv(bytes); name == "generic_ir" && !spirv.empty())
        return {std::move(name), BinaryFormat::spirv, read_spirv(spirv)};
      return unreadable(
          std::move(name), format,
          "in Intel's format before zebin, which says nothing about its kernels: compile again, "
          "with ocloc 22.43 by `-internal_options -cl-intel-allow-zebin`");
    case BinaryFormat::archive:
      return unreadable(std::move(name), format, "an archive inside an archive");
    case BinaryFormat::unknown:
      break;
  }
  return unreadable(
      std::move(name), format,
      bytes.empty() ? "file is empty" : "neither SPIR-V nor a native binary nor a fat binary of ocloc");
}

}  // namespace

std::vector<BinaryPart> read_parts(std::span<const std::byte> file) {
  std::vector<BinaryPart> parts;
  if (identify(file) != BinaryFormat::archive) {
    parts.push_back(read_part({}, file));
    return parts;
  }
  const auto members = read_archive(file);
  if (!members)
    parts.push_back({{}, BinaryFormat::archive, tl::unexpected(members.error())});
  else if (members->empty())
    parts.push_back(unreadable({}, BinaryFormat::archive, "an archive without members"));
  else
    for (const ArchiveMember& member : *members) parts.push_back(read_part(member.name, member.content));
  return parts;
}

const Target* target_of(const BinaryPart& part) {
  if (part.facts->ip_version) return find_target(part.facts->ip_version);
  // ocloc names the members of a fat binary by address bits and IP version: "64.12.60.7".
  if (const auto dot = part.name.find('.'); dot != part.name.npos)
    if (const Target* target = find_target(std::string_view(part.name).substr(dot + 1))) return target;
  const std::string_view family = family_name(part.facts->product_family);
  return family.empty() ? nullptr : find_target(family);
}

}  // namespace kiln
