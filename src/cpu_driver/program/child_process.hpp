// SPDX-License-Identifier: MIT
// Work that may end its process, such as translating SPIR-V that nobody vouches for, done in a child process.
#pragma once

#include <functional>
#include <mutex>
#include <string>

namespace kiln::cpu {

struct ChildOutcome {
  enum class Kind {
    finished,    ///< `text` is what the work returned
    ended,       ///< the child died first: `text` says how, with the first words it wrote to stderr
    not_started  ///< the system allows no child: `text` says why
  } kind = Kind::not_started;
  std::string text;
};

/// Runs `work` in a fork of this process and returns what it returned. The child takes nothing with it: it
/// runs no exit handlers, has no core dump, and is killed after ten minutes. Thread-safe; forks under
/// fork_mutex().
[[nodiscard]] ChildOutcome run_in_child(const std::function<std::string()>& work);

/// Held by whoever uses, in this process, what children need too (LLVM): a child must not find its locks
/// taken.
std::mutex& fork_mutex();

}  // namespace kiln::cpu
