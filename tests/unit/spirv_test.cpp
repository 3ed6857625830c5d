// SPDX-License-Identifier: MIT
// The SPIR-V walk: facts of every sample kernel, hand-made modules, damage and malice.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <spirv/unified1/spirv.hpp>

#include "kiln/binary.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr auto kValue = ArgumentKind::value;
constexpr auto kGlobal = ArgumentKind::global_pointer;
constexpr auto kLocal = ArgumentKind::local_pointer;

struct ExpectedArgument {
  ArgumentKind kind;
  std::uint32_t size;
  const char* name;
};

struct ExpectedKernel {
  const char* family;
  const char* kernel;
  std::uint64_t static_slm;
  std::vector<ExpectedArgument> arguments;
};

using Arguments = std::vector<ExpectedArgument>;
const Arguments kInOutN{{kGlobal, 8, "in"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}};
const Arguments kAOutN{{kGlobal, 8, "a"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}};
const Arguments kInTableOut{
    {kGlobal, 8, "in"}, {kGlobal, 8, "table"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}, {kValue, 4, "entries"}};
const Arguments kInTableOutN{
    {kGlobal, 8, "in"}, {kGlobal, 8, "table"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}};
const Arguments kInOutRounds{
    {kGlobal, 8, "in"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}, {kValue, 4, "rounds"}};
const Arguments kHistogram{{kGlobal, 8, "in"}, {kGlobal, 8, "bins"}, {kValue, 4, "n"}, {kValue, 4, "block"}};
const Arguments kConvolution{
    {kGlobal, 8, "in"}, {kGlobal, 8, "taps"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}, {kValue, 4, "m"}};

Arguments with(Arguments arguments, ExpectedArgument last) {
  arguments.push_back(last);
  return arguments;
}

