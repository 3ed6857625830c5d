// SPDX-License-Identifier: MIT
// Takes out of a SPIR-V module what is not to be compiled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kiln::cpu {

/// The text of a literal string, as far as it goes.
std::string literal(std::span<const std::uint32_t> words);

/// Names that mean something to LLVM or to the translator.
bool is_reserved(std::string_view name);

/// Sets of instructions that are about debugging alone.
bool is_debug_set(std::string_view name);

/// The module without hints, without debug information, without decorations that are given twice, which
/// compilers write and newer validators refuse, and without the functions and module-scope variables in
/// `dropped`. The word counts must have been checked.
std::vector<std::uint32_t> cut(std::span<const std::uint32_t> module,
                               const std::unordered_set<std::uint32_t>& dropped);

/// The module without the names of the extensions that it uses: a translator that does not know one refuses
/// all, though it may well know the instructions.
std::vector<std::uint32_t> without_extensions(std::span<const std::uint32_t> module);

}  // namespace kiln::cpu
