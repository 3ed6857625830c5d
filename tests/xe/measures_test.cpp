// SPDX-License-Identifier: MIT
// Comparisons and budgets of `kiln analyze`.
#include "tool/analyze/measures.hpp"

#include <doctest/doctest.h>

#include "tool/analyze/executed_counts.hpp"
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
  const auto [found, unmatched, matched] = compare(
      {kernel_of("saxpy", "pvc", 0, 40), kernel_of("tiled", "pvc", 0, 100), kernel_of("gone", "pvc", 0, 1)},
      {better, worse});
  CHECK(matched == 2);
  REQUIRE(found.size() == 4);
  CHECK((found[0].measure == Measure::spilled_bytes && found[0].kernel == "tiled" && found[0].worse()));
  CHECK((found[1].measure == Measure::occupancy_percent && found[1].before == 50 && found[1].now == 25 &&
         found[1].worse()));
  CHECK((found[2].measure == Measure::instructions && found[2].now == 120));
  CHECK((found[3].kernel == "saxpy" && !found[3].worse()));
  CHECK(unmatched == std::vector<std::string>{"gone for pvc of gone.pvc.bin"});
}

TEST_CASE("kernels of other products are matched by name, of the same ones by product") {
  const auto across = compare({kernel_of("saxpy", "pvc", 0, 40)}, {kernel_of("saxpy", "dg2-g10", 0, 50)});
  REQUIRE(across.changes.size() == 1);
  CHECK(across.changes[0].target == "pvc to dg2-g10");
  const std::vector<AnalyzedKernel> both{kernel_of("saxpy", "pvc", 0, 40),
                                         kernel_of("saxpy", "dg2-g10", 0, 50)};
  const auto same = compare(both, {both[1], both[0]});
  CHECK((same.changes.empty() && same.unmatched.empty() && same.matched == 2));
  // Where the sides have some products in common, what is of another is no partner.
  const auto partly = compare(both, {kernel_of("saxpy", "pvc", 0, 60), kernel_of("saxpy", "tgllp", 0, 50)});
  REQUIRE(partly.changes.size() == 1);
  CHECK((partly.changes[0].target == "pvc" && partly.changes[0].before == 40));
  CHECK(partly.unmatched == std::vector<std::string>{"saxpy for tgllp of saxpy.tgllp.bin",
                                                     "saxpy for dg2-g10 of saxpy.dg2-g10.bin"});
  const auto one_of_two = compare(both, {kernel_of("saxpy", "tgllp", 0, 50)});
  CHECK((one_of_two.matched == 0 && one_of_two.changes.empty() && one_of_two.unmatched.size() == 3));
  // Two that were asked for by their names.
  const auto named =
      compare({kernel_of("plain", "pvc", 0, 40)}, {kernel_of("blocked", "pvc", 0, 50)}, Names::any);
  CHECK((named.matched == 1 && named.unmatched.empty()));
  REQUIRE(named.changes.size() == 1);
  CHECK(named.changes[0].kernel == "plain to blocked");
  // Several of a name and a product are paired in their order.
  const auto twice = compare({both[0], both[0]}, {both[0], kernel_of("saxpy", "pvc", 8, 40)});
  REQUIRE(twice.changes.size() == 1);
  CHECK((twice.changes[0].now == 8 && twice.matched == 2));
}

TEST_CASE("what is not known is no change, and breaks a budget that asks for it") {
  auto unknown = kernel_of("tiled", "pvc", 0, 100);
  unknown.code.live.known = unknown.code.loops_known = false;
  const auto known = kernel_of("tiled", "pvc", 0, 100);
  CHECK(compare({known}, {unknown}).changes.empty());
  const auto verdict = hold_against(*budget_of({known}), {unknown});
  REQUIRE(verdict);
  CHECK((verdict->worse.empty() && verdict->unknown.size() == 2 && !verdict->kept()));
  CHECK_FALSE(budget_of({unknown})->at("kernels").at(0).contains("live_registers"));
  CHECK(hold_against(*budget_of({unknown}), {unknown})->kept());
  test::check_diagnostic("K0443", over_budget("budget.json", *verdict), "unknown");
}

TEST_CASE("an entry holds for all kernels of its name and product, and is written for one") {
  const auto kernel = kernel_of("tiled", "pvc", 64, 100), fuller = kernel_of("tiled", "pvc", 128, 100);
  const auto verdict = hold_against(*budget_of({kernel}), {kernel, fuller});
  REQUIRE(verdict);
  REQUIRE(verdict->worse.size() == 1);
  CHECK(verdict->worse[0].now == 128);
  const auto twice = budget_of({kernel, fuller});
  REQUIRE_FALSE(twice);
  test::check_diagnostic("K0444", ambiguous_budget("budget.json", twice.error()), "twice");
}

