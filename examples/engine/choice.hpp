// SPDX-License-Identifier: MIT
// Which device: the best there is, or the one that a user or a Vulkan renderer has chosen.
#pragma once

#include <kiln/kiln.hpp>
#include <string>
#include <vector>

namespace engine {

/// A device that could be taken, with what tells it from others.
struct Candidate {
  kiln::SelectedDevice selected;
  kiln::DeviceKind kind = kiln::DeviceKind::gpu;
  kiln::DeviceProperties properties;
  kiln::DeviceIdentity identity;
};

/// All devices of all drivers that `request` (as KILN_DEVICE) means, the best first: discrete GPUs,
/// integrated ones, others. Empty: the GPUs, and where there is none the CPU device.
[[nodiscard]] kiln::Result<std::vector<Candidate>> candidates(const std::string& request);

/// The first that `pick` names; empty: the first. Error: INVALID_ARGUMENT.
[[nodiscard]] kiln::Result<Candidate> choose(const std::vector<Candidate>& all, const std::string& pick);

[[nodiscard]] const char* type_of(const Candidate& candidate);  ///< "discrete", "integrated", "cpu", "other"
[[nodiscard]] std::string uuid_of(const Candidate& candidate);  ///< 32 hexadecimal digits
[[nodiscard]] std::string pci_of(const Candidate& candidate);   ///< "0000:03:00.0", or empty

}  // namespace engine
