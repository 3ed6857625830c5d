// SPDX-License-Identifier: MIT
// Looks at this machine: libraries, devices, environment, files. Decides nothing.
#pragma once

#include <cstdio>
#include <filesystem>

#include "doctor/facts.hpp"

namespace kiln::doctor {

/// Where to look; tests give folders of their own.
struct Places {
  std::filesystem::path sys = "/sys", dev = "/dev";
  std::filesystem::path current = ".";
  std::filesystem::path temporary = P_tmpdir;  ///< IGC does not ask TMPDIR
};

/// Everything. Starts drivers in child processes, each for at most `seconds`. Only for processes of one
/// thread.
[[nodiscard]] Facts gather(int seconds);

/// Its parts that need no child process.
void gather_gpus(const Places& places, Facts& facts);
void gather_files(const Places& places, Facts& facts);
/// The driver's cache folders, by the environment in `facts`.
void gather_caches(const Places& places, Facts& facts);

}  // namespace kiln::doctor
