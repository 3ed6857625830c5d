// SPDX-License-Identifier: MIT
// Arguments of a launch as the library's check sees them: what the driver took when it was set is right, but
// of `__local` ones it takes any size. Pure.
#pragma once

#include "drivers/layer/known.hpp"

namespace kiln::layer {

/// What is certain of one, which is what a launch may be refused for.
[[nodiscard]] inline LaunchArgument certain_argument(const ArgumentFacts& facts, const KnownArgument& known) {
  if (facts.kind != ArgumentKind::local_pointer) return {facts.kind, facts.size, nullptr};
  return {facts.kind, known.is_set() ? known.size : 0, nullptr};
}

/// The same for explaining a refusal: one of which nobody says what it is, and that has no value, is taken
/// for `__local`.
[[nodiscard]] inline LaunchArgument likely_argument(const ArgumentFacts& facts, const KnownArgument& known) {
  if (facts.kind == ArgumentKind::other && known.is_set() && known.null)
    return {ArgumentKind::local_pointer, known.size, nullptr};
  return certain_argument(facts, known);
}

}  // namespace kiln::layer
