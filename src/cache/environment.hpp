// SPDX-License-Identifier: MIT
// Which environment variables shape what Intel's compiler or Kiln's CPU driver makes.
#pragma once

#include <span>
#include <string>

#include "kiln/manifest.hpp"

namespace kiln::cache {

struct EnvironmentInputs {
  Manifest fields;      ///< "env.IGC_ForceOCLSIMDWidth" = "16"
  std::string bypass;   ///< not empty: a variable asks for a side effect that a hit would swallow
  std::string unknown;  ///< not empty: a variable names code that no field describes
};

/// From "NAME=value" strings; of doubles the first counts, as for getenv(). Without `intel` only for Kiln's
/// CPU driver, whose code no variable shapes. Pure.
[[nodiscard]] EnvironmentInputs environment_inputs(std::span<const std::string> environment, bool intel);

/// True for fields that Intel's compiler reads at the first build of the process, not when the driver is
/// loaded: seen with drivers 22.43 and 26.27. Pure.
[[nodiscard]] bool read_at_first_build(std::string_view field);

}  // namespace kiln::cache
