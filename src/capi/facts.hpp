// SPDX-License-Identifier: MIT
// What of the C interface is about files and products, and shared by its files.
#pragma once

#include "capi/boundary.hpp"
#include "kiln/occupancy.hpp"
#include "kiln/target.hpp"

namespace kiln_c {

[[nodiscard]] Result<const BinaryPart*> part_of(const char* call, const FileObject& file, std::uint32_t part);
[[nodiscard]] Result<const KernelFacts*> kernel_of(const char* call, const FileObject& file,
                                                   std::uint32_t part, std::uint32_t kernel);
/// The bytes of a part: of a fat binary the member's, of wrapped SPIR-V the SPIR-V.
[[nodiscard]] std::span<const std::byte> code_of(const FileObject& file, std::uint32_t part);

/// Without what is the product's or the device's.
[[nodiscard]] kiln_room room_of(const LaunchFit& fit);

/// Its texts are of static storage.
[[nodiscard]] kiln_target_info target_info(const Target& target);
/// `parameter` is what the name came as, for messages.
[[nodiscard]] Result<const Target*> target_named(const char* call, const char* parameter, const char* name);

/// A copy of bytes from outside; lack of memory for them is an error.
[[nodiscard]] Result<std::vector<std::byte>> copy_of(const char* call, const char* parameter,
                                                     const void* bytes, std::size_t size);

}  // namespace kiln_c
