// SPDX-License-Identifier: MIT
// What a counted run found, the gravest first: the same diagnostics on the terminal, in JSON and on the page.
#pragma once

#include "kiln/diagnostic.hpp"
#include "support/json.hpp"

namespace kiln::tool {

using detail::Json;

struct ReportFacts;

struct Finding {
  Diagnostic diagnostic;
  std::vector<std::size_t> instructions{};  ///< of the counters, the costliest first; empty: of the whole run
  std::uint64_t cost = 0;                   ///< cache lines, or turns, that could be saved
};

/// How the lanes of an access of a sub-group lie to each other, by its example.
enum class Pattern : std::uint8_t {
  one,        ///< a single place
  adjacent,   ///< side by side
  apart,      ///< the same distance between all, with room between
  scattered,  ///< no one distance
};

struct AccessPattern {
  Pattern kind = Pattern::one;
  std::uint64_t distance = 0;  ///< bytes between neighbouring lanes; 0 where there is no one distance
};

/// `width`: bytes of a lane. Pure.
[[nodiscard]] AccessPattern pattern_of(const Json& instruction, std::uint64_t width);

/// What an access needs beyond its bytes: `taken` and `least` lines, or turns, over all its executions. Pure.
struct AccessCost {
  std::uint64_t taken = 0, least = 0;
  [[nodiscard]] std::uint64_t surplus() const { return taken > least ? taken - least : 0; }
};
[[nodiscard]] AccessCost cost_of(const Json& instruction);

/// What was looked for, where nothing was found: a sentence. Pure.
[[nodiscard]] std::string nothing_found(const ReportFacts& facts);

/// K0435: an element of `differences` in what `kiln run FILE --json` prints. Pure.
[[nodiscard]] Diagnostic difference_diagnostic(const Json& difference);

/// Wrong answer (K0413, K0435), counters that cannot be read (K0409), defects (K0801 to K0804, K0810), counts
/// that differ from predictions (K0414), the best alternative (K0811), then what costs more than it has to:
/// K0805 to K0809. `run` is what `kiln run --counters --json` prints. Pure.
[[nodiscard]] std::vector<Finding> findings_of(const Json& run, const ReportFacts& facts);

}  // namespace kiln::tool
