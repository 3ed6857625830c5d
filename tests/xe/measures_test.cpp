// SPDX-License-Identifier: MIT
// Comparisons and budgets of `kiln analyze`.
#include "tool/analyze/measures.hpp"

#include <doctest/doctest.h>

#include "unit/golden.hpp"

namespace {

using namespace kiln;
using namespace kiln::tool;

AnalyzedKernel kernel_of(const char* name, const char* target, std::uint32_t spilled,
                         std::uint64_t instructions) {
  AnalyzedKernel kernel;
  kernel.file = std::string(name) + "." + target + ".bin";
  kernel.target = find_target(std::string_view(target));
  kernel.facts.name = name;
  kernel.facts.spill_size = spilled;
  kernel.code.instructions = instructions;
  kernel.occupancy.groups_per_core = 2;
  kernel.occupancy.threads_per_group = 16;
  kernel.occupancy.threads_per_core = 64;
  return kernel;
}

}  // namespace

TEST_CASE("what changed stands worst first, kernel by kernel") {
  auto worse = kernel_of("tiled", "pvc", 512, 120), better = kernel_of("saxpy", "pvc", 0, 30);
  worse.occupancy.groups_per_core = 1;
  std::vector<std::string> unmatched;
  const auto found = changes(
      {kernel_of("saxpy", "pvc", 0, 40), kernel_of("tiled", "pvc", 0, 100), kernel_of("gone", "pvc", 0, 1)},
      {better, worse}, unmatched);
  REQUIRE(found.size() == 4);
  CHECK((found[0].measure == Measure::spilled_bytes && found[0].kernel == "tiled" && found[0].worse()));
  CHECK((found[1].measure == Measure::occupancy_percent && found[1].before == 50 && found[1].now == 25 &&
         found[1].worse()));
  CHECK((found[2].measure == Measure::instructions && found[2].now == 120));
  CHECK((found[3].kernel == "saxpy" && !found[3].worse()));
  CHECK(unmatched == std::vector<std::string>{"gone of gone.pvc.bin"});
}

TEST_CASE("kernels of other products are matched by name, of the same ones by product") {
  std::vector<std::string> unmatched;
  const auto across =
      changes({kernel_of("saxpy", "pvc", 0, 40)}, {kernel_of("saxpy", "dg2-g10", 0, 50)}, unmatched);
  REQUIRE(across.size() == 1);
  CHECK(across[0].target == "pvc to dg2-g10");
  const std::vector<AnalyzedKernel> both{kernel_of("saxpy", "pvc", 0, 40),
                                         kernel_of("saxpy", "dg2-g10", 0, 50)};
  CHECK(changes(both, {both[1], both[0]}, unmatched).empty());
  CHECK(unmatched.empty());
}

TEST_CASE("a budget is kept by what it was written for, and by what is better") {
  const auto as_written = [](const AnalyzedKernel& kernel) {
    return *Json::parse(budget_of({kernel}).dump());
  };
  const auto kernel = kernel_of("tiled", "pvc", 64, 100);
  const Json budget = as_written(kernel);
  const auto kept = hold_against(budget, {kernel});
  REQUIRE(kept);
  CHECK((kept->worse.empty() && kept->missing.empty()));
  CHECK(hold_against(budget, {kernel_of("tiled", "pvc", 0, 500)})
            ->worse.empty());  // instructions are not in it

  auto fuller = kernel_of("tiled", "pvc", 128, 100);
  fuller.occupancy.groups_per_core = 1;
  const auto broken = hold_against(budget, {fuller});
  REQUIRE(broken);
  REQUIRE(broken->worse.size() == 2);
  CHECK(broken->worse[0].measure == Measure::spilled_bytes);
  const auto missing = hold_against(budget, {kernel_of("tiled", "dg2-g10", 64, 100)});
  CHECK(missing->missing == std::vector<std::string>{"tiled for pvc"});
  test::check_diagnostic("K0443", over_budget("budget.json", {broken->worse, missing->missing}));

  for (const char* text : {"{}", "{\"kernels\": []}", "{\"kiln_budget\": 1, \"kernels\": [1]}",
                           "{\"kiln_budget\": 1, \"kernels\": [{\"kernel\": \"tiled\", \"target\": \"pvc\", "
                           "\"slm_bytes\": \"none\"}]}"})
    CHECK_MESSAGE(!hold_against(*Json::parse(text), {kernel}), text);
}

TEST_CASE("what cannot be analyzed or used is named") {
  test::check_diagnostic("K0442", nothing_native("empty.bin", ""));
  test::check_diagnostic("K0442", nothing_native("saxpy.pvc.bin", "saxpi"), "kernel");
  test::check_diagnostic("K0444", unusable_budget("budget.json", "it is no JSON object"));
  test::check_diagnostic("K0444", unwritable_budget("/budget.json", "Permission denied"), "written");
}
