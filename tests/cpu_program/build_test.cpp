// SPDX-License-Identifier: MIT
// Building: facts, native binaries, and what is refused with which words.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <spirv/unified1/spirv.hpp>

#include "kiln/binary.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

BuildResult build_sums(const BuildOptions& options = {}) {
  return build_from_spirv(read_file("build.ocloc.spv"), options);
}

bool sums_right(const Program& program) {
  std::vector<std::int32_t> in(64), out(4);
  std::iota(in.begin(), in.end(), 0);
  return launch(program, "sum", {4, 1, 1}, {16, 1, 1}, in, out, local(64)) &&
         out == std::vector<std::int32_t>{120, 376, 632, 888};
}

void check_facts(std::span<const KernelFacts> kernels) {
  REQUIRE(kernels.size() == 2);
  const KernelFacts& sum = kernels[0];
  CHECK(sum.name == "sum");
  CHECK(sum.arguments_known);
  REQUIRE(sum.arguments.size() == 3);
  CHECK(sum.arguments[0].kind == ArgumentKind::global_pointer);
  CHECK(sum.arguments[2].kind == ArgumentKind::local_pointer);
  CHECK(sum.arguments[2].local_alignment == 4);
  CHECK(sum.static_slm == 4);
  CHECK(sum.barrier_count == 1);
  CHECK(kernels[1].name == "twice");
  CHECK(kernels[1].required_group_size == std::array<std::uint32_t, 3>{8, 4, 1});
  CHECK(kernels[1].barrier_count == 0);
}

std::vector<KernelFacts> facts_of(const Program& program) {
  std::vector<KernelFacts> out;
  for (const CompiledKernel& kernel : program.kernels()) out.push_back(kernel.facts);
  return out;
}

}  // namespace

TEST_CASE("facts and native binaries") {
  const BuildResult result = build_sums();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  check_facts(facts_of(*result.program));
  CHECK(sums_right(*result.program));

  const std::span<const std::byte> binary = result.program->native_binary();
  CHECK(identify(binary) == BinaryFormat::elf);
  const auto read = read_zebin(binary);
  REQUIRE(read.has_value());
  check_facts(read->kernels);

  const BuildResult again = build_from_native(binary);
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  check_facts(facts_of(*again.program));
  CHECK(sums_right(*again.program));
  CHECK(again.program->native_binary().size() == binary.size());
}

TEST_CASE("damaged native binaries are refused") {
  const BuildResult result = build_sums();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const std::span<const std::byte> binary = result.program->native_binary();
  const std::vector<std::byte> whole(binary.begin(), binary.end());
  const auto log_of = [](const std::vector<std::byte>& bytes) {
    const BuildResult refused = build_from_native(bytes);
    CHECK(refused.status == BuildStatus::invalid_native_binary);
    CHECK(refused.program == nullptr);
    return refused.log;
  };
  CHECK(log_of({}).find("too short") != std::string::npos);
  for (std::size_t size = 0; size < whole.size(); size += 41)
    CHECK_FALSE(log_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).empty());
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 13) {
    std::vector<std::byte> damaged = whole;
    damaged[bit / 8] ^= std::byte(1 << bit % 8);
    CHECK_FALSE(log_of(damaged).empty());
  }
  const auto flipped = [&](std::size_t from_end) {
    std::vector<std::byte> damaged = whole;
    damaged[damaged.size() - from_end] ^= std::byte{1};
    return log_of(damaged);
  };
  // The trailer from its end: checksum 16, CPU 8, driver 8, compiler 8, size 8, magic 8.
  CHECK(flipped(1).find("checksum") != std::string::npos);
  CHECK(flipped(20).find("another CPU") != std::string::npos);
  CHECK(flipped(28).find("CPU driver") != std::string::npos);
  CHECK(flipped(36).find("LLVM") != std::string::npos);
  CHECK(flipped(44).find("size") != std::string::npos);
  CHECK(flipped(100).find("checksum") != std::string::npos);
}

// One place of so many; all of them with KILN_TEST_ALL.
TEST_CASE("damaged SPIR-V is refused") {
  const std::size_t apart = std::getenv("KILN_TEST_ALL") ? 1 : 10;
  for (const char* file : {"build.ocloc.spv", "build.clang.spv"}) {
    const std::vector<std::byte> whole = read_file(file);
    REQUIRE(whole.size() > 1000);
    for (std::size_t size = 0; size < whole.size(); size += 7 * apart) {
      const BuildResult result = build_from_spirv(std::span(whole).first(size), {});
      // A cut before the first entry point may leave a module without kernels.
      if (result.status == BuildStatus::ok) {
        CHECK(size < 1000);
        CHECK(result.program->kernels().empty());
        continue;
      }
      CHECK(result.status == BuildStatus::build_failure);
      CHECK_FALSE(result.log.empty());
    }
    // What a flipped bit gives may be a module all the same; then it builds, else the log says why not.
    for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 97 * apart) {
      std::vector<std::byte> damaged = whole;
      damaged[bit / 8] ^= std::byte(1 << bit % 8);
      const BuildResult result = build_from_spirv(damaged, {});
      CHECK((result.status == BuildStatus::ok || !result.log.empty()));
      // None of these flips ends the compiler's process but where the validator has warned; what a sanitizer
      // says would be in the log.
      CHECK((result.log.find("makes the compiler end") == std::string::npos ||
             result.log.find("error: SPIR-V: ") != std::string::npos));
    }
  }
}

