// SPDX-License-Identifier: MIT
// Dispatch tables as data, and the writing of as much of one as the caller's version has.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::cpu {

using Address = void (*)();

/// One member of a dispatch table, or several alike.
struct Row {
  std::uint8_t since;  ///< minor version of the interface that brought it
  std::uint8_t count;
  const char* name;  ///< of the API function, or null
  Address address;   ///< null: the driver does not have it
};

struct Table {
  std::string_view name;
  std::span<const Row> rows;
};

[[nodiscard]] const Table* find_core_table(std::string_view name);

/// Of the one zer* table.
[[nodiscard]] std::span<const Row> runtime_rows();

/// Writes the members that exist in `version`. Tables grow at their end only, and a loader may be older or
/// newer than the driver: what is newer than the version asked for is never written, and only the major
/// version must match.
[[nodiscard]] ze_result_t fill_table(std::span<const Row> rows, ze_api_version_t version, void* table);

}  // namespace kiln::cpu
