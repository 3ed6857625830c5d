// SPDX-License-Identifier: MIT
// Modules that are invalid by the letter, or that have parts which cannot run, and that Intel's drivers take.
#include <doctest/doctest.h>

#include "assemble.hpp"
#include "drivers/cpu/compiler/frontend/validate.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

/// Runs kernel "k" of one work-item over one number.
std::uint32_t run(const Program& program, std::uint32_t value = 0) {
  std::vector<std::uint32_t> data{value};
  REQUIRE(launch(program, "k", {1, 1, 1}, {1, 1, 1}, data));
  return data[0];
}

BuildResult build(const std::string& text, const BuildOptions& options = {}) {
  BuildResult result = build_from_spirv(assemble(text), options);
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  return result;
}

bool says(const BuildResult& result, const char* words) {
  return result.log.find(words) != std::string::npos;
}

const std::string kPlainKernel = R"(
%k = OpFunction %void None %kernel_type
%k_data = OpFunctionParameter %to_uint
%k_entry = OpLabel
OpStore %k_data %seven Aligned 4
OpReturn
OpFunctionEnd
)";

}  // namespace

TEST_CASE("blocks that do not stand in order of dominance") {
  const BuildResult result = build(kHead + kModel + "OpEntryPoint Kernel %k \"k\"\n" + kTypes + R"(
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
OpBranch %first
%second = OpLabel
%sum = OpIAdd %uint %product %one
OpStore %data %sum Aligned 4
OpReturn
%first = OpLabel
%value = OpLoad %uint %data Aligned 4
%product = OpIMul %uint %value %seven
OpBranch %second
OpFunctionEnd
)");
  CHECK(run(*result.program, 6) == 43);
  CHECK(says(result, "warning: SPIR-V: "));
  CHECK_FALSE(says(result, "error: "));
}

TEST_CASE("what an invalid module is invalid for is told first when its compilation fails") {
  const BuildResult result =
      build_from_spirv(assemble(kHead + kModel + "OpEntryPoint Kernel %k \"k\"\n" + kTypes + R"(
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%sum = OpIAdd %uint %seven %seven
OpStore %data %nowhere Aligned 4
OpReturn
OpFunctionEnd
)"),
                       {});
  CHECK(result.status == BuildStatus::build_failure);
  INFO(result.log);
  CHECK(says(result, "error: SPIR-V: ID"));
  CHECK(says(result, "has not been defined"));
}

TEST_CASE("kernels that cannot run do not stand in the way of those that can") {
  const std::string head = kHead + "OpCapability ImageBasic\nOpCapability LiteralSampler\n" + kModel;
  const std::string types = kTypes + R"(
%float = OpTypeFloat 32
%float4 = OpTypeVector %float 4
%uint2 = OpTypeVector %uint 2
%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
%sampler = OpTypeSampler
%literal = OpConstantSampler %sampler None 0 Nearest
%sampled = OpTypeSampledImage %image
%helper_type = OpTypeFunction %uint %image
%image_kernel_type = OpTypeFunction %void %image %to_uint
%zeros = OpConstantNull %uint2
%zero = OpConstant %float 0
)";
  const std::string code = R"(
