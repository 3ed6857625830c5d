// SPDX-License-Identifier: MIT
// What a kernel file takes for granted: functions that something else defines, features of the device, and a
// driver that can read its version of `.ze_info`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/binary.hpp"
#include "kiln/diagnostic.hpp"

namespace kiln {

/// A function or variable that a file uses and does not define.
struct MissingSymbol {
  std::string name;
  std::string kernel;  ///< that uses it; empty: a function of the module does, or its data

  bool operator==(const MissingSymbol&) const = default;
};

/// Of native code the undefined symbols that its relocations name, without those that drivers define
/// themselves; of SPIR-V the imports that a kernel reaches through calls, without the built-in variables. At
/// most 64, each once. What cannot be read has none. Pure; thread-safe. Source: linker.cpp of
/// intel/compute-runtime 22.43 and 26.27.
[[nodiscard]] std::vector<MissingSymbol> missing_symbols(std::span<const std::byte> code);

/// K0130 where something is missing. Intel's drivers make such a module, and then refuse each of its kernels,
/// also those that do not use the symbol (22.43 and 26.27). Of SPIR-V a compiler may know names that are
/// mangled or begin with an underscore: with no others it is a warning. Pure.
[[nodiscard]] std::optional<Diagnostic> explain_symbols(std::span<const MissingSymbol> missing,
                                                        BinaryFormat format);

/// The same after a driver has refused a kernel for it (INVALID_MODULE_UNLINKED). `missing` is what is known.
/// Pure.
[[nodiscard]] Diagnostic explain_unlinked(std::span<const MissingSymbol> missing);

/// K0131 for native code whose `.ze_info` has another major version than 1, which is all that drivers read
/// (22.43 to 26.27): an error. With a smaller minor version than the code's in `decoder_minor` (0: not known)
/// a warning: drivers take it and pass over what they do not know. Pure.
[[nodiscard]] std::optional<Diagnostic> check_info_version(const ModuleFacts& module,
                                                           std::uint32_t decoder_minor);

/// The minor version of `.ze_info` that a release of Intel's driver reads without passing anything over, by
/// its build (ze_driver_properties_t: 0x01030000 + build). 0: not known, or newer than what is. Pure. Source:
/// zeInfoDecoderVersion in the releases of intel/compute-runtime; 22.43 reads what its own compiler writes,
/// which is 1.20.
[[nodiscard]] std::uint32_t decoder_minor_version(std::uint32_t driver_version);

/// What a device offers beyond what all have. Source: ze_device_module_properties_t.
struct DeviceFeatures {
  bool fp64 = true;
  bool fp16 = true;
  bool int64_atomics = true;
};

/// Of a product. Pure; thread-safe. Source: hw_info_*.cpp of intel/compute-runtime 26.27; without a GPU the
/// flags that drivers 22.43 and 26.27 tell.
[[nodiscard]] DeviceFeatures target_features(const Target& target);

/// A feature that SPIR-V needs.
struct NeededFeature {
  bool DeviceFeatures::*feature;
  const char* name;                  ///< "fp64"
  std::vector<std::string> kernels;  ///< that need it, where that can be told
};

/// fp64 is needed where a kernel reaches an instruction that gives a `double` on which something depends: the
/// capability alone is declared by much that calculates in none. fp16 and 64-bit atomics by their
/// capabilities. Pure; thread-safe.
[[nodiscard]] std::vector<NeededFeature> needed_features(std::span<const std::byte> spirv);

/// K0132 for the first that the device lacks: its compiler refuses the module. Pure.
[[nodiscard]] std::optional<Diagnostic> check_features(std::span<const NeededFeature> needed,
                                                       const DeviceFeatures& offered);

}  // namespace kiln
