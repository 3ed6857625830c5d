// SPDX-License-Identifier: MIT
// Calls through pointers: of the own module and of others, and what is no function or another one.
#include <doctest/doctest.h>

#include "assemble.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

const std::string kPointerHead =
    kHead + "OpCapability FunctionPointersINTEL\n" + "OpExtension \"SPV_INTEL_function_pointers\"\n" + kModel;

// `call` calls what its first argument points to with 1; `inner` calls it for each of 64 items around a
// barrier.
const std::string kModule = kPointerHead + R"(
OpEntryPoint Kernel %call "call"
OpEntryPoint Kernel %inner "inner" %id_variable
OpDecorate %add LinkageAttributes "add" Export
OpDecorate %both LinkageAttributes "both" Export
OpDecorate %place LinkageAttributes "place" Export
OpDecorate %id_variable BuiltIn LocalInvocationId
OpDecorate %id_variable LinkageAttributes "__spirv_BuiltInLocalInvocationId" Import
)" + kTypes + R"(
%two = OpConstant %uint 2
%fences = OpConstant %uint 272
%v3ulong = OpTypeVector %ulong 3
%to_v3ulong = OpTypePointer Input %v3ulong
%id_variable = OpVariable %to_v3ulong Input
%function = OpTypeFunction %uint %uint
%to_function = OpTypePointer Function %function
%function_of_two = OpTypeFunction %uint %uint %uint
%pointer_kernel = OpTypeFunction %void %ulong %to_uint
%add = OpFunction %uint None %function
%a = OpFunctionParameter %uint
%add_entry = OpLabel
%a_and_7 = OpIAdd %uint %a %seven
OpReturnValue %a_and_7
OpFunctionEnd
%both = OpFunction %uint None %function_of_two
%b = OpFunctionParameter %uint
%c = OpFunctionParameter %uint
%both_entry = OpLabel
%b_and_c = OpIAdd %uint %b %c
OpReturnValue %b_and_c
OpFunctionEnd
%place = OpFunction %uint None %function
%unused = OpFunctionParameter %uint
%place_entry = OpLabel
%place_ids = OpLoad %v3ulong %id_variable Aligned 32
%place_id = OpCompositeExtract %ulong %place_ids 0
%place_narrow = OpUConvert %uint %place_id
OpReturnValue %place_narrow
OpFunctionEnd
%call = OpFunction %void None %pointer_kernel
%number = OpFunctionParameter %ulong
%data = OpFunctionParameter %to_uint
%call_entry = OpLabel
%pointer = OpConvertUToPtr %to_function %number
%value = OpFunctionPointerCallINTEL %uint %pointer %one
OpStore %data %value Aligned 4
OpReturn
OpFunctionEnd
%inner = OpFunction %void None %pointer_kernel
%inner_number = OpFunctionParameter %ulong
%inner_data = OpFunctionParameter %to_uint
%inner_entry = OpLabel
%ids = OpLoad %v3ulong %id_variable Aligned 32
%id = OpCompositeExtract %ulong %ids 0
%narrow = OpUConvert %uint %id
OpControlBarrier %two %two %fences
%inner_pointer = OpConvertUToPtr %to_function %inner_number
%inner_value = OpFunctionPointerCallINTEL %uint %inner_pointer %narrow
OpControlBarrier %two %two %fences
%at = OpInBoundsPtrAccessChain %to_uint %inner_data %id
OpStore %at %inner_value Aligned 4
OpReturn
OpFunctionEnd
)";

const std::string kTwice = kPointerHead + R"(
OpDecorate %twice LinkageAttributes "twice" Export
)" + kTypes + R"(
%function = OpTypeFunction %uint %uint
%twice = OpFunction %uint None %function
%a = OpFunctionParameter %uint
%entry = OpLabel
%sum = OpIAdd %uint %a %a
OpReturnValue %sum
OpFunctionEnd
)";

