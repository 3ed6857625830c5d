// SPDX-License-Identifier: MIT
// Products by name and version, their limits, and kernels held against them.
#include "kiln/target.hpp"

#include <doctest/doctest.h>

#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

TargetLimits limits_of(std::string_view name) {
  const Target* target = find_target(name);
  REQUIRE(target);
  return target_limits(*target);
}

KernelFacts compiled(std::uint32_t simd, std::uint32_t grf) {
  KernelFacts kernel;
  kernel.name = "k";
  kernel.simd_size = simd;
  kernel.grf_count = grf;
  return kernel;
}

std::string codes(const std::vector<Diagnostic>& reasons) {
  std::string all;
  for (const Diagnostic& reason : reasons) all += reason.code + " ";
  return all;
}

}  // namespace

TEST_CASE("targets by name, by family, and by IP version whatever the revision") {
  CHECK(find_target(std::string_view("dg2-g11"))->release == 56);
  CHECK(find_target(std::string_view("dg2")) == find_target(std::string_view("dg2-g10")));
  CHECK(find_target(std::string_view("bmg"))->name == "bmg-g21");
  CHECK(find_target(std::string_view("12.60.7"))->name == "pvc");
  CHECK(find_target(std::string_view("12.60"))->name == "pvc");
  CHECK(find_target(12u << 22 | 60u << 14 | 3u)->name == "pvc");
  for (const char* name :
       {"", "dg", "12", "12.", "12.99.0", "12.60.7.x", "12.60.x", "99999999999.1", "-1.2", "pvc "})
    CHECK_FALSE(find_target(std::string_view(name)));
}

TEST_CASE("targets by alias, and as ocloc spells them") {
  const auto name = [](std::string_view alias) {
    const Target* target = find_target(alias);
    return target ? target->name : "none";
  };
  CHECK(name("acm-g10") == "dg2-g10");
  CHECK(name("arl-s") == "mtl-u");
  CHECK(name("arl") == "arl-h");
  CHECK(name("adlp") == "adl-p");
  CHECK(name("rpl_p") == "adl-p");
  CHECK(name("tgl") == "tgllp");
  CHECK(name("-") == "none");
  for (const Target& target : targets()) {
    CHECK(find_target(target.name) == &target);
    for (const std::string_view alias : target_aliases(target)) CHECK(find_target(alias) == &target);
  }
}

TEST_CASE("several targets by one name") {
  const auto names = [](std::string_view pattern) {
    std::string all;
    for (const Target& target : find_targets(pattern)) all += std::string(target.name) + " ";
    return all;
  };
  CHECK(names("pvc") == "pvc ");
  CHECK(names("xe-hpg") == "dg2-g10 dg2-g11 dg2-g12 ");
  CHECK(names("xe_lpgplus") == "arl-h ");
  CHECK(names("gen12lp") == names("xe-lp"));
  CHECK(names("xe2") == "bmg-g21 bmg-g31 lnl-m ");
  CHECK(names("xe3p") == "nvl-p cri ");
  CHECK(names("xe").starts_with("tgllp ") == true);
  CHECK(names("xe").ends_with(" arl-h ") == true);
  CHECK(names("dg1:pvc") == "dg1 dg2-g10 dg2-g11 dg2-g12 pvc ");
  CHECK(names("xe-hpg:xe-hpc") == "dg2-g10 dg2-g11 dg2-g12 pvc ");
  CHECK(names(":rkl") == "tgllp rkl ");
  CHECK(names("nvl-p:") == "nvl-p cri ");
  for (const char* pattern : {"", ":", "pvc:tgllp", "pvc:nothing", "nothing", "xe4", "pvc:dg2:tgllp"})
    CHECK(names(pattern).empty());
}

