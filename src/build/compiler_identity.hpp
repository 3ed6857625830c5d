// SPDX-License-Identifier: MIT
// Everything that shapes a compiled binary besides Kiln's own decisions: compiler, environment, files,
// device, inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "identity/environment_snapshot.hpp"
#include "identity/libraries.hpp"
#include "kiln/device.hpp"
#include "kiln/diagnostic.hpp"

namespace kiln::cache {

/// The compiler of this process.
struct Identity {
  Manifest fields;                   ///< "library.…", "env.…", "file.…"
  std::vector<Diagnostic> warnings;  ///< settings files that are not to be trusted (K0720)
  /// Not empty: the cache must not be used at all, since a hit would not do what was asked for, and why.
  std::string bypass;
  /// Not empty: the fields do not tell everything, so nothing may be looked up or stored, and why.
  std::string unknown;
  bool intel = false;  ///< settings files of Intel's driver and compiler are among the fields

  [[nodiscard]] bool usable() const { return bypass.empty() && unknown.empty(); }
};

/// Those of the names that the driver's libraries contain: names_in(), or a test's.
using KnownNames = std::function<std::vector<std::string>(std::span<const std::uintptr_t> places,
                                                          std::vector<std::string> names)>;

/// From what was sampled: `loaded` is the moment when the driver was loaded, `first_use` that of the first
/// question to the cache, null when it found the same. Intel's compiler reads its own settings at the first
/// build, somewhere between `loaded` and later: where the two moments differ in those, the identity is
/// unknown. Of variables that could be debug keys those count that a library knows. Pure.
[[nodiscard]] Identity make_identity(LibraryInputs libraries, const detail::EnvironmentSnapshot& loaded,
                                     const detail::EnvironmentSnapshot* first_use,
                                     const KnownNames& known_names);

/// Whether a compiler that reads its settings now finds what it would have found at `moment`. As identity().
[[nodiscard]] bool is_build_snapshot(const detail::EnvironmentSnapshot& snapshot,
                                     const LibraryInputs& libraries);

/// This process's, for the driver behind that table. Environment and files are sampled once for a driver,
/// libraries again whenever some were mapped. Valid until the process ends. Thread-safe; as the environment
/// is read, no thread may change it during the first call.
[[nodiscard]] const Identity& identity(const Api& api);

/// Ask after a compilation and before storing its result: empty when a compiler that read its settings only
/// now would have read the same, else what changed. Opens up to three files. As identity().
[[nodiscard]] std::string changed_since(const Identity& identity);

/// All of it, for a helper process to report: only when it has the same did it compile what the parent's
/// fields say. Pure.
[[nodiscard]] std::string encode(const Identity& identity);
/// In what an encoded identity is another one, as "library.libigc.so.1 differs"; empty: it is the same. Code
/// of Kiln that is part of the program itself is no difference. Pure.
[[nodiscard]] std::string first_difference(const Identity& identity, std::string_view encoded);

/// What makes SPIR-V of OpenCL C for a driver that takes none, told without opening it.
struct FrontEndIdentity {
  Manifest fields;       ///< its libraries, and settings that shape what it makes
  std::string library;   ///< the file of libocloc; empty: there is none
  std::string unusable;  ///< not empty: why no cache may be asked
};
/// As identity(). Reads KILN_OCLOC, the file of another libocloc.
[[nodiscard]] FrontEndIdentity front_end_identity(const Api& api);

/// The device and its driver. Not its name, its place or its UUID, none of which shape code.
[[nodiscard]] Manifest device_fields(DriverRef driver, DeviceRef device, const DeviceProperties& properties);

/// The part of it that needs no driver. Pure.
[[nodiscard]] Manifest device_fields(std::uint32_t driver_version,
                                     std::span<const std::uint8_t> native_format,
                                     const DeviceProperties& properties);

/// One input of a build, in the order of linking.
struct InputFacts {
  std::string_view format;  ///< "spirv"
  std::span<const std::byte> code;
  std::string_view flags;                                          ///< exactly as the driver gets them
  std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;  ///< id and value; their order is no input
};

/// Several inputs are linked, one is built. Pure.
[[nodiscard]] Manifest input_fields(std::span<const InputFacts> inputs);

}  // namespace kiln::cache