// `call` calls it with 1, and has it not.
const std::string kCallsTwice = kHead + kModel + R"(
OpEntryPoint Kernel %call "call"
OpDecorate %twice LinkageAttributes "twice" Import
)" + kTypes + R"(
%function = OpTypeFunction %uint %uint
%pointer_kernel = OpTypeFunction %void %ulong %to_uint
%twice = OpFunction %uint None %function
%a = OpFunctionParameter %uint
OpFunctionEnd
%call = OpFunction %void None %pointer_kernel
%unused = OpFunctionParameter %ulong
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%value = OpFunctionCall %uint %twice %one
OpStore %data %value Aligned 4
OpReturn
OpFunctionEnd
)";

BuildResult build(const std::string& text, const char* flags = "-ze-take-global-address") {
  BuildOptions options;
  options.flags = flags;
  return build_from_spirv(assemble(text), options);
}

std::shared_ptr<const Program> built(const std::string& text, const char* flags = "-ze-take-global-address") {
  BuildResult result = build(text, flags);
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  return std::move(result.program);
}

std::uint64_t address(const void* function) { return reinterpret_cast<std::uintptr_t>(function); }

/// The number that kernel `call` leaves; the report when it is stopped.
std::uint32_t call(const Program& program, std::uint64_t function, std::string& report) {
  const CompiledKernel* kernel = find(program, "call");
  REQUIRE(kernel != nullptr);
  std::vector<std::uint32_t> data{99};
  const std::array values{argument(function), argument(data)};
  const ExecutionStatus status = execute({kernel, values, {1, 1, 1}, {1, 1, 1}, {}}, &report);
  CHECK((status == ExecutionStatus::ok) == report.empty());
  CHECK((status == ExecutionStatus::stopped) == !report.empty());
  return data[0];
}

}  // namespace

TEST_CASE("a kernel calls functions of its own and of another module through pointers") {
  const auto program = built(kModule);
  const auto other = built(kTwice);
  std::string report;
  CHECK(call(*program, address(program->function("add")), report) == 8);
  REQUIRE(other->function("twice") != nullptr);
  CHECK(call(*program, address(other->function("twice")), report) == 2);
  std::vector<std::uint32_t> data(64);
  REQUIRE(launch(*program, "inner", {1, 1, 1}, {64, 1, 1}, address(other->function("twice")), data));
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(data[i] == 2 * i);
}

TEST_CASE("a function of another module is called by its name, once both are linked") {
  constexpr const char* kLibrary = "-library-compilation";
  const auto program = built(kCallsTwice, kLibrary);
  auto other = built(kTwice, kLibrary);
  REQUIRE(program->imports().size() == 1);
  CHECK(program->imports()[0].name == "twice");
  CHECK(program->imports()[0].signature == other->callable("twice").signature);
  CHECK(program->imports()[0].signature != built(kModule, kLibrary)->callable("both").signature);
  CHECK(other->imports().empty());
  const auto stops = [&] {
    std::string report;
    CHECK_FALSE(program->imports()[0].linked);
    CHECK(call(*program, 0, report) == 0);
    CHECK(report.find("which is no function of a module") != report.npos);
  };
  stops();
  program->link("twice", other->callable("twice").address);
  CHECK(program->imports()[0].linked);
  std::string report;
  CHECK(call(*program, 0, report) == 2);
  const BuildResult again = build_from_native(program->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  REQUIRE(again.program->imports().size() == 1);
  CHECK_FALSE(again.program->imports()[0].linked);
  other.reset();  // then its address is nobody's
  stops();
  other = built(kTwice, kLibrary);
  program->link("twice", other->callable("twice").address);
  CHECK(call(*program, 0, report) == 2);
  program->link("twice", nullptr);
  stops();
  other.reset();
  CHECK(build(kCallsTwice, "-ze-take-global-address").status == BuildStatus::build_failure);
}

TEST_CASE("a function of the module's own is nothing for other modules, though its address is taken") {
  const std::string kKeepsTwice = kPointerHead + R"(
OpEntryPoint Kernel %keep "keep"
OpName %twice "twice"
)" + kTypes + R"(
%function = OpTypeFunction %uint %uint
%to_function = OpTypePointer Function %function
%pointer_kernel = OpTypeFunction %void %ulong %to_uint
%pointer = OpConstantFunctionPointerINTEL %to_function %twice
%twice = OpFunction %uint None %function
%a = OpFunctionParameter %uint
%entry = OpLabel
%sum = OpIAdd %uint %a %a
OpReturnValue %sum
OpFunctionEnd
%keep = OpFunction %void None %pointer_kernel
%unused = OpFunctionParameter %ulong
%data = OpFunctionParameter %to_uint
%keep_entry = OpLabel
%number = OpConvertPtrToU %ulong %pointer
%narrow = OpUConvert %uint %number
OpStore %data %narrow Aligned 4
OpReturn
OpFunctionEnd
)";
  const auto keeps = built(kKeepsTwice, "-library-compilation");
  CHECK(keeps->callable("twice").address != nullptr);
  CHECK_FALSE(keeps->callable("twice").exported);
  CHECK(built(kTwice, "-library-compilation")->callable("twice").exported);
}

