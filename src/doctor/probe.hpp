// SPDX-License-Identifier: MIT
// Starts a loader or driver in a child process and asks it for its devices.
#pragma once

#include <string>

#include "doctor/facts.hpp"

namespace kiln::doctor {

/// The Level Zero loader, as the environment leads it.
[[nodiscard]] Start probe_loader(int seconds);

/// A driver library by itself, past the loader.
[[nodiscard]] Start probe_driver(const std::string& library, int seconds);

}  // namespace kiln::doctor
