// SPDX-License-Identifier: MIT
// Switches between stacks with Boost.Context, and tells the sanitizers.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include "drivers/cpu/runtime/fibers/fiber_stacks.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_FIBERS_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define KILN_FIBERS_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define KILN_FIBERS_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define KILN_FIBERS_TSAN 1
#endif
#if defined(KILN_FIBERS_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(KILN_FIBERS_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace kiln::cpu {

// Both sides of a switch tell the sanitizers about it.
inline void leave([[maybe_unused]] Context& from, [[maybe_unused]] Context& to,
                  [[maybe_unused]] bool for_ever) {
#if defined(KILN_FIBERS_TSAN)
  __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
#if defined(KILN_FIBERS_ASAN)
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.sanitizer, to.stack_bottom, to.stack_bytes);
#endif
}

inline Context& arrived(boost::context::detail::transfer_t transfer, [[maybe_unused]] Context* here) {
  auto& from = *static_cast<Context*>(transfer.data);
  from.place = transfer.fctx;
#if defined(KILN_FIBERS_ASAN)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here != nullptr ? here->sanitizer : nullptr, &bottom, &bytes);
  if (from.stack_bottom == nullptr) from.stack_bottom = bottom, from.stack_bytes = bytes;
#endif
  return from;
}

inline void switch_to(Context& from, Context& to, bool for_ever = false) {
  leave(from, to, for_ever);
  arrived(boost::context::detail::jump_fcontext(to.place, &from), &from);
}

}  // namespace kiln::cpu
