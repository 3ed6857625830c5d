// SPDX-License-Identifier: MIT
// Which environment variables shape what Intel's compiler or Kiln's CPU driver makes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kiln/manifest.hpp"

namespace kiln::detail {

struct EnvironmentInputs {
  /// "env.IGC_ForceOCLSIMDWidth" = "16"; they shape Intel's code alone. What is no number stands as
  /// "sha256:…", since a value may be a secret and entries are handed on.
  Manifest fields;
  /// The same for what has the shape of a debug key, where the driver reads those: any program's variable may
  /// have it, so they count only where the driver knows the name.
  Manifest keys;
  std::string bypass;      ///< not empty: a variable asks Intel's for a side effect that a hit would swallow
  std::string cpu_bypass;  ///< the same of Kiln's CPU driver, whose code no variable shapes
  std::string unknown;     ///< not empty: a variable names code that no field describes
};

/// Could shape code by its name alone; most of an environment cannot. `variable` is "NAME=value", of which no
/// more than the name is read. Pure.
[[nodiscard]] bool may_shape_code(const char* variable);

/// From "NAME=value" strings; of doubles the first counts, as for getenv(). Those that may not shape code
/// make no difference. Pure.
[[nodiscard]] EnvironmentInputs environment_inputs(std::span<const std::string> environment);

/// True for fields that Intel's compiler reads at the first build of the process, not when the driver is
/// loaded: seen with drivers 22.43 and 26.27. Pure.
[[nodiscard]] bool read_at_first_build(std::string_view field);

/// The name under which a driver looks for a field of EnvironmentInputs::keys: without "env.", "NEO_" and
/// "NEO_L0_". Pure.
[[nodiscard]] std::string_view key_of_field(std::string_view field);
/// Keys that every driver knows, as those that make it answer without a GPU. Pure.
[[nodiscard]] bool is_known_key(std::string_view key);

}  // namespace kiln::detail
