// SPDX-License-Identifier: MIT
// `--guard`: calls that a driver would follow into nowhere, or end the process over, are answered here. Each
// function gives SUCCESS where the driver is to be asked.
#pragma once

#include <level_zero/ze_api.h>

#include "drivers/layer/known.hpp"
#include "kiln/allocation.hpp"
#include "kiln/result.hpp"

// The answer in place of the driver's, where `check` has one. Nothing may be thrown through a call of C.
#define KILN_GUARD(check)                                                                         \
  static_assert(noexcept(check));                                                                 \
  if (guarding) [[unlikely]]                                                                      \
    if (const ze_result_t kiln_refused = (check); kiln_refused != ZE_RESULT_SUCCESS) [[unlikely]] \
  return kiln_refused

namespace kiln::layer {

/// Set when the driver is opened.
inline constinit bool guarding = false;

/// Tells the error, and gives its code.
[[gnu::cold]] ze_result_t refuse(const Error& error) noexcept;
[[gnu::cold]] ze_result_t refuse_empty(const char* call) noexcept;
[[gnu::cold]] ze_result_t refuse_null(const char* call, const char* what) noexcept;

/// None of the handles is null.
template <class... Handles>
[[nodiscard]] ze_result_t need_handles(const char* call, Handles... handles) noexcept {
  return ((handles != nullptr) && ...) ? ZE_RESULT_SUCCESS : refuse_empty(call);
}
[[nodiscard]] inline ze_result_t need(const char* call, const char* what, const void* pointer) noexcept {
  return pointer ? ZE_RESULT_SUCCESS : refuse_null(call, what);
}
/// The first refusal of several.
template <class... Codes>
[[nodiscard]] constexpr ze_result_t first_of(Codes... codes) noexcept {
  ze_result_t first = ZE_RESULT_SUCCESS;
  ((first = first == ZE_RESULT_SUCCESS ? codes : first), ...);
  return first;
}

/// The region lies inside of the image, or nothing is known of that; null: all of it.
[[nodiscard, gnu::cold]] ze_result_t guard_region(const char* call, ze_image_handle_t image,
                                                  const ze_image_region_t* region) noexcept;

/// What the driver is asked less for.
struct KernelGuard {
  KernelFacts facts;
  LaunchLimits limits;
};
/// Has a kernel that was just made guarded, where its facts are known.
void guard_kernel(KnownKernel& kernel);

/// What comes with zeCommandListAppendLaunchKernelWithArguments.
struct GivenArguments {
  Extent group_size;
  void** values = nullptr;  ///< a place for each; of a `__local` one that of its size in bytes
};

// The short way of what is right stands here; what is not so clear takes the long one.
[[nodiscard, gnu::cold]] ze_result_t judge_argument(ze_kernel_handle_t kernel, KnownKernel* known,
                                                    std::uint32_t index, std::size_t size,
                                                    const void* value) noexcept;
[[nodiscard, gnu::cold]] ze_result_t judge_group_size(ze_kernel_handle_t kernel, const KnownKernel* known,
                                                      const Extent& size) noexcept;
[[nodiscard, gnu::cold]] ze_result_t judge_launch(const char* call, const void* list,
                                                  ze_kernel_handle_t kernel, const void* groups) noexcept;

[[nodiscard, gnu::always_inline]] inline ze_result_t guard_argument(ze_kernel_handle_t kernel,
                                                                    KnownKernel* known, std::uint32_t index,
                                                                    std::size_t size,
                                                                    const void* value) noexcept {
  using Guard = KnownArgument::Guard;
  if (known && index < known->count) [[likely]] {
    const KnownArgument& last = known->arguments[index];
    if (last.guard == Guard::nothing || (last.guard == Guard::local && last.size == size)) [[likely]]
      return ZE_RESULT_SUCCESS;
  }
  return judge_argument(kernel, known, index, size, value);
}

[[nodiscard, gnu::always_inline]] inline ze_result_t guard_group_size(ze_kernel_handle_t kernel,
                                                                      const KnownKernel* known,
                                                                      const Extent& size) noexcept {
  if (known && known->group_size == size) [[likely]]
    return ZE_RESULT_SUCCESS;
  return judge_group_size(kernel, known, size);
}

/// A known kernel, of which --guard need not judge a launch; a list or another handle; and a place for the
/// answer or the groups.
[[nodiscard, gnu::always_inline]] inline bool is_clear(const KnownKernel* known_kernel, const void* list,
                                                       const void* groups) noexcept {
  return known_kernel && known_kernel->admitted && list && groups;
}

/// SLM, and null handles and pointers.
[[nodiscard, gnu::always_inline]] inline ze_result_t guard_launch(const char* call, const void* list,
                                                                  ze_kernel_handle_t kernel,
                                                                  const KnownKernel* known_kernel,
                                                                  const void* groups) noexcept {
  if (is_clear(known_kernel, list, groups)) [[likely]]
    return ZE_RESULT_SUCCESS;
  return judge_launch(call, list, kernel, groups);
}

[[nodiscard, gnu::cold]] ze_result_t judge_arguments(const char* call, const void* list,
                                                     ze_kernel_handle_t kernel, KnownKernel* known,
                                                     const GivenArguments& given) noexcept;

/// The same arguments and group size as before need not be looked at again.
[[nodiscard, gnu::always_inline]] inline ze_result_t guard_arguments(const char* call, const void* list,
                                                                     ze_kernel_handle_t kernel,
                                                                     KnownKernel* known,
                                                                     const GivenArguments& given) noexcept {
  if (known && known->admitted && list && given.values && known->group_size == given.group_size &&
      known->has_sizes(given.values)) [[likely]]
    return ZE_RESULT_SUCCESS;
  return judge_arguments(call, list, kernel, known, given);
}

[[nodiscard]] ze_result_t guard_module(ze_context_handle_t context, ze_device_handle_t device,
                                       const ze_module_desc_t* description, const void* place) noexcept;
[[nodiscard]] ze_result_t guard_kernel(ze_module_handle_t module, const ze_kernel_desc_t* description,
                                       const void* place) noexcept;
/// Of a kernel that the driver has made, from code that says nothing about its kernels (22.43 compiles
/// SPIR-V to such): what the driver says of it. One that is refused is the caller's to destroy.
[[nodiscard]] ze_result_t guard_made_kernel(ze_module_handle_t module, const ze_kernel_desc_t& description,
                                            ze_kernel_handle_t kernel) noexcept;
[[nodiscard]] ze_result_t guard_allocation(const char* call, ze_context_handle_t context,
                                           const AllocationRequest& request, const void* description,
                                           const void* place) noexcept;
[[nodiscard]] ze_result_t guard_queue(const char* call, ze_device_handle_t device, std::uint32_t group,
                                      std::uint32_t index) noexcept;
[[nodiscard]] ze_result_t guard_event_pool(ze_context_handle_t context,
                                           const ze_event_pool_desc_t* description,
                                           const void* place) noexcept;
[[nodiscard]] ze_result_t guard_fill(const void* to, const void* pattern, std::size_t size,
                                     std::size_t bytes) noexcept;

}  // namespace kiln::layer
