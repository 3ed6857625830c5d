// SPDX-License-Identifier: MIT
// Reads the sections of an ELF kernel binary, every offset checked against the file's size.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "binary/native_sections.hpp"
#include "binary/zebin_symbols.hpp"
#include "kiln/binary.hpp"

namespace kiln {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kLongestSection = 64;    // bytes; longer than the name of any section read here
constexpr std::size_t kLongestName = 4096;     // bytes, of a whole one; kernels of C++ have long ones
constexpr std::uint32_t kLastRelocation = 15;  // far above the 4 of 22.43, which ends the process over others
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
  std::uint64_t place = 0;  // of the header in the file, in bytes
};

/// Names end, and lie inside the file: read_sections() has looked.
std::string_view whole_name(const Section& section) {
  return {section.name.data(), strnlen(section.name.data(), kLongestName)};
}

bool holds_spirv(const Section& section) {
  return section.header.sh_type == kSpirvSection || section.name == ".spv";
}

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
  if (names->empty() || names->back() != std::byte{0})
    return fail("the section names do not end", names_header->sh_offset);

  std::vector<Section> sections;
  for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
    const auto entry = section(index);
    if (!entry) return fail("section header lies outside the file", header->e_shoff);
    const std::uint64_t place = header->e_shoff + index * sizeof(Elf64_Shdr);
    // Drivers look at sections of all names and types without asking where they lie.
    const bool takes_room = entry->sh_type != SHT_NULL && entry->sh_type != SHT_NOBITS;
    if (entry->sh_name >= names->size() || (takes_room && !slice(file, entry->sh_offset, entry->sh_size)))
      return fail("a section, or its name, lies outside the file: it is truncated or damaged", place);
    const auto* text = reinterpret_cast<const char*>(names->data()) + entry->sh_name;
    // Bounded: many sections may point at one long name.
    const std::size_t length = strnlen(text, std::min(names->size() - entry->sh_name, kLongestSection));
    sections.push_back({{text, length}, *entry, place});
  }
  return sections;
}

/// A symbol's section and name, and what a relocation points at: drivers follow them unasked. A function must
/// lie in a section of a kernel, whose name they cut from behind ".text." (22.43 ends the process).
std::optional<BinaryError> check_symbols(Bytes file, const std::vector<Section>& sections,
                                         const Section& table) {
  constexpr std::string_view kText = ".text.";
  const bool is_host_code = read<Elf64_Ehdr>(file, 0)->e_machine == EM_X86_64;  // the CPU device's
  const auto wrong = [&](const char* what) { return BinaryError{what, table.place}; };
  if (table.header.sh_link >= sections.size()) return wrong("symbols have no names");
  const std::uint64_t names = sections[table.header.sh_link].header.sh_size;
  for (std::uint64_t at = 0; at < table.header.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read<Elf64_Sym>(file, table.header.sh_offset + at);
    if (!symbol || at + sizeof(Elf64_Sym) > table.header.sh_size) return wrong("a symbol is cut off");
    const bool somewhere = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
    if ((somewhere && symbol->st_shndx >= sections.size()) ||
        (symbol->st_name != 0 && symbol->st_name >= names))
      return wrong("a symbol's section or name is not there");
    if (is_host_code || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
    if (!somewhere && ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) return wrong("a function is nowhere");
    if (!somewhere) continue;
    const Section& home = sections[symbol->st_shndx];
    if (!home.name.starts_with(kText) || home.name.size() == kText.size() ||
        symbol->st_value > home.header.sh_size || symbol->st_size > home.header.sh_size - symbol->st_value)
      return wrong("a function lies in no section of a kernel");
  }
  return std::nullopt;
}

std::optional<BinaryError> check_relocations(Bytes file, const std::vector<Section>& sections,
                                             const Section& table) {
  const auto& [name, header, place] = table;
  const auto wrong = [&, at = place](const char* what) { return BinaryError{what, at}; };
  if (header.sh_link >= sections.size() || header.sh_info >= sections.size() ||
      sections[header.sh_link].header.sh_type != SHT_SYMTAB)
    return wrong("relocations are for no section, or have no symbols");
  const bool is_host_code = read<Elf64_Ehdr>(file, 0)->e_machine == EM_X86_64;  // the CPU device's
  const std::uint64_t symbols = sections[header.sh_link].header.sh_size / sizeof(Elf64_Sym);
  const std::uint64_t target = sections[header.sh_info].header.sh_size;
  const std::uint64_t size = header.sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
  for (std::uint64_t at = 0; at < header.sh_size; at += size) {
    const auto entry = read<Elf64_Rel>(file, header.sh_offset + at);  // the first part of both kinds
    if (!entry || at + size > header.sh_size) return wrong("a relocation is cut off");
    if (entry->r_offset >= target || ELF64_R_SYM(entry->r_info) >= symbols)
      return wrong("a relocation points outside its section");
    if (!is_host_code && ELF64_R_TYPE(entry->r_info) > kLastRelocation)
      return wrong("a relocation of a kind that is not known");
  }
  return std::nullopt;
}

std::optional<BinaryError> check_links(Bytes file, const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    const auto& header = section.header;
    std::optional<BinaryError> wrong;
    if (header.sh_type == SHT_STRTAB &&
        (header.sh_size == 0 || file[header.sh_offset + header.sh_size - 1] != std::byte{0}))
      wrong = BinaryError{"a table of names does not end", section.place};
    if (header.sh_type == SHT_SYMTAB) wrong = check_symbols(file, sections, section);
    if (header.sh_type == SHT_REL || header.sh_type == SHT_RELA)
      wrong = check_relocations(file, sections, section);
    if (wrong) return wrong;
  }
  return std::nullopt;
}

}  // namespace

