// SPDX-License-Identifier: MIT
// What files take for granted: symbols, versions of `.ze_info`, features of the device.
#include "kiln/needs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <spirv/unified1/spirv.hpp>

#include "kiln/bundle.hpp"
#include "kiln/log.hpp"
#include "support/stub_driver.hpp"
#include "unit/golden.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

Bytes data_file(const char* name) { return read_file(std::filesystem::path(KILN_TEST_DATA) / "data" / name); }

/// Type 1 is void, 2 float, 3 double, 4 a function type; 10 a constant double.
SpirvBuilder start(std::initializer_list<const char*> kernels) {
  SpirvBuilder builder;
  builder.op(spv::OpCapability, {spv::CapabilityKernel}).op(spv::OpCapability, {spv::CapabilityFloat64});
  std::uint32_t id = 100;
  for (const char* kernel : kernels) builder.op(spv::OpEntryPoint, {spv::ExecutionModelKernel, id++}, kernel);
  return builder;
}
SpirvBuilder& add_types(SpirvBuilder& builder) {
  return builder.op(spv::OpTypeVoid, {1})
      .op(spv::OpTypeFloat, {2, 32})
      .op(spv::OpTypeFloat, {3, 64})
      .op(spv::OpTypeFunction, {4, 1})
      .op(spv::OpConstant, {3, 10, 0, 0x3ff80000});
}
SpirvBuilder& begin(SpirvBuilder& builder, std::uint32_t id) {
  return builder.op(spv::OpFunction, {1, id, 0, 4}).op(spv::OpLabel, {id * 10});
}
SpirvBuilder& end(SpirvBuilder& builder) { return builder.op(spv::OpReturn, {}).op(spv::OpFunctionEnd, {}); }

std::vector<std::string> doubles_in(const SpirvBuilder& builder) {
  const auto needed = needed_features(builder.bytes());
  return needed.empty() ? std::vector<std::string>() : needed.front().kernels;
}

OpenDevice quiet_device(StubDriver& stub) {
  auto device = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(device);
  stub.forget();
  return *std::move(device);
}

/// The lines that Kiln logs while this lives.
class Log {
 public:
  Log() {
    set_log_sink([](void* log, LogLevel, std::string_view line) { static_cast<Log*>(log)->text += line; },
                 this);
  }
  Log(Log&&) = delete;
  ~Log() { set_log_sink(nullptr, nullptr); }
  std::string text;
};

}  // namespace

TEST_CASE("K0130: symbols of native code by two compilers, and imports of SPIR-V, with their kernel") {
  const std::vector<MissingSymbol> wanted{{"misspelt", "bad"}};
  for (const char* name : {"unresolved.ocloc-22.43.bin", "unresolved.ocloc-26.27.bin", "unresolved.spv"}) {
    CAPTURE(name);
    const Bytes file = data_file(name);
    CHECK(missing_symbols(file) == wanted);
    truncate_everywhere(file, [](const Bytes& part) { (void)missing_symbols(part); });
    flip_bits(file, 2000, [](const Bytes& damaged) { (void)missing_symbols(damaged); });
  }
  CHECK(missing_symbols(data_file("memory.pvc.bin")).empty());  // has printf, globals and a stack
  CHECK(missing_symbols(data_file("saxpy.patch_tokens.bin")).empty());
  CHECK(missing_symbols({}).empty());
  check_diagnostic("K0130", explain_symbols(wanted, BinaryFormat::elf).value());
  CHECK(explain_symbols(wanted, BinaryFormat::spirv)->severity == Severity::error);
  CHECK_FALSE(explain_symbols({}, BinaryFormat::elf));
  // What a compiler may define itself is certain in native code alone.
  const std::vector<MissingSymbol> mangled{{"_Z8my_floorf", "k"}, {"printf", "k"}};
  CHECK(explain_symbols(mangled, BinaryFormat::spirv)->severity == Severity::warning);
  CHECK(explain_symbols(mangled, BinaryFormat::elf)->severity == Severity::error);
  check_diagnostic("K0130", explain_unlinked({}), "unlinked");
}

