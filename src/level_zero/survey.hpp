// SPDX-License-Identifier: MIT
// Gathers what can be asked of a device after it refused a call.
#pragma once

#include <optional>

#include "kiln/device.hpp"
#include "kiln/refusal.hpp"

namespace kiln::detail {

/// Status, memory and threads of the device; of an empty one nothing. The last-error description is left to
/// who can compare it with that before the call.
[[nodiscard]] Refusal survey(ze_result_t code, const char* call, DeviceRef device);

/// Bytes of all memories of the device; 0 when it does not say.
[[nodiscard]] std::uint64_t memory_of(DeviceRef device);

/// The error with that diagnostic, or as it is when there is none.
[[nodiscard]] Error explained(Error error, std::optional<Diagnostic> diagnostic);

}  // namespace kiln::detail