%helper = OpFunction %uint None %helper_type
%helper_image = OpFunctionParameter %image
%helper_entry = OpLabel
%pair = OpSampledImage %sampled %helper_image %literal
%texel = OpImageSampleExplicitLod %float4 %pair %zeros Lod %zero
%lane = OpCompositeExtract %float %texel 0
%bits = OpBitcast %uint %lane
OpReturnValue %bits
OpFunctionEnd
%shows = OpFunction %void None %image_kernel_type
%shows_image = OpFunctionParameter %image
%shows_data = OpFunctionParameter %to_uint
%shows_entry = OpLabel
%shown = OpFunctionCall %uint %helper %shows_image
OpStore %shows_data %shown Aligned 4
OpReturn
OpFunctionEnd
)";
  const std::string names = "OpName %helper \"helper\"\nOpName %shown \"shown\"\n";
  const BuildResult result =
      build(head + "OpEntryPoint Kernel %shows \"shows\"\nOpEntryPoint Kernel %k \"k\"\n" + names + types +
            code + kPlainKernel);
  CHECK(says(result, "warning: OpTypeImage"));
  const BuildResult again = build_from_native(result.program->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  for (const BuildResult* way : {&result, &again}) {
    CHECK(run(*way->program) == 7);
    REQUIRE(way->program->kernels().size() == 2);
    const CompiledKernel* refused = find(*way->program, "shows");
    REQUIRE(refused != nullptr);
    CHECK(refused->entry == nullptr);
    CHECK(refused->refused.find("OpTypeImage") != std::string::npos);
    CHECK(find(*way->program, "k")->refused.empty());
  }
  // Nothing of the module can run.
  const BuildResult alone =
      build_from_spirv(assemble(head + "OpEntryPoint Kernel %shows \"shows\"\n" + names + types + code), {});
  CHECK(alone.status == BuildStatus::build_failure);
  CHECK(says(alone, "error: OpTypeImage (instruction 25) in function"));
}

