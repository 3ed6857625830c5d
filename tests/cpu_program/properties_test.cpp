// SPDX-License-Identifier: MIT
// What ze_device_module_properties_t says is built and run: dot products of packed bytes, atomics of
// floating-point numbers; and double precision is refused where it is not told.
#include <doctest/doctest.h>

#include "assemble.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

BuildResult build(const std::string& text, bool fp64 = true) {
  BuildOptions options;
  options.fp64 = fp64;
  return build_from_spirv(assemble(text), options);
}

/// Kernel "k" of one work-item, which computes %value of %data's three numbers.
std::string of_three(const std::string& types, const std::string& instructions) {
  return kHead + "OpCapability DotProductKHR\nOpCapability DotProductInput4x8BitPackedKHR\n" +
         "OpCapability DotProductInputAllKHR\nOpCapability Int8\n" +
         "OpExtension \"SPV_KHR_integer_dot_product\"\n" + kModel + "OpEntryPoint Kernel %k \"k\"\n" +
         kTypes + types + R"(
%ulong_one = OpConstant %ulong 1
%ulong_two = OpConstant %ulong 2
%k = OpFunction %void None %kernel_type
%data = OpFunctionParameter %to_uint
%entry = OpLabel
%to_b = OpInBoundsPtrAccessChain %to_uint %data %ulong_one
%to_c = OpInBoundsPtrAccessChain %to_uint %data %ulong_two
%a = OpLoad %uint %data Aligned 4
%b = OpLoad %uint %to_b Aligned 4
%c = OpLoad %uint %to_c Aligned 4
)" + instructions +
         "\nOpStore %data %value Aligned 4\nOpReturn\nOpFunctionEnd\n";
}

std::int32_t dot(std::uint32_t a, std::uint32_t b, bool a_signed, bool b_signed) {
  const auto byte = [](std::uint32_t word, int i, bool with_sign) {
    const std::uint32_t bits = word >> (8 * i) & 0xff;
    return with_sign ? static_cast<std::int32_t>(static_cast<std::int8_t>(bits))
                     : static_cast<std::int32_t>(bits);
  };
  std::int32_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += byte(a, i, a_signed) * byte(b, i, b_signed);
  return sum;
}

}  // namespace

TEST_CASE("integer dot products") {
  struct Kind {
    const char* name;
    bool a_signed, b_signed;
  };
  constexpr Kind kKinds[] = {{"SDot", true, true}, {"UDot", false, false}, {"SUDot", true, false}};
  constexpr std::uint32_t kNumbers[] = {0, 0x01020304, 0xffffffff, 0x80808080, 0x7f80ff01, 0x12345678};
  const std::string bytes = "%uchar = OpTypeInt 8 0\n%v4uchar = OpTypeVector %uchar 4\n";
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const std::string op = std::string("Op") + kind.name;
    const std::string vectors = "%va = OpBitcast %v4uchar %a\n%vb = OpBitcast %v4uchar %b\n";
    const std::pair<std::string, bool> texts[] = {
        {of_three("", "%value = " + op + "KHR %uint %a %b PackedVectorFormat4x8BitKHR"), false},
        {of_three(bytes, vectors + "%value = " + op + "KHR %uint %va %vb"), false},
        {of_three("", "%value = " + op + "AccSatKHR %uint %a %b %c PackedVectorFormat4x8BitKHR"), true},
        {of_three(bytes, vectors + "%value = " + op + "AccSatKHR %uint %va %vb %c"), true},
    };
    for (const auto& [text, adds] : texts) {
      const BuildResult result = build(text);
      REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
      for (const std::uint32_t a : kNumbers)
        for (const std::uint32_t b : kNumbers)
          for (const std::uint32_t c : {0u, 100u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
            std::vector<std::uint32_t> data{a, b, c};
            REQUIRE(launch(*result.program, "k", {1, 1, 1}, {1, 1, 1}, data));
            const std::int64_t product = dot(a, b, kind.a_signed, kind.b_signed);
            const std::int64_t last = kind.a_signed ? static_cast<std::int32_t>(c) : std::int64_t{c};
            const std::int64_t low = kind.a_signed ? INT32_MIN : 0,
                               high = kind.a_signed ? INT32_MAX : UINT32_MAX;
            const std::int64_t expected = adds ? std::clamp(product + last, low, high) : product;
            CHECK(data[0] == static_cast<std::uint32_t>(expected));
          }
    }
  }
  for (const char* wrong : {"%value = OpSDotKHR %uint %a %b", "%value = OpSDotKHR %ulong %va %b",
                            "%value = OpSDotAccSatKHR %uint %va %vb %va",
                            "%value = OpSDotKHR %uint %ulong_one %ulong_two PackedVectorFormat4x8BitKHR"}) {
    CAPTURE(wrong);
    const BuildResult result = build(
        of_three(bytes, std::string("%va = OpBitcast %v4uchar %a\n%vb = OpBitcast %v4uchar %b\n") + wrong));
    CHECK(result.status == BuildStatus::build_failure);
    CHECK(result.log.find("has operands that are not two of a kind for a dot product") != result.log.npos);
  }
}

