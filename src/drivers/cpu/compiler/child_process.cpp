// SPDX-License-Identifier: MIT
// A fork with a pipe for the result and a memory file for stderr.
#include "drivers/cpu/compiler/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "support/compiler_end.hpp"
#include "support/limits.hpp"

namespace kiln::cpu {
namespace {

constexpr int kSlice = 2000;      // ms between two looks at the child
constexpr int kIdleSlices = 5;    // without any CPU time used: it waits for a lock that nobody will free
constexpr int kMostSlices = 300;  // ten minutes
constexpr std::size_t kShownOfStderr = 500;  // bytes
// Bytes that it takes at most: what is damaged, and passed all checks, does not take all of the machine.
constexpr rlim_t kMostMemory = rlim_t{8} << 30;

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

// All but the standard ones are the parent's: locks on files would be held longer than it lives, and with the
// pipe's other end a child without parent would write for ever. Returns where `result` is now.
int keep_only(int result) {
  constexpr int kPlace = STDERR_FILENO + 1;
  dup2(result, kPlace);
  close_range(kPlace + 1, ~0U, 0);
  return kPlace;
}

void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
}

// The result's length comes first: a child that dies while it writes is not taken for one that finished.
// `signals` are those that the parent had blocked; all are, so that none of its handlers runs here.
[[noreturn]] void be_child(const std::function<std::string()>& work, unsigned cpu_seconds, pid_t parent,
                           const sigset_t& signals, int result, int errors) noexcept {
  end_with(parent);
  // The last registered handler runs first, so that a library's exit() reaches none of the application's.
  std::atexit([] { _exit(EXIT_FAILURE); });
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGXCPU})
    std::signal(signal, SIG_DFL);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // its stderr is a file, which `ulimit -f` bounds
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  if (rlimit time; cpu_seconds != 0 && getrlimit(RLIMIT_CPU, &time) == 0) {
    time.rlim_cur = std::min<rlim_t>(time.rlim_cur, cpu_seconds);
    setrlimit(RLIMIT_CPU, &time);
  }
  detail::limit_memory(kMostMemory);
  if (errors >= 0) dup2(errors, STDERR_FILENO);
  result = keep_only(result);
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

std::int64_t cpu_time(pid_t process) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

enum class End { pipe, stuck, too_long };

// Until the result is whole or the pipe ends (later than the child, when a child of another thread has the
// pipe too).
End read_result(pid_t child, int descriptor, std::string& text) {
  std::array<char, 1 << 16> part;
  std::int64_t used = 0;
  for (int slices = 0, idle = 0; slices < kMostSlices;) {
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = poll(&waiting, 1, kSlice);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return End::stuck;
    if (ready == 0) {
      const std::int64_t now = cpu_time(child);
      idle = now == used ? idle + 1 : 0;
      used = now;
      ++slices;
      if (idle == kIdleSlices) return End::stuck;
      continue;
    }
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return End::pipe;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (is_whole(text)) return End::pipe;
  }
  return End::too_long;
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

ChildOutcome run_in_child(const std::function<std::string()>& work, unsigned cpu_seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return not_started("pipe2");
  File from_child(ends[0]), to_parent(ends[1]);
  const File errors(memfd_create("kiln-child-stderr", MFD_CLOEXEC));
  const pid_t self = getpid();
  pid_t child;
  sigset_t all, before;
  sigfillset(&all);
  {
    const std::lock_guard lock(fork_mutex());
    pthread_sigmask(SIG_SETMASK, &all, &before);
    child = fork();
    if (child != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  if (child < 0) return not_started("fork");
  if (child == 0) be_child(work, cpu_seconds, self, before, to_parent.get(), errors.get());
  to_parent.close();

  std::string text;
  const End end = read_result(child, from_child.get(), text);
  if (end != End::pipe) kill(child, SIGKILL);
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  using Kind = ChildOutcome::Kind;
  if (is_whole(text)) return {Kind::finished, text.substr(sizeof(std::uint64_t))};
  if (end == End::stuck) return {Kind::not_started, "the child waits for a lock of another thread"};
  if (end == End::too_long) return {Kind::killed, "after its longest time, ten minutes"};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return {Kind::too_slow, describe(status, errors.get())};
  const bool own_fault = WIFEXITED(status) || (WIFSIGNALED(status) && is_own_fault(WTERMSIG(status)));
  return {own_fault ? Kind::ended : Kind::killed, describe(status, errors.get())};
}

}  // namespace kiln::cpu
