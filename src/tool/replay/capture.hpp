// SPDX-License-Identifier: MIT
// What `kiln exec --capture` kept: read, and trusted in nothing.
#pragma once

#include <optional>

#include "kiln/bundle.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {

struct CapturedArgument {
  enum class Form : std::uint8_t { unset, value, null, local, memory };
  Form form = Form::unset;
  std::vector<std::byte> value{};
  std::uint64_t null_bytes = 0;  ///< as the program said it
  std::uint64_t local_bytes = 0;
  std::size_t memory = 0;    ///< place in CaptureEntry::memory
  std::uint64_t offset = 0;  ///< bytes into it
};

/// An allocation that arguments point into. The spans lie in the file.
struct CapturedMemory {
  MemoryKind kind = MemoryKind::device;
  std::uint64_t size = 0;                                       ///< bytes
  std::optional<std::span<const std::byte>> before{}, after{};  ///< nothing: not begun, not ended
};

/// A launch, or a build that was refused.
struct CaptureEntry {
  std::uint64_t number = 0;  ///< in the file
  bool is_launch = true;
  std::string call, device;
  ze_result_t result = ZE_RESULT_SUCCESS;
  std::string kernel;        ///< of a build: empty where the module itself was refused
  std::uint64_t launch = 0;  ///< which one of the kernel, in the program
  ModuleFormat format = ModuleFormat::spirv;
  std::span<const std::byte> code;
  std::string code_member, flags;
  std::vector<SpecializationConstant> constants;
  Extent groups{1, 1, 1}, group_size{1, 1, 1}, offset{0, 0, 0};
  bool cooperative = false;
  std::uint32_t indirect_access = 0;
  std::vector<CapturedArgument> arguments;
  std::vector<CapturedMemory> memory;
  enum class End : std::uint8_t {
    refused,  ///< nothing was executed
    lost,     ///< the device was, while it was under way
    ended,
  } end = End::refused;
};

struct CaptureFile {
  KernelFile file;  ///< what the entries point into
  std::vector<CaptureEntry> entries{};
  bool is_cut = false;  ///< it ends inside a member: what came last was not written to its end
};

/// What is in the bytes; `name` is for messages. Error: K0453. Pure.
[[nodiscard]] Result<CaptureFile> parse_capture(KernelFile file);

/// Errors: K0201, K0453.
[[nodiscard]] Result<CaptureFile> read_capture(const std::string& path);

}  // namespace kiln::tool
