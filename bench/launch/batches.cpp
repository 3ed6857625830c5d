// SPDX-License-Identifier: MIT
// The sequences that are compared: the raw calls through Kiln's table, one raw call for all, and
// kiln::launch.
#include <utility>

#include "target.hpp"

namespace kiln::bench {
namespace {

/// Moves what follows by some bytes, so that no two copies of a loop meet the branch predictor alike.
template <std::size_t Place>
[[gnu::always_inline]] inline void shift() {
#ifdef __x86_64__
  asm volatile(".skip %c0, 0x90" ::"i"(1 + Place * 21 % 64));
#else
  asm volatile("" ::"i"(Place));
#endif
}

template <std::size_t Place>
[[gnu::noinline]] int raw_batch(const Target& target) {
  shift<Place>();
  const Api& ze = *target.kernel->kernel().table();
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

template <std::size_t Place>
[[gnu::noinline]] int one_call_batch(const Target& target) {
  shift<Place>();
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

template <std::size_t Place>
[[gnu::noinline]] int kiln_batch(const Target& target) {
  shift<Place>();
  int failed = 0;
  for (int i = 0; i < kBatch; ++i) {
    const float factor = static_cast<float>(i);
    failed |= !launch(target.list, *target.kernel, {.groups = {16}, .group_size = {64}}, factor, target.data,
                      LocalMemory{64 * sizeof(float)});
  }
  return failed;
}

template <std::size_t... Place>
std::array<Batches, sizeof...(Place)> all_batches(std::index_sequence<Place...>) {
  return {Batches{raw_batch<Place>, kiln_batch<Place>, one_call_batch<Place>}...};
}

}  // namespace

const std::array<Batches, kPlaces> kBatches = all_batches(std::make_index_sequence<kPlaces>());

extern "C" [[gnu::noinline]] int measured_raw_batch(const Target& target) { return kBatches[0].raw(target); }
extern "C" [[gnu::noinline]] int measured_kiln_batch(const Target& target) {
  return kBatches[0].kiln(target);
}

}  // namespace kiln::bench
