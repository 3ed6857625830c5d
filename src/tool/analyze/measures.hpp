// SPDX-License-Identifier: MIT
// The numbers of a kernel that can get better or worse: for comparisons and budgets.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tool/analyze/kernels.hpp"

namespace kiln::tool {

/// The most important first.
enum class Measure : std::uint8_t {
  spilled_bytes,
  scratch_messages,
  occupancy_percent,
  loop_instructions,  ///< of the loop that has most
  slm_bytes,
  live_registers,
  global_messages,
  slm_messages,
  instructions,
};
inline constexpr std::size_t kMeasures = 9;
using Measures = std::array<std::optional<std::uint64_t>, kMeasures>;  ///< nothing: it is not known

[[nodiscard]] Measures measures_of(const AnalyzedKernel& kernel);
/// "spilled_bytes", of JSON and budgets, and "bytes of spilled registers".
[[nodiscard]] const char* name_of(Measure measure);
[[nodiscard]] const char* words_of(Measure measure);
/// Is `now` worse than `before`? Of occupancy less is worse, of all others more. Pure.
[[nodiscard]] bool is_worse(Measure measure, std::uint64_t before, std::uint64_t now);

struct Change {
  std::string kernel, target;
  Measure measure = Measure::instructions;
  std::uint64_t before = 0, now = 0;
  [[nodiscard]] bool worse() const { return is_worse(measure, before, now); }
};

/// Two analyses side by side.
struct Comparison {
  std::vector<Change> changes;         ///< worst first
  std::vector<std::string> unmatched;  ///< kernels that stand on one side alone
  std::size_t matched = 0;             ///< kernels that stand on both
};
enum class Names : std::uint8_t {
  same,
  any,  ///< kernels are matched by product alone, as of one kernel a side that was asked for by name
};
/// Kernels are matched by name and product, several of the same ones in their order; by name alone where each
/// side has one product, and they differ. What is not known on both sides is no change. Pure.
[[nodiscard]] Comparison compare(const std::vector<AnalyzedKernel>& before,
                                 const std::vector<AnalyzedKernel>& now, Names names = Names::same);

/// A budget as JSON, and what is worse than one says. What is not known is left out. Error: a kernel is there
/// twice for a product; which one, and where. Pure.
[[nodiscard]] tl::expected<Json, std::string> budget_of(const std::vector<AnalyzedKernel>& kernels);
struct BudgetVerdict {
  std::vector<Change> worse;
  std::vector<std::string> missing;  ///< kernels of the budget that the files do not have
  std::vector<std::string> unknown;  ///< numbers of the budget that these kernels do not tell
  [[nodiscard]] bool kept() const { return worse.empty() && missing.empty() && unknown.empty(); }
};
/// Every kernel of an entry's name and product is held against it. Error: why it is no budget. Pure.
[[nodiscard]] tl::expected<BudgetVerdict, std::string> hold_against(
    const Json& budget, const std::vector<AnalyzedKernel>& kernels);

/// K0444.
[[nodiscard]] Diagnostic unusable_budget(const std::string& file, const std::string& reason);
[[nodiscard]] Diagnostic unwritable_budget(const std::string& file, const std::string& reason);
[[nodiscard]] Diagnostic ambiguous_budget(const std::string& file, const std::string& reason);
/// K0443.
[[nodiscard]] Diagnostic over_budget(const std::string& file, const BudgetVerdict& verdict);

}  // namespace kiln::tool
