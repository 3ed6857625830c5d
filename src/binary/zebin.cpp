// SPDX-License-Identifier: MIT
// Reads the sections of an ELF kernel binary, every offset checked against the file's size.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kLongestName = 64;             // bytes; longer than the name of any section read here
constexpr std::uint32_t kSpirvSection = 0xff000009;  // zebin_elf.h of intel/compute-runtime 26.31

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

/// Walks ELF notes for what Intel says of the target there. Source: zebin_elf.h of intel/compute-runtime
/// 26.31; ocloc 22.43 writes no product configuration.
void read_notes(Bytes notes, ModuleFacts& facts) {
  constexpr std::uint32_t kProductFamily = 1, kProductConfig = 6;
  for (std::uint64_t at = 0;;) {
    const auto note = read<Elf64_Nhdr>(notes, at);
    if (!note) return;
    const std::uint64_t start = at + sizeof(Elf64_Nhdr) + align4(note->n_namesz);
    const auto value = read<std::uint32_t>(notes, start);
    if (value && note->n_descsz == sizeof(std::uint32_t)) {
      if (note->n_type == kProductFamily) facts.product_family = *value;
      if (note->n_type == kProductConfig) facts.ip_version = *value;
    }
    at = start + align4(note->n_descsz);
  }
}

// A section of zeros takes no room in the file: its size may be anything.
std::uint64_t add_sizes(std::uint64_t sum, std::uint64_t size) {
  return __builtin_add_overflow(sum, size, &sum) ? ~std::uint64_t{0} : sum;
}

// Also the one that wraps SPIR-V alone, which has a type of its own.
bool starts_as_elf(Bytes file) {
  return file.size() >= SELFMAG && std::memcmp(file.data(), ELFMAG, SELFMAG) == 0;
}

struct Section {
  std::string_view name;
  Elf64_Shdr header;
};

tl::expected<std::vector<Section>, BinaryError> read_sections(Bytes file) {
  if (file.empty()) return fail("file is empty", 0);
  if (!starts_as_elf(file)) return fail("no ELF magic number", 0);
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

  std::vector<Section> sections;
  for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
    const auto entry = section(index);
    if (!entry) return fail("section header lies outside the file", header->e_shoff);
    if (entry->sh_name >= names->size()) continue;
    const auto* text = reinterpret_cast<const char*>(names->data()) + entry->sh_name;
    // Bounded: many sections may point at one long name.
    const std::size_t length = strnlen(text, std::min(names->size() - entry->sh_name, kLongestName));
    sections.push_back({{text, length}, *entry});
  }
  return sections;
}

}  // namespace

tl::expected<ModuleFacts, BinaryError> read_zebin(std::span<const std::byte> file) {
  const auto sections = read_sections(file);
  if (!sections) return tl::unexpected(sections.error());
  std::optional<Bytes> info;
  Bytes notes;
  ModuleFacts whole;
  for (const auto& [name, header] : *sections) {
    if (name.starts_with(".data.const") || name.starts_with(".bss.const")) {
      whole.constant_data = add_sizes(whole.constant_data, header.sh_size);
    } else if (name.starts_with(".data.global") || name.starts_with(".bss.global")) {
      whole.global_data = add_sizes(whole.global_data, header.sh_size);
    } else if (name == ".ze_info" || name == ".spv" || name == ".note.intelgt.compat") {
      const auto content = slice(file, header.sh_offset, header.sh_size);
      if (!content) return fail("section " + std::string(name) + " lies outside the file", header.sh_offset);
      if (name == ".ze_info") info = content;
      if (name == ".spv") whole.has_ir = true;
      if (name == ".note.intelgt.compat") notes = *content;
    }
  }
  read_notes(notes, whole);  // once: many sections may share one long list of notes
  if (!info) return fail("no section .ze_info: this ELF file holds no kernels for Level Zero", 0);
  auto facts = read_ze_info({reinterpret_cast<const char*>(info->data()), info->size()});
  if (!facts) return facts;
  whole.kernels = std::move(facts->kernels);
  whole.info_version = std::move(facts->info_version);
  return whole;
}

std::span<const std::byte> embedded_spirv(std::span<const std::byte> file) {
  const auto sections = read_sections(file);
  if (!sections) return {};
  for (const auto& [name, header] : *sections)
    if (header.sh_type == kSpirvSection || name == ".spv")
      return slice(file, header.sh_offset, header.sh_size).value_or(Bytes{});
  return {};
}

}  // namespace kiln
