// SPDX-License-Identifier: MIT
// Reads native code before a driver does, and takes out of it what no driver shall see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kiln::detail {

struct NativeInput {
  /// For the driver: the code as it was given, or a copy without SPIR-V and without the members that did not
  /// pass. Empty: nothing is left of it.
  std::span<const std::byte> code;
  bool unread = false;               ///< there is code in the format before zebin, which cannot be read
  std::span<const std::byte> spirv;  ///< what was inside, for when the native code is for another device
  std::string options;               ///< the build options that go with it
  std::string refusal;               ///< why nothing is left, or the first part did not pass

  std::vector<std::byte> copy;  ///< what `code` may lie in
};

/// A native binary or a fat binary. `memory`: that of the device in bytes, 0: not known. Pure.
[[nodiscard]] NativeInput read_native(std::span<const std::byte> file, std::uint64_t memory);

}  // namespace kiln::detail
