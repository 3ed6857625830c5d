// SPDX-License-Identifier: MIT
// What drivers and compilers read unasked: the environment and settings files, as they were when the driver
// was loaded.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "identity/variables.hpp"

namespace kiln::detail {

/// A settings file that is there. It has either content or a reason not to trust it.
struct SettingsFile {
  std::string name;  ///< "igdrcl.config"
  std::string path;
  std::string content;
  std::string distrust;  ///< "belongs to neither this user nor root"; empty when the content may be believed
  friend bool operator==(const SettingsFile&, const SettingsFile&) = default;
};

struct EnvironmentSnapshot {
  std::vector<std::string> environment;  ///< "NAME=value", in the order in which getenv() finds them
  std::vector<std::string> shaping;      ///< those of them that may shape code
  EnvironmentInputs inputs;              ///< what they are to a compiler
  /// What the environment was in which the program started, where it had loaded a driver or compiler before
  /// Kiln did: then nobody knows what that found.
  std::optional<EnvironmentInputs> started;
  std::vector<SettingsFile> driver_files;    ///< Intel's driver reads them once, when it is loaded
  std::vector<SettingsFile> compiler_files;  ///< Intel's compiler reads them at the first build
};

struct SettingsPlaces {
  std::string current = ".";
  std::string temporary = P_tmpdir;  ///< IGC does not ask TMPDIR
};

/// Looks at the environment and the files now. Follows no link, waits for nothing, reads at most 1 MiB a
/// file. Must not run while another thread changes the environment.
[[nodiscard]] EnvironmentSnapshot take_snapshot(const SettingsPlaces& places = {});
/// The same without the driver's files, which nobody reads any more when a module is built.
[[nodiscard]] EnvironmentSnapshot take_build_snapshot(const SettingsPlaces& places = {});
/// Its parts, cheaper: whether what may shape code is as it was, and the files of Intel's compiler.
[[nodiscard]] bool is_environment_of(const EnvironmentSnapshot& snapshot);
[[nodiscard]] std::vector<SettingsFile> compiler_files(const SettingsPlaces& places = {});

/// The present moment, just before `library` is loaded; null when the caller of Kiln has done so. For
/// load_…() alone.
[[nodiscard]] EnvironmentSnapshot snapshot_of_loading(const char* library);

}  // namespace kiln::detail
