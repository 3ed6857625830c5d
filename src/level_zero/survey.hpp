// SPDX-License-Identifier: MIT
// Asks a device what it would not look at before a call, and what is known after it refused one.
#pragma once

#include <optional>
#include <string>

#include "kiln/context.hpp"
#include "kiln/refusal.hpp"

namespace kiln::detail {

/// Status, memory and threads of the device, of an empty one nothing; where memory ran out, also where it
/// went, as far as `asked` says what it was for. The last-error description is left to who can compare it
/// with that before the call.
[[nodiscard]] Refusal survey(ze_result_t code, const char* call, DeviceRef device, MemoryRequest asked = {});

/// The address of the device's card, as the kernel writes it; empty where the driver does not tell.
[[nodiscard]] std::string card_of(DeviceRef device);

/// Bytes of all memories of the device; 0 when it does not say.
[[nodiscard]] std::uint64_t memory_of(DeviceRef device);

/// ContextRef::allocate_device(), checked and explained, with an extension on the description; null: none.
/// Nobody is told of a refusal.
[[nodiscard]] Result<Buffer> take_device(ContextRef context, DeviceRef device, std::size_t size,
                                         AllocationOptions options, void* extension = nullptr);

// What drivers do not look at before they index by it or repeat it.

/// K0224 for a queue group that the device has not, or a queue of one.
[[nodiscard]] Result<void> check_queue_group(DeviceRef device, std::uint32_t group, const char* call);
[[nodiscard]] Result<void> check_queue(DeviceRef device, std::uint32_t group, std::uint32_t index,
                                       const char* call);

/// K0223 for a pool of that many events. Pure.
[[nodiscard]] Result<void> check_event_count(std::uint32_t count);

/// K0226, for a pattern whose bytes are no power of two. Pure.
[[nodiscard]] Error bad_fill(std::size_t pattern, std::size_t bytes);

/// K0239, for an address that is no multiple of 8. Pure.
[[nodiscard]] Error bad_timestamp(std::uintptr_t address);

/// The error with that diagnostic, or as it is when there is none.
[[nodiscard]] Error explained(Error error, std::optional<Diagnostic> diagnostic);

}  // namespace kiln::detail
