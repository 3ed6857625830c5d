// SPDX-License-Identifier: MIT
// The launch check: SLM sums, shapes, arguments, and that what a refusal suggests is really accepted.
#include "kiln/check.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace kiln;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

ArgumentFacts local(std::uint32_t alignment = 4) { return {ArgumentKind::local_pointer, 0, alignment, ""}; }
ArgumentFacts value(std::uint32_t size) { return {ArgumentKind::value, size, 16, ""}; }
ArgumentFacts pointer() { return {ArgumentKind::global_pointer, 8, 16, ""}; }

LaunchArgument give(std::uint64_t bytes) { return {ArgumentKind::local_pointer, bytes, nullptr}; }

KernelFacts kernel_with(std::vector<ArgumentFacts> arguments, std::uint64_t static_slm = 0,
                        SlmMode mode = SlmMode::compiler_resolved) {
  KernelFacts kernel;
  kernel.name = "k";
  kernel.arguments = std::move(arguments);
  kernel.arguments_known = true;
  kernel.static_slm = static_slm;
  kernel.slm_mode = mode;
  return kernel;
}

LaunchLimits limits_with(std::uint64_t slm = 65536) {
  LaunchLimits limits;
  limits.slm_per_group = slm;
  limits.max_group_size = limits.device_max_group_size = 1024;
  limits.max_group_extent = {1024, 1024, 64};
  limits.max_groups = {UINT32_MAX, 65535, 65535};
  return limits;
}

/// The number in the first row whose label starts with `label`, or 0.
std::uint64_t row(const Diagnostic& diagnostic, std::string_view label) {
  for (const DiagnosticRow& entry : diagnostic.rows)
    if (entry.label.starts_with(label)) return entry.value;
  return 0;
}

}  // namespace

TEST_CASE("SLM sums") {
  using enum SlmMode;
  struct Case {
    const char* what;
    SlmMode mode;
    std::uint64_t static_slm;
    std::vector<std::uint32_t> alignments;
    std::vector<std::uint64_t> sizes;
    std::uint64_t total;
  };
  const Case cases[] = {
      {"nothing", compiler_resolved, 0, {}, {}, 0},
      {"static only is not rounded", compiler_resolved, 100, {}, {}, 100},
      {"one byte takes a granule", compiler_resolved, 0, {1}, {1}, 1024},
      {"a whole granule", compiler_resolved, 0, {1}, {1024}, 1024},
      {"one more", compiler_resolved, 0, {1}, {1025}, 2048},
      {"no bytes", compiler_resolved, 0, {4}, {0}, 0},
      {"static beside dynamic", compiler_resolved, 100, {4}, {4}, 1124},
      {"alignment between arguments", compiler_resolved, 0, {4, 512}, {4, 513}, 2048},
      {"the same without alignment", compiler_resolved, 0, {4, 4}, {4, 513}, 1024},
      {"alignment of the first costs nothing", compiler_resolved, 0, {4096}, {4}, 1024},
      {"alignment 0 is none", compiler_resolved, 0, {0, 0}, {3, 5}, 1024},
      {"adjusted: static only", runtime_adjusted, 100, {}, {}, 100},
      {"adjusted: dynamic only", runtime_adjusted, 0, {4}, {1500}, 2048},
      {"adjusted: rounded together", runtime_adjusted, 100, {4}, {924}, 1024},
      {"adjusted: rounded together, one more", runtime_adjusted, 100, {4}, {925}, 2048},
      {"adjusted: alignment behind static", runtime_adjusted, 100, {1024}, {1}, 2048},
      {"4 GiB + 16 does not become 16", compiler_resolved, 0, {4}, {4 * kGiB + 16}, 4 * kGiB + 1024},
      {"a sum that wraps in 32 bits",
       compiler_resolved,
       0,
       {4, 4},
       {2 * kGiB, 2 * kGiB + 16},
       4 * kGiB + 1024},
      {"the guide's failure", compiler_resolved, 0, {4}, {163850 * 4}, 656384},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    KernelFacts kernel = kernel_with({}, c.static_slm, c.mode);
    std::vector<LaunchArgument> arguments;
    for (std::size_t i = 0; i < c.sizes.size(); ++i) {
      kernel.arguments.push_back(local(c.alignments[i]));
      arguments.push_back(give(c.sizes[i]));
    }
    CHECK(total_slm(kernel, arguments) == c.total);
    if (c.total == 0) continue;
    // Exactly met, and one byte over.
    CHECK(check_launch(kernel, limits_with(c.total), {}, arguments) == LaunchVerdict::fits);
    CHECK(check_launch(kernel, limits_with(c.total - 1), {}, arguments) == LaunchVerdict::slm);
  }
}

