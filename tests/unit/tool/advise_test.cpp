// SPDX-License-Identifier: MIT
// The pure parts of `kiln run --advise`: which alternatives there are, what they cost, and the way through
// them.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "kiln/binary.hpp"
#include "kiln/target.hpp"
#include "tool/advise/search.hpp"
#include "tool/advise/spirv_edit.hpp"
#include "tool/common/session.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::tool;
using namespace kiln::test;

namespace {

std::vector<Extent> of_size(std::initializer_list<std::uint32_t> sizes) {
  std::vector<Extent> all;
  for (const std::uint32_t size : sizes) all.push_back({size});
  return all;
}

std::vector<Extent> sorted(std::vector<Extent> shapes) {
  std::ranges::sort(shapes, {}, [](const Extent& each) { return std::tuple(each.x, each.y, each.z); });
  return shapes;
}

Trial costing(std::uint64_t lines) {
  Trial trial;
  trial.cost.lines = lines;
  return trial;
}

}  // namespace

TEST_CASE("group sizes divide the work-items, and lie next to powers of two") {
  CHECK(sorted(group_shapes({1024}, {256}, 1024)) == of_size({16, 32, 64, 128, 512, 1024}));
  CHECK(sorted(group_shapes({1000}, {250}, 512)) == of_size({25, 50, 125, 500}));
  CHECK(group_shapes({7}, {7}, 1024).empty());
  CHECK(group_shapes({1024}, {1024}, 8).empty());
  for (const Extent& each : group_shapes({600, 150, 4}, {8, 10, 2}, 512)) {
    CHECK(600 % each.x == 0);
    CHECK(150 % each.y == 0);
    CHECK(each.z == 2);
    CHECK(total(each) <= 512);
    CHECK(total(each) >= 64);
    CHECK(each.x >= 8);
  }
  // Those of as many work-items come first: whoever stops early has seen the shapes of the size that was
  // given.
  const auto plane = group_shapes({1024, 1024}, {16, 16}, 1024);
  REQUIRE(plane.size() > 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(total(plane[i]) == 256);
  CHECK(std::ranges::find(plane, Extent{16, 16}) == plane.end());
}

TEST_CASE("macros that are sizes, and options with others") {
  const std::string source = "#if TILE > 1\n... N2 MANY";
  CHECK(size_macros("-DTILE=16 -D N2=8 -DMANY=12 -DNONE=4 -DN=2 -cl-mad-enable", source) ==
        std::vector<Macro>{{"TILE", 16}, {"N2", 8}});
  CHECK(size_macros("-DTILE=1 -DTILE -DTILE= -DTILE=x -D", source).empty());
  CHECK(size_macros("-DTILE=99999999999999999999", source).empty());
  CHECK(with_macros("-DTILE=16 -D N2=8 -DTILE2=16", {{"TILE", 32}, {"N2", 4}}) ==
        "-DTILE=32 -D N2=4 -DTILE2=16");
}

TEST_CASE("macros that a source gives a value where the options give none") {
  const std::string source =
      "#ifndef TILE // edge\n#define TILE 16 // of a tile\n#endif\n"
      "  # if !defined( N2 )\n\t#  define  N2\t(8u)\r\n#endif\n"
      "#if !defined COUNT\n#define COUNT 4\n#endif\n"
      "#ifndef GUARD_H\n#define GUARD_H\n#endif\n"
      "#ifndef MANY\n#define MANY 12\n#endif\n"
      "#ifndef OTHER\n#define THING 16\n#endif\n"
      "#ifndef CALL\n#define CALL(x) 16\n#endif\n"
      "#ifndef SUM\n#define SUM 16 + 16\n#endif\n"
      "#define PLAIN 16\n#ifndef LAST";
  CHECK(default_macros("", source) == std::vector<Macro>{{"TILE", 16}, {"N2", 8}, {"COUNT", 4}});
  CHECK(default_macros("-DTILE=32 -UN2 -D COUNT", source).empty());
  CHECK(default_macros("", "").empty());
  CHECK(with_macros("-cl-mad-enable", {{"TILE", 32}, {"N2", 4}}) == "-cl-mad-enable -DTILE=32 -DN2=4");
  CHECK(with_macros("", {{"TILE", 32}}) == "-DTILE=32");
}

TEST_CASE("numbers that a kernel's comparisons are with") {
  const auto spirv = read_file(std::filesystem::path(KILN_TEST_SPIRV) / "convolution.spv");
  const auto facts = read_spirv(spirv);
  REQUIRE(facts);
  bool any = false;
  for (const KernelFacts& kernel : facts->kernels) any |= !compared_numbers(spirv, kernel.name).empty();
  CHECK(any);
  CHECK(compared_numbers(spirv, "none").empty());
  CHECK(compared_numbers({}, "none").empty());
  for (std::size_t size = 0; size < spirv.size(); size += 41)
    static_cast<void>(compared_numbers(std::span(spirv.data(), size), facts->kernels.front().name));
}

TEST_CASE("a tile goes with the group, with SLM, or with the work of each work-item") {
  const auto all = with_macro({}, {"TILE", 16}, 32, {16, 16}, {512, 512}, true);
  REQUIRE(all.size() == 6);
  CHECK(all[0].group == Extent{32, 32});
  CHECK(all[0].local_times == 4 * all[0].local_divided);  // a square
  CHECK(all[2].local_times == all[2].local_divided);
  CHECK(all[3].global == Extent{256, 512});
  CHECK(all[3].group == std::nullopt);
  CHECK(with_macro({}, {"TILE", 16}, 32, {64}, {512}, false).size() == 2);
  CHECK(with_macro({}, {"TILE", 2}, 64, {64}, {16}, false).size() == 1);  // half a work-item is none
}

TEST_CASE("each kind of change is tried on top of the best of those before") {
  AdviseSpace space;
  space.items = {4096};
  space.group = {256};
  space.most_group = 1024;
  space.sub_group_sizes = {32};
  std::vector<std::string> ran;
  const TryOne run = [&](const Alternative& what) -> Result<Trial> {
    ran.push_back(words_of(what));
    const std::uint64_t group = what.group ? what.group->x : 256;
    Trial trial = costing(group == 64 ? 100 : 200);
    if (group == 1024) trial = {{}, "K0102"};
    if (what.sub_group_size == 32) trial.cost.lines -= 10;
    return trial;
  };
  const auto advice = search(space, 100, run);
  REQUIRE(advice);
  CHECK(words_of(advice->trials[advice->best].what) == "groups of 64, sub-groups of 32");
  CHECK(ran.front() == "as given");
  CHECK(std::set<std::string>(ran.begin(), ran.end()).size() == ran.size());
  CHECK_FALSE(advice->is_cut);
  const auto json = advice_json(*advice);
  CHECK(json["best"] == advice->best);
  CHECK(json["tried"][advice->best]["percent"] == 45.0);
  const auto order = by_cost(json);
  CHECK(order.front() == advice->best);
  CHECK(json["tried"][order.back()]["refused"] == "K0102");

  ran.clear();
  const auto cut = search(space, 3, run);
  REQUIRE(cut);
  CHECK(cut->is_cut);
  CHECK(ran.size() == 3);
}

TEST_CASE("what is refused as it was given has no alternatives, and an error ends the search") {
  AdviseSpace space;
  space.items = {4096};
  space.group = {256};
  space.most_group = 1024;
  const auto refused = search(space, 10, [](const Alternative&) -> Result<Trial> {
    return Trial{{}, "K0803"};
  });
  REQUIRE(refused);
  CHECK(refused->trials.size() == 1);
  const Error lost(ZE_RESULT_ERROR_DEVICE_LOST, "zeEventHostSynchronize");
  const auto failed =
      search(space, 10, [&](const Alternative&) -> Result<Trial> { return tl::unexpected(lost); });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_CASE("what a shape or a build is refused for is told in its row, and all else ends the runs") {
  const auto error = [](ze_result_t code, const char* diagnostic) {
    return Error(code, "zeCommandListAppendLaunchKernel", Diagnostic{diagnostic, "", {}, {}});
  };
  CHECK(is_refusal(error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "K0101")));
  CHECK(is_refusal(error(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "K0203")));
  CHECK(is_refusal(error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "K0406")));
  CHECK_FALSE(is_refusal(error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "K0220")));  // a lost device, on a list
  CHECK_FALSE(is_refusal(error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "K0214")));
  CHECK_FALSE(is_refusal(error(ZE_RESULT_ERROR_UNKNOWN, "K0423")));
  CHECK_FALSE(is_refusal(error(ZE_RESULT_ERROR_DEVICE_LOST, "K0203")));
  CHECK_FALSE(is_refusal(error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "K0213")));
  CHECK_FALSE(is_refusal(Error(ZE_RESULT_ERROR_DEVICE_LOST, "zeEventHostSynchronize")));
}

