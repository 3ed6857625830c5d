// SPDX-License-Identifier: MIT
// Where the translated module keeps the SPIR-V id and source line of an instruction.
#pragma once

#include <llvm/IR/Instruction.h>

#include <cstdint>
#include <optional>

namespace kiln::cpu {

struct SiteTag {
  std::uint32_t id = 0, line = 0;
  bool waits = false;  ///< a barrier of the program
};

void set_tag(llvm::Instruction& instruction, SiteTag tag);
/// Nothing: never tagged, as in the bodies of built-ins.
[[nodiscard]] std::optional<SiteTag> tag_of(const llvm::Instruction& instruction);

/// Whether it touches memory by itself.
[[nodiscard]] bool is_access(const llvm::Instruction& instruction);

}  // namespace kiln::cpu
