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
    ended,       ///< the work ended the child: `text` says how, with the first words it wrote to stderr
    too_slow,    ///< it used up its CPU time
    killed,      ///< something else did, or it took too long: the same
    not_started  ///< no child can do it here: `text` says why
  } kind = Kind::not_started;
  std::string text;
};

/// Runs `work` in a fork of this process and returns what it returned. The child has no file of this process
/// but the standard ones and dies with the calling thread; it runs no exit handlers, has no core dump, and is
/// killed after ten minutes, or when it has used no CPU time for ten seconds: a lock was
/// taken by another thread when it was forked (seen with the allocator of GCC 12's address sanitizer, which
/// LLVM 17 and GCC 14 mended). After `cpu_seconds` of CPU time, unless 0, it is ended as too slow.
/// Thread-safe; forks under fork_mutex().
[[nodiscard]] ChildOutcome run_in_child(const std::function<std::string()>& work, unsigned cpu_seconds = 0);

/// Held by whoever uses, in this process, what children need too (LLVM): a child must not find its locks
/// taken.
std::mutex& fork_mutex();

}  // namespace kiln::cpu
