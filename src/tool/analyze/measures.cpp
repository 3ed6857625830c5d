// SPDX-License-Identifier: MIT
// Compares kernels with each other and with a budget.
#include "tool/analyze/measures.hpp"

#include <algorithm>
#include <map>

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

constexpr std::uint64_t kBudgetFormat = 1;

std::string target_of(const AnalyzedKernel& kernel) { return std::string(kernel.target->name); }

std::string full_name(const AnalyzedKernel& kernel) {
  return kernel.facts.name + " for " + target_of(kernel);
}

/// The product of all; null: there are several, or none.
const Target* only_target(const std::vector<AnalyzedKernel>& kernels) {
  const auto same = [&](const AnalyzedKernel& each) { return each.target == kernels.front().target; };
  return !kernels.empty() && std::ranges::all_of(kernels, same) ? kernels.front().target : nullptr;
}

struct ByName {
  std::string name;
  const Target* target;  // null: any
  [[nodiscard]] friend auto operator<=>(const ByName&, const ByName&) = default;
};

/// What `now` says of a kernel that `before` has.
void add_changes(const AnalyzedKernel& before, const AnalyzedKernel& now, std::vector<Change>& to) {
  const Measures a = measures_of(before), b = measures_of(now);
  for (std::size_t i = 0; i < kMeasures; ++i)
    if (a[i] && b[i] && *a[i] != *b[i])
      to.push_back(
          {before.facts.name == now.facts.name ? now.facts.name : before.facts.name + " to " + now.facts.name,
           before.target == now.target ? target_of(now) : target_of(before) + " to " + target_of(now),
           static_cast<Measure>(i), *a[i], *b[i]});
}

/// Holds the kernels of one entry's name and product against it. Not empty: why it is no entry.
std::string hold_entry(const Json& entry, const std::vector<AnalyzedKernel>& kernels,
                       BudgetVerdict& verdict) {
  const Json *name = entry.find("kernel"), *target = entry.find("target");
  if (!name || !name->is_string() || !target || !target->is_string())
    return "an entry of `kernels` does not say its `kernel` and `target`";
  const std::string kernel_name = name->get<std::string>(), product = target->get<std::string>();
  const std::string whole = kernel_name + " for " + product;
  Measures most;
  for (const auto& [member, value] : entry.items()) {
    if (member == "kernel" || member == "target") continue;
    const auto known = std::ranges::find_if(
        kNames, [&](const MeasureName& each) { return each.in_budget && member == each.name; });
    if (known == kNames.end()) return "`" + member + "` of " + whole + " is nothing that a budget has";
    if (!value.is_number_unsigned()) return "`" + member + "` of " + whole + " is no whole number";
    most[static_cast<std::size_t>(known - kNames.begin())] = value.get<std::uint64_t>();
  }
  bool found = false;
  for (const AnalyzedKernel& kernel : kernels) {
    if (kernel.facts.name != kernel_name || target_of(kernel) != product) continue;
    found = true;
    const Measures measures = measures_of(kernel);
    for (std::size_t i = 0; i < kMeasures; ++i) {
      if (!most[i]) continue;  // whoever wrote it does not mind
      const auto measure = static_cast<Measure>(i);
      if (!measures[i])
        verdict.unknown.push_back(whole + ": " + words_of(measure));
      else if (is_worse(measure, *most[i], *measures[i]))
        verdict.worse.push_back({kernel_name, product, measure, *most[i], *measures[i]});
    }
  }
  if (!found) verdict.missing.push_back(whole);
  return {};
}

}  // namespace

Measures measures_of(const AnalyzedKernel& kernel) {
  const xe::CodeAnalysis& code = kernel.code;
  std::optional<std::uint64_t> loop, live;
  if (code.loops_known) loop = code.largest_loop();
  if (code.live.known) live = code.live.peak;
  return {kernel.facts.spill_size,
          kernel.code.count(xe::Unit::scratch),
          kernel.occupancy.percent(),
          loop,
          kernel.slm,
          live,
          kernel.code.count(xe::Unit::global),
          kernel.code.count(xe::Unit::slm),
          kernel.code.instructions};
}

const char* name_of(Measure measure) { return kNames[static_cast<std::size_t>(measure)].name; }
const char* words_of(Measure measure) { return kNames[static_cast<std::size_t>(measure)].words; }

