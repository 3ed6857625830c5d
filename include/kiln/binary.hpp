// SPDX-License-Identifier: MIT
// What a kernel file says about its kernels: facts read from SPIR-V and from ELF binaries with `.ze_info`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace kiln {

/// What a kernel argument is, as far as setting it is concerned.
enum class ArgumentKind : std::uint8_t {
  value,           ///< passed by value: `ArgumentFacts::size` bytes are copied
  global_pointer,  ///< pointer to global or constant memory: 8 bytes, a USM address
  local_pointer,   ///< `__local` pointer: no value, the launch gives a size in bytes
  other,           ///< image, sampler and the like
};

struct ArgumentFacts {
  ArgumentKind kind = ArgumentKind::value;
  std::uint32_t size = 0;  ///< bytes of a value or pointer; 0 when the file does not say
  std::uint32_t local_alignment =
      16;            ///< bytes, a power of two; only for local_pointer; 16 is the driver's default
  std::string name;  ///< source name where the file has it, else empty
};

/// How the total SLM of a work-group is made up (`slm_alloc_mode` in `.ze_info`).
enum class SlmMode : std::uint8_t {
  compiler_resolved,  ///< 0: dynamic total + static
  runtime_adjusted,   ///< 1: the dynamic total already includes the static part, if there is a dynamic part
};

struct KernelFacts {
  std::string name;
  std::vector<ArgumentFacts> arguments;
  bool arguments_known = false;  ///< `arguments` is the complete list, unused ones included
  std::uint64_t static_slm = 0;  ///< bytes of the kernel's own `__local` arrays
  SlmMode slm_mode = SlmMode::compiler_resolved;
  std::array<std::uint32_t, 3> required_group_size{};  ///< zeros: none
  std::uint32_t required_sub_group_size = 0;           ///< 0: none
  std::uint32_t simd_size = 0;                         ///< 0: not known (SPIR-V)
  std::uint32_t grf_count = 0;                         ///< 0: not known (SPIR-V)
  std::uint32_t barrier_count = 0;
  std::uint32_t private_size = 0;  ///< bytes per work-item or hardware thread, as the file counts them
  std::uint32_t spill_size = 0;    ///< bytes
};

struct ModuleFacts {
  std::vector<KernelFacts> kernels;
  /// A native binary carries SPIR-V too, which a driver may compile in silence when the rest is for another
  /// device.
  bool has_ir = false;
  /// The device a native binary was compiled for, where its compatibility note says it (ocloc since 23.x):
  /// architecture << 22 | release << 14 | revision, as in DeviceProperties::ip_version. 0: not said.
  std::uint32_t ip_version = 0;

  /// The kernel of that name, or null.
  [[nodiscard]] const KernelFacts* find(std::string_view name) const;
};

/// Why a file could not be read. `offset` is in bytes from its start.
struct BinaryError {
  std::string message;
  std::uint64_t offset = 0;
};

enum class BinaryFormat : std::uint8_t {
  unknown,
  spirv,         ///< SPIR-V, either byte order
  elf,           ///< 64-bit ELF: a zebin, or the CPU driver's own object
  archive,       ///< ar archive: ocloc's fat binary
  patch_tokens,  ///< Intel's format before zebin, bare or wrapped in ELF: what driver 22.43 itself compiles
                 ///< to
};

/// Format by the first bytes alone. Pure; thread-safe.
[[nodiscard]] BinaryFormat identify(std::span<const std::byte> file);

/// Facts of every entry point of a SPIR-V module (little endian, version 1.0 to 1.6). Static SLM is what the
/// entry point reaches through calls; argument sizes follow the Physical64 layout of OpenCL.
/// Every read is bounded by the file's size. Pure; thread-safe.
/// Source: SPIR-V specification 2.3 (physical layout), 3.32 (binary form).
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> read_spirv(std::span<const std::byte> file);

/// Facts of every kernel in an ELF binary with a `.ze_info` section: Intel's zebin and the CPU driver's
/// object. Unknown keys are tolerated. Every read is bounded by the file's size. Pure; thread-safe. Source:
/// zeinfo.h of intel/compute-runtime 26.31.
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> read_zebin(std::span<const std::byte> file);

/// Parses the text of a `.ze_info` section. Pure; thread-safe.
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> read_ze_info(std::string_view text);

}  // namespace kiln
