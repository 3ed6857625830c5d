// SPDX-License-Identifier: MIT
// Kernels that are compiled when they are asked for: what is known before, who compiles, what can go wrong.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "assemble.hpp"
#include "drivers/cpu/compiler/child_process.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

constexpr const char* kFifty = "../../../bench/cache/fifty.spv";
const std::vector<std::uint32_t> kRounds = {4, 1, 3};  // of regions.cl

BuildResult build_late(const char* file, const char* flags = "") {
  BuildOptions options;
  options.flags = flags;
  options.late = true;
  return build_from_spirv(read_file(file), options);
}

BuildResult build_late_text(const std::string& text) {
  BuildOptions options;
  options.late = true;
  return build_from_spirv(assemble(text), options);
}

std::size_t ready(const Program& program) {
  return static_cast<std::size_t>(std::ranges::count_if(
      program.kernels(), [](const CompiledKernel& kernel) { return kernel.entry != nullptr; }));
}

/// What kernel `name` of the fifty makes of 64 numbers, in two groups.
std::vector<float> answer(const Program& program, const char* name) {
  std::vector<float> in(64 * 3), out(64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7);
  std::string log;
  REQUIRE_MESSAGE(program.make_ready(find(program, name), log) == BuildStatus::ok, log);
  REQUIRE(launch(program, name, {2, 1, 1}, {32, 1, 1}, in, out, std::uint32_t{3}, local(32 * 4)));
  return out;
}

}  // namespace

TEST_CASE("a kernel is compiled when it is asked for, and others with it only after others") {
  const BuildResult late = build_late(kFifty), whole = build_from_spirv(read_file(kFifty), {});
  REQUIRE_MESSAGE(late.status == BuildStatus::ok, late.log);
  REQUIRE_MESSAGE(whole.status == BuildStatus::ok, whole.log);
  const Program& program = *late.program;
  REQUIRE(program.kernels().size() == whole.program->kernels().size());
  CHECK(ready(program) == 0);
  CHECK(ready(*whole.program) == 50);
  for (std::size_t i = 0; i < 50; ++i) {
    const KernelFacts &one = program.kernels()[i].facts, &other = whole.program->kernels()[i].facts;
    CHECK(one.name == other.name);
    CHECK(one.arguments.size() == other.arguments.size());
    CHECK(one.simd_size == other.simd_size);
    CHECK(one.static_slm == other.static_slm);
  }
  CHECK(answer(program, "k33") == answer(*whole.program, "k33"));
  CHECK(ready(program) == 1);
  CHECK(answer(program, "k33") == answer(*whole.program, "k33"));
  CHECK(ready(program) == 1);
  CHECK(answer(program, "k10") == answer(*whole.program, "k10"));
  CHECK(ready(program) == 2);
  CHECK(answer(program, "k59") == answer(*whole.program, "k59"));
  CHECK(ready(program) == 4);
}

TEST_CASE(
    "functions that only combine the values of a sub-group or a group keep no kernel from coming late") {
  const BuildResult late = build_late("group.ocloc.spv"),
                    whole = build_from_spirv(read_file("group.ocloc.spv"), {});
  REQUIRE_MESSAGE(late.status == BuildStatus::ok, late.log);
  REQUIRE_MESSAGE(whole.status == BuildStatus::ok, whole.log);
  CHECK(ready(*late.program) == 0);
  for (const char* name : {"sub_group_float", "work_group_float"}) {
    std::vector<float> in(64), answers[2];
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1.0f / static_cast<float>(i + 1);
    for (const Program* program : {&*late.program, &*whole.program}) {
      std::vector<float>& out = answers[program == &*whole.program];
      out.resize(9 * in.size());
      std::string log;
      REQUIRE_MESSAGE(program->make_ready(find(*program, name), log) == BuildStatus::ok, log);
      REQUIRE(launch(*program, name, {2, 1, 1}, {32, 1, 1}, in, out, std::uint32_t{64}));
    }
    CHECK(answers[0] == answers[1]);
    CHECK(answers[0][0] > 1.0f);
  }
  CHECK(ready(*late.program) == 2);
}

TEST_CASE("a native binary has all kernels, whatever was asked for before") {
  const BuildResult late = build_late(kFifty);
  REQUIRE_MESSAGE(late.status == BuildStatus::ok, late.log);
  REQUIRE(ready(*late.program) == 0);
  const std::vector<float> before = answer(*late.program, "k12");
  CHECK(late.program->native_binary().empty());
  std::string log;
  REQUIRE_MESSAGE(late.program->make_ready(nullptr, log) == BuildStatus::ok, log);
  CHECK(ready(*late.program) == 50);
  const auto binary = late.program->native_binary();
  const BuildResult again = build_from_native(binary);
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  CHECK(ready(*again.program) == 50);
  for (const char* name : {"k10", "k12", "k59"})
    CHECK(answer(*again.program, name) == answer(*late.program, name));
  CHECK(answer(*again.program, "k12") == before);
  CHECK(std::ranges::equal(again.program->native_binary(), binary));
}

