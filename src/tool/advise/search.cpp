// SPDX-License-Identifier: MIT
// One kind of change after the other, each on top of what was best until then.
#include "tool/advise/search.hpp"

#include <algorithm>
#include <numeric>

namespace kiln::tool {
namespace {

// A kernel that is written for its group takes no other; these are enough to see that.
constexpr std::size_t kRefusedInARow = 6;

class Search {
 public:
  Search(const AdviseSpace& space, std::size_t most, const TryOne& run)
      : space_(space), most_(most), run_(run) {}

  Result<Advice> all() {
    KILN_TRY(attempt({}));
    if (advice_.trials.front().refused.empty()) {
      KILN_TRY(macros());
      KILN_TRY(slm());
      KILN_TRY(groups());
      KILN_TRY(sub_groups());
      KILN_TRY(registers());
      KILN_TRY(barriers());
    }
    return std::move(advice_);
  }

 private:
  [[nodiscard]] const Alternative& best() const { return advice_.trials[advice_.best].what; }
  [[nodiscard]] Extent group() const { return best().group.value_or(space_.group); }
  [[nodiscard]] Extent items() const { return best().global.value_or(space_.items); }

  /// Whether it can be taken; what was tried before is not run again.
  Result<bool> attempt(const Alternative& what) {
    for (const Trial& each : advice_.trials)
      if (each.what == what) return each.refused.empty();
    if (advice_.trials.size() >= most_) {
      advice_.is_cut = true;
      return false;
    }
    KILN_TRY(auto trial, run_(what));
    trial.what = what;
    const bool is_taken = trial.refused.empty();
    advice_.trials.push_back(std::move(trial));
    const std::size_t last = advice_.trials.size() - 1;
    if (is_taken && advice_.trials[last].cost.total() < advice_.trials[advice_.best].cost.total())
      advice_.best = last;
    return is_taken;
  }

  /// The first that can be taken; false: none can.
  Result<bool> attempt_first(const std::vector<Alternative>& all) {
    for (const Alternative& each : all) {
      KILN_TRY(const bool is_taken, attempt(each));
      if (is_taken) return true;
      if (advice_.is_cut) break;
    }
    return false;
  }

  Result<void> macros() {
    for (const Macro& macro : space_.macros) {
      const Alternative from = best();  // a value is not tried on top of another one
      const Extent from_group = group(), from_items = items();
      for (const std::uint64_t value : {macro.value / 2, macro.value * 2, macro.value / 4, macro.value * 4})
        if (value > 0) {
          KILN_TRY(attempt_first(with_macro(from, macro, value, from_group, from_items, space_.has_locals)));
        }
    }
    return {};
  }

  Result<void> slm() {
    const Alternative from = best();
    for (const std::uint64_t bytes : space_.slm) {
      Alternative each = from;
      each.slm = bytes;
      KILN_TRY(attempt(each));
    }
    return {};
  }

  Result<void> groups() {
    if (space_.most_group == 0) return {};
    const Alternative from = best();
    const Extent from_group = group();
    std::size_t refused = 0;
    for (const Extent& shape : group_shapes(items(), from_group, space_.most_group)) {
      std::vector<Alternative> ways{from};
      ways.front().group = shape;
      if (space_.has_locals && total(shape) != total(from_group)) {
        // Most `__local` arrays have an element, or a few, for each work-item.
        ways.push_back(ways.front());
        ways.back().local_times *= total(shape);
        ways.back().local_divided *= total(from_group);
      }
      KILN_TRY(const bool is_taken, attempt_first(ways));
      refused = is_taken ? 0 : refused + 1;
      if (refused >= kRefusedInARow) break;
    }
    return {};
  }

  Result<void> sub_groups() {
    const Alternative from = best();
    for (const std::uint32_t size : space_.sub_group_sizes) {
      Alternative each = from;
      each.sub_group_size = size;
      KILN_TRY(attempt(each));
    }
    return {};
  }

  Result<void> registers() {
    if (!space_.registers) return {};
    Alternative each = best();
    each.large_registers = true;
    KILN_TRY(attempt(each));
    return {};
  }

  Result<void> barriers() {
    const Alternative from = best();
    const std::uint32_t count = advice_.trials[advice_.best].barriers;  // macros may have changed it
    for (std::uint32_t i = 0; i < count; ++i) {
      Alternative each = from;
      each.barrier = i;
      KILN_TRY(attempt(each));
    }
    return {};
  }

  const AdviseSpace& space_;
  const std::size_t most_;
  const TryOne& run_;
  Advice advice_;
};

std::string shape_words(const Extent& shape) {
  return std::to_string(shape.x) + (shape.y > 1 || shape.z > 1 ? " x " + std::to_string(shape.y) : "") +
         (shape.z > 1 ? " x " + std::to_string(shape.z) : "");
}

}  // namespace

Result<Advice> search(const AdviseSpace& space, std::size_t most, const TryOne& run) {
  return Search(space, most, run).all();
}

std::string words_of(const Alternative& alternative) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  for (const Macro& each : alternative.macros) add(each.name + "=" + std::to_string(each.value));
  if (alternative.slm) add("--slm " + std::to_string(*alternative.slm));
  if (alternative.group) add("groups of " + shape_words(*alternative.group));
  if (alternative.global) add(shape_words(*alternative.global) + " work-items");
  if (alternative.local_times != alternative.local_divided) {
    const std::uint64_t common = std::gcd(alternative.local_times, alternative.local_divided);
    const std::uint64_t divided = alternative.local_divided / common;
    add("`__local` x " + std::to_string(alternative.local_times / common) +
        (divided > 1 ? "/" + std::to_string(divided) : ""));
  }
  if (alternative.sub_group_size) add("sub-groups of " + std::to_string(alternative.sub_group_size));
  if (alternative.large_registers) add("256 registers");
  if (alternative.barrier) add("without barrier " + std::to_string(*alternative.barrier + 1));
  return words.empty() ? "as given" : words;
}

}  // namespace kiln::tool
