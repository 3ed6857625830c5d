// SPDX-License-Identifier: MIT
// A driver that refuses each module, leaves the build log's place as it was, and ends the process over a log
// that it has not made. With KILN_ODD_LACKS in the environment it has no functions for kernels.
#include <cstdint>
#include <cstdlib>

#include "idle_tables.hpp"

namespace {

ze_result_t refuse_module(ze_context_handle_t, ze_device_handle_t, const ze_module_desc_t*,
                          ze_module_handle_t*, ze_module_build_log_handle_t*) {
  return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
}
ze_result_t refuse_link(std::uint32_t, ze_module_handle_t*, ze_module_build_log_handle_t*) {
  return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
}
ze_result_t need_own_log(ze_module_build_log_handle_t) { std::abort(); }
ze_result_t need_own_text(ze_module_build_log_handle_t, std::size_t*, char*) { std::abort(); }

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

KILN_IDLE_TABLES

extern "C" ze_result_t zeGetKernelProcAddrTable(ze_api_version_t, ze_kernel_dditable_t* table) {
  if (std::getenv("KILN_ODD_LACKS")) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  kiln::test::fill_idle(table);
  return ZE_RESULT_SUCCESS;
}
