// SPDX-License-Identifier: MIT
// Runs what may crash, hang or print in a child process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"

namespace kiln::doctor {

struct ChildOutput {
  ChildEnd end;
  std::string result;  ///< what the work wrote to the descriptor that it was given
};

/// Runs `work` in a fork of this process for at most `seconds`, then kills it and all that it started. What
/// it prints is caught. Only for processes of one thread.
[[nodiscard]] ChildOutput in_child(const std::function<void(int result)>& work, int seconds);

/// Runs a program, found in PATH, in that folder. `result` stays empty.
[[nodiscard]] ChildOutput run_program(const std::vector<std::string>& command, const std::string& folder,
                                      int seconds);

}  // namespace kiln::doctor
