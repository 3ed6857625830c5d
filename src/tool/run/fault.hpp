// SPDX-License-Identifier: MIT
// A kernel that faults on the CPU device: said, where else the process would end without a word.
#pragma once

#include <csignal>

#include "tool/common/session.hpp"
#include "tool/kernel/match.hpp"

namespace kiln::tool {

/// While it lives, a fault of the process (SIGSEGV, SIGBUS, SIGFPE) is told as one of the kernel: K0438 on
/// standard error, and as JSON on standard output where that was asked for; the exit status is that of a
/// wrong answer. Nothing on other devices, whose kernels run elsewhere. The words of an inner one hold while
/// it lives.
class FaultGuard {
 public:
  FaultGuard(const OpenDevice& device, const std::string& kernel, bool json, const RunInstead& instead = {});
  FaultGuard(const FaultGuard&) = delete;
  ~FaultGuard();

 private:
  struct Words {
    std::string text, json;
  };
  static void tell(int signal);
  static Words words[2];  // of numbers, and of memory

  bool installed_ = false;
  Words before_words_[2];
  struct sigaction before_[3]{};
};

/// While it lives, nothing that is written on standard error is seen, but for a fault: the CPU device tells
/// the defects of each launch there, and those of an alternative are told in its row. One at a time.
class QuietErrors {
 public:
  QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  ~QuietErrors();
};

}  // namespace kiln::tool