TEST_CASE("objects in a native binary stand where they can be read, whatever is before them") {
  for (const char* file :
       {"execute.clang.spv", "regions.ocloc.spv", "memory.ocloc.spv", "../../device/spirv/limits.spv"}) {
    // Flags stand in the binary as they are.
    for (const char* flags : {"", "-w", "-g ", "-cl-mad-enable"}) {
      const BuildResult late = build_late(file, flags);
      REQUIRE_MESSAGE(late.status == BuildStatus::ok, late.log);
      REQUIRE(ready(*late.program) == 0);
      std::string log;
      REQUIRE_MESSAGE(late.program->make_ready(nullptr, log) == BuildStatus::ok, log);
      const BuildResult again = build_from_native(late.program->native_binary());
      REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
      CHECK(ready(*again.program) == late.program->kernels().size());
      if (file != std::string("../../device/spirv/limits.spv")) break;
    }
  }
}

TEST_CASE("threads that want kernels of one module at the same time all get them") {
  const BuildResult late = build_late("regions.ocloc.spv");
  REQUIRE_MESSAGE(late.status == BuildStatus::ok, late.log);
  REQUIRE(ready(*late.program) == 0);
  const auto kernels = late.program->kernels();
  std::atomic<std::size_t> well = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        std::string log;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
          const CompiledKernel& kernel = kernels[(i + thread * kernels.size() / 8) % kernels.size()];
          if (late.program->make_ready(&kernel, log) == BuildStatus::ok && kernel.entry != nullptr) ++well;
        }
        if (thread == 0 && late.program->make_ready(nullptr, log) != BuildStatus::ok) well = 0;
      });
  }
  CHECK(well == 4 * kernels.size());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need addresses of their own
// In a child, whose own children inherit the limit.
TEST_CASE("a late compilation that finds no memory says so, and goes well another time") {
  const ChildOutcome outcome = run_in_child([]() -> std::string {
    const BuildResult late = build_late(kFifty);
    if (late.status != BuildStatus::ok) return "not built: " + late.log;
    if (ready(*late.program) != 0) return "is ready at once";
    const CompiledKernel* kernel = find(*late.program, "k20");
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    const rlimit before = limit;
    limit.rlim_cur = 0;  // no more than there is
    setrlimit(RLIMIT_AS, &limit);
    std::string log;
    const BuildStatus short_of_it = late.program->make_ready(kernel, log);
    setrlimit(RLIMIT_AS, &before);
    if (short_of_it != BuildStatus::out_of_memory || log.empty()) return "another answer: " + log;
    if (kernel->entry != nullptr) return "is ready without code";
    if (late.program->make_ready(kernel, log) != BuildStatus::ok) return "does not recover: " + log;
    return "well";
  });
  CHECK(outcome.kind == ChildOutcome::Kind::finished);
  CHECK(outcome.text == "well");
}
#endif

TEST_CASE("what kernels share, and what counts, is compiled at once") {
  for (const char* flags : {"-kiln-counters", "-cl-opt-disable", "-ze-take-global-address"}) {
    const BuildResult whole = build_late("regions.ocloc.spv", flags);
    REQUIRE_MESSAGE(whole.status == BuildStatus::ok, whole.log);
    CHECK(ready(*whole.program) == whole.program->kernels().size());
  }
  // A variable of the program, which two kernels count in.
  const BuildResult variable = build_late_text(R"(
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %one "one"
OpEntryPoint Kernel %two "two"
OpDecorate %count LinkageAttributes "count" Export
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%to_uint = OpTypePointer CrossWorkgroup %uint
%void = OpTypeVoid
%type = OpTypeFunction %void
%count = OpVariable %to_uint CrossWorkgroup %zero
%one = OpFunction %void None %type
%b1 = OpLabel
OpStore %count %zero
OpReturn
OpFunctionEnd
%two = OpFunction %void None %type
%b2 = OpLabel
OpStore %count %zero
OpReturn
OpFunctionEnd
)");
  REQUIRE_MESSAGE(variable.status == BuildStatus::ok, variable.log);
  CHECK(ready(*variable.program) == 2);
  CHECK(variable.program->global_variable("count").address != nullptr);
}

