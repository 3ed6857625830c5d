// SPDX-License-Identifier: MIT
// The build-id of a library or program: what its linker made of all its code.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace kiln::detail {

/// The build-id in the notes of an ELF segment; empty when there is none. `align` is the segment's. Reads
/// nothing outside. Pure.
[[nodiscard]] std::span<const std::byte> build_id(std::span<const std::byte> notes, std::size_t align);

/// The bytes of that of the library or program that is mapped at this address; empty when it has none.
/// Thread-safe.
[[nodiscard]] std::string build_id_at(const void* address);

}  // namespace kiln::detail
