// SPDX-License-Identifier: MIT
// The same launch many times from C, for bench/python/launch.py.
#include <cstdint>

#include "kiln/kiln.h"

// What went wrong last, or success.
extern "C" kiln_result launch_from_c(kiln_list list, kiln_kernel kernel, const float* a, const kiln_buffer* x,
                                     const kiln_buffer* y, const std::uint32_t* n, std::uint32_t launches) {
  kiln_result result = KILN_SUCCESS;
  for (std::uint32_t i = 0; i < launches; ++i) {
    // Made anew each time, as Python does and a program would.
    const kiln_argument arguments[] = {kiln_value(a, sizeof *a), kiln_buffer_argument(x),
                                       kiln_buffer_argument(y), kiln_value(n, sizeof *n)};
    kiln_launch_info launch = KILN_INIT(kiln_launch_info);
    launch.groups.x = 4;
    launch.group_size.x = 256;
    launch.arguments = arguments;
    launch.argument_count = 4;
    kiln_error error = nullptr;
    if (const kiln_result now = kiln_launch(list, kernel, &launch, &error)) result = now;
    kiln_error_destroy(error);
  }
  return result;
}