TEST_CASE("barriers that are left out are those of the best so far") {
  AdviseSpace space;
  space.macros = {{"TILE", 8}};
  std::vector<std::string> ran;
  const auto advice = search(space, 100, [&](const Alternative& what) -> Result<Trial> {
    ran.push_back(words_of(what));
    const bool is_best = std::ranges::find(what.macros, Macro{"TILE", 16}) != what.macros.end();
    Trial trial = costing(is_best ? 10 : 20);
    trial.barriers = is_best ? 2 : 1;
    return trial;
  });
  REQUIRE(advice);
  CHECK(ran.back() == "TILE=16, without barrier 2");
  CHECK(std::ranges::count_if(ran, [](const std::string& each) { return each.ends_with("barrier 1"); }) == 1);
}

TEST_CASE("SLM goes with the group where the kernel does not take it otherwise") {
  AdviseSpace space;
  space.items = {1024};
  space.group = {256};
  space.most_group = 512;
  space.has_locals = true;
  const auto advice = search(space, 100, [](const Alternative& what) -> Result<Trial> {
    const std::uint64_t group = what.group ? what.group->x : 256;
    return what.local_times * 256 < what.local_divided * group ? Trial{{}, "K0801"} : costing(1);
  });
  REQUIRE(advice);
  const auto scaled = std::ranges::find_if(advice->trials, [](const Trial& each) {
    return each.what.group == Extent{512} && each.refused.empty();
  });
  REQUIRE(scaled != advice->trials.end());
  CHECK(words_of(scaled->what) == "groups of 512, `__local` x 2");
}

