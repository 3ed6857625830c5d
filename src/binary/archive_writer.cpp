// SPDX-License-Identifier: MIT
// Writes fat binaries byte for byte as ocloc does: no times, no owners, members at multiples of eight.
#include <ar.h>
#include <elf.h>

#include <cstring>

#include "binary/archive_member.hpp"
#include "kiln/binary.hpp"

namespace kiln {
namespace {

constexpr std::size_t kAlignment = 8;                    // bytes; drivers read a member in place
constexpr std::uint64_t kLargestMember = 9'999'999'999;  // what ten digits can count

void append(std::vector<std::byte>& out, std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

std::string padded(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return text;
}

std::size_t aligned(std::size_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

template <class T>
void append_value(std::vector<std::byte>& out, const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

}  // namespace

namespace detail {

bool is_member_name(std::string_view name) {
  return !name.empty() && name.size() < sizeof ar_hdr::ar_name &&
         name.find_first_of("/ \n") == std::string_view::npos && !name.starts_with("pad_");
}

std::string archive_member_header(std::string_view name, std::size_t size) {
  return padded(std::string(name) + "/", sizeof ar_hdr::ar_name) + padded("0", sizeof ar_hdr::ar_date) +
         padded("0", sizeof ar_hdr::ar_uid) + padded("0", sizeof ar_hdr::ar_gid) +
         padded("644", sizeof ar_hdr::ar_mode) + padded(std::to_string(size), sizeof ar_hdr::ar_size) +
         ARFMAG;
}

}  // namespace detail

tl::expected<std::vector<std::byte>, BinaryError> write_archive(std::span<const ArchiveMember> members) {
  std::vector<std::byte> out;
  append(out, ARMAG);
  std::size_t pads = 0;
  for (const ArchiveMember& member : members) {
    if (!detail::is_member_name(member.name) || member.content.size() > kLargestMember)
      return tl::unexpected(BinaryError{"`" + member.name + "` cannot be the name of a member", out.size()});
    const std::size_t start = out.size() + 2 * sizeof(ar_hdr);  // of the content, were the padding empty
    const std::size_t pad = kAlignment - start % kAlignment;    // never 0, as in ocloc's own
    append(out, detail::archive_member_header("pad_" + std::to_string(pads++), pad));
    append(out, std::string(pad, ' '));
    append(out, detail::archive_member_header(member.name, member.content.size()));
    out.insert(out.end(), member.content.begin(), member.content.end());
    if (out.size() % 2) append(out, "\n");
  }
  return out;
}

std::vector<std::byte> wrap_spirv(std::span<const std::byte> spirv) {
  // Numbers of Intel's own: elf type "objects", section types "SPIR-V" and "build options".
  constexpr std::uint16_t kObjects = 0xff02;
  constexpr std::uint32_t kSpirvSection = 0xff000009, kOptionsSection = 0xff000006;
  using namespace std::string_view_literals;
  constexpr std::string_view kNames = "\0.shstrtab\0SPIRV Object\0BuildOptions\0"sv;
  const std::size_t first = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Shdr);
  const std::size_t names = aligned(first + spirv.size());

  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = kObjects;
  head.e_version = EV_CURRENT;
  head.e_shoff = head.e_ehsize = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 4;
  head.e_shstrndx = 3;

  const auto section = [](std::size_t name, std::uint32_t type, std::size_t offset, std::size_t size) {
    Elf64_Shdr made{};
    made.sh_name = static_cast<std::uint32_t>(name);
    made.sh_type = type;
    made.sh_offset = offset;
    made.sh_size = size;
    made.sh_addralign = kAlignment;
    return made;
  };
  std::vector<std::byte> out;
  append_value(out, head);
  append_value(out, Elf64_Shdr{});
  append_value(out, section(kNames.find("SPIRV"), kSpirvSection, first, spirv.size()));
  append_value(out, section(kNames.find("Build"), kOptionsSection, 0, 0));
  append_value(out, section(kNames.find(".shstr"), SHT_STRTAB, names, kNames.size()));
  out.insert(out.end(), spirv.begin(), spirv.end());
  out.resize(names);
  append(out, kNames);
  out.resize(aligned(out.size()));
  return out;
}

}  // namespace kiln