TEST_CASE("sums beyond 64 bits saturate instead of wrapping") {
  const KernelFacts kernel = kernel_with({local(), local(), local(UINT32_MAX)}, UINT64_MAX);
  const LaunchArgument arguments[] = {give(UINT64_MAX), give(UINT64_MAX - 8), give(UINT64_MAX)};
  CHECK(total_slm(kernel, arguments) > (std::uint64_t{1} << 47));
  CHECK(check_launch(kernel, limits_with(), {}, arguments) == LaunchVerdict::slm);
  const KernelFacts adjusted = kernel_with({local()}, UINT64_MAX, SlmMode::runtime_adjusted);
  CHECK(check_launch(adjusted, limits_with(), {}, std::span(arguments, 1)) == LaunchVerdict::slm);
}

TEST_CASE("other arguments take no SLM, and unknown facts use the driver's default alignment") {
  const std::uint32_t seven = 7;
  const KernelFacts kernel = kernel_with({value(4), local(4), pointer(), local(4)});
  const LaunchArgument arguments[] = {
      {ArgumentKind::value, 4, &seven}, give(4), {ArgumentKind::global_pointer, 8, &seven}, give(1020)};
  CHECK(dynamic_slm(kernel, arguments) == 1024);
  CHECK(dynamic_slm(KernelFacts{}, arguments) == 2048);  // 4 aligned up to 16, + 1020
}

TEST_CASE("shapes") {
  struct Case {
    const char* what;
    Extent group, groups;
    LaunchVerdict verdict;
  };
  const Case cases[] = {
      {"smallest", {1, 1, 1}, {1, 1, 1}, LaunchVerdict::fits},
      {"no groups at all is a launch of nothing", {1, 1, 1}, {0, 1, 1}, LaunchVerdict::fits},
      {"product exactly met", {32, 8, 4}, {1, 1, 1}, LaunchVerdict::fits},
      {"product one row over", {32, 8, 5}, {1, 1, 1}, LaunchVerdict::group_size},
      {"x at its limit", {1024, 1, 1}, {1, 1, 1}, LaunchVerdict::fits},
      {"x one over", {1025, 1, 1}, {1, 1, 1}, LaunchVerdict::group_size},
      {"y at its limit", {1, 1024, 1}, {1, 1, 1}, LaunchVerdict::fits},
      {"z at its limit", {1, 1, 64}, {1, 1, 1}, LaunchVerdict::fits},
      {"z one over, product far below", {1, 1, 65}, {1, 1, 1}, LaunchVerdict::group_size},
      {"zero x", {0, 1, 1}, {1, 1, 1}, LaunchVerdict::zero_group_size},
      {"zero y", {1, 0, 1}, {1, 1, 1}, LaunchVerdict::zero_group_size},
      {"zero z", {1, 1, 0}, {1, 1, 1}, LaunchVerdict::zero_group_size},
      {"most groups", {1, 1, 1}, {UINT32_MAX, 65535, 65535}, LaunchVerdict::fits},
      {"one group too many in y", {1, 1, 1}, {1, 65536, 1}, LaunchVerdict::group_count},
      {"one group too many in z", {1, 1, 1}, {1, 1, 65536}, LaunchVerdict::group_count},
  };
  const KernelFacts kernel = kernel_with({});
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(check_launch(kernel, limits_with(), {c.groups, c.group}, {}) == c.verdict);
  }
}

TEST_CASE("a product of group sizes that wraps in 32 or 64 bits is too large") {
  LaunchLimits limits = limits_with();
  limits.max_group_extent = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  const KernelFacts kernel = kernel_with({});
  for (const Extent size :
       {Extent{65536, 65536, 1}, Extent{1u << 31, 1u << 31, 4}, Extent{UINT32_MAX, UINT32_MAX, UINT32_MAX}})
    CHECK(check_launch(kernel, limits, {{}, size}, {}) == LaunchVerdict::group_size);
}

TEST_CASE("a kernel's own limit counts, not the device's") {
  LaunchLimits limits = limits_with();
  limits.max_group_size = 512;
  CHECK(check_launch(kernel_with({}), limits, {{}, {512, 1, 1}}, {}) == LaunchVerdict::fits);
  CHECK(check_launch(kernel_with({}), limits, {{}, {513, 1, 1}}, {}) == LaunchVerdict::group_size);
}