const ExpectedKernel kSamples[] = {
    {"saxpy", "saxpy", 0, {{kValue, 4, "a"}, {kGlobal, 8, "x"}, {kGlobal, 8, "y"}, {kValue, 4, "n"}}},
    {"slm_limit",
     "dynamic_tile",
     0,
     {{kGlobal, 8, "in"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}, {kValue, 4, "words"}, {kLocal, 0, "tile"}}},
    {"matmul",
     "tiled",
     0,
     {{kGlobal, 8, "a"},
      {kGlobal, 8, "b"},
      {kGlobal, 8, "c"},
      {kValue, 4, "m"},
      {kValue, 4, "k"},
      {kValue, 4, "n"},
      {kValue, 4, "edge"},
      {kLocal, 0, "a_tile"},
      {kLocal, 0, "b_tile"}}},
    {"slm_table",
     "every_item",
     1024,
     {{kGlobal, 8, "table"}, {kGlobal, 8, "index"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}}},
    {"slm_table",
     "strided",
     1024,
     {{kGlobal, 8, "table"}, {kGlobal, 8, "index"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}}},
    {"slm_table",
     "one_each",
     1024,
     {{kGlobal, 8, "table"}, {kGlobal, 8, "index"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}}},
    {"slm_table",
     "one_each_smaller",
     0,
     {{kGlobal, 8, "table"},
      {kGlobal, 8, "index"},
      {kGlobal, 8, "out"},
      {kValue, 4, "n"},
      {kValue, 4, "entries"},
      {kLocal, 0, "slm"}}},
    {"slm_table",
     "one_each_bigger",
     0,
     {{kGlobal, 8, "table"},
      {kGlobal, 8, "index"},
      {kGlobal, 8, "out"},
      {kValue, 4, "n"},
      {kValue, 4, "entries"},
      {kLocal, 0, "slm"}}},
    {"slm_table",
     "one_each_any",
     0,
     {{kGlobal, 8, "table"},
      {kGlobal, 8, "index"},
      {kGlobal, 8, "out"},
      {kValue, 4, "n"},
      {kValue, 4, "entries"},
      {kLocal, 0, "slm"}}},
    {"access",
     "work_group_shape",
     0,
     {{kGlobal, 8, "a"}, {kGlobal, 8, "out"}, {kValue, 4, "width"}, {kValue, 4, "height"}}},
    {"access", "index_function_1", 0, kAOutN},
    {"access", "index_function_2", 0, kAOutN},
    {"access", "index_function_3", 0, kAOutN},
    {"access", "index_function_4", 0, kAOutN},
    {"access", "index_function_5", 0, kAOutN},
    {"access", "index_function_6", 0, kAOutN},
    {"access", "same_element_global", 0, kInTableOut},
    {"access", "same_element_constant", 0, kInTableOut},
    {"access", "same_element_slm", 0, with(kInTableOut, {kLocal, 0, "slm"})},
    {"access", "narrow_8", 0, kInOutN},
    {"access", "narrow_16", 0, kInOutN},
    {"access", "narrow_32", 0, kInOutN},
    {"access", "narrow_unaligned", 0, with(kInOutN, {kValue, 4, "shift"})},
    {"access", "private_array", 0, kInOutN},
    {"access", "private_scalars", 0, kInOutN},
    {"access", "unrolled", 0, kInOutN},
    {"access", "unrolled_loop", 0, kInOutN},
    {"access", "unrolled_4", 0, kInOutN},
    {"access", "unrolled_macro", 0, kInOutN},
    {"access", "loop_reload", 0, kInOutN},
    {"access", "loop_hoisted", 0, kInOutN},
    {"access", "branch_divergent", 0, kInTableOutN},
    {"access", "branch_free", 0, kInTableOutN},
    {"access", "same_element_private", 0, kInTableOutN},
    {"bank_conflict",
     "stride",
     0,
     {{kGlobal, 8, "in"},
      {kGlobal, 8, "out"},
      {kValue, 4, "n"},
      {kValue, 4, "stride"},
      {kValue, 4, "rounds"},
      {kLocal, 0, "slm"}}},
    {"bank_conflict", "broadcast", 0, with(kInOutN, {kLocal, 0, "slm"})},
    {"coalescing", "contiguous", 0, kInOutN},
    {"coalescing", "indirect", 0, with(kInOutN, {kGlobal, 8, "offsets"})},
    {"coalescing", "vector", 0, kInOutN},
    {"coalescing", "vector_pointer", 0, kInOutN},
    {"coalescing", "slm_contiguous", 0, with(kInOutN, {kLocal, 0, "slm"})},
    {"coalescing", "slm_indirect", 0, with(with(kInOutN, {kLocal, 0, "slm"}), {kGlobal, 8, "offsets"})},
    {"coalescing", "slm_vector", 0, with(kInOutN, {kLocal, 0, "slm"})},
    {"convolution", "global_1d", 0, kConvolution},
    {"convolution", "slm_1d", 0, with(kConvolution, {kLocal, 0, "tile"})},
    {"histogram", "slm_256", 1024, kHistogram},
    {"histogram", "slm_1024", 4096, kHistogram},
    {"histogram", "slm_1024_one_clears", 4096, kHistogram},
    {"histogram", "registers_256", 0, {{kGlobal, 8, "in"}, {kGlobal, 8, "bins"}, {kValue, 4, "n"}}},
    {"histogram", "registers_1024", 0, {{kGlobal, 8, "in"}, {kGlobal, 8, "bins"}, {kValue, 4, "n"}}},
    {"share", "sub_group", 0, kInOutRounds},
    {"share", "slm", 0, with(kInOutRounds, {kLocal, 0, "slm"})},
    {"share", "global_memory", 0, with(kInOutRounds, {kGlobal, 8, "values"})},
    {"slm_lookup",
     "lookup",
     1024,
     {{kGlobal, 8, "table"}, {kGlobal, 8, "index"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}}},
    {"slm_lookup.cpu",
     "lookup",
     0,
     {{kGlobal, 8, "table"}, {kGlobal, 8, "index"}, {kGlobal, 8, "out"}, {kValue, 4, "n"}}},
    {"slm_scatter", "direct", 0, kInOutN},
    {"slm_scatter", "through_slm", 16 * 17 * 4, kInOutN},
};

