// SPDX-License-Identifier: MIT
// Kernels with barriers as loops over work-items give what they give with a fiber for each.
#include <doctest/doctest.h>

#include "assemble.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

BuildResult build_regions(const char* file, const char* flags) {
  BuildOptions options;
  options.flags = flags;
  return build_from_spirv(read_file(file), options);
}

bool mentions(const Program& program, std::string_view name) {
  return !std::ranges::search(program.native_binary(), std::as_bytes(std::span(name))).empty();
}

std::vector<std::int32_t> run(const Program& program, std::string_view name, Three size, std::int32_t n) {
  constexpr Three kGroups = {3, 2, 1};
  const std::uint32_t items = size[0] * size[1] * size[2];
  std::vector<std::int32_t> in(64), out(std::size_t{items} * 6, -7);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i * 37 % 101);
  CHECK(launch(program, name, kGroups, size, in, out, n, local(items * 32)));
  return out;
}

}  // namespace

TEST_CASE("regions give what fibers give") {
  for (const char* file : {"regions.ocloc.spv", "regions.clang.spv", "arrays.ocloc.spv"}) {
    CAPTURE(file);
    const BuildResult regions = build_regions(file, ""), fibers = build_regions(file, "-cl-opt-disable");
    REQUIRE_MESSAGE(regions.status == BuildStatus::ok, regions.log);
    REQUIRE_MESSAGE(fibers.status == BuildStatus::ok, fibers.log);
    CHECK(!mentions(*regions.program, "kiln.kernel_item."));
    CHECK(mentions(*fibers.program, "kiln.kernel_item."));
    for (const CompiledKernel& kernel : regions.program->kernels())
      for (const Three size :
           {Three{1, 1, 1}, Three{64, 1, 1}, Three{5, 3, 2}, Three{33, 1, 4}, Three{1, 1, 17}})
        for (const std::int32_t n : {1, 2, 4, 5, 7}) {
          const std::string& name = kernel.facts.name;
          CAPTURE(name);
          CAPTURE(size[0]);
          CAPTURE(n);
          CHECK(run(*regions.program, name, size, n) == run(*fibers.program, name, size, n));
        }
  }
}

// Each goes through all regions before the next one; where they are not all of one row a fiber runs each
// item, as with counters.
TEST_CASE("sub-groups that go different ways give what fibers give") {
  for (const std::uint32_t sub_group : {8u, 16u, 32u}) {
    CAPTURE(sub_group);
    const auto build = [&](const char* flags) {
      BuildOptions options;
      options.flags = flags;
      options.sub_group_sizes = {sub_group, 0, 0};
      return build_from_spirv(read_file("sub_groups.ocloc.spv"), options);
    };
    const BuildResult both = build(""), fibers = build("-cl-opt-disable"), counted = build("-kiln-counters");
    for (const BuildResult* each : {&both, &fibers, &counted})
      REQUIRE_MESSAGE(each->status == BuildStatus::ok, each->log);
    for (const CompiledKernel& kernel : both.program->kernels()) {
      const std::string& name = kernel.facts.name;
      CAPTURE(name);
      for (const Three size :
           {Three{1, 1, 1}, Three{64, 1, 1}, Three{37, 1, 1}, Three{5, 1, 1}, Three{32, 3, 2},
            Three{16, 5, 1}, Three{7, 6, 1}, Three{20, 2, 3}, Three{1, 1, 17}})
        for (const std::int32_t n : {1, 2, 5}) {
          // The sub-group has no offset of its own there.
          if (name == "offsets" && size[1] * size[2] > 1 && size[0] % sub_group != 0) continue;
          CAPTURE(size[0]);
          CAPTURE(size[1]);
          CAPTURE(n);
          const std::vector<std::int32_t> answer = run(*fibers.program, name, size, n);
          CHECK(run(*both.program, name, size, n) == answer);
          CHECK(run(*counted.program, name, size, n) == answer);
        }
      std::string log;
      REQUIRE_MESSAGE(both.program->make_ready(&kernel, log) == BuildStatus::ok, log);
      const auto& loaded = *static_cast<const LoadedKernel*>(kernel.entry);
      CHECK((loaded.run_item != nullptr));
      CHECK((loaded.run_group != nullptr) == (name != "apart"));
    }
  }
}