TEST_CASE("a required group size, on every call") {
  KernelFacts kernel = kernel_with({});
  kernel.required_group_size = {16, 4, 1};
  for (int call = 0; call < 2; ++call) {
    CHECK(check_launch(kernel, limits_with(), {{}, {16, 4, 1}}, {}) == LaunchVerdict::fits);
    CHECK(check_launch(kernel, limits_with(), {{}, {16, 4, 2}}, {}) == LaunchVerdict::required_group_size);
    CHECK(check_launch(kernel, limits_with(), {{}, {4, 16, 1}}, {}) == LaunchVerdict::required_group_size);
    CHECK(check_launch(kernel, limits_with(), {{}, {64, 1, 1}}, {}) == LaunchVerdict::required_group_size);
  }
}

TEST_CASE("arguments: count, kind, size") {
  const std::uint64_t word = 0;
  const LaunchArgument four{ArgumentKind::value, 4, &word}, eight{ArgumentKind::value, 8, &word};
  const LaunchArgument address{ArgumentKind::global_pointer, 8, &word};
  KernelFacts kernel = kernel_with({value(4), pointer(), local()});
  const auto verdict = [&](std::vector<LaunchArgument> given) {
    return check_launch(kernel, limits_with(), {}, given);
  };
  using enum LaunchVerdict;
  CHECK(verdict({four, address, give(64)}) == fits);
  CHECK(verdict({}) == argument_count);
  CHECK(verdict({four, address}) == argument_count);
  CHECK(verdict({four, address, give(64), four}) == argument_count);
  CHECK(verdict({eight, address, give(64)}) == argument_size);
  CHECK(verdict({address, address, give(64)}) == argument_kind);
  CHECK(verdict({four, eight, give(64)}) == argument_kind);
  CHECK(verdict({four, give(64), give(64)}) == argument_kind);
  CHECK(verdict({four, address, address}) == argument_kind);
  CHECK(verdict({four, address, four}) == argument_kind);

  kernel.arguments[0].size = 0;  // the file does not say
  CHECK(verdict({eight, address, give(64)}) == fits);
  kernel.arguments[0].kind = ArgumentKind::other;
  CHECK(verdict({address, address, give(64)}) == fits);
  kernel.arguments_known = false;
  CHECK(verdict({}) == fits);
  CHECK(verdict({give(65536), give(1)}) == slm);  // SLM counts even then
}

