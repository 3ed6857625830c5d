// SPDX-License-Identifier: MIT
// `kiln simulate`: any program, with a simulated GPU behind Intel's driver.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "level_zero/discovery.hpp"
#include "level_zero/open/simulated.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

// As env(1), nohup(1) and shells have them.
constexpr int kFailed = 125, kNotStarted = 126, kNotFound = 127, kSignalled = 128;

std::atomic<pid_t> program{0};

void pass_on(int signal) {
  if (const pid_t process = program.load(); process > 0) kill(process, signal);
}

/// A program whose kernel failed must not go on with what is in memory: no driver tells it.
void end_program(void*, int process, const char* text, bool) {
  complain("the simulated GPU is lost: %s\n", text);
  const pid_t whose = process > 0 ? process : program.load();
  if (whose > 0 && whose != getpid()) kill(whose, SIGKILL);
}

int fail(const Error& error, int status) {
  complain("%s", error.text().c_str());
  return status;
}

/// What the caller ignores, as nohup(1) does, stays ignored for both; else `handler` is set here, and the
/// program begins with the default.
void take(int signal, void (*handler)(int), sigset_t& defaults) {
  if (std::signal(signal, handler) == SIG_IGN)
    std::signal(signal, SIG_IGN);
  else
    sigaddset(&defaults, signal);
}

/// Until nobody talks to the simulated GPU: what the program started may outlive it, and would end by
/// SIGPIPE.
void wait_for_others(const std::string& name) {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  bool told = false;
  while (const int process = detail::simulated_program()) {
    if (!told && std::chrono::steady_clock::now() - start > 1s) {
      complain(
          "`%s` has ended; process %d, which it left behind, still uses the simulated GPU: waiting for it\n",
          name.c_str(), process);
      told = true;
    }
    std::this_thread::sleep_for(1ms);
  }
}

Error not_started(const std::string& name, int number) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "execvp",
      {"K0450",
       "`" + name + "` cannot be started",
       {{"reason", std::strerror(number)}},
       {number == ENOENT ? "look for it: command -v PROGRAM" : "see whether it may be executed here"}});
}

}  // namespace

int simulate(const SimulateOptions& options) {
  if (void* const driver = dlopen(detail::kIntelDriver, RTLD_LAZY | RTLD_LOCAL))
    if (const auto talks = detail::need_talking_driver(detail::kIntelDriver, driver); !talks)
      return fail(talks.error(), kFailed);
  const auto port = detail::start_simulator(options.product, end_program, nullptr);
  if (!port) return fail(port.error(), kFailed);
  const auto capture = detail::capture_variables(options.product);
  if (!capture) return fail(capture.error(), kFailed);
  for (const auto& [name, value] : *capture)
    if (std::string_view(name) == "HardwareInfoOverride") setenv(name, value.c_str(), 1);
  for (const auto& [name, value] : detail::simulated_variables(options.product, *port))
    setenv(name, value.c_str(), 1);
  // Of Intel's OpenCL driver alone, which 22.43 reads beside the others, unless the caller chose:
  // Waits that look at a command's timestamp submit no batch before, and wait for what is in it for ever.
  for (const char* name : {"EnableTimestampWaitForQueues", "EnableTimestampWaitForEvents"})
    setenv(name, "0", 0);
  // Of large pages it has a description, which is none for a pvc without local memory, and reads it.
  if (options.product == "pvc") setenv("Enable64kbpages", "0", 0);
  // A Kiln inside takes the driver that is configured here.
  setenv("KILN_DEVICE", "gpu", 1);

  std::vector<char*> words;
  for (const std::string& word : options.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  // The keyboard's signals are the program's; those to this process alone are passed on.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int each : {SIGINT, SIGQUIT}) take(each, SIG_IGN, defaults);
  for (const int each : {SIGTERM, SIGHUP}) take(each, pass_on, defaults);
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored, no status comes
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int number = posix_spawnp(&process, words[0], nullptr, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (number != 0)
    return fail(not_started(options.program[0], number), number == ENOENT ? kNotFound : kNotStarted);
  program = process;
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return kFailed;
  program = 0;
  for (const int each : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    if (sigismember(&defaults, each) == 1) std::signal(each, SIG_DFL);
  wait_for_others(options.program[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace kiln::tool