tl::expected<ModuleFacts, BinaryError> read_zebin(std::span<const std::byte> file) {
  const auto sections = read_sections(file);
  if (!sections) return tl::unexpected(sections.error());
  if (const auto wrong = check_links(file, *sections)) return tl::unexpected(*wrong);
  std::optional<Bytes> info;
  Bytes notes;
  ModuleFacts whole;
  whole.has_ir = std::ranges::any_of(*sections, holds_spirv);
  for (const auto& [name, header, place] : *sections) {
    if (name.starts_with(".data.const") || name.starts_with(".bss.const")) {
      whole.constant_data = add_sizes(whole.constant_data, header.sh_size);
    } else if (name.starts_with(".data.global") || name.starts_with(".bss.global")) {
      whole.global_data = add_sizes(whole.global_data, header.sh_size);
    } else if (name == ".ze_info" || name == ".note.intelgt.compat") {
      const auto content = slice(file, header.sh_offset, header.sh_size);
      if (!content) return fail("section " + std::string(name) + " lies outside the file", place);
      if (name == ".ze_info") info = content;
      if (name == ".note.intelgt.compat") notes = *content;
    }
  }
  read_notes(notes, whole);  // once: many sections may share one long list of notes
  if (!info) return fail(std::string(detail::kNoZeInfo), 0);
  auto facts = read_ze_info({reinterpret_cast<const char*>(info->data()), info->size()});
  if (!facts) return facts;
  whole.kernels = std::move(facts->kernels);
  whole.info_version = std::move(facts->info_version);
  return whole;
}

void detail::each_undefined_symbol(std::span<const std::byte> file,
                                   const std::function<void(MissingSymbol)>& visit) {
  constexpr std::uint32_t kPerThreadOffset = 4;  // of the driver's own, whatever the symbol
  // Which drivers define: linker.h of intel/compute-runtime 26.27.
  constexpr std::string_view kDriversOwn[] = {"__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0", "__SubDeviceID",
                                              "__INTEL_SURFACE_STATE_SIZE", "__INTEL_PER_THREAD_OFF"};
  constexpr std::string_view kText = ".text.", kFunctions = "Intel_Symbol_Table_Void_Program";
  const auto sections = read_sections(file);
  if (!sections || check_links(file, *sections) || read<Elf64_Ehdr>(file, 0)->e_machine == EM_X86_64) return;
  for (const Section& table : *sections) {
    const auto& header = table.header;
    if (header.sh_type != SHT_REL && header.sh_type != SHT_RELA) continue;
    std::string_view home = (*sections)[header.sh_info].name;
    if (!home.starts_with(kText) && !home.starts_with(".data.")) continue;  // debug information is another's
    const bool is_code = home.starts_with(kText);
    if (is_code) home.remove_prefix(kText.size());
    const Section& symbols = (*sections)[header.sh_link];
    const Section& names = (*sections)[symbols.header.sh_link];
    const std::uint64_t size = header.sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
    for (std::uint64_t at = 0; at < header.sh_size; at += size) {
      const auto entry = read<Elf64_Rel>(file, header.sh_offset + at);
      const auto symbol =
          read<Elf64_Sym>(file, symbols.header.sh_offset + ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym));
      if (!symbol || symbol->st_shndx != SHN_UNDEF || symbol->st_name == 0 ||
          symbol->st_name >= names.header.sh_size || ELF64_R_TYPE(entry->r_info) == kPerThreadOffset)
        continue;
      const auto* text =
          reinterpret_cast<const char*>(file.data()) + names.header.sh_offset + symbol->st_name;
      constexpr std::size_t kLongestSymbol = 1024;  // bytes; many relocations may name one long symbol
      const std::string_view name(
          text, strnlen(text, std::min<std::size_t>(names.header.sh_size - symbol->st_name, kLongestSymbol)));
      if (std::ranges::count(kDriversOwn, name) != 0) continue;
      visit({std::string(name), std::string(is_code && home != kFunctions ? home : "")});
    }
  }
}

