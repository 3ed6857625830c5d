// SPDX-License-Identifier: MIT
// The sequences that are compared: the raw calls through Kiln's table, one raw call for all, and
// kiln::launch.
#include "target.hpp"

namespace kiln::bench {

extern "C" [[gnu::noinline]] int measured_raw_batch(const Target& target) {
  const Api& ze = target.kernel->kernel().api();
  const ze_kernel_handle_t kernel = target.kernel->kernel().raw();
  int failed = 0;
  for (int i = 0; i < kBatch; ++i) {
    const float factor = static_cast<float>(i);
    const ze_group_count_t groups{16, 1, 1};
    failed |= ze.zeKernelSetArgumentValue(kernel, 0, sizeof factor, &factor);
    failed |= ze.zeKernelSetArgumentValue(kernel, 1, sizeof target.data, &target.data);
    failed |= ze.zeKernelSetArgumentValue(kernel, 2, 64 * sizeof(float), nullptr);
    failed |= ze.zeKernelSetGroupSize(kernel, 64, 1, 1);
    failed |= ze.zeCommandListAppendLaunchKernel(target.list.raw(), kernel, &groups, nullptr, 0, nullptr);
  }
  return failed;
}

extern "C" [[gnu::noinline]] int measured_one_call_batch(const Target& target) {
  const ze_kernel_handle_t kernel = target.kernel->kernel().raw();
  int failed = 0;
  for (int i = 0; i < kBatch; ++i) {
    float factor = static_cast<float>(i);
    void* data = target.data;
    std::size_t local = 64 * sizeof(float);
    void* arguments[] = {&factor, &data, &local};  // of a `__local` pointer its size
    failed |= target.with_arguments(target.list.raw(), kernel, {16, 1, 1}, {64, 1, 1}, arguments, nullptr,
                                    nullptr, 0, nullptr);
  }
  return failed;
}

extern "C" [[gnu::noinline]] int measured_kiln_batch(const Target& target) {
  int failed = 0;
  for (int i = 0; i < kBatch; ++i) {
    const float factor = static_cast<float>(i);
    failed |= !launch(target.list, *target.kernel, {.groups = {16}, .group_size = {64}}, factor, target.data,
                      LocalMemory{64 * sizeof(float)});
  }
  return failed;
}

}  // namespace kiln::bench
