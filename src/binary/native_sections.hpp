// SPDX-License-Identifier: MIT
// The sections of a native binary: code of kernels, and what debuggers read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kiln::detail {

/// What read_zebin() says of a file without kernels, which compilers write for a source without one.
inline constexpr std::string_view kNoZeInfo =
    "no section .ze_info: this ELF file holds no kernels for Level Zero";

struct NativeSection {
  std::string_view name;  ///< ".text.saxpy" is the code of the kernel saxpy
  std::span<const std::byte> content;
};

/// The sections with content, in the order of the file and inside its bytes; none of a file that read_zebin()
/// would refuse. Pure; thread-safe.
[[nodiscard]] std::vector<NativeSection> native_sections(std::span<const std::byte> file);

/// A place in a section that a linker fills with an address.
struct NativeRelocation {
  std::uint64_t offset = 0;   ///< bytes from the start of the section
  std::string_view section;   ///< where the address lies
  std::uint64_t address = 0;  ///< bytes from the start of that section
  std::uint32_t kind = 0;     ///< as the ELF file numbers it
};

/// Of the first section of that name, in the order of the file; those whose symbol lies in a section. Pure;
/// thread-safe.
[[nodiscard]] std::vector<NativeRelocation> native_relocations(std::span<const std::byte> file,
                                                               std::string_view section);

}  // namespace kiln::detail
