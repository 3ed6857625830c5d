// SPDX-License-Identifier: MIT
// Puts functions that do nothing into a table.
#include "nothing.hpp"

namespace kiln::bench {
namespace {

template <class Function>
struct Idle;
template <class... Parameters>
struct Idle<ze_result_t(ZE_APICALL*)(Parameters...)> {
  static ze_result_t ZE_APICALL call(Parameters...) { return ZE_RESULT_SUCCESS; }
};

template <class Function>
void idle(Function& entry_point) {
  entry_point = Idle<Function>::call;
}

ze_result_t ZE_APICALL create_kernel(ze_module_handle_t, const ze_kernel_desc_t*,
                                     ze_kernel_handle_t* kernel) {
  *kernel = reinterpret_cast<ze_kernel_handle_t>(0x1000);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

// The table of a driver is no constant: the library alone promises not to change it.
Nothing::Nothing(const Api& table) : table_(const_cast<Api&>(table)), before_(table) {
  idle(table_.zeCommandListReset);
  idle(table_.zeCommandListClose);
  idle(table_.zeCommandListAppendBarrier);
  idle(table_.zeCommandListAppendLaunchKernel);
  idle(table_.zeCommandListAppendMemoryCopy);
  idle(table_.zeCommandListAppendMemoryFill);
  idle(table_.zeCommandListAppendWriteGlobalTimestamp);
  idle(table_.zeCommandListImmediateAppendCommandListsExp);
  idle(table_.zeCommandQueueExecuteCommandLists);
  idle(table_.zeEventHostReset);
  idle(table_.zeEventHostSynchronize);
  idle(table_.zeKernelDestroy);
  idle(table_.zeKernelGetProperties);
  idle(table_.zeKernelSetArgumentValue);
  idle(table_.zeKernelSetGroupSize);
  idle(table_.zeKernelSetIndirectAccess);
  idle(table_.zeDriverGetLastErrorDescription);
  table_.zeKernelCreate = create_kernel;
}

Nothing::~Nothing() { table_ = before_; }

}  // namespace kiln::bench