TEST_CASE("a module without kernels") {
  const BuildResult result = build(kHead + kModel + "%void = OpTypeVoid\n");
  CHECK(result.program->kernels().empty());
  const BuildResult again = build_from_native(result.program->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  CHECK(again.program->kernels().empty());
}

TEST_CASE("structures that point to their own kind") {
  const BuildResult result = build(kHead + kModel + "OpEntryPoint Kernel %k \"k\"\n" + R"(
%void = OpTypeVoid
%uint = OpTypeInt 32 0
OpTypeForwardPointer %to_node CrossWorkgroup
%node = OpTypeStruct %to_node %uint
%to_node = OpTypePointer CrossWorkgroup %node
%to_next = OpTypePointer CrossWorkgroup %to_node
%to_uint = OpTypePointer CrossWorkgroup %uint
%kernel_type = OpTypeFunction %void %to_node %to_uint
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%k = OpFunction %void None %kernel_type
%list = OpFunctionParameter %to_node
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%next_place = OpInBoundsPtrAccessChain %to_next %list %zero %zero
%next = OpLoad %to_node %next_place Aligned 8
%value_place = OpInBoundsPtrAccessChain %to_uint %next %zero %one
%value = OpLoad %uint %value_place Aligned 4
OpStore %data %value Aligned 4
OpReturn
OpFunctionEnd
)");
  struct Node {
    Node* next;
    std::uint32_t value;
  };
  std::vector<Node> nodes{{nullptr, 11}, {nullptr, 12}};
  nodes[0].next = &nodes[1];
  std::vector<std::uint32_t> data(1);
  REQUIRE(launch(*result.program, "k", {1, 1, 1}, {1, 1, 1}, nodes, data));
  CHECK(data[0] == 12);
}

TEST_CASE("integers of any width, also without the extension being named") {
  const BuildResult result = build(kHead + "OpCapability ArbitraryPrecisionIntegersINTEL\n" + kModel +
                                   "OpEntryPoint Kernel %k \"k\"\n" + kTypes + R"(
%narrow = OpTypeInt 12 0
%last = OpConstant %narrow 4095
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%value = OpLoad %uint %data Aligned 4
%low = OpUConvert %narrow %value
%sum = OpIAdd %narrow %low %last
%wide = OpUConvert %uint %sum
OpStore %data %wide Aligned 4
OpReturn
OpFunctionEnd
)");
  CHECK(run(*result.program, 0x12001) == 0);
  CHECK(run(*result.program, 0x12345) == 0x344);
}

TEST_CASE("vectors of odd sizes, decorations and debug sets of Intel's compiler") {
  const BuildResult result = build(kHead + kModel + R"(
%9 = OpExtInstImport !0x52495053 !0x65642e56 !0x00677562 ; "SPIRV.debug", which the assembler does not know
OpEntryPoint Kernel %k "k"
OpDecorate %sum SideEffectsINTEL
)" + kTypes + R"(
%uint5 = OpTypeVector %uint 5
%fives = OpConstantComposite %uint5 %one %seven %one %seven %seven
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%nothing = OpExtInst %void !9 !0
%sum = OpIAdd %uint5 %fives %fives
%lane = OpCompositeExtract %uint %sum 4
OpStore %data %lane Aligned 4
OpReturn
OpFunctionEnd
)");
  CHECK(run(*result.program) == 14);
}

TEST_CASE("the version of SPIR-V that the device names is the newest that it takes") {
  std::vector<std::byte> module =
      assemble(kHead + kModel + "OpEntryPoint Kernel %k \"k\"\n" + kTypes + kPlainKernel);
  for (std::uint32_t minor = 0; minor < 9; ++minor) {
    CAPTURE(minor);
    const std::uint32_t version = 0x10000 | minor << 8;
    std::memcpy(module.data() + 4, &version, sizeof version);
    const BuildResult result = build_from_spirv(module, {});
    INFO(result.log);
    CHECK((result.status == BuildStatus::ok) == (minor <= (newest_spirv_version() & 0xffff)));
  }
}

TEST_CASE("hints of group sizes") {
  const BuildResult result = build(kHead + kModel + R"(
OpEntryPoint Kernel %k "k"
OpExecutionMode %k LocalSizeHint 4 2 1
)" + kTypes + kPlainKernel);
  const BuildResult again = build_from_native(result.program->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  for (const BuildResult* way : {&result, &again})
    CHECK(find(*way->program, "k")->group_size_hint == Three{4, 2, 1});
}

TEST_CASE("modules are linked, each with its own constants") {
  const std::vector<std::byte> main = assemble(kHead + kModel + R"(
OpEntryPoint Kernel %k "k"
OpDecorate %elsewhere LinkageAttributes "elsewhere" Import
)" + kTypes + R"(
%function_type = OpTypeFunction %uint %uint
%elsewhere = OpFunction %uint None %function_type
%declared = OpFunctionParameter %uint
OpFunctionEnd
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%value = OpLoad %uint %data Aligned 4
%result = OpFunctionCall %uint %elsewhere %value
OpStore %data %result Aligned 4
OpReturn
OpFunctionEnd
)");
  const std::vector<std::byte> part = assemble(kHead + kModel + R"(
OpDecorate %elsewhere LinkageAttributes "elsewhere" Export
OpDecorate %factor SpecId 3
)" + kTypes + R"(
%factor = OpSpecConstant %uint 2
%function_type = OpTypeFunction %uint %uint
%elsewhere = OpFunction %uint None %function_type
%value = OpFunctionParameter %uint
%entry = OpLabel
%product = OpIMul %uint %value %factor
OpReturnValue %product
OpFunctionEnd
)");
  const auto linked = [](std::vector<SpirvModule> modules) { return build_from_spirv(modules, {}); };
  for (const BuildResult& result :
       {linked({{main, {}}, {part, {{3, 5}}}}), linked({{part, {{3, 5}}}, {main, {}}})}) {
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    CHECK(run(*result.program, 9) == 45);
  }
  const BuildResult alone = linked({{main, {}}});
  CHECK(alone.status == BuildStatus::build_failure);
  CHECK(says(alone, "'elsewhere'"));
  const BuildResult twice = linked({{main, {}}, {part, {}}, {part, {}}});
  CHECK(twice.status == BuildStatus::build_failure);
  CHECK(says(twice, "elsewhere"));
}

TEST_CASE("every version of SPIR-V that the device claims") {
  std::vector<std::byte> module =
      assemble(kHead + kModel + "OpEntryPoint Kernel %k \"k\"\n" + kTypes + kPlainKernel);
  const std::uint32_t newest = newest_spirv_version() & 0xffff;
  CHECK(newest >= 4);
  for (std::uint32_t minor = 0; minor <= newest; ++minor) {
    CAPTURE(minor);
    const std::uint32_t version = 1u << 16 | minor << 8;
    std::memcpy(module.data() + 4, &version, sizeof version);
    const BuildResult result = build_from_spirv(module, {});
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    CHECK(run(*result.program) == 7);
  }
  const std::uint32_t beyond = 1u << 16 | (newest + 1) << 8;
  std::memcpy(module.data() + 4, &beyond, sizeof beyond);
  const BuildResult result = build_from_spirv(module, {});
  CHECK(result.status == BuildStatus::build_failure);
  CHECK(says(result, "the version is not one of 1.0 to 1."));
}

// The translator of LLVM 15 ends its process over these.
TEST_CASE("pointers are compared and subtracted") {
  const auto with = [](const char* type, const char* instructions, const char* more = "") {
    return kHead + kModel + "OpEntryPoint Kernel %k \"k\"\nOpDecorate %packed CPacked\n" + more + kTypes + R"(
%bool = OpTypeBool
%zero = OpConstant %uint 0
%three = OpConstant %uint 3
%ulong_three = OpConstant %ulong 3
%uchar = OpTypeInt 8 0
%v3 = OpTypeVector %uint 3
%array = OpTypeArray %v3 %three
%plain = OpTypeStruct %uchar %ulong %uchar
%packed = OpTypeStruct %uchar %ulong %uchar
%opaque = OpTypePointer CrossWorkgroup %bool
%to_type = OpTypePointer CrossWorkgroup )" +
           type + R"(
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%a = OpBitcast %to_type %data
%b = OpInBoundsPtrAccessChain %to_type %a %ulong_three
)" + instructions +
           R"(
OpStore %data %value Aligned 4
OpReturn
OpFunctionEnd
)";
  };
  const auto value = [&](const std::string& text) { return run(*build(text).program); };
  for (const char* type : {"%uint", "%uchar", "%v3", "%array", "%plain", "%packed", "%to_uint"}) {
    CAPTURE(type);
    CHECK(value(with(type, "%value = OpPtrDiff %uint %b %a")) == 3);
    CHECK(value(with(type, "%value = OpPtrDiff %uint %a %b")) == 0xfffffffd);
    CHECK(value(with(type, "%wide = OpPtrDiff %ulong %b %a\n%value = OpUConvert %uint %wide")) == 3);
  }
  for (const auto& [instruction, equal] : {std::pair("OpPtrEqual", 1u), std::pair("OpPtrNotEqual", 0u)}) {
    const auto compare = [&](const char* with_what) {
      return std::string("%same = ") + instruction + " %bool %a %" + with_what +
             "\n%value = OpSelect %uint %same %one %zero";
    };
    CHECK(value(with("%uint", compare("a").c_str())) == equal);
    CHECK(value(with("%uint", compare("b").c_str())) == 1 - equal);
  }
  const auto refuses = [&](const char* type, const char* instructions, const char* words) {
    const BuildResult result = build_from_spirv(assemble(with(type, instructions)), {});
    CHECK(result.status == BuildStatus::build_failure);
    INFO(result.log);
    CHECK(says(result, words));
  };
  refuses("%bool", "%value = OpPtrDiff %uint %b %a", "is about pointers to what has no known size");
  refuses("%uchar", "%value = OpPtrDiff %uint %b %data", "has operands that are not pointers of one type");
  refuses("%uint", "%value = OpPtrDiff %uint %one %one", "has operands that are not pointers of one type");
  refuses("%uint", "%value = OpPtrDiff %bool %b %a", "has a result of a wrong type");
  refuses("%uint", "%value = OpPtrEqual %uint %b %a", "has a result of a wrong type");
}

}  // namespace kiln::cpu::test
