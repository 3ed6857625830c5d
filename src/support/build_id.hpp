// SPDX-License-Identifier: MIT
// The build-id of a library or program: what its linker made of all its code.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kiln::detail {

/// The build-id in the notes of an ELF segment; empty when there is none. `align` is the segment's. Reads
/// nothing outside. Pure.
[[nodiscard, gnu::hot]] inline std::span<const std::byte> build_id(std::span<const std::byte> notes,
                                                                   std::size_t align) {
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

}  // namespace kiln::detail