TEST_CASE("limits by product") {
  CHECK(limits_of("tgllp").slm_per_group == 64 << 10);
  CHECK(limits_of("tgllp").max_group_size == 512);
  CHECK(limits_of("tgllp").max_scratch_per_thread == 2 << 20);
  CHECK(limits_of("mtl-u").generation == Generation::xe_hpg);
  CHECK(limits_of("dg2").slm_per_group == 64 << 10);
  CHECK(limits_of("pvc").slm_per_group == 128 << 10);
  CHECK(limits_of("pvc").max_scratch_per_thread == 256 << 10);
  CHECK(limits_of("ptl").slm_per_group == 128 << 10);
  CHECK(limits_of("nvl-p").slm_per_group == 192 << 10);
  CHECK(limits_of("cri").slm_per_group == 384 << 10);
}

TEST_CASE("the largest group of a kernel by its registers and width") {
  const auto most = [](const char* target, std::uint32_t simd, std::uint32_t grf) {
    return max_group_size(compiled(simd, grf), limits_of(target));
  };
  CHECK(most("tgllp", 8, 128) == 512);
  CHECK(most("dg2", 16, 128) == 1024);
  CHECK(most("dg2", 16, 256) == 512);
  CHECK(most("pvc", 32, 256) == 1024);
  CHECK(most("bmg", 16, 128) == 1024);
  CHECK(most("bmg", 16, 256) == 512);
  CHECK(most("bmg", 32, 256) == 1024);
  CHECK(most("bmg", 1, 128) == 64);
  CHECK(most("ptl", 16, 160) == 768);
  CHECK(most("ptl", 16, 192) == 640);
  CHECK(most("ptl", 16, 256) == 512);
  CHECK(most("ptl", 16, 512) == 256);
  CHECK(most("ptl", 32, 96) == 1024);
  CHECK(most("pvc", 0, 0) == 1024);  // not compiled: the device's
}

TEST_CASE("what a file alone rules out") {
  KernelFacts kernel = compiled(16, 256);
  CHECK(check_kernel(kernel, limits_of("pvc"), {}).empty());

  kernel.static_slm = 100 << 10;
  CHECK(check_kernel(kernel, limits_of("pvc"), {}).empty());
  CHECK(codes(check_kernel(kernel, limits_of("dg2"), {})) == "K0109 ");

  kernel.static_slm = 0;
  kernel.required_group_size = {1024, 1, 1};
  const auto required = check_kernel(kernel, limits_of("dg2"), {});
  REQUIRE(required.size() == 1);
  check_diagnostic("K0110", required[0]);
  kernel.required_group_size = {0xffffffff, 0xffffffff, 0xffffffff};
  CHECK(codes(check_kernel(kernel, limits_of("dg2"), {})) == "K0110 ");

  kernel.required_group_size = {512, 1, 1};
  kernel.scratch_per_thread = {0, 256 << 10};
  CHECK(check_kernel(kernel, limits_of("dg2"), {}).empty());
  kernel.scratch_per_thread = {(256 << 10) + 1, 0};
  const auto scratch = check_kernel(kernel, limits_of("dg2"), {});
  REQUIRE(scratch.size() == 1);
  check_diagnostic("K0111", scratch[0]);
  CHECK(check_kernel(kernel, limits_of("tgllp"), {}).empty());
  kernel.scratch_per_thread = {std::uint64_t{0xffffffff} * 32, 0};
  CHECK(codes(check_kernel(kernel, limits_of("tgllp"), {})) == "K0111 ");
}

