// SPDX-License-Identifier: MIT
// What speaks against a kernel before anyone launches it.
#pragma once

#include "check/common.hpp"
#include "kiln/target.hpp"

namespace kiln::detail {

/// Errors, and warnings about what a launch must mind. Pure.
[[nodiscard]] std::vector<Diagnostic> check_facts(const KernelFacts& kernel, const TargetLimits& limits);

/// K0117 and K0118. Pure.
[[nodiscard]] Diagnostic explain_invalid(const KernelFacts& kernel);
[[nodiscard]] Diagnostic explain_cooperative_only(const KernelFacts& kernel, Severity severity);

}  // namespace kiln::detail
