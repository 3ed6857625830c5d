// SPDX-License-Identifier: MIT
// Which environment variables shape what Intel's compiler or Kiln's CPU driver makes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kiln/manifest.hpp"

namespace kiln::detail {

struct EnvironmentInputs {
  Manifest fields;         ///< "env.IGC_ForceOCLSIMDWidth" = "16"; they shape Intel's code alone
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

}  // namespace kiln::detail