TEST_CASE("kernels come late with small constants, of which each has its own, and not with large ones") {
  const auto with_table = [](int words) {
    return build_late_text(R"(
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %one "one"
OpEntryPoint Kernel %two "two"
OpDecorate %table LinkageAttributes "table" Export
OpDecorate %table Constant
%uint = OpTypeInt 32 0
%words = OpConstant %uint )" +
                           std::to_string(words) + R"(
%numbers = OpTypeArray %uint %words
%zeros = OpConstantNull %numbers
%to_numbers = OpTypePointer UniformConstant %numbers
%void = OpTypeVoid
%type = OpTypeFunction %void
%table = OpVariable %to_numbers UniformConstant %zeros
%one = OpFunction %void None %type
%b1 = OpLabel
OpReturn
OpFunctionEnd
%two = OpFunction %void None %type
%b2 = OpLabel
OpReturn
OpFunctionEnd
)");
  };
  const BuildResult small = with_table(1 << 10), large = with_table(1 << 18);
  REQUIRE_MESSAGE(small.status == BuildStatus::ok, small.log);
  REQUIRE_MESSAGE(large.status == BuildStatus::ok, large.log);
  CHECK(ready(*small.program) == 0);
  CHECK(ready(*large.program) == 2);
  CHECK(small.program->global_variable("table").read_only);
  CHECK(large.program->global_variable("table").size == 1 << 20);
}

TEST_CASE("a program has its exported constants, whenever its kernels are compiled") {
  const auto rounds = [](const Program& program) {
    const Program::Symbol symbol = program.global_variable("kRounds");
    std::vector<std::uint32_t> values(symbol.size / sizeof(std::uint32_t));
    if (symbol.address != nullptr) std::memcpy(values.data(), symbol.address, symbol.size);
    return values;
  };
  for (const char* file : {"regions.ocloc.spv", "regions.clang.spv"}) {
    const BuildResult late = build_late(file), whole = build_from_spirv(read_file(file), {});
    REQUIRE_MESSAGE(late.status == BuildStatus::ok, late.log);
    REQUIRE_MESSAGE(whole.status == BuildStatus::ok, whole.log);
    REQUIRE(ready(*late.program) == 0);
    CHECK(rounds(*whole.program) == kRounds);
    CHECK(rounds(*late.program) == kRounds);
    CHECK(late.program->global_variable("nothing").address == nullptr);
    CHECK(ready(*late.program) == 0);
    std::string log;
    REQUIRE_MESSAGE(late.program->make_ready(nullptr, log) == BuildStatus::ok, log);
    CHECK(rounds(*late.program) == kRounds);
    const BuildResult again = build_from_native(late.program->native_binary());
    REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
    CHECK(rounds(*again.program) == kRounds);
  }
}

// Functions are inlined, so that what one kernel calls counts together, however little each has.
TEST_CASE("too much private memory is told with the module, and not when a kernel is asked for") {
  std::string text = R"(
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %one "one"
OpEntryPoint Kernel %two "two"
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%mask = OpConstant %uint 131071
%length = OpConstant %uint 131072
%array = OpTypeArray %uint %length
%to_array = OpTypePointer Function %array
%to_own = OpTypePointer Function %uint
%to_uint = OpTypePointer CrossWorkgroup %uint
%void = OpTypeVoid
%kernel = OpTypeFunction %void %to_uint
%function = OpTypeFunction %uint %uint
)";
  constexpr int kFunctions = 40;  // of half a MiB each
  for (int i = 0; i < kFunctions; ++i) {
    const std::string n = std::to_string(i);
    text += "%f" + n + " = OpFunction %uint None %function\n%x" + n + " = OpFunctionParameter %uint\n%b" + n +
            " = OpLabel\n%v" + n + " = OpVariable %to_array Function\n%i" + n + " = OpBitwiseAnd %uint %x" +
            n + " %mask\n%p" + n + " = OpInBoundsPtrAccessChain %to_own %v" + n + " %zero %i" + n +
            "\nOpStore %p" + n + " %i" + n + "\n%k" + n + " = OpShiftRightLogical %uint %i" + n + " %i" + n +
            "\n%q" + n + " = OpInBoundsPtrAccessChain %to_own %v" + n + " %zero %k" + n + "\n%r" + n +
            " = OpLoad %uint %q" + n + "\nOpReturnValue %r" + n + "\nOpFunctionEnd\n";
  }
  for (const std::string name : {"one", "two"}) {
    text += "%" + name + " = OpFunction %void None %kernel\n%to_" + name +
            " = OpFunctionParameter %to_uint\n%b_" + name + " = OpLabel\n%" + name + "0 = OpLoad %uint %to_" +
            name + "\n";
    for (int i = 0; i < kFunctions; ++i)
      text += "%" + name + std::to_string(i + 1) + " = OpFunctionCall %uint %f" + std::to_string(i) + " %" +
              name + std::to_string(i) + "\n";
    text += "OpStore %to_" + name + " %" + name + std::to_string(kFunctions) + "\nOpReturn\nOpFunctionEnd\n";
  }
  const BuildResult late = build_late_text(text);
  CHECK(late.status == BuildStatus::build_failure);
  CHECK_MESSAGE(late.log.find("has too much private memory") != late.log.npos, late.log);
}

}  // namespace kiln::cpu::test
