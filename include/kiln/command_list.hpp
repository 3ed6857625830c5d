// SPDX-License-Identifier: MIT
// Command lists, regular and immediate, and the queues that run the regular ones.
#pragma once

#include <span>

#include "kiln/event.hpp"
#include "kiln/module.hpp"

namespace kiln {

class CommandListRef;
using CommandList = Unique<CommandListRef>;
class CommandQueueRef;
using CommandQueue = Unique<CommandQueueRef>;

/// What an append waits for and what it signals.
struct Sync {
  EventRef signal = {};
  std::span<const EventRef> wait = {};
};

struct QueueOptions {
  bool synchronous = false;  ///< each submission returns when it is done
};

/// A command list. Commands start in the order of the appends and may end in any other: what one leaves in
/// memory the next one sees only behind a barrier or an event (specification, "Execution Barriers"). That
/// holds for `signal` too. Lists of synchronous queues are in order. The CPU device shows a missing barrier
/// with KILN_CPU_ORDER=shuffle. One thread at a time; creation is thread-safe. Errors: K0218 no memory for
/// it, K0224 no such queue group; of appends and submissions K0220, K0221; K0222 for empty handles and null
/// pointers, K0226 for a fill; else the driver's.
class CommandListRef : public Ref<ze_command_list_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] static Result<CommandList> create(ContextRef, DeviceRef, std::uint32_t queue_group = 0);
  /// Commands start as they are appended.
  [[nodiscard]] static Result<CommandList> create_immediate(ContextRef, DeviceRef, QueueOptions = {},
                                                            std::uint32_t queue_group = 0);
  [[nodiscard]] Result<void> close() const;
  [[nodiscard]] Result<void> reset() const;

  /// All before it end before anything behind it starts.
  [[nodiscard]] Result<void> barrier(Sync = {}) const;
  [[nodiscard]] Result<void> copy(void* to, const void* from, std::size_t bytes, Sync = {}) const;
  /// Copies `from` into `to`. Error: UNSUPPORTED_SIZE (K0206) when it does not fit, before the driver hears
  /// of it.
  [[nodiscard]] Result<void> copy(const Buffer& to, const Buffer& from, Sync = {}) const;
  /// `pattern`, whose size is a power of two, is repeated over `bytes`; the last one may be cut.
  [[nodiscard]] Result<void> fill(void* to, std::span<const std::byte> pattern, std::size_t bytes,
                                  Sync = {}) const;
  /// Not behind what is still running: a barrier's `signal` is.
  [[nodiscard]] Result<void> signal(EventRef) const;
  [[nodiscard]] Result<void> wait(std::span<const EventRef>) const;
  [[nodiscard]] Result<void> reset_event(EventRef) const;
  /// The raw launch: arguments and group size are the kernel's current ones, and nothing is checked.
  /// `launch()` in kiln/launch.hpp checks.
  [[nodiscard]] Result<void> launch_unchecked(KernelRef, Extent groups, Sync = {}) const;
  /// Waits for an immediate list. Error NOT_READY when the time is over first; UNSUPPORTED_FEATURE before
  /// Level Zero 1.6: wait on an event there.
  [[nodiscard]] Result<void> synchronize(Timeout = kForever) const;

  static void destroy(CommandListRef);
};
KILN_HANDLE_CHECKS(CommandListRef);

/// A command queue. One thread at a time for submission; waits are thread-safe.
class CommandQueueRef : public Ref<ze_command_queue_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] static Result<CommandQueue> create(ContextRef, DeviceRef, QueueOptions = {},
                                                   std::uint32_t queue_group = 0);
  [[nodiscard]] Result<Fence> create_fence() const;
  [[nodiscard]] Result<void> execute(std::span<const CommandListRef> lists, FenceRef fence = {}) const;
  [[nodiscard]] Result<void> execute(CommandListRef list, FenceRef fence = {}) const {
    return execute(std::span(&list, 1), fence);
  }
  [[nodiscard]] Result<void> synchronize(Timeout = kForever) const;

  static void destroy(CommandQueueRef);
};
KILN_HANDLE_CHECKS(CommandQueueRef);

}  // namespace kiln
