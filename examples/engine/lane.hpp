// SPDX-License-Identifier: MIT
// A lane of work: command lists that run one after another, beside those of other lanes.
#pragma once

#include <chrono>
#include <kiln/kiln.hpp>
#include <span>

#include "options.hpp"

namespace engine {

/// How lists reach the device and stay in order, by what driver and loader have.
struct Ways {
  bool in_order = false;  ///< the lists are in order, else a barrier stands behind each command
  bool append = false;    ///< closed lists go to an immediate one, else to a queue
};
/// Error: UNSUPPORTED_FEATURE when lists in order are asked for and lacking.
[[nodiscard]] kiln::Result<Ways> ways_of(kiln::DriverRef driver, Submission asked);

/// A list that is being recorded: each command sees what those before it have written.
struct Recording {
  kiln::CommandListRef list;
  bool in_order = false;

  template <class... Arguments>
  [[nodiscard]] kiln::Result<void> launch(const kiln::CheckedKernel& kernel, const kiln::Launch& what,
                                          const Arguments&... arguments) const {
    KILN_TRY(kiln::launch(list, kernel, what, arguments...));
    return order();
  }
  [[nodiscard]] kiln::Result<void> copy(void* to, const void* from, std::size_t bytes,
                                        const kiln::Sync& sync = {}) const {
    KILN_TRY(list.copy(to, from, bytes, sync));
    return order();
  }
  [[nodiscard]] kiln::Result<void> zero(void* to, std::size_t bytes) const;
  /// The device writes its clock there.
  [[nodiscard]] kiln::Result<void> clock(std::uint64_t* to, const kiln::Sync& sync = {}) const {
    KILN_TRY(list.write_timestamp(to, sync));
    return order();
  }

 private:
  [[nodiscard]] kiln::Result<void> order() const {
    if (in_order) return {};
    return list.barrier();
  }
};

/// One thread at a time submits; lists are made and recorded by any.
class Lane {
 public:
  enum class Kind : std::uint8_t { compute, copy };

  Lane() = default;
  /// `number` tells lanes of a kind apart: they take different queues where the device has several.
  [[nodiscard]] static kiln::Result<Lane> create(const kiln::OpenDevice& device, Ways ways, Kind kind,
                                                 std::uint32_t number = 0);

  [[nodiscard]] kiln::Result<kiln::CommandList> new_list(const kiln::OpenDevice& device) const;
  /// Empties the list, whose commands must be done, for the next recording.
  [[nodiscard]] kiln::Result<Recording> begin(kiln::CommandListRef list) const {
    KILN_TRY(list.reset());
    return Recording{list, ways_.in_order};
  }
  /// The closed lists run in this order, behind those submitted before.
  [[nodiscard]] kiln::Result<void> submit(std::span<const kiln::CommandListRef> lists) const {
    return immediate_ ? immediate_->append(lists) : queue_->execute(lists);
  }
  /// Waits for all that was submitted. Error: NOT_READY when the time is over first.
  [[nodiscard]] kiln::Result<void> wait(std::chrono::seconds timeout) const;

  /// What lists are submitted to: one of them is empty.
  [[nodiscard]] kiln::CommandListRef immediate() const { return immediate_; }
  [[nodiscard]] kiln::CommandQueueRef queue() const { return queue_; }

 private:
  Ways ways_;
  Kind kind_ = Kind::compute;
  std::uint32_t group_ = 0;
  kiln::CommandList immediate_;
  kiln::CommandQueue queue_;
};

}  // namespace engine
