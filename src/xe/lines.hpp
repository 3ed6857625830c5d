// SPDX-License-Identifier: MIT
// Which source line an instruction is from: the line tables of native binaries that are built with `-g`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

/// The tables of all kernels of a file, which share the names of their sources.
struct LineTables {
  std::vector<std::string> files{};
  std::map<std::string, std::vector<SourceLine>, std::less<>> lines{};  ///< by section, then by offset

  /// Of the kernel whose code is the section `section`; null: of no line.
  [[nodiscard]] const SourceLine* find(std::string_view section, std::uint32_t offset) const;
};

/// Damaged tables give what stands before the damage; names of more than 1024 bytes are "?". Versions 2 to 4,
/// which Intel's compilers write; every read is bounded. Pure; thread-safe. Source: DWARF 4, 6.2.
[[nodiscard]] LineTables read_lines(std::span<const std::byte> native_binary);

}  // namespace kiln::xe
