// SPDX-License-Identifier: MIT
// Which source line an instruction is from: the line tables of native binaries that are built with `-g`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::xe {

struct SourceLine {
  std::uint32_t offset = 0;  ///< bytes from the start of the kernel; up to the next entry
  std::uint32_t line = 0;    ///< 0: of no line
  std::uint32_t file = 0;    ///< in LineTable::files
  [[nodiscard]] friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

struct LineTable {
  std::vector<std::string> files{};
  std::vector<SourceLine> lines{};  ///< by offset; empty: the file has none of this kernel

  /// Null: of no line.
  [[nodiscard]] const SourceLine* find(std::uint32_t offset) const;
};

/// Of the kernel whose code is the section `section`. Damaged tables give what stands before the damage.
/// Versions 2 to 4, which Intel's compilers write; every read is bounded. Pure; thread-safe. Source: DWARF 4,
/// 6.2.
[[nodiscard]] LineTable read_lines(std::span<const std::byte> native_binary, std::string_view section);

}  // namespace kiln::xe