const char* const kFamilies[] = {"access",         "bank_conflict", "coalescing", "convolution", "histogram",
                                 "matmul",         "saxpy",         "share",      "slm_limit",   "slm_lookup",
                                 "slm_lookup.cpu", "slm_scatter",   "slm_table"};
/// Those that are damaged in every place: time grows with the square of their size.
const char* const kDamaged[] = {"saxpy", "slm_limit", "matmul", "slm_table"};

Bytes sample(const std::string& family) {
  return read_file(std::filesystem::path(KILN_TEST_SPIRV) / (family + ".spv"));
}

/// Types 1 void, 2 uint, 3 __local uint*, 4 function type, 5 __global uint*; the caller adds the rest.
SpirvBuilder module_start(std::uint32_t kernels = 1) {
  SpirvBuilder builder;
  builder.op(spv::OpCapability, {spv::CapabilityKernel});
  for (std::uint32_t i = 0; i < kernels; ++i)
    builder.op(spv::OpEntryPoint, {spv::ExecutionModelKernel, 100 + i}, "k" + std::to_string(i));
  return builder;
}
SpirvBuilder& add_types(SpirvBuilder& builder) {
  return builder.op(spv::OpTypeVoid, {1})
      .op(spv::OpTypeInt, {2, 32, 0})
      .op(spv::OpTypePointer, {3, spv::StorageClassWorkgroup, 2})
      .op(spv::OpTypePointer, {5, spv::StorageClassCrossWorkgroup, 2})
      .op(spv::OpTypeFunction, {4, 1});
}
SpirvBuilder& add_kernel(SpirvBuilder& builder, std::uint32_t id,
                         std::initializer_list<std::uint32_t> parameter_types) {
  builder.op(spv::OpFunction, {1, id, 0, 4});
  std::uint32_t parameter = id * 1000;
  for (const std::uint32_t type : parameter_types) builder.op(spv::OpFunctionParameter, {type, parameter++});
  return builder.op(spv::OpLabel, {id * 1000 + 900}).op(spv::OpReturn, {}).op(spv::OpFunctionEnd, {});
}

/// Of this process's work: other programs on the machine do not count.
double seconds_of(auto&& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// A generous bound: damage must not make the reader slow, and a loaded machine must not fail the test.
constexpr double kSlow = 20;  // s

}  // namespace

TEST_CASE("facts of every sample kernel") {
  for (const ExpectedKernel& expected : kSamples) {
    CAPTURE(expected.kernel);
    const auto facts = read_spirv(sample(expected.family));
    REQUIRE(facts);
    const KernelFacts* kernel = facts->find(expected.kernel);
    REQUIRE(kernel);
    CHECK(kernel->static_slm == expected.static_slm);
    CHECK(kernel->arguments_known);
    CHECK(kernel->required_group_size == std::array<std::uint32_t, 3>{});
    CHECK(kernel->simd_size == 0);
    REQUIRE(kernel->arguments.size() == expected.arguments.size());
    for (std::size_t i = 0; i < expected.arguments.size(); ++i) {
      CAPTURE(i);
      const ArgumentFacts& argument = kernel->arguments[i];
      CHECK(argument.kind == expected.arguments[i].kind);
      if (argument.kind != kLocal) CHECK(argument.size == expected.arguments[i].size);
      if (argument.kind == kLocal) CHECK(argument.local_alignment == 4);
      CHECK(argument.name == expected.arguments[i].name);
    }
  }
}

TEST_CASE("the samples hold no other kernels") {
  std::size_t kernels = 0;
  for (const char* family : kFamilies) kernels += read_spirv(sample(family)).value().kernels.size();
  CHECK(kernels == std::size(kSamples));
}

