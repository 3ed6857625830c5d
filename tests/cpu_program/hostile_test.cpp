// SPDX-License-Identifier: MIT
// Small modules that are made to explode: refused, or compiled without it, and never for long.
#include <doctest/doctest.h>

#include <atomic>

#include "assemble.hpp"
#include "drivers/cpu/compiler/child_process.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

const std::string kEntry = "OpEntryPoint Kernel %k \"k\"\n";

std::string number(int i) { return std::to_string(i); }

/// `count` functions of which each calls the one before twice; `body` is that of the first.
std::string doubling(int count, const std::string& control, const std::string& body) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string n = number(i), before = number(i - 1);
    text += "%f" + n + " = OpFunction %void " + control + " %function_type\n%l" + n + " = OpLabel\n";
    text += i == 0 ? body
                   : "%a" + n + " = OpFunctionCall %void %f" + before + "\n%b" + n +
                         " = OpFunctionCall %void %f" + before + "\n";
    text += "OpReturn\nOpFunctionEnd\n";
  }
  return text + R"(
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%called = OpFunctionCall %void %f)" +
         number(count - 1) + R"(
OpStore %data %seven Aligned 4
OpReturn
OpFunctionEnd
)";
}

}  // namespace

TEST_CASE("a structure that is doubled 63 times is refused") {
  std::string text = kHead + kModel + kEntry + kTypes + "%s0 = OpTypeStruct %uint %uint\n";
  for (int i = 1; i < 63; ++i)
    text += "%s" + number(i) + " = OpTypeStruct %s" + number(i - 1) + " %s" + number(i - 1) + "\n";
  const BuildResult result = build_from_spirv(assemble(text + R"(
%to_large = OpTypePointer CrossWorkgroup %s62
%large_kernel_type = OpTypeFunction %void %to_large %to_large
%k = OpFunction %void None %large_kernel_type
%from = OpFunctionParameter %to_large
%to = OpFunctionParameter %to_large
%entry = OpLabel
%value = OpLoad %s62 %from
OpStore %to %value
OpReturn
OpFunctionEnd
)"),
                                              {});
  CHECK(result.status == BuildStatus::build_failure);
  CHECK(result.log.find("OpTypeStruct") != std::string::npos);
  CHECK(result.log.find("more members") != std::string::npos);
}

TEST_CASE("functions that call each other twice do not grow, whatever they wish") {
  for (const char* control : {"None", "Inline"}) {
    CAPTURE(std::string(control));
    const std::string variables =
        "%to_private = OpTypePointer Function %uint\n%function_type = OpTypeFunction %void\n";
    const BuildResult result = build_from_spirv(
        assemble(kHead + kModel + kEntry + kTypes + variables +
                 doubling(40, control,
                          "%v = OpVariable %to_private Function\nOpStore %v %one Volatile|Aligned 4\n")),
        {});
    CHECK_MESSAGE(result.status == BuildStatus::ok, result.log);
  }
}

TEST_CASE("a thousand inlined barriers are compiled") {
  const std::string types =
      "%function_type = OpTypeFunction %void\n%group = OpConstant %uint 2\n%order = OpConstant %uint 272\n";
  const BuildResult result =
      build_from_spirv(assemble(kHead + kModel + kEntry + kTypes + types +
                                doubling(11, "None", "OpControlBarrier %group %group %order\n")),
                       {});
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  std::vector<std::uint32_t> data(1);
  REQUIRE(launch(*result.program, "k", {1, 1, 1}, {4, 1, 1}, data));
  CHECK(data[0] == 7);
}

TEST_CASE("a child that uses up its CPU time is ended as too slow") {
  const ChildOutcome outcome = run_in_child(
      []() -> std::string {
        const std::atomic<bool> forever = true;
        while (forever.load()) {
        }
        return {};
      },
      1);
  CHECK(outcome.kind == ChildOutcome::Kind::too_slow);
}

}  // namespace kiln::cpu::test
