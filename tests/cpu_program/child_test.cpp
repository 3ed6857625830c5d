// SPDX-License-Identifier: MIT
// Work in a child process: what it returns, and every way in which it may die instead.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "drivers/cpu/compiler/child_process.hpp"
#include "drivers/cpu/compiler/compilation.hpp"

namespace kiln::cpu::test {
namespace {

using Kind = ChildOutcome::Kind;

bool says(const ChildOutcome& outcome, const char* words) {
  return outcome.text.find(words) != std::string::npos;
}

/// One value that forks of this process share.
template <class Value>
class Shared {
 public:
  Shared()
      : value_(new (::mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                   Value()) {}
  Value& operator*() const { return *value_; }

 private:
  Value* value_;
};

}  // namespace

TEST_CASE("a child returns its text, however long") {
  for (const std::size_t size : {0u, 1u, 100u, 3'000'000u}) {
    const ChildOutcome outcome = run_in_child([size] { return std::string(size, 'x'); });
    CHECK(outcome.kind == Kind::finished);
    CHECK(outcome.text == std::string(size, 'x'));
  }
}

TEST_CASE("where the compiler dies of optimizing, what comes without is taken, and said") {
  const auto dies = [](Compilation&) -> bool { std::abort(); };
  const auto well = [](Compilation& out) {
    out.log = "warning: own\n";
    out.code.resize(3);
    return true;
  };
  const auto refuses = [](Compilation& out) {
    out.log = "error: own\n";
    return false;
  };
  const Compilation plain = compile_in_child({dies, well, {}, 0});
  CHECK(plain.well);
  CHECK(plain.code.size() == 3);
  CHECK(
      plain.log.starts_with("warning: compiled without optimization, since with it LLVM ends with signal 6"));
  CHECK(plain.log.ends_with("warning: own\n"));
  const auto why = [] { return std::string("the reason\n"); };
  for (const auto& second :
       {std::function<bool(Compilation&)>(dies), std::function<bool(Compilation&)>(refuses),
        std::function<bool(Compilation&)>()}) {
    const Compilation failed = compile_in_child({dies, second, why, 0});
    CHECK_FALSE(failed.well);
    CHECK(failed.log.starts_with("error: this module makes the compiler end with signal 6"));
    CHECK(failed.log.ends_with("error: the reason\n"));
  }
  // What is refused is not tried again.
  const Compilation refused = compile_in_child({refuses, well, {}, 0});
  CHECK_FALSE(refused.well);
  CHECK(refused.log == "error: own\n");
}

TEST_CASE("a child that dies is told from one that finished, with its words") {
  const ChildOutcome aborted = run_in_child([]() -> std::string {
    std::fputs("the last words\n", stderr);
    std::abort();
  });
  CHECK(aborted.kind == Kind::ended);
  CHECK(says(aborted, "signal 6"));
  CHECK(says(aborted, "the last words"));

  const ChildOutcome killed = run_in_child([]() -> std::string {
    ::kill(::getpid(), SIGKILL);
    return "never";
  });
  CHECK(killed.kind == Kind::killed);
  CHECK(says(killed, "signal 9"));

  const ChildOutcome thrown = run_in_child([]() -> std::string { throw 1; });
  CHECK(thrown.kind == Kind::ended);
  CHECK(says(thrown, "signal 6"));
}

TEST_CASE("a child that waits for ever is given up") {
  const ChildOutcome outcome = run_in_child([]() -> std::string {
    for (;;) ::pause();
  });
  CHECK(outcome.kind == Kind::not_started);
}

TEST_CASE("a child that calls exit runs no exit handler of this process") {
  static bool in_child = false;
  static const Shared<bool> ran;
  std::atexit([] {
    if (in_child) *ran = true;
  });
  const ChildOutcome outcome = run_in_child([]() -> std::string {
    in_child = true;
    std::exit(11);
  });
  CHECK(outcome.kind == Kind::ended);
  CHECK(says(outcome, "exit status"));
  CHECK(!*ran);
}

TEST_CASE("a child has no file of its parent") {
  const int file = ::memfd_create("locked", 0);
  REQUIRE(file > STDERR_FILENO);
  const ChildOutcome outcome = run_in_child([] {
    std::string open;
    for (int descriptor = STDERR_FILENO + 1; descriptor < 1024; ++descriptor)
      if (::fcntl(descriptor, F_GETFD) >= 0) open += std::to_string(descriptor) + " ";
    return open;
  });
  CHECK(outcome.text == "3 ");  // the pipe
  CHECK(::fcntl(file, F_GETFD) >= 0);
  ::close(file);
}

TEST_CASE("a child dies with its parent") {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that this process can wait for its grandchild
  const Shared<std::atomic<pid_t>> grandchild;
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)run_in_child([&]() -> std::string {
      ::alarm(20);
      *grandchild = ::getpid();
      for (;;) ::pause();
    });
    ::_exit(0);
  }
  while (*grandchild == 0 && ::waitpid(parent, nullptr, WNOHANG) == 0) std::this_thread::yield();
  REQUIRE(*grandchild != 0);
  ::kill(parent, SIGKILL);
  int status = 0;
  CHECK(::waitpid(parent, &status, 0) == parent);
  CHECK(::waitpid(*grandchild, &status, 0) == *grandchild);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("threads have children at the same time") {
  std::vector<std::thread> threads;
  std::vector<int> right(8);
  for (std::size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&right, i] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        const std::string wanted(1000 * i, static_cast<char>('a' + i));
        right[i] += run_in_child([&] { return wanted; }).text == wanted;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(8, 5));
}

}  // namespace kiln::cpu::test
