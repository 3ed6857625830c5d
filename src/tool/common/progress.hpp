// SPDX-License-Identifier: MIT
// How far long work is: one line on stderr where that is a terminal, gone at the end.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "tool/common/output.hpp"

namespace kiln::tool {

class Progress {
 public:
  explicit Progress(std::size_t count) : count_(count) {}
  Progress(Progress&&) = delete;
  ~Progress() {
    if (terminal_ && at_) clear_progress();
  }
  /// Names what comes next, for which the count may have been too small.
  void next(const char* name) {
    ++at_;
    if (terminal_) show_progress("%zu of %zu: %s", at_, std::max(at_, count_), name);
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::size_t count_, at_ = 0;
};

}  // namespace kiln::tool
