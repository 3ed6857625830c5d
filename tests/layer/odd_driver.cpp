// SPDX-License-Identifier: MIT
// A driver that refuses each module, leaves the build log's place as it was, and ends the process over a log
// that it has not made. With KILN_ODD_LACKS in the environment it has no functions for kernels.
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using Address = void (*)();

ze_result_t succeed() { return ZE_RESULT_SUCCESS; }
ze_result_t refuse_module(ze_context_handle_t, ze_device_handle_t, const ze_module_desc_t*,
                          ze_module_handle_t*, ze_module_build_log_handle_t*) {
  return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
}
ze_result_t refuse_link(std::uint32_t, ze_module_handle_t*, ze_module_build_log_handle_t*) {
  return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
}
ze_result_t need_own_log(ze_module_build_log_handle_t) { std::abort(); }
ze_result_t need_own_text(ze_module_build_log_handle_t, std::size_t*, char*) { std::abort(); }

template <class Table>
void fill(Table* table) {
  auto* members = reinterpret_cast<Address*>(table);
  for (std::size_t i = 0; i < sizeof(Table) / sizeof(Address); ++i)
    members[i] = reinterpret_cast<Address>(&succeed);
}

void adjust(void*) {}
void adjust(ze_module_dditable_t* table) {
  table->pfnCreate = refuse_module;
  table->pfnDynamicLink = refuse_link;
}
void adjust(ze_module_build_log_dditable_t* table) {
  table->pfnDestroy = need_own_log;
  table->pfnGetString = need_own_text;
}

}  // namespace

#define KILN_TABLE(name, type)                                                                         \
  extern "C" ze_result_t zeGet##name##ProcAddrTable(ze_api_version_t, ze_##type##_dditable_t* table) { \
    fill(table);                                                                                       \
    adjust(table);                                                                                     \
    return ZE_RESULT_SUCCESS;                                                                          \
  }
KILN_TABLE(Global, global)
KILN_TABLE(Driver, driver)
KILN_TABLE(Device, device)
KILN_TABLE(Context, context)
KILN_TABLE(Mem, mem)
KILN_TABLE(CommandQueue, command_queue)
KILN_TABLE(Fence, fence)
KILN_TABLE(EventPool, event_pool)
KILN_TABLE(Event, event)
KILN_TABLE(CommandList, command_list)
KILN_TABLE(Module, module)
KILN_TABLE(ModuleBuildLog, module_build_log)

extern "C" ze_result_t zeGetKernelProcAddrTable(ze_api_version_t, ze_kernel_dditable_t* table) {
  if (std::getenv("KILN_ODD_LACKS")) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  fill(table);
  return ZE_RESULT_SUCCESS;
}
