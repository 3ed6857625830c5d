// SPDX-License-Identifier: MIT
// Barriers of all work-groups: values across them, groups that do not come, counters.
#include <doctest/doctest.h>

#include <numeric>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

std::shared_ptr<const Program> build_grid(const char* flags = "") {
  BuildOptions options;
  options.flags = flags;
  BuildResult result = build_from_spirv(read_file("grid.spv"), options);
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  return std::move(result.program);
}

std::vector<std::int32_t> numbers(std::size_t count) {
  std::vector<std::int32_t> out(count);
  std::iota(out.begin(), out.end(), 5);
  return out;
}

/// What `reverse` computes.
std::vector<std::int32_t> reversed(std::vector<std::int32_t> data) {
  const std::size_t n = data.size();
  for (int round = 0; round < 4; ++round) {
    const std::vector<std::int32_t> before = data;
    for (std::size_t i = 0; i < n; ++i)
      data[i] = before[n - 1 - i] + round + before[i / 16 * 16 + (i + 1) % 16];
  }
  return data;
}

}  // namespace

TEST_CASE("all work-groups meet at a barrier of the grid") {
  for (const char* flags : {"", "-cl-opt-disable", "-kiln-counters"}) {
    CAPTURE(flags);
    const auto program = build_grid(flags);
    for (const std::uint32_t groups : {1u, 2u, 5u, 64u}) {
      CAPTURE(groups);
      std::vector<std::int32_t> data = numbers(16 * groups), other(data.size());
      const std::vector<std::int32_t> expected = reversed(data);
      REQUIRE(launch(*program, "reverse", {groups, 1, 1}, {16, 1, 1}, data, other));
      CHECK(data == expected);
    }
    std::vector<std::int32_t> data = numbers(96), other(96);
    REQUIRE(launch(*program, "by_scope", {3, 1, 2}, {16, 1, 1}, data, other));
    for (std::size_t i = 0; i < 48; ++i) CHECK(data[i] == static_cast<std::int32_t>(5 + 47 - i));
  }
}

TEST_CASE("kernels say whether they have a barrier of the grid, also as native binaries") {
  const auto program = build_grid();
  const BuildResult native = build_from_native(program->native_binary());
  REQUIRE(native.status == BuildStatus::ok);
  for (const Program* each : {program.get(), native.program.get()}) {
    CHECK(find(*each, "reverse")->grid_barrier);
    CHECK(find(*each, "by_scope")->grid_barrier);
    CHECK(find(*each, "some_items")->grid_barrier);
    CHECK_FALSE(find(*each, "alone")->grid_barrier);
    CHECK(find(*each, "reverse")->facts.barrier_count == 1);
  }
}

TEST_CASE("a barrier of the grid that some never reach ends the launch") {
  const auto program = build_grid();
  const auto report_of = [&](const char* name) {
    std::vector<std::int32_t> data(80);
    const std::array values{argument(data)};
    std::string report;
    CHECK(execute({find(*program, name), values, {5, 1, 1}, {16, 1, 1}, {}}, &report) ==
          ExecutionStatus::stopped);
    return report;
  };
  CHECK(report_of("some_groups") ==
        "kernel 'some_groups' hangs: 3 of 5 work-groups wait at a barrier of all work-groups; 2 have ended");
  const std::string items = report_of("some_items");
  INFO(items);
  CHECK(items.find("3 of 16 work-items wait at collective 1 of the kernel, a barrier of all work-groups "
                   "(linear local ids 0-2)") != items.npos);
  CHECK(items.find("13 of 16 work-items have ended") != items.npos);
}

}  // namespace kiln::cpu::test