// Unrolled, they were four times the module, which took most of the time to compile it: those over
// work-items, and those of the kernel that go round them, of which each of the fifty kernels has one.
TEST_CASE("loops over work-items stay short") {
  for (const char* file : {"regions.ocloc.spv", "../../../bench/cache/fifty.spv"}) {
    const BuildResult result = build_regions(file, "");
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    CHECK(result.program->native_binary().size() < 3 * read_file(file).size());
  }
}

// What runs each item as often as there are rows, and what cuts ids to 32 bits, must come out right too.
TEST_CASE("kernels that know one dimension run all items of three, and ids are cut as they wrap") {
  const BuildResult result = build_from_spirv(assemble(R"(
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %count "count"
OpEntryPoint Kernel %low "low" %id
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %id Constant
OpDecorate %id LinkageAttributes "__spirv_BuiltInGlobalInvocationId" Import
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%v3 = OpTypeVector %ulong 3
%to_v3 = OpTypePointer Input %v3
%zero = OpConstant %uint 0
%device = OpConstant %uint 1
%group = OpConstant %uint 2
%fence = OpConstant %uint 272
%fifteen = OpConstant %uint 15
%to_uint = OpTypePointer CrossWorkgroup %uint
%void = OpTypeVoid
%type = OpTypeFunction %void %to_uint
%id = OpVariable %to_v3 Input
%count = OpFunction %void None %type
%out1 = OpFunctionParameter %to_uint
%b1 = OpLabel
%one = OpAtomicIIncrement %uint %out1 %device %zero
OpControlBarrier %group %group %fence
%two = OpAtomicIIncrement %uint %out1 %device %zero
OpReturn
OpFunctionEnd
%low = OpFunction %void None %type
%out2 = OpFunctionParameter %to_uint
%b2 = OpLabel
%ids = OpLoad %v3 %id
%x = OpCompositeExtract %ulong %ids 0
%half = OpUConvert %uint %x
%place = OpBitwiseAnd %uint %half %fifteen
%address = OpInBoundsPtrAccessChain %to_uint %out2 %place
OpStore %address %half
OpReturn
OpFunctionEnd
)"),
                                              {});
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  CHECK(!mentions(*result.program, "kiln.kernel_item."));
  for (const Three size :
       {Three{1, 1, 1}, Three{64, 1, 1}, Three{5, 3, 2}, Three{1, 1, 17}, Three{1, 6, 1}}) {
    std::vector<std::uint32_t> counter(1);
    REQUIRE(launch(*result.program, "count", {3, 2, 1}, size, counter));
    CHECK(counter[0] == 3 * 2 * 2 * size[0] * size[1] * size[2]);
  }
  std::vector<std::uint32_t> out(16);
  const ArgumentValue values[] = {argument(out)};
  REQUIRE(execute({find(*result.program, "low"), values, {4, 1, 1}, {4, 1, 1}, {0xfffffff8, 0, 0}}) ==
          ExecutionStatus::ok);
  for (std::uint32_t i = 0; i < 16; ++i) CHECK(out[(0xfffffff8 + i) & 15] == 0xfffffff8 + i);
}

TEST_CASE("private memory that leaves the stack is still told") {
  const BuildResult result = build_regions("regions.ocloc.spv", "");
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const CompiledKernel *arrays = find(*result.program, "private_arrays"),
                       *straight = find(*result.program, "straight");
  REQUIRE(arrays != nullptr);
  REQUIRE(straight != nullptr);
  CHECK(arrays->facts.private_size >= 8 * 4 + 4 * 8);
  CHECK(straight->facts.private_size == 0);
}

}  // namespace kiln::cpu::test
