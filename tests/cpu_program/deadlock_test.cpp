// SPDX-License-Identifier: MIT
// Work-items that wait for each other in vain: the launch ends, and the report names who waits where.
#include <doctest/doctest.h>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

/// The report of a launch that must end with a deadlock.
std::string report_of(const char* file, const char* name, Three groups, Three size,
                      std::uint32_t width = 16) {
  BuildOptions options;
  options.sub_group_sizes = {width, 0, 0};
  const BuildResult result = build_from_spirv(read_file(file), options);
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const CompiledKernel* kernel = find(*result.program, name);
  REQUIRE(kernel != nullptr);
  std::vector<std::int32_t> out(256);
  const std::array values = {argument(out)};
  std::string report;
  CHECK(execute({kernel, values, groups, size, {}}, &report) == ExecutionStatus::stopped);
  return report;
}

bool has(const std::string& report, const char* words) {
  INFO(report);
  CHECK(report.find(words) != report.npos);
  return report.find(words) != report.npos;
}

}  // namespace

TEST_CASE("divergent barriers are reported") {
  for (const char* file : {"group.ocloc.spv", "group.clang.spv"}) {
    CAPTURE(file);
    const std::string one = report_of(file, "hangs_at_barrier", {1, 1, 1}, {64, 1, 1});
    has(one, "kernel 'hangs_at_barrier' hangs in work-group (0, 0, 0)");
    has(one,
        "32 of 64 work-items wait at collective 1 of the kernel, a work-group barrier (linear local ids 0, "
        "2, "
        "..., 62)");
    has(one, "32 of 64 work-items have ended (linear local ids 1, 3, ..., 63)");
    const std::string two = report_of(file, "hangs_at_two_barriers", {1, 1, 1}, {32, 1, 1});
    has(two, "5 of 32 work-items wait");
    has(two, "linear local ids 0-4)");
    has(two, "27 of 32 work-items wait");
    has(two, "linear local ids 5-31)");
    CHECK(two.find("ended") == two.npos);
  }
  const std::string three = report_of("execute.ocloc.spv", "uneven", {1, 1, 1}, {64, 1, 1});
  has(three, "22 of 64 work-items wait");
  has(three, "21 of 64 work-items have ended (linear local ids 2, 5, ..., 62)");
}

TEST_CASE("collectives that an item never reaches are reported") {
  for (const char* file : {"group.ocloc.spv", "group.clang.spv"}) {
    CAPTURE(file);
    const std::string reduction = report_of(file, "hangs_at_reduction", {1, 1, 1}, {64, 1, 1});
    has(reduction,
        "15 of 64 work-items wait at collective 1 of the kernel, a sub-group reduction (linear local ids "
        "0-2, "
        "4-15)");
    has(reduction, "49 of 64 work-items have ended (linear local ids 3, 16-63)");
    const std::string scan = report_of(file, "hangs_at_work_group_scan", {1, 1, 1}, {48, 1, 1});
    has(scan,
        "40 of 48 work-items wait at collective 1 of the kernel, a work-group scan (linear local ids 0-39)");
  }
}

TEST_CASE("the report names the work-group, and later launches run") {
  const std::string second = report_of("group.ocloc.spv", "hangs_in_second_group", {2, 1, 1}, {20, 1, 1});
  has(second, "work-group (1, 0, 0)");
  has(second, "1 of 20 work-items have ended (linear local ids 0)");
  // The fibers of a group that hangs are left where they are; the next group has the same stacks.
  const BuildResult result = build_from_spirv(read_file("execute.ocloc.spv"), {});
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  std::vector<std::int32_t> in(64 * 50, 1), out(50);
  REQUIRE(launch(*result.program, "reduce", {50, 1, 1}, {64, 1, 1}, in, out, local(256)));
  CHECK(out == std::vector<std::int32_t>(50, 64));
}

}  // namespace kiln::cpu::test