// The device counts what it copies in 64 bits, with 64-bit addresses.
TEST_CASE("an instruction that the device does not know is no other module's function") {
  const std::string text = kHead + kModel + R"(
OpEntryPoint Kernel %copy "copy"
)" + kTypes + R"(
%two = OpConstant %uint 2
%event = OpTypeEvent
%none = OpConstantNull %event
%to_local = OpTypePointer Workgroup %uint
%copy_kernel = OpTypeFunction %void %to_uint %to_local
%copy = OpFunction %void None %copy_kernel
%data = OpFunctionParameter %to_uint
%local = OpFunctionParameter %to_local
%entry = OpLabel
%copied = OpGroupAsyncCopy %event %two %local %data %one %one %none
OpReturn
OpFunctionEnd
)";
  for (const char* flags : {"", "-library-compilation"}) {
    const BuildResult result = build(text, flags);
    INFO(result.log);
    CHECK(result.status == BuildStatus::build_failure);
    CHECK(result.log.find("'GroupAsyncCopy'") != result.log.npos);
    CHECK(result.log.find("is not known to the CPU device") != result.log.npos);
  }
}

TEST_CASE("functions keep their pointers in native binaries") {
  const auto first = built(kModule);
  const BuildResult second = build_from_native(first->native_binary());
  REQUIRE_MESSAGE(second.status == BuildStatus::ok, second.log);
  CHECK(second.program->function("add") != first->function("add"));
  std::string report;
  CHECK(call(*second.program, address(second.program->function("add")), report) == 8);
}

TEST_CASE("a pointer to what is no function, or another one, ends the launch") {
  const auto program = built(kModule);
  const auto stops = [&](std::uint64_t function, const char* words) {
    std::string report;
    CHECK(call(*program, function, report) == 0);
    INFO(report);
    CHECK(report.find("kernel 'call' calls 0x") == 0);
    CHECK(report.find(words) != report.npos);
  };
  stops(0x1234, "which is no function of a module");
  stops(address(program->function("add")) + 1, "which is no function of a module");
  stops(address(program->function("both")), "with other parameters or another result");
  auto other = built(kModule);
  const std::uint64_t gone = address(other->function("add"));
  other.reset();
  stops(gone, "which is no function of a module");
  std::string report;
  CHECK(call(*program, address(program->function("add")), report) == 8);  // nothing stays behind
}

TEST_CASE("functions without a pointer") {
  CHECK(built(kModule, "")->function("add") == nullptr);
  const auto program = built(kModule, "-ze-library-compilation");
  CHECK(program->function("add") != nullptr);
  CHECK(program->function("place") == nullptr);  // it asks for its work-item
  CHECK(program->function("call") == nullptr);
  CHECK(program->function("nothing") == nullptr);
}

