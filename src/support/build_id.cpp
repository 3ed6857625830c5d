// SPDX-License-Identifier: MIT
// Reads the notes of mapped ELF files.
#include "support/build_id.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kiln::detail {

[[gnu::hot]] std::span<const std::byte> build_id(std::span<const std::byte> notes, std::size_t align) {
  const std::size_t mask = align == 8 ? 7 : 3;
  const auto padded = [&](std::uint64_t size) { return (size + mask) & ~std::uint64_t{mask}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;  // the same in 32 bits
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t begin = sizeof note + padded(note.n_namesz);
    if (begin > notes.size() || note.n_descsz > notes.size() - begin) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU && note.n_descsz > 0 &&
        note.n_descsz <= 64 &&
        std::memcmp(notes.data() + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return notes.subspan(begin, note.n_descsz);
    notes = notes.subspan(std::min<std::uint64_t>(begin + padded(note.n_descsz), notes.size()));
  }
  return {};
}

std::string build_id_at(const void* address) {
  struct Search {
    std::uintptr_t address;
    std::string found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  const auto look = [](dl_phdr_info* info, std::size_t, void* user) {
    Search& wanted = *static_cast<Search*>(user);
    const std::span headers(info->dlpi_phdr, info->dlpi_phnum);
    const std::uintptr_t place = wanted.address - info->dlpi_addr;
    if (std::ranges::none_of(headers, [&](const auto& header) {
          return header.p_type == PT_LOAD && place - header.p_vaddr < header.p_memsz;
        }))
      return 0;
    for (const auto& header : headers) {
      if (header.p_type != PT_NOTE) continue;
      const auto* notes = reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr);
      for (const std::byte byte : build_id({notes, header.p_memsz}, header.p_align))
        wanted.found.push_back(static_cast<char>(byte));
    }
    return 1;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace kiln::detail
