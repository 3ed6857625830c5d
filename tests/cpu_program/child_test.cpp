// SPDX-License-Identifier: MIT
// Work in a child process: what it returns, and every way in which it may die instead.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "cpu_driver/program/child_process.hpp"

namespace kiln::cpu::test {
namespace {

using Kind = ChildOutcome::Kind;

bool says(const ChildOutcome& outcome, const char* words) {
  return outcome.text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a child returns its text, however long") {
  for (const std::size_t size : {0u, 1u, 100u, 3'000'000u}) {
    const ChildOutcome outcome = run_in_child([size] { return std::string(size, 'x'); });
    CHECK(outcome.kind == Kind::finished);
    CHECK(outcome.text == std::string(size, 'x'));
  }
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
  CHECK(killed.kind == Kind::ended);
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
  static int handler_pipe[2];
  REQUIRE(::pipe(handler_pipe) == 0);
  std::atexit([] {
    if (in_child) [[maybe_unused]]
      const auto ignored = ::write(handler_pipe[1], "!", 1);
  });
  const ChildOutcome outcome = run_in_child([]() -> std::string {
    in_child = true;
    std::exit(11);
  });
  CHECK(outcome.kind == Kind::ended);
  CHECK(says(outcome, "exit status"));
  ::close(handler_pipe[1]);
  char ran = 0;
  CHECK(::read(handler_pipe[0], &ran, 1) == 0);
  ::close(handler_pipe[0]);
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
