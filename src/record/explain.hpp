// SPDX-License-Identifier: MIT
// What a record of calls says, for people.
#pragma once

#include <optional>
#include <vector>

#include "kiln/diagnostic.hpp"
#include "record/read.hpp"

namespace kiln::record {

/// The launches and copies that came last, the last one first, at most eight: what they are, and whether they
/// were done. Submissions that run as far as is known are among them, refused ones not. Pure.
[[nodiscard]] std::vector<DiagnosticRow> rows_of_work(const Record& record);

/// How far a program is, as far as its record does not say.
enum class Life : std::uint8_t {
  runs,
  gone,  ///< or another has its number
};

/// K0530: what was under way. Nothing: no call was recorded, or the program ended by exit() and nothing was
/// refused or under way. Pure.
[[nodiscard]] std::optional<Diagnostic> explain(const Record& record, Life life);

}  // namespace kiln::record
