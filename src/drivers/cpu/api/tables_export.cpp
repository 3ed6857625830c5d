// SPDX-License-Identifier: MIT
// The functions that loaders look up in the library: one for each dispatch table, empty ones included.
#include <cstring>

#include "drivers/cpu/api/tables.hpp"
#include "support/driver_tables.hpp"

// ze_ddi.h is not included here: it declares the same functions with a type for each table.
namespace kiln::cpu {

ze_result_t fill_table(std::span<const Row> rows, ze_api_version_t version, void* table) {
  if (!table) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  const auto asked = static_cast<std::uint32_t>(version);
  if (ZE_MAJOR_VERSION(asked) != 1) return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  auto* at = static_cast<unsigned char*>(table);
  for (const Row& row : rows) {
    if (row.since > ZE_MINOR_VERSION(asked)) break;
    for (std::uint8_t i = 0; i < row.count; ++i, at += sizeof(Address))
      std::memcpy(at, &row.address, sizeof(Address));
  }
  return ZE_RESULT_SUCCESS;
}

namespace {

ze_result_t fill_core(std::string_view name, ze_api_version_t version, void* table) {
  const Table* found = find_core_table(name);
  return found ? fill_table(found->rows, version, table) : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/// Tools and sysman: present for loaders that insist, and empty. Only members of version 1.0 are cleared,
/// because later ones were not always added at the end.
ze_result_t clear(std::uint8_t members, ze_api_version_t version, void* table) {
  const Row row{0, members, nullptr, nullptr};
  return fill_table({&row, 1}, version, table);
}

}  // namespace
}  // namespace kiln::cpu

#define KILN_EXPORT(prefix, name, body)                                                            \
  extern "C" __attribute__((visibility("default")))                                                \
  ze_result_t ZE_APICALL prefix##Get##name##ProcAddrTable(ze_api_version_t version, void* table) { \
    return body;                                                                                   \
  }
#define KILN_CORE(name) KILN_EXPORT(ze, name, kiln::cpu::fill_core(#name, version, table))
#define KILN_EMPTY(prefix, name, members) KILN_EXPORT(prefix, name, kiln::cpu::clear(members, version, table))

KILN_CORE_TABLES(KILN_CORE)
KILN_OTHER_TABLES(KILN_EMPTY)
KILN_EXPORT(zer, Global, kiln::cpu::fill_table(kiln::cpu::runtime_rows(), version, table))