TEST_CASE("what the compiler would refuse") {
  KernelFacts kernel;
  kernel.name = "k";
  kernel.required_sub_group_size = 8;
  CHECK(check_kernel(kernel, limits_of("tgllp"), {}).empty());
  CHECK(check_kernel(kernel, limits_of("dg2"), {}).empty());
  const auto narrow = check_kernel(kernel, limits_of("pvc"), {});
  REQUIRE(narrow.size() == 1);
  check_diagnostic("K0116", narrow[0]);
  for (const std::uint32_t odd : {1u, 12u, 64u, 0xffffffffu}) {
    kernel.required_sub_group_size = odd;
    CHECK(codes(check_kernel(kernel, limits_of("dg2"), {})) == "K0116 ");
  }
  kernel.required_sub_group_size = 32;
  kernel.arguments.assign(255, {ArgumentKind::value, 8, 16, ""});
  kernel.arguments.push_back({ArgumentKind::local_pointer, 0, 16, ""});
  CHECK(check_kernel(kernel, limits_of("pvc"), {}).empty());
  kernel.arguments.push_back({ArgumentKind::value, 1, 16, ""});
  const auto many = check_kernel(kernel, limits_of("pvc"), {});
  REQUIRE(many.size() == 1);
  check_diagnostic("K0119", many[0]);
}

TEST_CASE("kernels that cannot be launched, or not in the ordinary way") {
  KernelFacts kernel = compiled(16, 128);
  kernel.is_invalid = true;
  const auto invalid = check_kernel(kernel, limits_of("pvc"), {});
  REQUIRE(invalid.size() == 1);
  check_diagnostic("K0117", invalid[0]);
  kernel.is_invalid = false;
  kernel.needs_sync_buffer = true;
  const auto cooperative = check_kernel(kernel, limits_of("pvc"), {});
  REQUIRE(cooperative.size() == 1);
  CHECK(cooperative[0].severity == Severity::warning);
  check_diagnostic("K0118", cooperative[0]);
  CHECK(codes(check_kernel(kernel, limits_of("pvc"), {Extent{1025}, {}})) == "K0118 K0102 ");
}

TEST_CASE("private and scratch memory of all hardware threads against the device's") {
  const ThreadMemory memory{4096, std::uint64_t{16} << 30};  // 4 MiB a thread
  KernelFacts kernel = compiled(32, 128);
  kernel.private_per_thread = 2 << 20;
  CHECK_FALSE(check_thread_memory(kernel, memory));
  kernel.private_per_thread = (2 << 20) + 1;
  const auto warning = check_thread_memory(kernel, memory);
  REQUIRE(warning);
  CHECK(warning->severity == Severity::warning);
  kernel.private_per_thread = 4 << 20;
  CHECK(check_thread_memory(kernel, memory)->severity == Severity::warning);
  kernel.private_per_thread = (4 << 20) + 1;
  const auto error = check_thread_memory(kernel, memory);
  REQUIRE(error);
  check_diagnostic("K0115", *error);
  kernel.private_per_thread = 0;
  kernel.scratch_per_thread = {0, (4 << 20) + 1};
  CHECK(check_thread_memory(kernel, memory)->rows[0].value == 8 << 20);  // as rounded
  CHECK_FALSE(check_thread_memory(kernel, {}));                          // nothing is known
  kernel.private_per_thread = UINT64_MAX;
  CHECK(check_thread_memory(kernel, memory)->severity == Severity::error);
}

TEST_CASE("what a launch would ask for") {
  KernelFacts kernel = compiled(32, 128);
  kernel.arguments_known = true;
  kernel.arguments = {{ArgumentKind::global_pointer, 8, 16, "out"},
                      {ArgumentKind::local_pointer, 0, 4, "tile"}};
  const TargetLimits limits = limits_of("dg2");
  CHECK(check_kernel(kernel, limits, {Extent{1024}, {0, 64 << 10}}).empty());
  CHECK(codes(check_kernel(kernel, limits, {{}, {0, (64 << 10) + 1}})) == "K0101 ");
  CHECK(codes(check_kernel(kernel, limits, {Extent{1025}, {}})) == "K0102 ");
  kernel.required_group_size = {8, 8, 1};
  CHECK(codes(check_kernel(kernel, limits, {Extent{64}, {}})) == "K0103 ");
  CHECK(check_kernel(kernel, limits, {{}, {0, 1024}}).empty());
  CHECK(check_kernel(kernel, limits, {{}, {}, Extent{UINT32_MAX, UINT32_MAX, UINT32_MAX}}).empty());
}
