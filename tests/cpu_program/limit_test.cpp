// SPDX-License-Identifier: MIT
// Launches that would never end are stopped, wherever their kernel is, and the next ones run.
#include <doctest/doctest.h>

#include <csignal>
#include <thread>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Program> build_endless(const char* flags = "") {
  BuildOptions options;
  options.flags = flags;
  BuildResult result = build_from_spirv(read_file("endless.spv"), options);
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  return std::move(result.program);
}

ExecutionStatus run(const Program& program, const char* name, Three groups, std::vector<std::int32_t>& data,
                    std::chrono::nanoseconds limit, std::string& report) {
  const std::array values{argument(data)};
  return execute({find(program, name), values, groups, {32, 1, 1}, {}, nullptr, limit}, &report);
}

void check_endless(const Program& program, const char* name, Three groups) {
  CAPTURE(name);
  std::vector<std::int32_t> data(32 * groups[0]);
  std::string report;
  CHECK(run(program, name, groups, data, 20ms, report) == ExecutionStatus::stopped);
  CHECK(report ==
        "kernel '" + std::string(name) +
            "' took longer than the 0.02 s that KILN_CPU_TIMEOUT gives a launch, and was stopped in "
            "its middle");
  report.clear();
  CHECK(run(program, "good", groups, data, 60s, report) == ExecutionStatus::ok);
  CHECK(report.empty());
  for (std::size_t i = 0; i < data.size(); ++i) CHECK(data[i] == static_cast<std::int32_t>(i + 1));
}

constexpr const char* kEndless[] = {"plain", "in_mathematics", "behind_a_barrier", "at_barriers",
                                    "of_the_grid"};

}  // namespace

TEST_CASE("endless kernels are stopped in every way of running them" * doctest::skip(!can_limit_launches())) {
  for (const char* flags : {"", "-cl-opt-disable", "-kiln-counters"}) {
    CAPTURE(flags);
    const auto program = build_endless(flags);
    for (const char* name : kEndless) {
      check_endless(*program, name, {1, 1, 1});
      check_endless(*program, name, {7, 1, 1});
    }
    std::vector<std::int32_t> data(32);
    std::string report;
    CHECK(run(*program, "many_groups", {100'000, 1, 1}, data, 20ms, report) == ExecutionStatus::stopped);
  }
}

TEST_CASE("several endless kernels at once are stopped, and the good one beside them is not" *
          doctest::skip(!can_limit_launches())) {
  const auto program = build_endless();
  std::vector<std::thread> threads;
  for (const char* name : kEndless)
    threads.emplace_back([&, name] {
      for (int i = 0; i < 5; ++i) {
        std::vector<std::int32_t> data(96);
        std::string report;
        CHECK(run(*program, name, {3, 1, 1}, data, 10ms, report) == ExecutionStatus::stopped);
      }
    });
  for (int i = 0; i < 100; ++i) {
    std::vector<std::int32_t> data(96);
    std::string report;
    CHECK(run(*program, "good", {3, 1, 1}, data, 60s, report) == ExecutionStatus::ok);
    CHECK(data[95] == 96);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a thread that blocks the signal is interrupted, and blocks it behind the launch" *
          doctest::skip(!can_limit_launches())) {
  const auto program = build_endless();
  std::vector<std::int32_t> data(32);
  std::string report;
  sigset_t blocked, old, after;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGURG);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &blocked, &old) == 0);
  CHECK(run(*program, "plain", {1, 1, 1}, data, 10ms, report) == ExecutionStatus::stopped);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &old, &after) == 0);
  CHECK(sigismember(&after, SIGURG) == 1);
}

}  // namespace kiln::cpu::test
