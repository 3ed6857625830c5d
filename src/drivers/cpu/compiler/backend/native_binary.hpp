// SPDX-License-Identifier: MIT
// What surrounds the object code in a native binary: `.ze_info` inside, identity and checksum behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::cpu {

/// `.ze_info` text in Intel's form, so that one reader serves both.
std::string write_ze_info(std::span<const KernelFacts> kernels);

/// Who made a binary. Any difference makes it worthless to this process.
struct Identity {
  std::uint64_t compiler;  ///< LLVM version
  std::uint64_t driver;    ///< Kiln version and the ABI between code and run time
  std::uint64_t cpu;       ///< host CPU name and features
};
Identity host_identity();
/// The same in one: what devices of this process take, and no others.
std::array<std::uint8_t, 16> host_format();

/// `object` with the trailer behind it.
std::vector<std::byte> seal(std::span<const char> object);

/// The object code inside a sealed binary; empty, with what is wrong in `log`, when it is damaged or
/// another's.
std::span<const std::byte> unseal(std::span<const std::byte> binary, std::string& log);

}  // namespace kiln::cpu
