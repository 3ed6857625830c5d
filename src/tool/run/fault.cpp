// SPDX-License-Identifier: MIT
// What is said is made before: in a handler of signals nothing may be allocated.
#include "tool/run/fault.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>

#include "tool/kernel/match.hpp"

namespace kiln::tool {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE};

/// Where standard error goes to really.
volatile std::sig_atomic_t loud_errors = STDERR_FILENO;

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace

FaultGuard::Words FaultGuard::words[2];

void FaultGuard::tell(int signal) {
  // A kernel runs on several threads, which often fault at the same time: one tells, and ends them all.
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  while (told.test_and_set()) pause();
  const Words& now = words[signal != SIGFPE];
  write_all(loud_errors, now.text);
  write_all(STDOUT_FILENO, now.json);
  _exit(kWrongAnswer);
}

FaultGuard::FaultGuard(const OpenDevice& device, const std::string& kernel, bool json,
                       const RunInstead& instead) {
  if (device.kind != DeviceKind::cpu) return;
  for (const bool of_memory : {false, true}) {
    const Error error = faulted_kernel(kernel, of_memory, instead);
    before_words_[of_memory] = std::move(words[of_memory]);
    words[of_memory] = {
        error.text(),
        json ? Json{{"kernel", kernel}, {"ok", false}, {"error", to_json(error)}}.dump_lines() + "\n" : ""};
  }
  struct sigaction action {};
  action.sa_handler = tell;
  sigfillset(&action.sa_mask);  // a fault in the handler ends the process, as it would without it
  for (std::size_t i = 0; i < std::size(kFaults); ++i) sigaction(kFaults[i], &action, &before_[i]);
  installed_ = true;
}

FaultGuard::~FaultGuard() {
  for (std::size_t i = 0; installed_ && i < std::size(kFaults); ++i)
    sigaction(kFaults[i], &before_[i], nullptr);
  for (std::size_t i = 0; installed_ && i < std::size(words); ++i) words[i] = std::move(before_words_[i]);
}

QuietErrors::QuietErrors() {
  std::fflush(stderr);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  if (const int loud = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); loud >= 0) {
    loud_errors = loud;
    dup2(nowhere, STDERR_FILENO);
  }
  close(nowhere);
}

QuietErrors::~QuietErrors() {
  if (loud_errors == STDERR_FILENO) return;
  std::fflush(stderr);
  const int loud = loud_errors;
  dup2(loud, STDERR_FILENO);
  loud_errors = STDERR_FILENO;
  close(loud);
}

}  // namespace kiln::tool