TEST_CASE("codes are the driver's") {
  CHECK(code_of(LaunchVerdict::fits) == ZE_RESULT_SUCCESS);
  CHECK(code_of(LaunchVerdict::slm) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK(code_of(LaunchVerdict::group_size) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  CHECK(code_of(LaunchVerdict::required_group_size) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  CHECK(code_of(LaunchVerdict::zero_group_size) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(code_of(LaunchVerdict::group_count) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(code_of(LaunchVerdict::argument_count) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
  CHECK(code_of(LaunchVerdict::argument_kind) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  CHECK(code_of(LaunchVerdict::argument_size) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
}

TEST_CASE("static SLM over the limit is found in any kernel of a module") {
  const ModuleFacts module{{kernel_with({}, 65536), kernel_with({}, 65537), kernel_with({}, 70000)}};
  CHECK(static_slm_over_limit(module, 70000) == nullptr);
  CHECK(static_slm_over_limit(module, 65536) == &module.kernels[1]);
}

TEST_CASE("suggestions of known cases") {
  const auto explain = [](const KernelFacts& kernel, std::uint64_t limit, Extent group,
                          std::vector<LaunchArgument> given) {
    const LaunchLimits limits = limits_with(limit);
    REQUIRE(check_launch(kernel, limits, {{}, group}, given) == LaunchVerdict::slm);
    return explain_launch(LaunchVerdict::slm, kernel, limits, {{}, group}, given);
  };
  SUBCASE("64 KiB and 512 B a work-item allow 128") {
    const Diagnostic d = explain(kernel_with({local()}), 65536, {256, 1, 1}, {give(256 * 512)});
    CHECK(row(d, "largest group with 512 B a work-item") == 128);
  }
  SUBCASE("two tiles of edge 181 on 128 KiB: 128") {
    const Diagnostic d = explain(kernel_with({local(), local()}), 131072, {16, 16, 1},
                                 {give(181 * 181 * 4), give(181 * 181 * 4)});
    CHECK(row(d, "asked for in all") == 262144);
    CHECK(row(d, "largest edge of 2 square tiles") == 128);
    CHECK(row(d, "largest group") == 0);  // 131044 bytes are no whole number of bytes an item
  }
  SUBCASE("one tile of 262144 bytes on 128 KiB: 181") {
    const Diagnostic d = explain(kernel_with({local()}), 131072, {16, 16, 1}, {give(262144)});
    CHECK(row(d, "largest edge of a square tile") == 181);
    CHECK(row(d, "largest group with 1024 B a work-item") == 128);
  }
  SUBCASE("the guide's failure") {
    const Diagnostic d = explain(kernel_with({local()}), 131072, {256, 1, 1}, {give(163850 * 4)});
    CHECK(row(d, "asked for in all") == 656384);
    CHECK(row(d, "available a work-group") == 131072);
    CHECK(row(d, "argument 0") == 655400);
    CHECK(row(d, "alignment") == 984);
  }
  SUBCASE("static arrays are taken off first") {
    const Diagnostic d = explain(kernel_with({local()}, 1024), 65536, {256, 1, 1}, {give(256 * 512)});
    CHECK(row(d, "static") == 1024);
    CHECK(row(d, "largest group with 512 B a work-item") == 126);
  }
  SUBCASE("with a required group size no other is suggested") {
    KernelFacts kernel = kernel_with({local()});
    kernel.required_group_size = {256, 1, 1};
    const Diagnostic d = explain(kernel, 65536, {256, 1, 1}, {give(256 * 512)});
    CHECK(row(d, "largest group") == 0);
  }
  SUBCASE("static arrays alone too large: no other help") {
    const Diagnostic d = explain(kernel_with({local()}, 70000), 65536, {256, 1, 1}, {give(256)});
    REQUIRE(d.help.size() == 1);
    CHECK(d.help[0] == "the static arrays alone are too large: make them at least 4464 bytes smaller");
  }
}

TEST_CASE("what is suggested is accepted, one more is refused") {
  std::mt19937 random(7);
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  int groups = 0, tiles = 0;
  for (int round = 0; round < 20'000; ++round) {
    const LaunchLimits limits = limits_with(std::uint64_t{pick(1, 384)} << 10);
    KernelFacts kernel = kernel_with({}, pick(0, 2) ? 0 : pick(0, 100'000), SlmMode(pick(0, 1)));
    const Extent group{pick(1, 32), pick(1, 8), pick(1, 4)};
    const std::uint64_t items = std::uint64_t{group.x} * group.y * group.z;
    const std::uint32_t element = 1u << pick(0, 4);
    const std::uint64_t edge = pick(1, 400);
    const bool tiled = pick(0, 1);
    std::vector<LaunchArgument> arguments;
    for (std::uint32_t i = pick(1, 3); i > 0; --i) {
      kernel.arguments.push_back(local(element));
      arguments.push_back(give(tiled ? edge * edge * element : items * pick(1, 2000)));
    }
    const LaunchShape shape{{}, group};
    const LaunchVerdict verdict = check_launch(kernel, limits, shape, arguments);
    if (verdict != LaunchVerdict::slm) continue;
    const Diagnostic diagnostic = explain_launch(verdict, kernel, limits, shape, arguments);
    CHECK(diagnostic.code == "K0101");
    CHECK(row(diagnostic, "asked for in all") == total_slm(kernel, arguments));
    const LaunchFit fit = what_fits(kernel, limits, shape, arguments);
    CHECK(row(diagnostic, "largest edge") == fit.tile_edge);
    if (fit.local_bytes_per_item != 0) CHECK(row(diagnostic, "largest group") == fit.group_items);
    if (fit.local_bytes) {
      const std::array<LaunchArgument, 1> one{give(*fit.local_bytes)}, more{give(*fit.local_bytes + 1)};
      KernelFacts single = kernel;
      single.arguments = {local(1)};
      REQUIRE(check_launch(single, limits, shape, one) == LaunchVerdict::fits);
      REQUIRE(check_launch(single, limits, shape, more) == LaunchVerdict::slm);
    }
    if (fit.element_size != 0) {
      auto halves = arguments;
      for (LaunchArgument& argument : halves) argument.size /= 2;
      REQUIRE(check_launch(kernel, limits, shape, halves) == LaunchVerdict::fits);
    }

    if (const std::uint64_t n = row(diagnostic, "largest group")) {
      ++groups;
      const auto with_items = [&](std::uint64_t count) {
        auto changed = arguments;
        for (LaunchArgument& argument : changed) argument.size = argument.size / items * count;
        return check_launch(kernel, limits, {{}, {static_cast<std::uint32_t>(count), 1, 1}}, changed);
      };
      REQUIRE(with_items(n) == LaunchVerdict::fits);
      REQUIRE(with_items(n + 1) == LaunchVerdict::slm);
    }
    if (const std::uint64_t n = row(diagnostic, "largest edge")) {
      ++tiles;
      const auto with_edge = [&](std::uint64_t e) {
        auto changed = arguments;
        for (LaunchArgument& argument : changed) argument.size = e * e * element;
        return check_launch(kernel, limits, shape, changed);
      };
      REQUIRE(with_edge(n) == LaunchVerdict::fits);
      REQUIRE(with_edge(n + 1) == LaunchVerdict::slm);
    }
  }
  CHECK(groups > 1'000);
  CHECK(tiles > 1'000);
}

TEST_CASE("the gate says yes exactly where the check does, and no to what it cannot know") {
  std::mt19937 random(11);
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  const auto near = [&](std::uint32_t limit) { return limit + pick(0, 2) - std::min(limit, 1u); };
  const std::uint64_t word = 0;
  int yes = 0, no = 0;
  for (int round = 0; round < 100'000; ++round) {
    LaunchLimits limits;
    limits.slm_per_group = std::uint64_t{pick(0, 64)} << 10 | (pick(0, 3) ? 0 : pick(0, 1023));
    limits.max_group_size = pick(1, 512);
    limits.max_group_extent = {pick(0, 64), pick(1, 16), pick(1, 8)};
    limits.max_groups = {pick(0, 3) ? UINT32_MAX : pick(0, 9), 65535, 9};
    KernelFacts kernel = kernel_with({}, pick(0, 1) ? 0 : pick(0, 40'000), SlmMode(pick(0, 1)));
    if (!pick(0, 7)) kernel.required_group_size = {pick(0, 64), pick(0, 16), pick(0, 8)};
    std::vector<LaunchArgument> arguments;
    for (std::uint32_t i = pick(0, 4); i > 0; --i) {
      ArgumentFacts facts = pick(0, 1)   ? local(1u << pick(0, 8))
                            : pick(0, 1) ? pointer()
                                         : value(pick(1, 16));
      LaunchArgument given{facts.kind, facts.size, &word};
      if (facts.kind == ArgumentKind::local_pointer) given.size = pick(0, 20'000);
      if (!pick(0, 15)) given.size += pick(0, 1) ? 1 : 4 * kGiB;
      if (!pick(0, 15)) given.kind = ArgumentKind(pick(0, 2));
      kernel.arguments.push_back(facts);
      arguments.push_back(given);
    }
    if (!pick(0, 15)) arguments.push_back(give(4));
    const auto& required = kernel.required_group_size;
    Extent size{pick(0, 66), pick(0, 4), pick(0, 3)}, groups{near(limits.max_groups.x), pick(0, 9), near(9)};
    if (required[0] && pick(0, 1)) size = {required[0], required[1], required[2]};
    if (!pick(0, 7)) size = {near(limits.max_group_extent.x), 1, 1};
    const LaunchShape shape{groups, size};

    const LaunchVerdict verdict = check_launch(kernel, limits, shape, arguments);
    const LaunchGate gate(kernel, limits);
    REQUIRE(gate.admits(groups, size, arguments) == (verdict == LaunchVerdict::fits));
    (verdict == LaunchVerdict::fits ? yes : no)++;
    if (arguments.size() == 2)
      REQUIRE(gate.admits(groups, size, std::array{arguments[0], arguments[1]}) ==
              (verdict == LaunchVerdict::fits));
  }
  CHECK(yes > 5'000);
  CHECK(no > 5'000);

  const LaunchArgument four{ArgumentKind::value, 4, &word};
  KernelFacts unknown = kernel_with({value(0)});
  CHECK_FALSE(LaunchGate(unknown, limits_with()).admits({}, {}, std::array{four}));
  CHECK(check_launch(unknown, limits_with(), {}, std::array{four}) == LaunchVerdict::fits);
  unknown.arguments_known = false;
  CHECK_FALSE(LaunchGate(unknown, limits_with()).admits({}, {}, std::array{four}));
  CHECK_FALSE(LaunchGate().admits({}, {}, std::span<const LaunchArgument>()));
  LaunchLimits wide = limits_with();
  wide.max_group_extent = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  CHECK_FALSE(
      LaunchGate(kernel_with({}), wide).admits({}, {65536, 65536, 65536}, std::span<const LaunchArgument>()));
}