TEST_CASE("a budget is kept by what it was written for, and by what is better") {
  const auto as_written = [](const AnalyzedKernel& kernel) {
    return *Json::parse(budget_of({kernel})->dump());
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
  test::check_diagnostic("K0443", over_budget("budget.json", {broken->worse, missing->missing, {}}));

  const std::string begin = R"({"kiln_budget": 1, "kernels": [{"kernel": "tiled", "target": "pvc", )";
  CHECK(hold_against(*Json::parse(begin + R"("slm_bytes": 1}]})"), {kernel}));
  for (const std::string& text :
       {std::string("{}"), std::string(R"({"kernels": []})"), std::string(R"({"kiln_budget": 1})"),
        std::string(R"({"kiln_budget": 2, "kernels": []})"),
        std::string(R"({"kiln_budget": "1", "kernels": []})"),
        std::string(R"({"kiln_budget": 1, "kernels": {}})"),
        std::string(R"({"kiln_budget": 1, "kernels": "tiled"})"),
        std::string(R"({"kiln_budget": 1, "kernels": [], "kernel": []})"),
        std::string(R"({"kiln_budget": 1, "kernels": [1]})"), begin + R"("slm_bytes": "none"}]})",
        begin + R"("slm_bytes": -1}]})", begin + R"("spiled_bytes": 0}]})",
        begin + R"("instructions": 9}]})"}) {
    const auto verdict = hold_against(*Json::parse(text), {kernel});
    CHECK_MESSAGE(!verdict, text);
    if (!verdict) CHECK_FALSE(verdict.error().empty());
  }
}

TEST_CASE("what cannot be analyzed or used is named") {
  test::check_diagnostic("K0442", nothing_native("empty.bin", ""));
  test::check_diagnostic("K0442", nothing_native("saxpy.pvc.bin", "saxpi"), "kernel");
  test::check_diagnostic("K0442", not_among("blas.ar", "saxpi", {"saxpy", "sgemm"}), "named");
  test::check_diagnostic("K0444", unusable_budget("budget.json", "it is no JSON object"));
  test::check_diagnostic("K0444", unwritable_budget("/budget.json", "Permission denied"), "written");
  test::check_diagnostic(
      "K0445", unusable_counts("run.json", "the files have no kernel for pvc with the code that ran",
                               {{"at 0x40 ran", "add"}, {"kernel `saxpy` has there", "mul"}}));
}

TEST_CASE("counts of a run are taken by the kernel whose code ran, and by no other") {
  const std::string text =
      "        mov (16|M0)   r1.0<1>:d     r2.0<8;8,1>:d   {A@1}\n"
      "L16:\n"
      "        add (16|M0)   r1.0<1>:d     r1.0<8;8,1>:d   r2.0<8;8,1>:d\n"
      "        add (16|M0)   r1.0<1>:d     r1.0<8;8,1>:d   r3.0<8;8,1>:d\n";
  auto kernel = kernel_of("scale", "pvc", 0, 3);
  kernel.text = text;
  kernel.instructions = *xe::read_instructions(text, 48);
  kernel.code = xe::analyze(kernel.instructions, 64);
  kernel.places = {{"a.cl", 1}, {"a.cl", 2}, {"a.cl", 2}};
  kernel.lines = {{"a.cl", 1, 1, 0}, {"a.cl", 2, 2, 0}};
  auto other = kernel;
  other.facts.name = "other";
  other.text.replace(other.text.find("r3.0"), 4, "r4.0");
  other.instructions = *xe::read_instructions(other.text, 48);
  const auto run = [](const char* third) {
    return *Json::parse(
        R"({"kernel": "sample.scale", "native_counters": {"product": "pvc", "launches": 1, "groups": 2, "threads": 4,
            "instructions": 21, "simd_efficiency": 0.5, "scratch": {"messages": 0, "bytes": 0, "lines": 0}, "code": [
            {"offset": 0, "text": "mov (16|M0) r1.0<1>:d r2.0<8;8,1>:d {A@1}", "executed": 4, "lanes": 64},
            {"offset": 16, "text": "add (16|M0) r1.0<1>:d r1.0<8;8,1>:d r2.0<8;8,1>:d", "executed": 9, "lanes": 80},
            {"offset": 32, "text": "add (16|M0) r1.0<1>:d r1.0<8;8,1>:d )" +
        std::string(third) + R"(.0<8;8,1>:d", "executed": 8, "lanes": 24}]}})");
  };
  std::vector<AnalyzedKernel> kernels{other, kernel};
  REQUIRE(add_executed(run("r3"), "run.json", kernels));
  CHECK_FALSE(kernels[0].executed);
  REQUIRE(kernels[1].executed);
  CHECK((kernels[1].executed->threads == 4 && kernels[1].executed->instructions == 21));
  CHECK(kernels[1].lines[0].executed.executed == 4);
  CHECK(kernels[1].lines[1].executed.executed == 17);
  REQUIRE(kernels[1].code.mix.size() == 2);
  for (const xe::MixEntry& each : kernels[1].code.mix) {
    const ExecutedCount count = executed_of(kernels[1], each);
    CHECK(count.executed == (each.kind == xe::Kind::move ? 4 : 17));
    CHECK(count.lanes == (each.kind == xe::Kind::move ? 64 : 104));
  }
  CHECK(walks_of(kernels[1], {16, 48}) == 9);

  // Nothing of a run of other code is taken: the first difference is told.
  kernels = {kernel};
  const auto refused = add_executed(run("r5"), "run.json", kernels);
  REQUIRE_FALSE(refused);
  REQUIRE(refused.error().diagnostic());
  CHECK(refused.error().diagnostic()->rows[1].label == "at 0x20 ran");
  CHECK_FALSE(kernels[0].executed);
  for (const char* wrong : {"{}", R"({"native_counters": {}})", R"({"native_counters": {"product": "pvc"}})",
                            R"({"native_counters": {"product": "pvc", "code": [{"offset": "x"}]}})"}) {
    const auto useless = add_executed(*Json::parse(wrong), "run.json", kernels);
    REQUIRE_FALSE(useless);
    CHECK(useless.error().diagnostic()->code == "K0445");
  }
}
