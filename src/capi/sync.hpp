// SPDX-License-Identifier: MIT
// What commands of the C interface wait for and signal.
#pragma once

#include <array>

#include "capi/boundary.hpp"

namespace kiln_c {

/// Events behind their handles. Must outlive the Sync that refers to them.
class Events {
 public:
  /// K0901 for one that is none. With the names of the two parameters or members, for messages.
  [[nodiscard]] Result<void> read(const char* call, const kiln_event* given, std::uint32_t count,
                                  const char* name, const char* count_name);
  [[nodiscard]] std::span<const EventRef> refs() const {
    return more_.empty() ? std::span(few_.data(), few_count_) : std::span<const EventRef>(more_);
  }

 private:
  std::array<EventRef, 16> few_{};
  std::size_t few_count_ = 0;
  std::vector<EventRef> more_;
};

/// Null `signal` and a count of 0 are none.
[[nodiscard]] Result<Sync> sync_of(const char* call, kiln_event signal, const kiln_event* wait,
                                   std::uint32_t wait_count, Events& events);

}  // namespace kiln_c
