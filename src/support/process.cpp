// SPDX-License-Identifier: MIT
// posix_spawn with two pipes and a socket, polled together with the news of an interrupt.
#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<int> interrupt_signal = 0;  // lock-free, as a signal handler needs it
int interrupt_event = -1;               // readable from the interrupt on, for every thread that polls it
std::array<struct sigaction, kEndingSignals.size()> former_actions;

void note_interrupt(int signal) {
  const int saved = errno;
  interrupt_signal = signal;
  const std::uint64_t one = 1;
  if (write(interrupt_event, &one, sizeof one) < 0)
    interrupt_signal = signal;  // full already: it is readable
  errno = saved;
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&&) = delete;
  ~Descriptor() { reset(); }
  void reset(int number = -1) {
    if (const int old = std::exchange(number_, number); old >= 0) close(old);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_ = -1;
};

/// The reading end of a pipe and what has come through it.
struct Stream {
  Descriptor from, to;
  std::string text;

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    from.reset(ends[0]);
    to.reset(ends[1]);
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
  /// Takes what is there; closes at the end. Keeps the first `limit` bytes, or the last `tail`.
  void read_some(std::size_t limit, std::size_t tail = 0) {
    std::array<char, 1 << 16> part;
    while (from.get() >= 0) {
      const ssize_t count = read(from.get(), part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return from.reset();
      const auto got = static_cast<std::size_t>(count);
      text.append(part.data(), tail != 0 ? got : std::min(got, limit - std::min(limit, text.size())));
      if (tail != 0 && text.size() > tail) text.erase(0, text.size() - tail);
    }
  }
};

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(SpawnSettings&&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// What the child reads, through a socket: a file would be bounded by RLIMIT_FSIZE, whose signal ends a
/// process by default, as SIGPIPE of a pipe does.
struct Feed {
  Descriptor to, from;
  std::span<const std::byte> left;

  bool open(std::span<const std::byte> input) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    to.reset(ends[0]);
    from.reset(ends[1]);
    left = input;
    return true;
  }
  /// Gives what is taken at once; closes at the end, and when nobody reads any more.
  void write_some() {
    while (to.get() >= 0) {
      const ssize_t count = send(to.get(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count >= 0) left = left.subspan(static_cast<std::size_t>(count));
      if (count < 0 || left.empty()) to.reset();
    }
  }
};

int spawn(const ProcessOptions& options, int in, int out, int err, pid_t& child) {
  SpawnSettings settings;
  if (in >= 0)
    posix_spawn_file_actions_adddup2(&settings.actions, in, STDIN_FILENO);
  else
    posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, err, STDERR_FILENO);
  if (options.only_standard) posix_spawn_file_actions_addclosefrom_np(&settings.actions, STDERR_FILENO + 1);
  if (!options.folder.empty())
    posix_spawn_file_actions_addchdir_np(&settings.actions, options.folder.c_str());
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  sigset_t none;
  sigemptyset(&none);  // whatever this thread blocks
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (const std::string& argument : options.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  if (options.environment) {
    for (const std::string& variable : *options.environment)
      variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
  }
  return posix_spawnp(&child, arguments[0], &settings.actions, &settings.attributes, arguments.data(),
                      options.environment ? variables.data() : environ);
}

/// Has the child ended? It is left to be reaped: until then nobody else can get its group's number. Unless
/// the application ignores SIGCHLD or waits for any child, and so has reaped it already.
enum class Life : std::uint8_t { lives, ended, reaped };
Life look_at(pid_t child) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD ? Life::reaped : Life::lives;
  return info.si_pid == child ? Life::ended : Life::lives;
}

}  // namespace

ProcessResult run_process(const ProcessOptions& options) {
  using End = ProcessResult::End;
  const auto told_to_end = [&] {
    return InterruptGuard::interrupted() || (options.stop && options.stop->stop_requested());
  };
  if (told_to_end()) return {End::interrupted, 0, {}, {}};
  Stream out, err;
  Feed in;
  if (!out.open() || !err.open() || (!options.input.empty() && !in.open(options.input)))
    return {End::not_started, errno, {}, {}};
  pid_t child = 0;
  if (const int error = spawn(options, in.from.get(), out.to.get(), err.to.get(), child); error != 0)
    return {End::not_started, error, {}, {}};
  // Readable when the child ends; Linux before 5.3 has it not.
  const Descriptor life(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  out.to.reset();
  err.to.reset();
  in.from.reset();

  ProcessResult result{End::exited, 0, {}, {}};
  const auto deadline = Clock::now() + options.time_limit;
  Life now = Life::lives;
  while ((now = look_at(child)) == Life::lives) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (told_to_end()) result.end = End::interrupted;
    if (left <= milliseconds(0)) result.end = End::timed_out;
    if (result.end != End::exited) break;
    // A child that closes both pipes and goes on, or whose own children keep them open, is looked at now and
    // then.
    const bool quiet = out.from.get() < 0 && err.from.get() < 0 && life.get() < 0;
    std::array<pollfd, 5> waiting{{{out.from.get(), POLLIN, 0},
                                   {err.from.get(), POLLIN, 0},
                                   {interrupt_event, POLLIN, 0},
                                   {life.get(), POLLIN, 0},
                                   {in.to.get(), POLLOUT, 0}}};
    poll(waiting.data(), waiting.size(),
         static_cast<int>(std::min(left, milliseconds(quiet ? 2 : 50)).count()));
    in.write_some();
    out.read_some(options.output_limit);
    err.read_some(options.output_limit, options.error_tail);
  }
  int status = 0;
  if (now != Life::reaped) {
    kill(-child, SIGKILL);
    pid_t reaped = 0;
    while ((reaped = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (reaped != child) now = Life::reaped;
  }
  out.read_some(options.output_limit);
  err.read_some(options.output_limit, options.error_tail);
  result.out = std::move(out.text);
  result.err = std::move(err.text);
  if (result.end != End::exited) return result;
  if (now == Life::reaped) {
    result.end = End::not_known;
    return result;
  }
  if (WIFSIGNALED(status)) result.end = End::signalled;
  result.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::string ProcessResult::ended_by(milliseconds time_limit) const {
  switch (end) {
    case End::exited:
      return "exit status " + std::to_string(number);
    case End::signalled: {
      const char* name = sigabbrev_np(number);
      return name ? std::string("SIG") + name : "signal " + std::to_string(number);
    }
    case End::timed_out: {
      std::string seconds = std::to_string(static_cast<double>(time_limit.count()) / 1000);
      seconds.resize(seconds.find_last_not_of('0') + 1);
      if (seconds.ends_with('.')) seconds.pop_back();
      return "time limit of " + seconds + " s";
    }
    case End::interrupted:
      return "an interrupt";
    case End::not_known:
      return "an end that nobody saw";
    case End::not_started:
      break;
  }
  return std::string("not started: ") + std::strerror(number);
}

InterruptGuard::InterruptGuard() {
  if (interrupt_event < 0) interrupt_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], nullptr, &former_actions[i]);
    // What the caller was told to ignore (nohup) stays ignored.
    if (former_actions[i].sa_handler != SIG_IGN) sigaction(kEndingSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i)
    sigaction(kEndingSignals[i], &former_actions[i], nullptr);
  if (interrupted()) raise(interrupt_signal.load());
}

bool InterruptGuard::interrupted() { return interrupt_signal != 0; }

}  // namespace kiln