TEST_CASE("imports count where a kernel reaches them, and built-in variables never do") {
  SpirvBuilder builder = start({"a", "b"});
  builder.op(spv::OpDecorate, {200, spv::DecorationLinkageAttributes}, "far", {spv::LinkageTypeImport})
      .op(spv::OpDecorate, {201, spv::DecorationLinkageAttributes}, "unused", {spv::LinkageTypeImport})
      .op(spv::OpDecorate, {202, spv::DecorationLinkageAttributes}, "id", {spv::LinkageTypeImport})
      .op(spv::OpDecorate, {202, spv::DecorationBuiltIn, spv::BuiltInGlobalInvocationId})
      .op(spv::OpDecorate, {203, spv::DecorationLinkageAttributes}, "variable", {spv::LinkageTypeImport})
      .op(spv::OpDecorate, {204, spv::DecorationLinkageAttributes}, "own", {spv::LinkageTypeExport});
  add_types(builder);
  end(begin(builder, 100).op(spv::OpFunctionCall, {1, 900, 204}).op(spv::OpLoad, {2, 901, 202}));
  end(begin(builder, 101).op(spv::OpLoad, {2, 902, 203}));
  end(begin(builder, 204).op(spv::OpFunctionCall, {1, 903, 200}).op(spv::OpFunctionCall, {1, 904, 204}));
  CHECK(missing_symbols(builder.bytes()) == std::vector<MissingSymbol>{{"far", "a"}, {"variable", "b"}});
}

TEST_CASE("K0132: doubles count where something depends on one") {
  const auto needed = needed_features(data_file("doubles.spv"));
  REQUIRE(needed.size() == 1);
  CHECK(needed[0].kernels == std::vector<std::string>{"dbl"});
  check_diagnostic("K0132", check_features(needed, {.fp64 = false}).value());
  CHECK_FALSE(check_features(needed, {}));

  SpirvBuilder declared = start({"k"});
  end(begin(add_types(declared), 100));
  CHECK(doubles_in(declared).empty());
  SpirvBuilder dead = start({"k"});
  end(begin(add_types(dead), 100)
          .op(spv::OpFConvert, {3, 900, 20})
          .op(spv::OpFMul, {3, 901, 900, 10})
          .op(spv::OpFConvert, {2, 902, 901}));
  CHECK(doubles_in(dead).empty());
  SpirvBuilder stored = start({"k", "other"});
  end(begin(add_types(stored), 100)
          .op(spv::OpFConvert, {3, 900, 20})
          .op(spv::OpFMul, {3, 901, 900, 10})
          .op(spv::OpFConvert, {2, 902, 901})
          .op(spv::OpStore, {50, 902}));
  end(begin(stored, 101).op(spv::OpStore, {50, 51}));
  CHECK(doubles_in(stored) == std::vector<std::string>{"k"});
  SpirvBuilder decides = start({"k"});
  begin(add_types(decides), 100)
      .op(spv::OpFConvert, {3, 900, 20})
      .op(spv::OpFOrdGreaterThan, {5, 901, 900, 10})
      .op(spv::OpBranchConditional, {901, 902, 903})
      .op(spv::OpLabel, {902})
      .op(spv::OpReturn, {});
  end(decides.op(spv::OpLabel, {903}));
  CHECK(doubles_in(decides) == std::vector<std::string>{"k"});
  SpirvBuilder called = start({"k"});
  end(begin(add_types(called), 100).op(spv::OpFunctionCall, {1, 900, 300}));
  end(begin(called, 300).op(spv::OpFAdd, {3, 901, 10, 10}).op(spv::OpStore, {50, 901}));
  CHECK(doubles_in(called) == std::vector<std::string>{"k"});
  flip_bits(data_file("doubles.spv"), 2000, [](const Bytes& damaged) { (void)needed_features(damaged); });

  const auto has_fp64 = [](std::string_view product) { return target_features(*find_target(product)).fp64; };
  for (const char* product : {"tgllp", "dg1", "adl-s", "dg2-g10", "dg2-g12"}) {
    CAPTURE(product);
    CHECK_FALSE(has_fp64(product));
  }
  for (const char* product : {"pvc", "12.70.4", "bmg", "lnl", "ptl"}) {
    CAPTURE(product);
    CHECK(has_fp64(product));
  }
}

TEST_CASE("K0131: versions of `.ze_info` and what drivers read") {
  ModuleFacts module;
  const auto verdict = [&](const char* version, std::uint32_t decoder) {
    module.info_version = version;
    return check_info_version(module, decoder);
  };
  CHECK_FALSE(verdict("1.20", 0));
  CHECK_FALSE(verdict("1.73", 73));
  CHECK_FALSE(verdict("", 73));
  CHECK_FALSE(verdict("x", 73));
  check_diagnostic("K0131", verdict("9.20", 0).value());
  CHECK(verdict("0.20", 73)->severity == Severity::error);
  const auto newer = verdict("1.73", 39);
  REQUIRE(newer);
  CHECK(newer->severity == Severity::warning);
  check_diagnostic("K0131", *newer, "newer");
  constexpr std::uint32_t kIntel = 0x01030000;
  for (const auto& [build, minor] : std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{
           {24595, 20}, {28454, 39}, {33578, 39}, {36015, 61}, {37020, 61}, {38308, 68}, {39122, 73}})
    CHECK(decoder_minor_version(kIntel + build) == minor);
  for (const std::uint32_t unknown : {0u, 1u, kIntel, kIntel + 24594, kIntel + 39123, UINT32_MAX})
    CHECK(decoder_minor_version(unknown) == 0);
}

