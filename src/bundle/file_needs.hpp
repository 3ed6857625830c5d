// SPDX-License-Identifier: MIT
// What a candidate takes for granted, held against the device and driver at hand.
#pragma once

#include <optional>
#include <vector>

#include "bundle/candidates.hpp"
#include "kiln/needs.hpp"

namespace kiln::detail {

/// Native code that no driver makes kernels of (K0130) or reads (K0131). `flags` that ask for a library mean
/// that the caller links the module by itself.
[[nodiscard]] std::optional<Error> refuse_native(const Candidate& candidate, const std::string& flags);

/// Native code of a newer version than the driver's decoder goes behind SPIR-V, where there is any.
void prefer_known_versions(std::vector<Candidate>& candidates, DriverRef driver);
/// The warning about such code, when it is taken after all.
[[nodiscard]] std::optional<Diagnostic> newer_than(const Candidate& candidate, DriverRef driver);

/// K0132: a feature of the device that the SPIR-V needs and that is lacking. Said before the build, which has
/// the last word: a compiler may drop what no result depends on.
[[nodiscard]] std::optional<Diagnostic> lacking_feature(const Candidate& candidate, DeviceRef device);

/// After a build that succeeded: does the driver refuse the kernels for a missing symbol (K0130)?
[[nodiscard]] std::optional<Error> refuse_unlinked(ModuleRef module, const ModuleFacts& facts,
                                                   std::span<const std::byte> spirv,
                                                   const std::string& flags);

}  // namespace kiln::detail
