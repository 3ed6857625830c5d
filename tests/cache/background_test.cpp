// SPDX-License-Identifier: MIT
// Work behind the back of a program: its order, its end, and what a forked child has of it.
#include "cache/background.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

using kiln::cache::Background;

namespace {

/// Keeps the thread busy until it is opened.
struct Gate {
  std::atomic<bool> open{false}, reached{false};
  void wait() {
    reached = true;
    reached.notify_all();
    open.wait(false);
  }
  void pass() {
    open = true;
    open.notify_all();
  }
};

}  // namespace

TEST_CASE("work follows in its order, and all of it is done in the end") {
  std::string done;
  Gate gate;
  {
    Background background;
    background.follow([&] { gate.wait(); }, 0);
    for (const char each : {'a', 'b', 'c'}) background.follow([&done, each] { done += each; }, 1);
    background.start([&] { done += '!'; });  // not while there is other work
    CHECK(done.empty());
    gate.pass();
    background.finish();
    CHECK(done == "abc");
    background.follow([&] { throw 1; }, 1);
    background.follow([&] { done += 'd'; }, 1);
  }
  CHECK(done == "abcd");
}

TEST_CASE("what would take too much memory is done at once") {
  constexpr std::size_t kMany = std::size_t{40} << 20;
  Gate gate;
  Background background;
  std::thread::id first, second;
  background.follow([&] { gate.wait(); }, kMany);
  background.follow([&] { first = std::this_thread::get_id(); }, kMany);
  CHECK(first == std::this_thread::get_id());
  gate.pass();
  background.finish();
  background.follow([&] { second = std::this_thread::get_id(); }, kMany);
  background.finish();
  CHECK(second != std::this_thread::get_id());
}

#if !defined(__SANITIZE_THREAD__)  // which ends a child of several threads that begins one
TEST_CASE("a forked child does its own work alone, and ends") {
  Gate gate;
  std::atomic<int> done{0};
  Background background;
  background.follow([&] { gate.wait(); }, 0);
  background.follow([&] { ++done; }, 0);
  gate.reached.wait(false);
  const pid_t child = fork();
  if (child == 0) {
    background.finish();
    background.follow([&] { done += 10; }, 0);
    background.finish();
    background.~Background();
    _exit(done);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 10);
  gate.pass();
  background.finish();
  CHECK(done == 1);
}
#endif