TEST_CASE("atomics of floating-point numbers in global memory and SLM") {
  struct Kind {
    const char* type;
    unsigned bits;
  };
  for (const Kind& kind : {Kind{"half", 16}, Kind{"float", 32}, Kind{"double", 64}}) {
    CAPTURE(kind.type);
    const std::string width = std::to_string(kind.bits);
    // Each of 64 items works on its memory's first number; the first item brings SLM's to out[4] and further.
    const std::string text = kHead + R"(
OpCapability Float16
OpCapability Float64
OpCapability AtomicFloat16AddEXT
OpCapability AtomicFloat32AddEXT
OpCapability AtomicFloat64AddEXT
OpCapability AtomicFloat16MinMaxEXT
OpCapability AtomicFloat32MinMaxEXT
OpCapability AtomicFloat64MinMaxEXT
OpExtension "SPV_EXT_shader_atomic_float_add"
OpExtension "SPV_EXT_shader_atomic_float16_add"
OpExtension "SPV_EXT_shader_atomic_float_min_max"
)" + kModel + R"(
OpEntryPoint Kernel %k "k" %id_variable
OpDecorate %id_variable BuiltIn LocalInvocationId
OpDecorate %id_variable LinkageAttributes "__spirv_BuiltInLocalInvocationId" Import
)" + kTypes + "%real = OpTypeFloat " +
                             width + R"(
%bool = OpTypeBool
%to_real = OpTypePointer CrossWorkgroup %real
%five = OpConstant %uint 5
%numbers = OpTypeArray %real %five
%to_numbers = OpTypePointer Workgroup %numbers
%to_local = OpTypePointer Workgroup %real
%real_kernel = OpTypeFunction %void %to_real
%v3ulong = OpTypeVector %ulong 3
%to_v3ulong = OpTypePointer Input %v3ulong
%id_variable = OpVariable %to_v3ulong Input
%slm = OpVariable %to_numbers Workgroup
%zero = OpConstant %uint 0
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%four = OpConstant %uint 4
%i0 = OpConstant %ulong 0
%i1 = OpConstant %ulong 1
%i2 = OpConstant %ulong 2
%i3 = OpConstant %ulong 3
%i4 = OpConstant %ulong 4
%i5 = OpConstant %ulong 5
%i6 = OpConstant %ulong 6
%i7 = OpConstant %ulong 7
%i8 = OpConstant %ulong 8
%i9 = OpConstant %ulong 9
%fences = OpConstant %uint 784
%initial = OpConstant %real 20
%k = OpFunction %void None %real_kernel
%data = OpFunctionParameter %to_real
%entry = OpLabel
%ids = OpLoad %v3ulong %id_variable Aligned 32
%id = OpCompositeExtract %ulong %ids 0
%x = OpConvertUToF %real %id
%first = OpIEqual %bool %id %i0
%g0 = OpInBoundsPtrAccessChain %to_real %data %i0
%g1 = OpInBoundsPtrAccessChain %to_real %data %i1
%g2 = OpInBoundsPtrAccessChain %to_real %data %i2
%g3 = OpInBoundsPtrAccessChain %to_real %data %i3
%g4 = OpInBoundsPtrAccessChain %to_real %data %i4
%g5 = OpInBoundsPtrAccessChain %to_real %data %i5
%g6 = OpInBoundsPtrAccessChain %to_real %data %i6
%g7 = OpInBoundsPtrAccessChain %to_real %data %i7
%g8 = OpInBoundsPtrAccessChain %to_real %data %i8
%g9 = OpInBoundsPtrAccessChain %to_real %data %i9
%l0 = OpInBoundsAccessChain %to_local %slm %i0
%l1 = OpInBoundsAccessChain %to_local %slm %i1
%l2 = OpInBoundsAccessChain %to_local %slm %i2
%l3 = OpInBoundsAccessChain %to_local %slm %i3
%l4 = OpInBoundsAccessChain %to_local %slm %i4
OpBranchConditional %first %begin %join
%begin = OpLabel
OpAtomicStore %l0 %two %zero %initial
OpAtomicStore %l1 %two %zero %initial
OpAtomicStore %l2 %two %zero %initial
OpAtomicStore %l3 %two %zero %initial
OpAtomicStore %g3 %one %zero %initial
OpBranch %join
%join = OpLabel
OpControlBarrier %two %two %fences
%r0 = OpAtomicFAddEXT %real %g0 %one %zero %x
%r1 = OpAtomicFMinEXT %real %g1 %one %zero %x
%r2 = OpAtomicFMaxEXT %real %g2 %one %zero %x
%s0 = OpAtomicFAddEXT %real %l0 %two %zero %x
%s1 = OpAtomicFMinEXT %real %l1 %two %zero %x
%s2 = OpAtomicFMaxEXT %real %l2 %two %zero %x
OpControlBarrier %two %two %fences
OpBranchConditional %first %end %last
%end = OpLabel
%e0 = OpAtomicLoad %real %l0 %two %zero
%e1 = OpAtomicLoad %real %l1 %two %zero
%e2 = OpAtomicLoad %real %l2 %two %zero
%e3 = OpAtomicExchange %real %l3 %two %zero %x
%e4 = OpAtomicExchange %real %g3 %one %zero %e0
OpStore %g5 %e0 Aligned 2
OpStore %g6 %e1 Aligned 2
OpStore %g7 %e2 Aligned 2
OpStore %g8 %e3 Aligned 2
OpStore %g9 %e4 Aligned 2
OpBranch %last
%last = OpLabel
OpReturn
OpFunctionEnd
)";
    const BuildResult result = build(text);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    // 32 items: their sum, 496, and 20 more fit a half.
    const auto expect = [&](auto one, auto number) {
      using T = decltype(one);
      std::vector<T> data(10);
      data[0] = number(20), data[1] = number(20), data[2] = number(20);
      REQUIRE(launch(*result.program, "k", {1, 1, 1}, {32, 1, 1}, data));
      const double expected[] = {516, 0, 31, 516, 0, 516, 0, 31, 20, 20};
      for (std::size_t i = 0; i < 10; ++i) {
        CAPTURE(i);
        CHECK(data[i] == number(expected[i]));
      }
    };
    if (kind.bits == 16)
      expect(std::uint16_t{}, [](double x) {
        // 0, 20, 31 and 516 as halves.
        return static_cast<std::uint16_t>(x == 0 ? 0 : x == 20 ? 0x4d00 : x == 31 ? 0x4fc0 : 0x6008);
      });
    if (kind.bits == 32) expect(float{}, [](double x) { return static_cast<float>(x); });
    if (kind.bits == 64) expect(double{}, [](double x) { return x; });
  }
}

