// SPDX-License-Identifier: MIT
// What a kernel file says about its kernels: facts read from SPIR-V and from ELF binaries with `.ze_info`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kiln/product.hpp"

namespace kiln {

/// What a kernel argument is, as far as setting it is concerned.
enum class ArgumentKind : std::uint8_t {
  value,           ///< passed by value: `ArgumentFacts::size` bytes are copied
  global_pointer,  ///< pointer to global or constant memory: 8 bytes, a USM address
  local_pointer,   ///< `__local` pointer: no value, the launch gives a size in bytes
  other,           ///< nobody says what
  image,           ///< a ze_image_handle_t
  sampler,         ///< a ze_sampler_handle_t
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

  // From here on: what `.ze_info` alone says, except for the hint.
  std::array<std::uint32_t, 3> group_size_hint{};     ///< work_group_size_hint; zeros: none
  std::uint64_t private_per_thread = 0;               ///< bytes of device memory for each hardware thread
  std::array<std::uint64_t, 2> scratch_per_thread{};  ///< bytes of scratch for each hardware thread, by slot
  bool has_4gb_buffers = false;                       ///< may be given buffers of 4 GiB and more
  bool needs_sync_buffer = false;  ///< synchronizes work-groups: for cooperative launches only
  bool has_stack_calls = false;
  bool has_printf = false;
  bool has_global_atomics = false;
  bool is_invalid = false;  ///< the compiler marked it as one that must not be launched
  bool may_follow_pointers =
      true;                 ///< from memory or made of numbers; false: certainly does not (.ze_info, SPIR-V)
  std::string malformed{};  ///< what drivers end the process over, in words; empty: nothing
};

struct ModuleFacts {
  std::vector<KernelFacts> kernels;
  /// SPIR-V: version as major << 16 | minor << 8, and the capabilities in the order of the file.
  std::uint32_t spirv_version = 0;
  std::vector<std::uint32_t> capabilities{};
  /// ELF: the version of `.ze_info` as it is written. Both: bytes of program-scope variables.
  std::string info_version{};
  std::uint64_t global_data = 0;
  std::uint64_t constant_data = 0;
  /// A native binary carries SPIR-V too, which a driver may compile in silence when the rest is for another
  /// device.
  bool has_ir = false;
  /// The device a native binary was compiled for, where its compatibility note says it (ocloc since 23.x):
  /// architecture << 22 | release << 14 | revision, as in DeviceProperties::ip_version. 0: not said.
  std::uint32_t ip_version = 0;
  std::uint32_t product_family = 0;  ///< Intel's number, 1270 for instance; 0: not said

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

/// A part is to be linked with others, and needs no kernel of its own.
enum class SpirvUse : std::uint8_t { whole, part };

/// Facts of every entry point of a SPIR-V module (little endian, version 1.0 to 1.6). Static SLM is what the
/// entry point reaches through calls; argument sizes follow the Physical64 layout of OpenCL.
/// Every read is bounded by the file's size. Pure; thread-safe.
/// Source: SPIR-V specification 2.3 (physical layout), 3.32 (binary form).
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> read_spirv(std::span<const std::byte> file,
                                                                SpirvUse use = SpirvUse::whole);

/// Facts of every kernel in an ELF binary with a `.ze_info` section: Intel's zebin and the CPU driver's
/// object. Unknown keys are tolerated. Every read is bounded by the file's size. Pure; thread-safe. Source:
/// zeinfo.h of intel/compute-runtime 26.31.
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> read_zebin(std::span<const std::byte> file);

/// One file inside an archive.
struct ArchiveMember {
  std::string name;                    ///< such as "64.12.60.7" (address bits and IP version) or "generic_ir"
  std::span<const std::byte> content;  ///< inside the archive's own bytes
};

/// Members of a fat binary as ocloc writes it for several targets: an ar archive, padding members left out.
/// Every read is bounded by the file's size. Pure; thread-safe. Source: ar(5), with GNU's long names.
[[nodiscard]] tl::expected<std::vector<ArchiveMember>, BinaryError> read_archive(
    std::span<const std::byte> file);

/// The member with the CPU device's object code. Drivers of GPUs look for names of their own devices alone.
inline constexpr std::string_view kCpuMember = "kiln-cpu";

/// A fat binary of these members, in their order, as ocloc writes it and drivers read it: with padding
/// between them, and without times, so that equal members make equal bytes. Error: a name that is empty,
/// longer than 15 bytes, a padding's ("pad_"), or has a slash, space or newline. Pure; thread-safe.
[[nodiscard]] tl::expected<std::vector<std::byte>, BinaryError> write_archive(
    std::span<const ArchiveMember> members);

/// SPIR-V as the content of a member `generic_ir`, which a driver compiles where no other member is for it.
/// Pure; thread-safe.
[[nodiscard]] std::vector<std::byte> wrap_spirv(std::span<const std::byte> spirv);

/// SPIR-V inside a native binary or a fat binary's `generic_ir`: the content of its section; empty when there
/// is none. Pure; thread-safe.
[[nodiscard]] std::span<const std::byte> embedded_spirv(std::span<const std::byte> file);

/// The same file with those sections marked as unused, so that no driver compiles what is in them. Pure;
/// thread-safe.
[[nodiscard]] std::vector<std::byte> without_spirv(std::span<const std::byte> file);

/// The build options that a native binary was compiled with, where it says them. Pure; thread-safe.
[[nodiscard]] std::string embedded_options(std::span<const std::byte> file);

/// The file itself, or one member of an archive.
struct BinaryPart {
  std::string name;  ///< the member's; empty for the file itself
  BinaryFormat format = BinaryFormat::unknown;
  tl::expected<ModuleFacts, BinaryError> facts;
};

/// Facts of whatever a kernel file holds: SPIR-V, a native binary, or each member of a fat binary. A part
/// that cannot be read has an error in place of facts. At least one part. Pure; thread-safe.
[[nodiscard]] std::vector<BinaryPart> read_parts(std::span<const std::byte> file);

/// The product that a part with facts was compiled for: by its note, by its member's name in a fat binary, or
/// the first of its family. Null: it does not say, or is not known. Pure; thread-safe.
[[nodiscard]] const Target* target_of(const BinaryPart& part);

/// Parses the text of a `.ze_info` section. Pure; thread-safe.
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> read_ze_info(std::string_view text);

}  // namespace kiln
