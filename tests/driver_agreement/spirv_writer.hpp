// SPDX-License-Identifier: MIT
// Writes OpenCL SPIR-V for kernels that are described by what they ask for, without any compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln::agreement {

/// Types of elements by size: 1, 2, 4, 8 bytes as integers, 16 to 128 bytes as vectors.
struct StaticArray {
  std::uint32_t element = 4;  ///< bytes
  std::uint32_t count = 1;
  bool used = true;
};

struct LocalArgument {
  std::uint32_t element = 4;  ///< bytes
  bool used = true;
};

/// A kernel by what it asks for. Its arguments are: a global pointer, the `__local` ones, the values (uint).
struct KernelPlan {
  std::string name;
  std::vector<StaticArray> arrays;
  std::vector<LocalArgument> locals;
  std::uint32_t values = 0;
  std::array<std::uint32_t, 3> required_group_size{};  ///< zeros: none
  std::uint32_t required_sub_group_size = 0;           ///< 0: none
  std::uint32_t private_words = 0;                     ///< a private array of that many uints
  std::uint32_t live_words = 0;                        ///< as many uints are live at one point
  bool barrier = false;
  bool device_barrier = false;  ///< across work-groups, as only a cooperative launch may have it
};

/// SPIR-V 1.1 for the physical 64-bit addressing model. Source: SPIR-V specification 2.3, 3.32.
[[nodiscard]] std::vector<std::byte> write_spirv(const std::vector<KernelPlan>& kernels);

}  // namespace kiln::agreement
