// SPDX-License-Identifier: MIT
// The extension function kilnKernelGetCounters.
#include <cstring>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/kernel.hpp"

namespace kiln::cpu {

ze_result_t kernel_get_counters(ze_kernel_handle_t kernel, std::size_t* size, char* json) {
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(size);
  return guarded([&] {
    const std::string text = counters_json(*object<Kernel>(kernel)->compiled);
    if (text.empty()) return ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (json) {
      if (*size < text.size() + 1) return ZE_RESULT_ERROR_INVALID_SIZE;
      std::memcpy(json, text.c_str(), text.size() + 1);
      clear_counters(*object<Kernel>(kernel)->compiled);
    }
    *size = text.size() + 1;
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace kiln::cpu
