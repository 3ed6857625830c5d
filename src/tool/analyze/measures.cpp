// SPDX-License-Identifier: MIT
// Compares kernels with each other and with a budget.
#include "tool/analyze/measures.hpp"

#include <algorithm>

namespace kiln::tool {
namespace {

struct MeasureName {
  const char *name, *words;
  bool in_budget;
};
constexpr std::array<MeasureName, kMeasures> kNames{
    {{"spilled_bytes", "bytes of spilled registers", true},
     {"scratch_messages", "messages to scratch", true},
     {"occupancy_percent", "occupancy in percent", true},
     {"loop_instructions", "instructions of the largest loop", true},
     {"slm_bytes", "bytes of SLM", true},
     {"live_registers", "live registers", true},
     {"global_messages", "messages to global memory", false},
     {"slm_messages", "messages to SLM", false},
     {"instructions", "instructions", false}}};

/// How much worse, as a share of what was; what was nothing is worst.
double loss(const Change& change) {
  const auto before = static_cast<double>(change.before), now = static_cast<double>(change.now);
  const double difference = change.measure == Measure::occupancy_percent ? before - now : now - before;
  return change.before == 0 ? difference * 1e6 : difference / before;
}

std::string target_of(const AnalyzedKernel& kernel) { return std::string(kernel.target->name); }

bool same_targets(const std::vector<AnalyzedKernel>& a, const std::vector<AnalyzedKernel>& b) {
  const auto has = [](const auto& list, const AnalyzedKernel& each) {
    return std::ranges::find(list, each.target, &AnalyzedKernel::target) != list.end();
  };
  return std::ranges::all_of(a, [&](const auto& each) { return has(b, each); }) &&
         std::ranges::all_of(b, [&](const auto& each) { return has(a, each); });
}

const AnalyzedKernel* find_kernel(const std::vector<AnalyzedKernel>& kernels, const std::string& name,
                                  const std::string& target) {
  for (const AnalyzedKernel& each : kernels)
    if (each.facts.name == name && (target.empty() || target_of(each) == target)) return &each;
  return nullptr;
}

}  // namespace

Measures measures_of(const AnalyzedKernel& kernel) {
  return {kernel.facts.spill_size,
          kernel.code.count(xe::Unit::scratch),
          kernel.occupancy.percent(),
          kernel.code.largest_loop(),
          kernel.slm,
          kernel.code.live.peak,
          kernel.code.count(xe::Unit::global),
          kernel.code.count(xe::Unit::slm),
          kernel.code.instructions};
}

const char* name_of(Measure measure) { return kNames[static_cast<std::size_t>(measure)].name; }
const char* words_of(Measure measure) { return kNames[static_cast<std::size_t>(measure)].words; }

bool is_worse(Measure measure, std::uint64_t before, std::uint64_t now) {
  return measure == Measure::occupancy_percent ? now < before : now > before;
}

std::vector<Change> changes(const std::vector<AnalyzedKernel>& before, const std::vector<AnalyzedKernel>& now,
                            std::vector<std::string>& unmatched) {
  std::vector<Change> found;
  const bool by_target = same_targets(before, now);
  for (const AnalyzedKernel& each : now)
    if (!find_kernel(before, each.facts.name, by_target ? target_of(each) : ""))
      unmatched.push_back(each.facts.name + " of " + each.file);
  for (const AnalyzedKernel& each : before) {
    const AnalyzedKernel* other = find_kernel(now, each.facts.name, by_target ? target_of(each) : "");
    if (!other) {
      unmatched.push_back(each.facts.name + " of " + each.file);
      continue;
    }
    const Measures a = measures_of(each), b = measures_of(*other);
    for (std::size_t i = 0; i < kMeasures; ++i)
      if (a[i] != b[i])
        found.push_back({each.facts.name,
                         by_target ? target_of(each) : target_of(each) + " to " + target_of(*other),
                         static_cast<Measure>(i), a[i], b[i]});
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, loss);
  return found;
}

Json budget_of(const std::vector<AnalyzedKernel>& kernels) {
  Json list = Json::array();
  for (const AnalyzedKernel& each : kernels) {
    Json entry{{"kernel", each.facts.name}, {"target", target_of(each)}};
    const Measures measures = measures_of(each);
    for (std::size_t i = 0; i < kMeasures; ++i)
      if (kNames[i].in_budget) entry[kNames[i].name] = measures[i];
    list.push_back(std::move(entry));
  }
  return {{"kiln_budget", 1}, {"kernels", std::move(list)}};
}

std::optional<BudgetVerdict> hold_against(const Json& budget, const std::vector<AnalyzedKernel>& kernels) {
  const Json* list = budget.find("kernels");
  const Json* version = budget.find("kiln_budget");
  if (!list || !version || !version->is_number_unsigned()) return std::nullopt;
  BudgetVerdict verdict;
  for (const Json& entry : *list) {
    const Json *name = entry.find("kernel"), *target = entry.find("target");
    if (!name || !name->is_string() || !target || !target->is_string()) return std::nullopt;
    const std::string kernel_name = name->get<std::string>(), product = target->get<std::string>();
    const AnalyzedKernel* kernel = find_kernel(kernels, kernel_name, product);
    if (!kernel) {
      verdict.missing.push_back(kernel_name + " for " + product);
      continue;
    }
    const Measures measures = measures_of(*kernel);
    for (std::size_t i = 0; i < kMeasures; ++i) {
      const Json* most = entry.find(kNames[i].name);
      if (!most) continue;  // whoever wrote it does not mind
      if (!most->is_number_unsigned()) return std::nullopt;
      const auto measure = static_cast<Measure>(i);
      const auto allowed = most->get<std::uint64_t>();
      if (is_worse(measure, allowed, measures[i]))
        verdict.worse.push_back({kernel_name, product, measure, allowed, measures[i]});
    }
  }
  std::ranges::stable_sort(verdict.worse, std::ranges::greater{}, loss);
  return verdict;
}

Diagnostic unusable_budget(const std::string& file, const std::string& reason) {
  return {"K0444",
          "budget `" + file + "` cannot be used",
          {{"reason", reason}},
          {"write one with --write-budget, and give that"}};
}

Diagnostic unwritable_budget(const std::string& file, const std::string& reason) {
  return {"K0444",
          "budget `" + file + "` cannot be written",
          {{"reason", reason}},
          {"name a file in a folder that you may write to"}};
}

Diagnostic over_budget(const std::string& file, const BudgetVerdict& verdict) {
  Diagnostic diagnostic{"K0443", "kernels are over the budget `" + file + "`", {}, {}};
  for (const Change& each : verdict.worse)
    diagnostic.rows.push_back({each.kernel + " for " + each.target,
                               std::string(words_of(each.measure)) + ": " + std::to_string(each.now) +
                                   ", where the budget has " + std::to_string(each.before)});
  for (const std::string& each : verdict.missing) diagnostic.rows.push_back({each, "not in these files"});
  diagnostic.help = {"`kiln analyze` on the file from before and this one shows what changed",
                     "where it is meant, write the budget anew with --write-budget"};
  return diagnostic;
}

}  // namespace kiln::tool
