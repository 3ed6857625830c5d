// SPDX-License-Identifier: MIT
// Command lists: a recording that queues run, or, when immediate, a stream of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "drivers/cpu/api/abi.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/event.hpp"
#include "drivers/cpu/objects/object.hpp"
#include "drivers/cpu/settings/fault.hpp"
#include "drivers/cpu/streams/command.hpp"
#include "drivers/cpu/streams/stream.hpp"

namespace kiln::cpu {

/// The commands of a regular list. Queues that run it share it, so that a list may be reset or destroyed
/// early.
struct Recording : std::deque<Command> {
  explicit Recording(bool in_order) : in_order(in_order) {}
  const bool in_order;  ///< the list's flag: each command behind the one before it
};

/// Belongs to one thread at a time, as the specification says of command lists.
class CommandList : public Object {
 public:
  using Handle = ze_command_list_handle_t;

  CommandList(ze_context_handle_t context, LossesBefore losses, ze_device_handle_t device)
      : Object(HandleKind::command_list), context(context), losses(losses), device(device) {}

  ze_context_handle_t context;
  const LossesBefore losses;
  ze_device_handle_t device;
  std::uint32_t ordinal = 0;  ///< of the queue group
  std::uint32_t flags = 0;    ///< of a list, or of an immediate list's queue
  ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
  ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
  std::unique_ptr<Stream> stream;        ///< immediate lists
  std::shared_ptr<Recording> recording;  ///< regular lists
  bool closed = false;

  [[nodiscard]] bool immediate() const { return stream != nullptr; }
  [[nodiscard]] bool in_order() const {
    return immediate() ? (flags & abi::kQueueInOrder) != 0 : recording->in_order;
  }
};

/// What every append function takes at its end.
struct Links {
  ze_event_handle_t signal = nullptr;
  std::uint32_t wait_count = 0;
  ze_event_handle_t* waits = nullptr;
};

[[nodiscard]] ze_result_t check(const Links& links);
/// Lists in order alone signal events that count, as Intel's driver has it (26.27).
[[nodiscard]] ze_result_t check_counting(const CommandList& list, ze_event_handle_t signal);
void connect(Command& command, const Links& links);

/// Intel's drivers take a command for a closed list and never run it (22.43): SUCCESS, with a last error that
/// says so.
[[nodiscard]] ze_result_t drop_from_closed_list();

/// Appends one command that `fill` completes. `fill` may throw bad_alloc.
template <class Fill>
ze_result_t append(ze_command_list_handle_t handle, const Links& links, Fill&& fill) {
  CommandList& list = *object<CommandList>(handle);
  if (const auto result = check(links); result != ZE_RESULT_SUCCESS) return result;
  if (const auto result = check_counting(list, links.signal); result != ZE_RESULT_SUCCESS) return result;
  if (list.closed) return drop_from_closed_list();
  if (list.immediate()) {
    count_submission();
    // Intel's immediate lists call every failure of a submission lack of memory, and this one too.
    if (list.losses.state() != ZE_RESULT_SUCCESS) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  return guarded([&] {
    if (!list.immediate()) {
      Command& command = list.recording->emplace_back();
      try {
        connect(command, links);
        fill(command);
      } catch (...) {
        list.recording->pop_back();
        throw;
      }
      return ZE_RESULT_SUCCESS;
    }
    Command* command = list.stream->acquire();
    try {
      connect(*command, links);
      fill(*command);
    } catch (...) {
      list.stream->give_back(command);
      throw;
    }
    return list.stream->submit(command);
  });
}

/// HANDLE_OBJECT_IN_USE, with a text, when a kernel on the stream does not end for a while; else SUCCESS, and
/// the stream may be destroyed.
[[nodiscard]] ze_result_t stop_for_good(Stream& stream);

/// Fills a command that runs recorded lists one after another; to be submitted at once.
void fill_with_recordings(Command& command, std::vector<std::shared_ptr<Recording>> recordings);

/// The groups of queues, by their ordinals: one queue for everything, one for copies alone.
inline constexpr std::uint32_t kQueueGroups = 2, kCopyGroup = 1;

/// Flags, mode, priority and which queue.
[[nodiscard]] ze_result_t check_queue_desc(const ze_command_queue_desc_t& desc);

/// The recordings of closed regular lists, or the code that says what is wrong with them.
[[nodiscard]] ze_result_t collect_recordings(std::uint32_t count, const ze_command_list_handle_t* lists,
                                             std::vector<std::shared_ptr<Recording>>& recordings);

}  // namespace kiln::cpu
