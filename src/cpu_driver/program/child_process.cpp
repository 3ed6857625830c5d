// SPDX-License-Identifier: MIT
// A fork with a pipe for the result and a memory file for stderr.
#include "cpu_driver/program/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace kiln::cpu {
namespace {

constexpr std::chrono::minutes kLongest{10};
constexpr std::size_t kShownOfStderr = 500;  // bytes

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&&) = delete;
  ~File() { close(); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool write_all(int descriptor, const void* data, std::size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// The result's length comes first: a child that dies while it writes is not taken for one that finished.
[[noreturn]] void be_child(const std::function<std::string()>& work, int result, int errors) noexcept {
  // The last registered handler runs first, so that a library's exit() reaches none of the application's.
  std::atexit([] { _exit(EXIT_FAILURE); });
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) std::signal(signal, SIG_DFL);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  if (errors >= 0) dup2(errors, STDERR_FILENO);
  const std::string text = work();
  const std::uint64_t size = text.size();
  _exit(write_all(result, &size, sizeof size) && write_all(result, text.data(), text.size()) ? 0
                                                                                             : EXIT_FAILURE);
}

// The length came and all of it behind.
bool is_whole(const std::string& text) {
  std::uint64_t size = 0;
  if (text.size() < sizeof size) return false;
  std::memcpy(&size, text.data(), sizeof size);
  return text.size() - sizeof size == size;
}

// Until the result is whole or the pipe ends (later than the child, when a child of another thread has the
// pipe too); false after the longest time.
bool read_result(int descriptor, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  std::array<char, 1 << 16> part;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{descriptor, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (is_whole(text)) return true;
  }
}

std::string describe(int status, int errors) {
  std::string text = "for an unknown reason";  // another part of the application waits for all children
  if (WIFSIGNALED(status))
    text = "with signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  else if (WIFEXITED(status))
    text = "with exit status " + std::to_string(WEXITSTATUS(status));
  std::array<char, kShownOfStderr> shown;
  const ssize_t count = errors < 0 ? 0 : pread(errors, shown.data(), shown.size(), 0);
  if (count > 0) text.append(": ").append(shown.data(), static_cast<std::size_t>(count));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

ChildOutcome not_started(const char* call) {
  return {ChildOutcome::Kind::not_started, std::string(call) + ": " + std::strerror(errno)};
}

}  // namespace

std::mutex& fork_mutex() {
  static std::mutex mutex;
  return mutex;
}

ChildOutcome run_in_child(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return not_started("pipe2");
  File from_child(ends[0]), to_parent(ends[1]);
  const File errors(memfd_create("kiln-child-stderr", MFD_CLOEXEC));
  pid_t child;
  {
    const std::lock_guard lock(fork_mutex());
    child = fork();
  }
  if (child < 0) return not_started("fork");
  if (child == 0) be_child(work, to_parent.get(), errors.get());
  to_parent.close();

  ChildOutcome outcome{ChildOutcome::Kind::ended, {}};
  std::string text;
  const bool in_time = read_result(from_child.get(), text);
  if (!in_time) kill(child, SIGKILL);
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_whole(text)) {
    outcome.kind = ChildOutcome::Kind::finished;
    outcome.text = text.substr(sizeof(std::uint64_t));
  } else {
    outcome.text = in_time ? describe(status, errors.get()) : "after its longest time, ten minutes";
  }
  return outcome;
}

}  // namespace kiln::cpu
