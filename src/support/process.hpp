// SPDX-License-Identifier: MIT
// Other programs run to their end: bounded in time and output, and gone with this process when it is
// interrupted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kiln {

struct ProcessOptions {
  std::vector<std::string> arguments;  ///< the program first, looked up in PATH
  std::filesystem::path folder;        ///< to run in; empty: this process's
  std::chrono::milliseconds time_limit{120'000};
  std::size_t output_limit = 1 << 20;  ///< bytes that are kept of stdout and of stderr; the rest is dropped
  std::span<const std::byte> input{};  ///< what it reads on stdin
  const std::vector<std::string>* environment = nullptr;  ///< "NAME=value"; null: this process's
  std::size_t error_tail = 0;  ///< bytes: not 0, and the last ones of stderr are kept, not the first
  bool only_standard = false;  ///< it inherits no descriptor of this process but the three
  const std::stop_token* stop = nullptr;  ///< asked every 50 ms; null: nobody stops it
};

/// How a program ended, and what it wrote.
struct ProcessResult {
  enum class End {
    exited,       ///< `number` is the exit status
    signalled,    ///< `number` is the signal
    timed_out,    ///< killed at the time limit
    interrupted,  ///< killed since this process was told to end, or `stop` was requested
    not_started,  ///< `number` is errno
    not_known,    ///< this process reaps its children itself, or lets nobody do it: look at what it wrote
  } end = End::not_started;
  int number = 0;
  std::string out, err;

  [[nodiscard]] bool succeeded() const { return end == End::exited && number == 0; }
  /// "exit status 1", "SIGABRT", "time limit of 120 s", … Pure.
  [[nodiscard]] std::string ended_by(std::chrono::milliseconds time_limit) const;
};

/// Runs a program without a shell, in a process group of its own, which is killed as a whole and reaped
/// before this returns. Thread-safe.
[[nodiscard]] ProcessResult run_process(const ProcessOptions& options);

/// Until it goes out of scope, SIGINT, SIGTERM and SIGHUP end what run_process has running instead of this
/// process, which then ends by the same signal. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(InterruptGuard&&) = delete;
  ~InterruptGuard();
  [[nodiscard]] static bool interrupted();
};

}  // namespace kiln