bool is_worse(Measure measure, std::uint64_t before, std::uint64_t now) {
  return measure == Measure::occupancy_percent ? now < before : now > before;
}

Comparison compare(const std::vector<AnalyzedKernel>& before, const std::vector<AnalyzedKernel>& now,
                   Names names) {
  Comparison comparison;
  const Target *one = only_target(before), *other = only_target(now);
  const bool across = one && other && one != other;
  const auto key = [&](const AnalyzedKernel& each) {
    return ByName{names == Names::any ? std::string() : each.facts.name, across ? nullptr : each.target};
  };
  std::map<ByName, std::vector<const AnalyzedKernel*>> left;  // of `before`, the first one last
  for (auto each = before.rbegin(); each != before.rend(); ++each) left[key(*each)].push_back(&*each);
  for (const AnalyzedKernel& each : now) {
    const auto found = left.find(key(each));
    if (found == left.end() || found->second.empty()) {
      comparison.unmatched.push_back(full_name(each) + " of " + each.file);
      continue;
    }
    add_changes(*found->second.back(), each, comparison.changes);
    found->second.pop_back();
    ++comparison.matched;
  }
  for (const auto& [name, kernels] : left)
    for (const AnalyzedKernel* each : kernels)
      comparison.unmatched.push_back(full_name(*each) + " of " + each->file);
  std::ranges::stable_sort(comparison.changes, std::ranges::greater{}, loss);
  return comparison;
}

tl::expected<Json, std::string> budget_of(const std::vector<AnalyzedKernel>& kernels) {
  Json list = Json::array();
  std::map<ByName, const AnalyzedKernel*> seen;
  for (const AnalyzedKernel& each : kernels) {
    const auto [first, added] = seen.try_emplace(ByName{each.facts.name, each.target}, &each);
    if (!added)
      return tl::unexpected(full_name(each) + " is there twice: in " + first->second->file + " and in " +
                            each.file);
    Json entry{{"kernel", each.facts.name}, {"target", target_of(each)}};
    const Measures measures = measures_of(each);
    for (std::size_t i = 0; i < kMeasures; ++i)
      if (kNames[i].in_budget && measures[i]) entry[kNames[i].name] = *measures[i];
    list.push_back(std::move(entry));
  }
  return Json{{"kiln_budget", kBudgetFormat}, {"kernels", std::move(list)}};
}

tl::expected<BudgetVerdict, std::string> hold_against(const Json& budget,
                                                      const std::vector<AnalyzedKernel>& kernels) {
  const auto no_budget = [](std::string reason) { return tl::unexpected(std::move(reason)); };
  const Json *list = budget.find("kernels"), *format = budget.find("kiln_budget");
  if (!list || !format) return no_budget("it is no budget of `kiln analyze`");
  if (*format != Json(kBudgetFormat)) return no_budget("its format is not 1, which `kiln_budget` says");
  for (const auto& [member, value] : budget.items())
    if (member != "kernels" && member != "kiln_budget")
      return no_budget("`" + member + "` is nothing that a budget has");
  if (list->begin() == list->end() && *list != Json::array()) return no_budget("`kernels` is no list");
  BudgetVerdict verdict;
  for (const Json& entry : *list)
    if (std::string wrong = hold_entry(entry, kernels, verdict); !wrong.empty())
      return no_budget(std::move(wrong));
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

Diagnostic ambiguous_budget(const std::string& file, const std::string& reason) {
  return {"K0444",
          "budget `" + file + "` cannot be written",
          {{"reason", reason}},
          {"give files that have each kernel once for a product"}};
}

Diagnostic over_budget(const std::string& file, const BudgetVerdict& verdict) {
  Diagnostic diagnostic{"K0443", "kernels are over the budget `" + file + "`", {}, {}};
  for (const Change& each : verdict.worse)
    diagnostic.rows.push_back({each.kernel + " for " + each.target,
                               std::string(words_of(each.measure)) + ": " + std::to_string(each.now) +
                                   ", where the budget has " + std::to_string(each.before)});
  for (const std::string& each : verdict.missing) diagnostic.rows.push_back({each, "not in these files"});
  for (const std::string& each : verdict.unknown)
    diagnostic.rows.push_back({each, "not known: the code branches more than is followed"});
  diagnostic.help = {"`kiln analyze` on the file from before and this one shows what changed",
                     "where it is meant, write the budget anew with --write-budget"};
  return diagnostic;
}

}  // namespace kiln::tool