std::span<const std::byte> embedded_spirv(std::span<const std::byte> file) {
  const auto sections = read_sections(file);
  if (!sections) return {};
  for (const Section& section : *sections)
    if (holds_spirv(section))
      return slice(file, section.header.sh_offset, section.header.sh_size).value_or(Bytes{});
  return {};
}

std::vector<std::byte> without_spirv(std::span<const std::byte> file) {
  std::vector<std::byte> copy(file.begin(), file.end());
  const auto sections = read_sections(file);
  if (!sections) return copy;
  for (const Section& section : *sections) {
    if (!holds_spirv(section)) continue;
    Elf64_Shdr header = section.header;
    header.sh_type = SHT_NULL;
    std::memcpy(copy.data() + section.place, &header, sizeof header);
  }
  return copy;
}

std::vector<detail::NativeSection> detail::native_sections(std::span<const std::byte> file) {
  const auto sections = read_sections(file);
  if (!sections || check_links(file, *sections)) return {};
  std::vector<NativeSection> found;
  for (const Section& section : *sections)
    if (section.header.sh_type != SHT_NULL && section.header.sh_type != SHT_NOBITS)
      found.push_back({whole_name(section),
                       slice(file, section.header.sh_offset, section.header.sh_size).value_or(Bytes{})});
  return found;
}

std::vector<detail::NativeRelocation> detail::native_relocations(std::span<const std::byte> file,
                                                                 std::string_view name) {
  const auto sections = read_sections(file);
  if (!sections || check_links(file, *sections)) return {};
  std::vector<NativeRelocation> found;
  for (const Section& table : *sections) {
    const auto& header = table.header;
    const bool has_addends = header.sh_type == SHT_RELA;
    if ((header.sh_type != SHT_REL && !has_addends) || whole_name((*sections)[header.sh_info]) != name)
      continue;
    const Elf64_Shdr& symbols = (*sections)[header.sh_link].header;
    const Elf64_Shdr& names = (*sections)[symbols.sh_link].header;
    const std::uint64_t size = has_addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::uint64_t at = 0; at < header.sh_size; at += size) {
      const auto entry = read<Elf64_Rel>(file, header.sh_offset + at);
      const auto symbol =
          read<Elf64_Sym>(file, symbols.sh_offset + ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym));
      if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= sections->size() ||
          symbol->st_name >= names.sh_size)
        continue;
      // Symbols of sections have the name of theirs, and in files of ocloc 22.43 the number of another.
      const auto* text = reinterpret_cast<const char*>(file.data()) + names.sh_offset + symbol->st_name;
      const std::string_view symbol_name(
          text, strnlen(text, std::min<std::size_t>(names.sh_size - symbol->st_name, kLongestName)));
      const auto addend =
          has_addends ? read<std::uint64_t>(file, header.sh_offset + at + sizeof(Elf64_Rel)) : 0;
      found.push_back({entry->r_offset,
                       symbol_name.starts_with('.') ? symbol_name : whole_name((*sections)[symbol->st_shndx]),
                       symbol->st_value + addend.value_or(0),
                       static_cast<std::uint32_t>(ELF64_R_TYPE(entry->r_info))});
    }
    break;
  }
  return found;
}

std::string embedded_options(std::span<const std::byte> file) {
  const auto sections = read_sections(file);
  if (!sections) return {};
  for (const Section& section : *sections)
    if (section.name == ".misc.buildOptions") {
      const auto text = slice(file, section.header.sh_offset, section.header.sh_size).value_or(Bytes{});
      const auto* first = reinterpret_cast<const char*>(text.data());
      return {first, strnlen(first, text.size())};
    }
  return {};
}

}  // namespace kiln
