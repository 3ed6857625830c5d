// SPDX-License-Identifier: MIT
// The fake driver of the launch benchmark: every entry point on the launch path succeeds at once.
#include "target.hpp"

namespace kiln::bench {
namespace {

ze_result_t ZE_APICALL set_argument(ze_kernel_handle_t, std::uint32_t, std::size_t, const void*) {
  return ZE_RESULT_SUCCESS;
}
ze_result_t ZE_APICALL set_group_size(ze_kernel_handle_t, std::uint32_t, std::uint32_t, std::uint32_t) {
  return ZE_RESULT_SUCCESS;
}
ze_result_t ZE_APICALL append(ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t*,
                              ze_event_handle_t, std::uint32_t, ze_event_handle_t*) {
  return ZE_RESULT_SUCCESS;
}
ze_result_t ZE_APICALL kernel_properties(ze_kernel_handle_t, ze_kernel_properties_t* properties) {
  properties->numKernelArgs = 3;
  return ZE_RESULT_SUCCESS;
}
ze_result_t ZE_APICALL reset(ze_command_list_handle_t) { return ZE_RESULT_SUCCESS; }

}  // namespace

void load_stub() {
  Api table;
  table.zeKernelSetArgumentValue = set_argument;
  table.zeKernelSetGroupSize = set_group_size;
  table.zeCommandListAppendLaunchKernel = append;
  table.zeKernelGetProperties = kernel_properties;
  table.zeCommandListReset = reset;
  load_table(table);
}

}  // namespace kiln::bench
