// SPDX-License-Identifier: MIT
// Which instructions make a pointer of what lies in memory, or of a number.
#pragma once

#include <cstdint>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>
#include <unordered_set>

namespace kiln::detail {

/// Sees the instructions of a module in the order of the file. What it cannot judge counts as such an
/// instruction, so that "none" is certain.
class PointerOrigins {
 public:
  /// Of memory: a load, an atomic, a call of code that is not known. Of a number: a conversion.
  [[nodiscard]] bool makes_pointer(spv::Op op, std::span<const std::uint32_t> words);

  /// A pointer, or a vector, array or struct with pointers in it.
  [[nodiscard]] bool holds_pointer(std::uint32_t type) const {
    const auto found = types_.find(type);
    return found == types_.end() || found->second;
  }

 private:
  void add_type(spv::Op op, std::span<const std::uint32_t> words);

  std::unordered_map<std::uint32_t, bool> types_;  // are or hold pointers
  std::unordered_set<std::uint32_t> pointers_;     // values
};

}  // namespace kiln::detail