TEST_CASE("pointers that the module makes itself") {
  const auto with = [](const char* function, const char* type = "%function") {
    return kPointerHead + R"(
OpEntryPoint Kernel %k "k"
OpName %place "place"
OpDecorate %id_variable BuiltIn LocalInvocationId
OpDecorate %id_variable LinkageAttributes "__spirv_BuiltInLocalInvocationId" Import
)" + kTypes +
           R"(
%v3ulong = OpTypeVector %ulong 3
%to_v3ulong = OpTypePointer Input %v3ulong
%id_variable = OpVariable %to_v3ulong Input
%function = OpTypeFunction %uint %uint
%other = OpTypeFunction %uint %ulong
%to_function = OpTypePointer Function )" +
           type + "\n%pointer = OpConstantFunctionPointerINTEL %to_function " + function + R"(
%to_usual = OpTypePointer Function %function
%usual = OpConstantFunctionPointerINTEL %to_usual %square
%bool = OpTypeBool
%square = OpFunction %uint None %function
%b = OpFunctionParameter %uint
%square_entry = OpLabel
%b_times_b = OpIMul %uint %b %b
OpReturnValue %b_times_b
OpFunctionEnd
%add = OpFunction %uint None %function
%a = OpFunctionParameter %uint
%add_entry = OpLabel
%a_and_7 = OpIAdd %uint %a %seven
OpReturnValue %a_and_7
OpFunctionEnd
%place = OpFunction %uint None %function
%unused = OpFunctionParameter %uint
%place_entry = OpLabel
%place_ids = OpLoad %v3ulong %id_variable Aligned 32
%place_id = OpCompositeExtract %ulong %place_ids 0
%place_narrow = OpUConvert %uint %place_id
OpReturnValue %place_narrow
OpFunctionEnd
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%which = OpLoad %uint %data Aligned 4
%is_one = OpIEqual %bool %which %one
%other_pointer = OpBitcast %to_usual %pointer
%chosen = OpSelect %to_usual %is_one %other_pointer %usual
%value = OpFunctionPointerCallINTEL %uint %chosen %seven
OpStore %data %value Aligned 4
OpReturn
OpFunctionEnd
)";
  };
  const auto program = built(with("%add"), "");
  for (const auto& [which, expected] : {std::pair(0u, 49u), std::pair(1u, 14u)}) {
    std::vector<std::uint32_t> data{which};
    REQUIRE(launch(*program, "k", {1, 1, 1}, {1, 1, 1}, data));
    CHECK(data[0] == expected);
  }

  const auto refuses = [](const std::string& text, const char* words, const char* flags = "") {
    const BuildResult result = build(text, flags);
    CHECK(result.status == BuildStatus::build_failure);
    INFO(result.log);
    CHECK(result.log.find(words) != result.log.npos);
  };
  refuses(with("%place"), "function 'place' is called through a pointer");
  refuses(with("%k"), "points to what is no function of its type");
  refuses(with("%add", "%other"), "points to what is no function of its type");
  refuses(with("%add", "%uint"), "is not about a pointer to a function");
  refuses(with("%one"), "points to what is no function of its type");
  refuses(with("%add"), "-kiln-counters cannot follow", "-kiln-counters");
}

TEST_CASE("calls through pointers whose arguments do not fit") {
  const auto with = [](const char* call) {
    return kPointerHead + "OpEntryPoint Kernel %k \"k\"\n" + kTypes + R"(
%function = OpTypeFunction %uint %uint
%to_function = OpTypePointer Function %function
%nothing = OpConstantNull %to_function
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
)" + call + R"(
OpReturn
OpFunctionEnd
)";
  };
  for (const char* words : {
           "%value = OpFunctionPointerCallINTEL %uint %nothing",
           "%value = OpFunctionPointerCallINTEL %uint %nothing %one %one",
           "%value = OpFunctionPointerCallINTEL %uint %nothing %data",
           "%value = OpFunctionPointerCallINTEL %ulong %nothing %one",
           "%value = OpFunctionPointerCallINTEL %uint %data %one",
           "%value = OpFunctionPointerCallINTEL %uint %one %one",
       }) {
    CAPTURE(words);
    const BuildResult result = build(with(words));
    CHECK(result.status == BuildStatus::build_failure);
    CHECK(result.log.find("OpFunctionPointerCallINTEL at byte") != result.log.npos);
  }
}

}  // namespace kiln::cpu::test