TEST_CASE("every truncation of a sample is an error") {
  for (const char* family : kDamaged) {
    CAPTURE(family);
    std::size_t read = 0;
    const Bytes file = sample(family);
    REQUIRE(read_spirv(file));
    truncate_everywhere(file, [&](const Bytes& cut) {
      const auto facts = read_spirv(cut);
      read += facts.has_value();
      if (!facts) CHECK(facts.error().offset <= cut.size());
    });
    CHECK(read == 0);
  }
}

TEST_CASE("20,000 flipped bits in each of some samples") {
  for (const char* family : kDamaged) {
    CAPTURE(family);
    int errors = 0;
    flip_bits(sample(family), 20'000,
              [&](const Bytes& damaged) { errors += !read_spirv(damaged).has_value(); });
    CHECK(errors > 0);
    CHECK(errors < 20'000);
  }
}

TEST_CASE("what is no SPIR-V is refused with a reason") {
  CHECK(read_spirv({}).error().message == "file is empty");
  CHECK_FALSE(
      read_spirv(bytes_of("\x7f"
                          "ELF and more")));
  CHECK_FALSE(read_spirv(bytes_of(std::string(64, '\0'))));
  Bytes swapped = sample("saxpy");
  for (std::size_t i = 0; i + 4 <= swapped.size(); i += 4)
    std::reverse(swapped.begin() + long(i), swapped.begin() + long(i) + 4);
  CHECK(read_spirv(swapped).error().message == "big-endian SPIR-V is not supported");
  Bytes longer = sample("saxpy");
  longer.push_back(std::byte{0});
  CHECK_FALSE(read_spirv(longer));
}

TEST_CASE("a file at an odd address is read") {
  const Bytes file = sample("saxpy");
  Bytes shifted(file.size() + 1);
  std::memcpy(shifted.data() + 1, file.data(), file.size());
  CHECK(read_spirv(std::span(shifted).subspan(1)));
}

TEST_CASE("static SLM is summed through calls, with alignment, once a variable") {
  SpirvBuilder builder = module_start(2);
  builder.op(spv::OpDecorate, {50, spv::DecorationAlignment, 64});
  add_types(builder)
      .op(spv::OpConstant, {2, 20, 25})
      .op(spv::OpTypeArray, {21, 2, 20})  // uint[25]: 100 bytes
      .op(spv::OpTypePointer, {22, spv::StorageClassWorkgroup, 21})
      .op(spv::OpVariable, {22, 40, spv::StorageClassWorkgroup})
      .op(spv::OpVariable, {22, 50, spv::StorageClassWorkgroup})
      .op(spv::OpVariable, {22, 60, spv::StorageClassWorkgroup});
  // 100 calls 101 twice; 101 stores to 50; 100 loads from 40. Nobody touches 60.
  builder.op(spv::OpFunction, {1, 100, 0, 4})
      .op(spv::OpLabel, {900})
      .op(spv::OpLoad, {2, 901, 40})
      .op(spv::OpFunctionCall, {1, 902, 101})
      .op(spv::OpFunctionCall, {1, 903, 101})
      .op(spv::OpReturn, {})
      .op(spv::OpFunctionEnd, {})
      .op(spv::OpFunction, {1, 101, 0, 4})
      .op(spv::OpLabel, {910})
      .op(spv::OpStore, {50, 20})
      .op(spv::OpFunctionCall, {1, 911, 101})  // recursion must end
      .op(spv::OpReturn, {})
      .op(spv::OpFunctionEnd, {});
  const auto facts = read_spirv(builder.bytes());
  REQUIRE(facts);
  CHECK(facts->find("k0")->static_slm == 128 + 100);
  CHECK(facts->find("k1")->static_slm == 100);
}

TEST_CASE("SLM is found wherever an instruction names it, and not where a literal has its number") {
  const auto slm_with = [](std::uint32_t opcode, std::initializer_list<std::uint32_t> operands) {
    SpirvBuilder builder = module_start();
    add_types(builder)
        .op(spv::OpConstant, {2, 20, 25})
        .op(spv::OpTypeArray, {21, 2, 20})  // uint[25]: 100 bytes
        .op(spv::OpTypePointer, {22, spv::StorageClassWorkgroup, 21})
        .op(spv::OpVariable, {22, 8, spv::StorageClassWorkgroup})
        .op(spv::OpFunction, {1, 100, 0, 4})
        .op(spv::OpLabel, {900})
        .op(opcode, operands)
        .op(spv::OpReturn, {})
        .op(spv::OpFunctionEnd, {});
    const auto facts = read_spirv(builder.bytes());
    REQUIRE(facts);
    return facts->kernels.at(0).static_slm;
  };
  // Without a result the pointer is the first operand, behind result type and result id else.
  CHECK(slm_with(spv::OpAtomicStore, {8, 20, 20, 20}) == 100);
  CHECK(slm_with(spv::OpAtomicFlagClear, {8, 20, 20}) == 100);
  CHECK(slm_with(spv::OpSubgroupBlockWriteINTEL, {8, 20}) == 100);
  CHECK(slm_with(spv::OpCooperativeMatrixStoreNV, {8, 20, 20, 20}) == 100);
  CHECK(slm_with(spv::OpCopyMemorySized, {20, 8, 20}) == 100);
  CHECK(slm_with(spv::OpStore, {20, 8}) == 100);
  CHECK(slm_with(spv::OpReturnValue, {8}) == 100);
  CHECK(slm_with(spv::OpAtomicIAdd, {2, 901, 8, 20, 20, 20}) == 100);
  CHECK(slm_with(spv::OpAtomicFlagTestAndSet, {2, 901, 8, 20, 20}) == 100);
  CHECK(slm_with(spv::OpGroupAsyncCopy, {2, 901, 20, 8, 20, 20, 20, 20}) == 100);
  CHECK(slm_with(spv::OpGroupIAdd, {2, 901, 20, 0, 8}) == 100);
  CHECK(slm_with(0x0fff, {20, 8}) == 100);  // which no headers know

  CHECK(slm_with(spv::OpGenericCastToPtrExplicit, {3, 901, 20, 8}) == 0);
  CHECK(slm_with(spv::OpGroupIAdd, {2, 901, 20, 8, 20}) == 0);
  CHECK(slm_with(spv::OpStore, {20, 20, 8}) == 0);
  CHECK(slm_with(spv::OpLoad, {2, 901, 20, 8}) == 0);
  CHECK(slm_with(spv::OpLifetimeStart, {20, 8}) == 0);
}

TEST_CASE("a kernel may follow pointers where an instruction makes one of memory or of a number") {
  const auto facts = read_spirv(read_file(std::filesystem::path(KILN_TEST_DATA) / "data/pointers.spv"));
  REQUIRE(facts);
  for (const KernelFacts& kernel : facts->kernels) {
    CAPTURE(kernel.name);
    const bool none = kernel.name == "plain" || kernel.name == "vectors" || kernel.name == "wide";
    CHECK(kernel.may_follow_pointers == !none);
  }

  constexpr std::uint32_t kPointer = 30, kInt = 2;  // a global pointer to kInt
  const auto follows = [](std::uint32_t opcode, std::initializer_list<std::uint32_t> operands,
                          bool constant = false) {
    SpirvBuilder builder = module_start();
    add_types(builder)
        .op(spv::OpTypePointer, {kPointer, spv::StorageClassCrossWorkgroup, kInt})
        .op(spv::OpTypeStruct, {31, kInt, kPointer})
        .op(spv::OpTypeArray, {32, kPointer, 20})
        .op(spv::OpTypeFunction, {33, 1, kPointer, kInt});
    if (constant) builder.op(opcode, operands);
    builder.op(spv::OpFunction, {1, 100, 0, 33})
        .op(spv::OpFunctionParameter, {kPointer, 50})
        .op(spv::OpFunctionParameter, {kInt, 51})
        .op(spv::OpLabel, {900});
    if (!constant) builder.op(opcode, operands);
    builder.op(spv::OpReturn, {}).op(spv::OpFunctionEnd, {});
    // 200 is declared only
    builder.op(spv::OpFunction, {1, 200, 0, 33}).op(spv::OpFunctionEnd, {});
    const auto read = read_spirv(builder.bytes());
    REQUIRE(read);
    return read->kernels.at(0).may_follow_pointers;
  };
  CHECK_FALSE(follows(spv::OpLoad, {kInt, 901, 50}));
  CHECK(follows(spv::OpLoad, {kPointer, 901, 50}));
  CHECK(follows(spv::OpLoad, {31, 901, 50}));
  CHECK(follows(spv::OpLoad, {32, 901, 50}));
  CHECK(follows(spv::OpLoad, {999, 901, 50}));  // a type that nobody knows
  CHECK(follows(spv::OpAtomicExchange, {kPointer, 901, 50, 20, 20, 50}));
  CHECK(follows(spv::OpConvertUToPtr, {kPointer, 901, 51}));
  CHECK(follows(spv::OpBitcast, {kPointer, 901, 51}));
  CHECK_FALSE(follows(spv::OpBitcast, {kPointer, 901, 50}));
  CHECK_FALSE(follows(spv::OpBitcast, {kInt, 901, 50}));
  CHECK_FALSE(follows(spv::OpInBoundsPtrAccessChain, {kPointer, 901, 50, 51}));
  CHECK(follows(spv::OpFunctionPointerCallINTEL, {kInt, 901, 50}));
  CHECK(follows(spv::OpFunctionCall, {1, 901, 200, 50}));
  CHECK(follows(spv::OpSpecConstantOp, {kPointer, 901, spv::OpConvertUToPtr, 20}, true));
  CHECK_FALSE(follows(spv::OpConstantNull, {kPointer, 901}, true));
}

TEST_CASE("execution modes become required sizes") {
  SpirvBuilder builder = module_start();
  builder.op(spv::OpExecutionMode, {100, spv::ExecutionModeLocalSize, 16, 4, 2})
      .op(spv::OpExecutionMode, {100, spv::ExecutionModeSubgroupSize, 8});
  add_kernel(add_types(builder), 100, {});
  const auto facts = read_spirv(builder.bytes());
  REQUIRE(facts);
  CHECK(facts->kernels[0].required_group_size == std::array<std::uint32_t, 3>{16, 4, 2});
  CHECK(facts->kernels[0].required_sub_group_size == 8);
  CHECK(facts->kernels[0].arguments_known);
}

TEST_CASE("a required group of no work-items is an error") {
  for (const bool empty : {false, true}) {
    SpirvBuilder builder = module_start();
    builder.op(spv::OpExecutionMode, {100, spv::ExecutionModeLocalSize, 16, empty ? 0u : 4u, 2});
    add_kernel(add_types(builder), 100, {});
    CHECK(read_spirv(builder.bytes()).has_value() == !empty);
  }
}

TEST_CASE("sizes of values follow OpenCL C") {
  SpirvBuilder builder = module_start();
  builder.op(spv::OpDecorate, {100'006, spv::DecorationFuncParamAttr, spv::FunctionParameterAttributeByVal});
  add_types(builder)
      .op(spv::OpTypeInt, {30, 8, 0})
      .op(spv::OpTypeInt, {31, 64, 0})
      .op(spv::OpTypeFloat, {32, 16})
      .op(spv::OpTypeFloat, {33, 32})
      .op(spv::OpTypeVector, {34, 33, 3})       // float3: as large as float4
      .op(spv::OpTypeVector, {35, 31, 16})      // long16
      .op(spv::OpTypeStruct, {36, 30, 31, 32})  // {char, long, half}: 1 + 7, 8, 2 + 6
      .op(spv::OpTypePointer, {37, spv::StorageClassFunction, 36})
      .op(spv::OpTypeSampler, {38});
  add_kernel(builder, 100, {30, 31, 32, 33, 34, 35, 37, 38});
  const auto facts = read_spirv(builder.bytes());
  REQUIRE(facts);
  std::vector<std::uint32_t> sizes;
  for (const ArgumentFacts& argument : facts->kernels[0].arguments) sizes.push_back(argument.size);
  CHECK(sizes == std::vector<std::uint32_t>{1, 8, 2, 4, 16, 128, 24, 0});
  CHECK(facts->kernels[0].arguments[6].kind == ArgumentKind::value);
  CHECK(facts->kernels[0].arguments[7].kind == ArgumentKind::sampler);
}

TEST_CASE("types that contain themselves end") {
  SpirvBuilder builder = module_start();
  builder.op(spv::OpTypeVoid, {1})
      .op(spv::OpTypeFunction, {4, 1})
      .op(spv::OpTypeStruct, {10, 10, 10, 10})
      .op(spv::OpTypeArray, {11, 11, 12})
      .op(spv::OpConstant, {2, 12, 0xffffffff})
      .op(spv::OpTypeVector, {13, 13, 16})
      .op(spv::OpTypeStruct, {14, 15})
      .op(spv::OpTypeStruct, {15, 14})
      .op(spv::OpTypePointer, {16, spv::StorageClassWorkgroup, 16});
  add_kernel(builder, 100, {10, 11, 13, 14, 16});
  const auto facts = read_spirv(builder.bytes());
  REQUIRE(facts);
  CHECK(facts->kernels[0].arguments.size() == 5);
  CHECK(facts->kernels[0].arguments[0].kind == ArgumentKind::other);
}

TEST_CASE("structs nested many deep and wide do not explode") {
  SpirvBuilder builder = module_start();
  add_types(builder).op(spv::OpTypeStruct, {200, 2, 2});
  for (std::uint32_t id = 201; id < 300; ++id)
    builder.op(spv::OpTypeStruct, {id, id - 1, id - 1, id - 1, id - 1});  // 4^99 uints
  add_kernel(builder, 100, {299, 231, 205});
  const double time = seconds_of([&] { CHECK(read_spirv(builder.bytes())); });
  CHECK(time < kSlow);
}

TEST_CASE("sizes beyond 64 bits saturate or are unknown") {
  SpirvBuilder builder = module_start();
  add_types(builder)
      .op(spv::OpTypeInt, {31, 64, 0})
      .op(spv::OpConstant, {31, 20, 0xffffffff, 0xffffffff})
      .op(spv::OpTypeArray, {21, 31, 20})
      .op(spv::OpConstant, {31, 23, 0, 0x7fff})
      .op(spv::OpTypeArray, {24, 30, 23})
      .op(spv::OpTypePointer, {22, spv::StorageClassWorkgroup, 21})
      .op(spv::OpTypePointer, {25, spv::StorageClassWorkgroup, 24})
      .op(spv::OpTypeInt, {30, 8, 0})
      .op(spv::OpVariable, {22, 40, spv::StorageClassWorkgroup})
      .op(spv::OpVariable, {25, 41, spv::StorageClassWorkgroup})
      .op(spv::OpVariable, {25, 42, spv::StorageClassWorkgroup})
      .op(spv::OpVariable, {25, 43, spv::StorageClassWorkgroup});
  builder.op(spv::OpFunction, {1, 100, 0, 4}).op(spv::OpLabel, {900});
  for (const std::uint32_t variable : {40u, 41u, 42u, 43u}) builder.op(spv::OpStore, {variable, 20});
  builder.op(spv::OpReturn, {}).op(spv::OpFunctionEnd, {});
  const auto facts = read_spirv(builder.bytes());
  REQUIRE(facts);
  CHECK(facts->kernels[0].static_slm > (std::uint64_t{1} << 32));
}

TEST_CASE("instructions cut short are errors, none is read beyond its end") {
  const std::uint32_t opcodes[] = {spv::OpEntryPoint,        spv::OpExecutionMode, spv::OpName,
                                   spv::OpDecorate,          spv::OpTypeInt,       spv::OpTypeVector,
                                   spv::OpTypeArray,         spv::OpTypePointer,   spv::OpTypeFloat,
                                   spv::OpConstant,          spv::OpVariable,      spv::OpFunction,
                                   spv::OpFunctionParameter, spv::OpFunctionCall,  spv::OpTypeStruct};
  for (const std::uint32_t opcode : opcodes) {
    CAPTURE(opcode);
    SpirvBuilder builder = module_start();
    builder.op(opcode, {});
    CHECK_FALSE(read_spirv(builder.bytes()));
  }
  // Every opcode there is and is not, with no operands and with one.
  for (std::uint32_t opcode = 0; opcode < 65536; ++opcode) {
    (void)read_spirv(SpirvBuilder().op(opcode, {}).bytes());
    (void)read_spirv(SpirvBuilder().op(opcode, {0xffffffff}).bytes());
  }
}

TEST_CASE("an instruction of no words or too many is an error") {
  Bytes file = sample("saxpy");
  const auto set = [&](std::uint32_t word) { std::memcpy(file.data() + 20, &word, 4); };
  set(0);
  CHECK(read_spirv(file).error().offset == 20);
  set(0xffff0000);
  CHECK(read_spirv(file).error().offset == 20);
}

TEST_CASE("strings without an end stop at the instruction's end") {
  SpirvBuilder builder;
  builder.op(spv::OpEntryPoint, {spv::ExecutionModelKernel, 100, 0x41414141, 0x42424242});
  add_kernel(add_types(builder), 100, {});
  const auto facts = read_spirv(builder.bytes());
  REQUIRE(facts);
  CHECK(facts->kernels[0].name == "AAAABBBB");
}

TEST_CASE("tens of thousands of entry points and calls take no square time or memory") {
  constexpr std::uint32_t kMany = 30'000;
  SpirvBuilder same;  // all of one function, with a long name for each of its many parameters
  for (std::uint32_t i = 0; i < kMany; ++i)
    same.op(spv::OpEntryPoint, {spv::ExecutionModelKernel, 100, 0x41});
  same.op(spv::OpName, {7}, std::string(100'000, 'x'));
  add_types(same).op(spv::OpFunction, {1, 100, 0, 4});
  for (std::uint32_t i = 0; i < kMany; ++i) same.op(spv::OpFunctionParameter, {2, 7});
  same.op(spv::OpFunctionEnd, {});
  CHECK(seconds_of([&] { CHECK_FALSE(read_spirv(same.bytes())); }) < kSlow);

  SpirvBuilder chain;  // each calls the next
  for (std::uint32_t i = 0; i < kMany; ++i)
    chain.op(spv::OpEntryPoint, {spv::ExecutionModelKernel, 100 + i, 0x41});
  add_types(chain);
  for (std::uint32_t i = 0; i < kMany; ++i)
    chain.op(spv::OpFunction, {1, 100 + i, 0, 4})
        .op(spv::OpFunctionCall, {1, 90'000 + i, 101 + i})
        .op(spv::OpFunctionEnd, {});
  CHECK(seconds_of([&] { CHECK_FALSE(read_spirv(chain.bytes())); }) < kSlow);

  SpirvBuilder modes;  // execution modes search the entry points
  for (std::uint32_t i = 0; i < kMany; ++i)
    modes.op(spv::OpEntryPoint, {spv::ExecutionModelKernel, 100 + i, 0x41});
  for (std::uint32_t i = 0; i < kMany; ++i)
    modes.op(spv::OpExecutionMode, {i, spv::ExecutionModeSubgroupSize, 8});
  CHECK(seconds_of([&] { (void)read_spirv(modes.bytes()); }) < kSlow);
}
