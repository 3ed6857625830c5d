// SPDX-License-Identifier: MIT
// What a thread of a native kernel is given when it starts, as `.ze_info` lays it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::detail {

/// A piece of what all threads of a launch share.
struct PayloadItem {
  enum class Kind : std::uint8_t {
    value,          ///< bytes of an argument, from `source` on
    local_pointer,  ///< where a `__local` argument begins in SLM
    pointer,        ///< an argument's address
    bindless,       ///< the handle of an argument's surface
    local_size,
    group_count,
    global_size,
    global_offset,
    dimensions,
    private_base,  ///< address of all threads' private memory
    zero,          ///< what a launch without it has as 0
  } kind = Kind::zero;
  std::uint32_t offset = 0, size = 0;  ///< bytes
  std::uint32_t argument = 0, source = 0;
  std::uint32_t alignment = 16;  ///< of a local pointer
};

/// A surface of the binding table and the argument behind it.
struct PayloadSurface {
  std::uint32_t index = 0, argument = 0;
};

struct KernelPayload {
  std::string name;
  std::uint32_t simd = 0, registers = 128;
  std::uint32_t slm = 0;           ///< static, bytes
  std::uint32_t inline_bytes = 0;  ///< of the shared part that comes in registers (Xe-HP and later)
  std::uint32_t id_bytes = 0;      ///< local ids of a thread; 0: none
  std::vector<PayloadItem> items{};
  std::vector<PayloadSurface> surfaces{};
  std::uint32_t scratch_bytes = 0;  ///< of a thread
  std::uint64_t private_bytes = 0;  ///< of a thread, in global memory
  std::string unsupported{};        ///< what nobody can give it but Intel's driver, in words; empty: nothing
};

/// Of each kernel in a `.ze_info` that read_ze_info() takes. Sizes and offsets are small enough to allocate
/// and to add up. Pure; thread-safe. Source: ZEInfo's specification in intel/intel-graphics-compiler
/// (IGC/ZEBinWriter/zebin/spec).
[[nodiscard]] tl::expected<std::vector<KernelPayload>, BinaryError> read_payloads(std::string_view ze_info);

}  // namespace kiln::detail
