// SPDX-License-Identifier: MIT
// Tables of entry points that all succeed at once, for drivers of tests and benches.
#pragma once

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <cstddef>

namespace kiln::test {

inline ze_result_t succeed() { return ZE_RESULT_SUCCESS; }

template <class Table>
void fill_idle(Table* table) {
  using Address = void (*)();
  auto* members = reinterpret_cast<Address*>(table);
  for (std::size_t i = 0; i < sizeof(Table) / sizeof(Address); ++i)
    members[i] = reinterpret_cast<Address>(&succeed);
}

}  // namespace kiln::test

/// Exports a table, after the file's own `adjust()` has put its functions into it.
#define KILN_IDLE_TABLE(name, type)                                                                    \
  extern "C" ze_result_t zeGet##name##ProcAddrTable(ze_api_version_t, ze_##type##_dditable_t* table) { \
    kiln::test::fill_idle(table);                                                                      \
    adjust(table);                                                                                     \
    return ZE_RESULT_SUCCESS;                                                                          \
  }
/// All that a driver needs but that of kernels.
#define KILN_IDLE_TABLES                       \
  KILN_IDLE_TABLE(Global, global)              \
  KILN_IDLE_TABLE(Driver, driver)              \
  KILN_IDLE_TABLE(Device, device)              \
  KILN_IDLE_TABLE(Context, context)            \
  KILN_IDLE_TABLE(Mem, mem)                    \
  KILN_IDLE_TABLE(CommandQueue, command_queue) \
  KILN_IDLE_TABLE(Fence, fence)                \
  KILN_IDLE_TABLE(EventPool, event_pool)       \
  KILN_IDLE_TABLE(Event, event)                \
  KILN_IDLE_TABLE(CommandList, command_list)   \
  KILN_IDLE_TABLE(Module, module)              \
  KILN_IDLE_TABLE(ModuleBuildLog, module_build_log)