// The translator of LLVM 15 asked for 16 GiB, and wrote to them.
TEST_CASE("an instruction with fewer words than its operands take is refused before it is translated") {
  std::vector<std::byte> damaged = read_file("build.ocloc.spv");
  const auto word = [&](std::size_t place) {
    std::uint32_t value = 0;
    std::memcpy(&value, &damaged.at(4 * place), sizeof value);
    return value;
  };
  constexpr std::uint32_t kBranch = 2 << 16 | spv::OpBranch, kCast = 2 << 16 | spv::OpPtrCastToGeneric;
  std::size_t place = 5;
  while (word(place) != kBranch) place += word(place) >> 16;
  std::memcpy(&damaged[4 * place], &kCast, sizeof kCast);
  const BuildResult result = build_from_spirv(damaged, {});
  CHECK(result.status == BuildStatus::build_failure);
  CHECK(result.log.find("error: SPIR-V: End of input reached while decoding OpPtrCastToGeneric") !=
        std::string::npos);
}

// Flips that passed all validation and ended the translator of LLVM 15 with a segmentation fault.
TEST_CASE("a module that makes the compiler crash does not end this process") {
  for (const auto& [at, bit] : {std::pair{36860, 0}, std::pair{56244, 1}}) {
    std::vector<std::byte> damaged = read_file("convert.clang.spv");
    damaged.at(at) ^= std::byte(1 << bit);
    const BuildResult result = build_from_spirv(damaged, {});
    CHECK((result.status == BuildStatus::ok || !result.log.empty()));
  }
}

TEST_CASE("what cannot run is named") {
  const auto refused = [](const char* file) {
    const BuildResult result = build_from_spirv(read_file(file), {});
    CHECK(result.status == BuildStatus::build_failure);
    return result.log;
  };
  const BuildResult image = build_from_spirv(read_file("image.spv"), {});
  REQUIRE_MESSAGE(image.status == BuildStatus::ok, image.log);
  CHECK(image.log.find("warning: OpTypeImage") != std::string::npos);
  CHECK(image.log.find("'reads_image'") != std::string::npos);
  CHECK_FALSE(find(*image.program, "reads_image")->refused.empty());
  const std::string external = refused("external.spv");
  CHECK(external.find("'elsewhere'") != std::string::npos);
  CHECK(external.find("'calls_elsewhere'") != std::string::npos);
}

TEST_CASE("required sub-group sizes") {
  const auto built = [](std::array<std::uint32_t, 3> sizes) {
    BuildOptions options;
    options.sub_group_sizes = sizes;
    return build_from_spirv(read_file("sub_group.spv"), options);
  };
  const BuildResult result = built({8, 16, 32});
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const auto read = read_zebin(result.program->native_binary());
  REQUIRE(read.has_value());
  const BuildResult again = build_from_native(result.program->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  for (const std::uint32_t size : {8u, 16u, 32u}) {
    const std::string name = "requires_" + std::to_string(size);
    CAPTURE(name);
    for (const BuildResult* way : {&result, &again}) {
      const CompiledKernel* kernel = find(*way->program, name);
      REQUIRE(kernel != nullptr);
      CHECK(kernel->facts.simd_size == size);
      CHECK(kernel->facts.required_sub_group_size == size);
      std::vector<std::uint32_t> out(size);
      REQUIRE(launch(*way->program, name, {1, 1, 1}, {size, 1, 1}, out));
      CHECK(out == std::vector<std::uint32_t>(size, 101 * size));
    }
    const auto facts = std::ranges::find(read->kernels, name, &KernelFacts::name);
    REQUIRE(facts != read->kernels.end());
    CHECK(facts->simd_size == size);
    CHECK(facts->required_sub_group_size == size);
    CHECK(facts->barrier_count == 0);
  }
  const BuildResult narrow = built({16, 32, 0});
  CHECK(narrow.status == BuildStatus::build_failure);
  CHECK(narrow.log.find("'requires_8' requires sub-groups of 8") != std::string::npos);
}

TEST_CASE("build flags") {
  for (const char* flags :
       {"", "-cl-std=CL1.2", "-cl-mad-enable -cl-fast-relaxed-math", "-ze-opt-disable", "-ze-opt-level=O1",
        "-cl-opt-disable", "-ze-intel-anything -cl-intel-256-GRF-per-thread"}) {
    CAPTURE(flags);
    const BuildResult result = build_sums({flags, {}});
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    CHECK(result.log.empty());
    CHECK(sums_right(*result.program));
  }
  const BuildResult result = build_sums({"--what-is-this", {}});
  CHECK(result.status == BuildStatus::ok);
  CHECK(result.log.find("warning: build flag '--what-is-this'") != std::string::npos);
}

TEST_CASE("specialization constants and program-scope variables") {
  const std::vector<std::byte> spirv = read_file("specialize.spv");
  const BuildResult plain = build_from_spirv(spirv, {});
  REQUIRE_MESSAGE(plain.status == BuildStatus::ok, plain.log);
  const BuildResult special = build_from_spirv(spirv, {{}, {{7, 1234}}});
  REQUIRE_MESSAGE(special.status == BuildStatus::ok, special.log);
  std::vector<std::int32_t> out(1);
  REQUIRE(launch(*plain.program, "specialized", {1, 1, 1}, {1, 1, 1}, out));
  CHECK(out[0] == 42);
  REQUIRE(launch(*special.program, "specialized", {1, 1, 1}, {1, 1, 1}, out));
  CHECK(out[0] == 1234);
  const Program::Symbol symbol = special.program->global_variable("shared_total");
  REQUIRE(symbol.address != nullptr);
  CHECK(symbol.size == 4);
  CHECK(*static_cast<std::int32_t*>(symbol.address) == 1235);
  CHECK(special.program->global_variable("no_such_variable").address == nullptr);
}

}  // namespace kiln::cpu::test
