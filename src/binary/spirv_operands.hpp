// SPDX-License-Identifier: MIT
// Which words of a SPIR-V instruction are ids.
#pragma once

#include <cstdint>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>

namespace kiln::detail {

/// The operands that are ids and may name a variable; literals must not be mistaken for ids.
/// Pure. Source: SPIR-V specification 3.42 (instructions).
[[nodiscard]] std::span<const std::uint32_t> id_operands(spv::Op op, std::span<const std::uint32_t> words);

/// A literal string of an instruction: UTF-8, ended by a zero byte within the operands. Pure.
[[nodiscard]] std::string literal_string(std::span<const std::uint32_t> words);

/// Does it have a type and a result, which then are its first words? Unknown instructions have neither. Pure.
struct ResultWords {
  bool type = false, id = false;
};
[[nodiscard]] ResultWords result_words(spv::Op op);

}  // namespace kiln::detail
