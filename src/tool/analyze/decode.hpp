// SPDX-License-Identifier: MIT
// libiga64 asked in a child process, which alone ends if it crashes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "xe/disassembler.hpp"

namespace kiln::tool {

struct Code {
  std::span<const std::byte> bytes;
  std::uint32_t instruction_set = 0;
};

/// The text of each, in their order; `time_limit` is for one. Runs this program again. Thread-safe.
[[nodiscard]] std::vector<tl::expected<std::string, xe::NoText>> disassemble(
    std::span<const Code> codes, std::chrono::milliseconds time_limit);

}  // namespace kiln::tool
