// SPDX-License-Identifier: MIT
// The functions that loaders look up in the library: one for each dispatch table, each asking the driver
// behind.
#include "drivers/layer/real_driver.hpp"
#include "support/driver_tables.hpp"

// ze_ddi.h is not included here: it declares the same functions with a type for each table.
#define KILN_EXPORT(prefix, name)                                                                          \
  extern "C" __attribute__((visibility("default")))                                                        \
  ze_result_t ZE_APICALL prefix##Get##name##ProcAddrTable(ze_api_version_t version, void* table) {         \
    return kiln::layer::fill_table(                                                                        \
        #prefix "Get" #name "ProcAddrTable",                                                               \
        #prefix == std::string_view("ze") ? std::string_view(#name) : std::string_view(), version, table); \
  }

// A driver that lacks some leaves them as they are.
#define KILN_CORE(name) KILN_EXPORT(ze, name)
#define KILN_OTHER(prefix, name, members) KILN_EXPORT(prefix, name)
KILN_CORE_TABLES(KILN_CORE)
KILN_OTHER_TABLES(KILN_OTHER)
KILN_EXPORT(zer, Global)