TEST_CASE("the cost is what is counted, and more where hardware threads have no work") {
  Counters counters;
  counters.sub_group_size = 16;
  counters.launches = 2;
  counters.groups = 8;
  counters.work_items = 2048;
  counters.barriers = 4096;  // of 2 launches
  counters.totals = {{MemorySpace::global, AccessKind::read, 0, 0, 0, 600, 0, 0},
                     {MemorySpace::slm, AccessKind::read, 0, 0, 0, 0, 200, 0}};
  const CountedCost plain = cost_of(counters, 256, 0, std::nullopt);
  CHECK(plain.lines == 300);
  CHECK(plain.turns == 100);
  CHECK(plain.barriers == 128);
  CHECK(plain.total() == 528);
  KernelFacts facts;
  facts.simd_size = 16;
  facts.grf_count = 128;
  facts.spill_size = 100;
  const CoreLimits limits = core_limits(*find_target("pvc"));
  const CountedCost full = cost_of(counters, 256, 0, NativeUse{facts, limits});
  CHECK(full.spilled == 4 * 16 * 2 * 2);
  CHECK(full.total() == 528 + full.spilled);
  // So much SLM that a core holds one group: 16 threads of 64.
  const CountedCost alone = cost_of(counters, 256, 100'000, NativeUse{facts, limits});
  REQUIRE(alone.occupancy->percent() == 25);
  CHECK(alone.total() == 3 * full.total());
  // 256 registers: half the hardware threads, all with work.
  facts.grf_count = 256;
  facts.spill_size = 0;
  const CountedCost wide = cost_of(counters, 256, 0, NativeUse{facts, limits});
  CHECK(wide.threads_percent == 50);
  CHECK(wide.total() == 528 * 1.5);
}

TEST_CASE("a hardware thread whose lanes are not all work arrives at a barrier as others do") {
  Counters counters;
  counters.sub_group_size = 16;
  counters.launches = 2;
  counters.groups = 2 * 100;
  counters.work_items = counters.groups * 24;
  counters.barriers = counters.work_items * 3;
  CHECK(cost_of(counters, 24, 0, std::nullopt).barriers == 100 * 3 * 2);
  counters.barriers = 0;
  CHECK(cost_of(counters, 24, 0, std::nullopt).barriers == 0);
}

TEST_CASE("SPIR-V with another sub-group size, and with a barrier less") {
  const auto spirv = read_file(std::filesystem::path(KILN_TEST_SPIRV) / "matmul.spv");
  for (const std::uint32_t size : {8u, 32u}) {
    const auto changed = with_sub_group_size(spirv, "tiled", size);
    const auto facts = read_spirv(changed);
    REQUIRE(facts);
    REQUIRE(facts->find("tiled"));
    CHECK(facts->find("tiled")->required_sub_group_size == size);
    // Once more: the size is replaced, not added.
    const auto again = with_sub_group_size(changed, "tiled", 16);
    CHECK(again.size() == changed.size());
    CHECK(read_spirv(again)->find("tiled")->required_sub_group_size == 16);
  }
  CHECK(with_sub_group_size(spirv, "none", 16).empty());
  CHECK(with_sub_group_size({}, "tiled", 16).empty());
  const auto barriers = slm_barriers(spirv, "tiled");
  REQUIRE(barriers.size() == 2);
  CHECK(barriers[0].line != 0);
  const auto fewer = without_barrier(spirv, barriers[0]);
  REQUIRE(read_spirv(fewer));
  CHECK(slm_barriers(fewer, "tiled").size() == 1);
  CHECK(slm_barriers(fewer, "tiled")[0].line == barriers[1].line);
  CHECK(slm_barriers(spirv, "none").empty());
  // Whatever is cut or damaged: no more than what is there is read.
  for (std::size_t size = 0; size < spirv.size(); size += 37) {
    const std::span<const std::byte> part(spirv.data(), size);
    static_cast<void>(with_sub_group_size(part, "tiled", 16));
    static_cast<void>(slm_barriers(part, "tiled"));
    static_cast<void>(without_barrier(part, {spirv.size() / 4, 0}));
  }
}