TEST_CASE("atomics on SLM take no lock, those on global memory do") {
  const auto locks = [](const std::string& space) {
    const BuildResult result = build(kHead + kModel + "OpEntryPoint Kernel %k \"k\"\n" + kTypes + R"(
%zero = OpConstant %uint 0
%to_local = OpTypePointer Workgroup %uint
%two_kinds = OpTypeFunction %void %to_uint %to_local
%k = OpFunction %void None %two_kinds
%global = OpFunctionParameter %to_uint
%local = OpFunctionParameter %to_local
%entry = OpLabel
%a = OpAtomicIAdd %uint %)" + space + R"( %one %zero %seven
%b = OpAtomicUMax %uint %)" + space + R"( %one %zero %a
%c = OpAtomicExchange %uint %)" + space +
                                     R"( %one %zero %b
%d = OpAtomicCompareExchange %uint %)" +
                                     space + R"( %one %zero %zero %seven %c
OpAtomicStore %)" + space + R"( %one %zero %d
OpReturn
OpFunctionEnd
)");
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    std::vector<std::uint32_t> data(64);
    REQUIRE(launch(*result.program, "k", {1, 1, 1}, {8, 1, 1}, data, local(4)));
    // lock xadd and lock cmpxchg, each of 32 bits
    std::size_t count = 0;
    const auto bytes = result.program->native_binary();
    for (std::size_t i = 0; i + 3 < bytes.size(); ++i) {
      if (bytes[i] != std::byte{0xf0}) continue;
      const std::size_t code =
          (bytes[i + 1] & std::byte{0xf0}) == std::byte{0x40} ? i + 2 : i + 1;  // behind REX
      if (bytes[code] == std::byte{0x0f} &&
          (bytes[code + 1] == std::byte{0xc1} || bytes[code + 1] == std::byte{0xb1}))
        ++count;
    }
    return count;
  };
  CHECK(locks("global") >= 3);
  CHECK(locks("local") == 0);
}

TEST_CASE("double precision is refused where the product has none") {
  const std::string types = R"(
%double = OpTypeFloat 64
%to_double = OpTypePointer CrossWorkgroup %double
%half_of = OpConstant %double 0.5
)";
  const std::string plain = R"(
%p = OpFunction %void None %kernel_type
%p_data = OpFunctionParameter %to_uint
%p_entry = OpLabel
OpStore %p_data %seven Aligned 4
OpReturn
OpFunctionEnd
)";
  const std::string head = kHead + "OpCapability Float64\n" + kModel + "OpEntryPoint Kernel %p \"p\"\n";
  const std::string with =
      head + "OpEntryPoint Kernel %k \"k\"\nOpName %k \"k\"\n" + kTypes + types + plain + R"(
%k = OpFunction %void None %kernel_type
%k_data = OpFunctionParameter %to_uint
%k_entry = OpLabel
%wide = OpBitcast %to_double %k_data
OpStore %wide %half_of Aligned 8
OpReturn
OpFunctionEnd
)";
  CHECK(build(with).status == BuildStatus::ok);
  const BuildResult refused = build(with, false);
  CHECK(refused.status == BuildStatus::build_failure);
  INFO(refused.log);
  CHECK(refused.log.find("error: SPIR-V: double precision, which products with these limits do not have, in "
                         "function 'k' cannot run on the CPU device") != refused.log.npos);
  // What is declared and not used does no harm.
  CHECK(build(head + kTypes + types + plain, false).status == BuildStatus::ok);
}

}  // namespace kiln::cpu::test
