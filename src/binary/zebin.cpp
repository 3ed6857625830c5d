// SPDX-License-Identifier: MIT
// Finds the `.ze_info` section of an ELF kernel binary, every offset checked against the file's size.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kiln/binary.hpp"

namespace kiln {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kLongestName = 64;  // bytes; longer than the name of any section read here

tl::unexpected<BinaryError> fail(std::string message, std::uint64_t offset) {
  return tl::unexpected(BinaryError{std::move(message), offset});
}

std::optional<Bytes> slice(Bytes file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return std::nullopt;
  return file.subspan(offset, size);
}

template <class T>
std::optional<T> read(Bytes file, std::uint64_t offset) {
  const auto bytes = slice(file, offset, sizeof(T));
  if (!bytes) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof(T));
  return value;
}

constexpr std::uint64_t align4(std::uint64_t value) { return (value + 3) / 4 * 4; }

/// Walks ELF notes for Intel's "product config", type 6. Source: zebin_elf.h of intel/compute-runtime 26.31.
std::uint32_t product_ip_version(Bytes notes) {
  constexpr std::uint32_t kProductConfig = 6;
  for (std::uint64_t at = 0;;) {
    const auto note = read<Elf64_Nhdr>(notes, at);
    if (!note) return 0;
    const std::uint64_t value = at + sizeof(Elf64_Nhdr) + align4(note->n_namesz);
    if (note->n_type == kProductConfig && note->n_descsz == sizeof(std::uint32_t))
      return read<std::uint32_t>(notes, value).value_or(0);
    at = value + align4(note->n_descsz);
  }
}

}  // namespace

tl::expected<ModuleFacts, BinaryError> read_zebin(std::span<const std::byte> file) {
  if (file.empty()) return fail("file is empty", 0);
  if (identify(file) != BinaryFormat::elf) return fail("no ELF magic number", 0);
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header) return fail("file ends inside the ELF header: it is truncated", file.size());
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("not a 64-bit little-endian ELF file", EI_CLASS);
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return fail("section headers have an unknown size", 58);

  const auto section = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
    if (header->e_shoff > file.size()) return std::nullopt;
    return read<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names_header = section(header->e_shstrndx);
  const auto names =
      names_header ? slice(file, names_header->sh_offset, names_header->sh_size) : std::nullopt;
  if (!names) return fail("section names lie outside the file: it is truncated or damaged", header->e_shoff);

  std::optional<Bytes> info;
  bool has_ir = false;
  std::uint32_t ip_version = 0;
  for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
    const auto entry = section(index);
    if (!entry) return fail("section header lies outside the file", header->e_shoff);
    if (entry->sh_name >= names->size()) continue;
    const auto* text = reinterpret_cast<const char*>(names->data()) + entry->sh_name;
    // Bounded: many sections may point at one long name.
    const std::string_view name(text, strnlen(text, std::min(names->size() - entry->sh_name, kLongestName)));
    if (name != ".ze_info" && name != ".spv" && name != ".note.intelgt.compat") continue;
    const auto content = slice(file, entry->sh_offset, entry->sh_size);
    if (!content) return fail("section " + std::string(name) + " lies outside the file", entry->sh_offset);
    if (name == ".ze_info") info = content;
    if (name == ".spv") has_ir = true;
    if (name == ".note.intelgt.compat") ip_version = product_ip_version(*content);
  }
  if (!info) return fail("no section .ze_info: this ELF file holds no kernels for Level Zero", 0);
  auto facts = read_ze_info({reinterpret_cast<const char*>(info->data()), info->size()});
  if (facts) facts->has_ir = has_ir, facts->ip_version = ip_version;
  return facts;
}

}  // namespace kiln
