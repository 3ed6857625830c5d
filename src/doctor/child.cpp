// SPDX-License-Identifier: MIT
// A fork in a process group of its own, with pipes for its result and for what it prints.
#include "doctor/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace kiln::doctor {
namespace {

constexpr std::size_t kShown = 4096;      // bytes of what is printed
constexpr std::size_t kResult = 1 << 20;  // bytes

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  Pipe(Pipe&&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(std::exchange(ends_[end], -1));
  }
  [[nodiscard]] int operator[](std::size_t end) const { return ends_[end]; }

 private:
  std::array<int, 2> ends_{};
};

[[noreturn]] void be_child(const std::function<void(int)>& work, int result, int printed) {
  setpgid(0, 0);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  if (const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC); nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
  work(result);
  _exit(0);  // no exit handlers: a driver's may crash after all is told
}

/// Reads what is there; false at the end.
bool drain(int descriptor, std::string& text, std::size_t most) {
  std::array<char, 4096> part;
  const ssize_t count = read(descriptor, part.data(), part.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(part.data(), std::min(static_cast<std::size_t>(count), most - std::min(most, text.size())));
  return count > 0;
}

/// Until the child closes the result or the time is over; false for the latter.
bool listen(const Pipe& result, const Pipe& printed, int seconds, ChildOutput& output) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  std::array<pollfd, 2> waiting{{{result[0], POLLIN, 0}, {printed[0], POLLIN, 0}}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (waiting[0].revents && !drain(result[0], output.result, kResult)) waiting[0].fd = -1;
    if (waiting[1].revents && !drain(printed[0], output.end.printed, kShown)) waiting[1].fd = -1;
    for (pollfd& each : waiting) each.revents = 0;
  }
  return true;
}

}  // namespace

ChildOutput in_child(const std::function<void(int)>& work, int seconds) {
  using Kind = ChildEnd::Kind;
  ChildOutput output;
  Pipe result, printed;
  const pid_t child = result[0] < 0 || printed[0] < 0 ? -1 : fork();
  if (child < 0) {
    output.end = {Kind::not_started, errno, {}};
    return output;
  }
  if (child == 0) be_child(work, result[1], printed[1]);
  setpgid(child, child);  // here too, so that it is done when the kill comes
  result.close(1);
  printed.close(1);
  const bool in_time = listen(result, printed, seconds, output);
  if (!in_time) kill(-child, SIGKILL);
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  kill(-child, SIGKILL);  // what it left running; before the child is gone, whose number names the group
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    output.end.kind = Kind::timed_out, output.end.number = seconds;
  else if (WIFSIGNALED(status))
    output.end.kind = Kind::signalled, output.end.number = WTERMSIG(status);
  else
    output.end.kind = Kind::exited, output.end.number = WEXITSTATUS(status);
  return output;
}

ChildOutput run_program(const std::vector<std::string>& command, const std::string& folder, int seconds) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return in_child(
      [&](int) {
        if (chdir(folder.c_str()) == 0) execvp(arguments[0], arguments.data());
        _exit(127);
      },
      seconds);
}

}  // namespace kiln::doctor