TEST_CASE("bundles: a missing symbol is told before the driver by native code, and behind it by SPIR-V") {
  StubDriver stub;
  const OpenDevice device = quiet_device(stub);
  const KernelFile native{"unresolved.bin", data_file("unresolved.ocloc-22.43.bin")};
  const auto refused = Bundle::load(device, {native});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
  CHECK(refused.error().diagnostic()->code == "K0130");
  CHECK(stub.calls(Call::zeModuleCreate) == 0);
  CHECK(Bundle::load(device, {native}, {.flags = "-library-compilation"}));  // the caller links it

  const KernelFile spirv{"unresolved.spv", data_file("unresolved.spv")};
  CHECK(Bundle::load(device, {spirv}));  // a compiler that knows the name
  stub.fail(Call::zeKernelCreate, ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
  const auto unlinked = Bundle::load(device, {spirv});
  REQUIRE_FALSE(unlinked);
  CHECK(unlinked.error().diagnostic()->code == "K0130");
  CHECK(unlinked.error().diagnostic()->answer->by == AnsweredBy::driver);
  CHECK(unlinked.error().text().find("`misspelt`, used by kernel `bad`") != std::string::npos);

  stub.fail(Call::zeKernelCreate, ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
  auto library = Bundle::load(device, {spirv}, {.flags = "-library-compilation"});
  REQUIRE(library);
  CHECK(library->kernel("good").error().diagnostic()->code == "K0130");
}

TEST_CASE("bundles: a feature that the device lacks is told before the build, and is the reason behind it") {
  StubDriver stub;  // its device has no fp64
  const OpenDevice device = quiet_device(stub);
  const KernelFile file{"doubles.spv", data_file("doubles.spv")};
  const Log log;
  CHECK(Bundle::load(device, {file}));  // the build has the last word
  CHECK(log.text.find("doubles.spv: K0132") != std::string::npos);
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  stub.build_log = "error: Double type is not supported on this platform.";
  const auto refused = Bundle::load(device, {file});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().diagnostic()->code == "K0132");
  CHECK(refused.error().code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  stub.build_log = "error: something else";
  CHECK(Bundle::load(device, {file}).error().diagnostic()->code == "K0203");
}

TEST_CASE("bundles: native code that is newer than the driver goes behind SPIR-V, or is warned of") {
  StubDriver stub;
  stub.driver_version = 0x01030000 + 33578;  // 25.18
  const OpenDevice device = quiet_device(stub);
  const Bytes archive = data_file("saxpy.ocloc-26.27.ar");
  const auto members = read_archive(archive);
  const auto pvc = std::ranges::find(*members, "64.12.60.7", &ArchiveMember::name);
  REQUIRE(pvc != members->end());
  const KernelFile native{"saxpy.pvc.bin", Bytes(pvc->content.begin(), pvc->content.end())};
  const KernelFile spirv{"saxpy.spv", read_file(std::filesystem::path(KILN_TEST_SPIRV) / "saxpy.spv")};
  {
    const Log log;
    CHECK(Bundle::load(device, {native}));
    CHECK(log.text.find("saxpy.pvc.bin: K0131") != std::string::npos);
  }
  const Log log;
  const auto both = Bundle::load(device, {native, spirv});
  REQUIRE(both);
  CHECK(both->file() == "saxpy.spv");
  CHECK(log.text.find("K0131") == std::string::npos);
  stub.driver_version = 0x01030000 + 39122;
  CHECK(Bundle::load(device, {native, spirv})->file() == "saxpy.pvc.bin");

  KernelFile other = native;
  const std::string text(reinterpret_cast<const char*>(other.bytes.data()), other.bytes.size());
  const auto at = text.find("'1.73'");
  REQUIRE(at != text.npos);
  other.bytes[at + 1] = std::byte{'9'};
  stub.forget();
  const auto refused = Bundle::load(device, {other});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().diagnostic()->code == "K0131");
  CHECK(stub.calls(Call::zeModuleCreate) == 0);
}
