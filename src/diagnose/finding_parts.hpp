// SPDX-License-Identifier: MIT
// The pieces that each finding of a log is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/log_state.hpp"

namespace kiln::detail {

constexpr const char* kDebugKeys =
    "NEOReadDebugKeys=1 PrintDebugMessages=1 makes Intel's driver print its reasons";

/// The cause's own words, without rows.
[[nodiscard]] Diagnostic finding_of(Cause cause, std::string_view message = {});

[[nodiscard]] DiagnosticRow words_row(std::string label, std::string text);
[[nodiscard]] DiagnosticRow bytes_row(std::string label, std::uint64_t value);

/// A call that failed, its line, and the kernel.
void add_failure(Diagnostic& diagnostic, const LoggedFailure& failure);
/// A line as it stands in the log, and which one.
void add_line(Diagnostic& diagnostic, const std::string& text, std::uint64_t line);
/// What a result code means.
void add_meaning(Diagnostic& diagnostic, const std::string& code);

/// "most likely", but where no device was found: that is sure, and why is not.
void not_sure(Diagnostic& diagnostic, Cause cause);
/// What else it may be, and what would tell: before all other help.
void leave_open(Diagnostic& diagnostic, Cause first, std::span<const Cause> others);

/// What the kernel asks for in bytes, as far as the log has it: the arguments, and `arrays` beside them.
[[nodiscard]] std::uint64_t slm_of(const LoggedKernel& kernel, std::uint64_t arrays);
/// Too much SLM. `printed`: asked for and available; `arrays`: bytes of the kernel's `__local` arrays;
/// nothing: not in the log.
[[nodiscard]] Diagnostic slm_finding(const std::optional<LoggedFailure>& failure,
                                     const std::optional<std::pair<std::uint64_t, std::uint64_t>>& printed,
                                     const std::optional<std::uint64_t>& arrays);

/// An abort of Intel's driver. `file`: of its source, `inside`: the call; empty: not in the log.
[[nodiscard]] Diagnostic abort_finding(const std::string& text, const std::string& file,
                                       const std::string& inside);
/// A trace ends in calls, and the process too. `threads`: the trace has several.
[[nodiscard]] Diagnostic death_finding(const std::vector<OpenCall>& calls, bool threads,
                                       const std::string& text, std::uint64_t line);

}  // namespace kiln::detail
