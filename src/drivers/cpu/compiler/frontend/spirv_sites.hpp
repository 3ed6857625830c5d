// SPDX-License-Identifier: MIT
// The instructions of a SPIR-V module that touch memory or wait, with their ids and source lines. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kiln::cpu {

/// What the translator makes of an instruction: one that LLVM has, or a call.
enum class SiteShape : std::uint8_t { load, store, copy, call };

struct Site {
  SiteShape shape;
  std::uint32_t id;    ///< the result's, or the pointer's where there is none
  std::uint32_t line;  ///< 0: no debug information
};

/// What the program asks for a loop; validation leaves such hints out.
enum class LoopHint : std::uint8_t { none, unroll, keep };

struct FunctionSites {
  std::string name;  ///< of a kernel, or for other modules; else empty
  std::vector<Site> sites;
  std::vector<LoopHint> blocks;      ///< of the loop that the block begins
  std::vector<std::uint32_t> calls;  ///< ids of functions
};

/// By the id of the function, in the order of its instructions. Translators may write a kernel as a function
/// that does nothing but call the real one: then it has the sites of that one. The module must be valid.
[[nodiscard]] std::map<std::uint32_t, FunctionSites> spirv_sites(std::span<const std::uint32_t> words);

/// The module with a name for each function that has none for other modules, so that its translation can be
/// found: the prefix and the id.
inline constexpr const char* kSiteNamePrefix = "kiln.spirv.";
[[nodiscard]] std::vector<std::uint32_t> with_function_names(
    std::span<const std::uint32_t> words, const std::map<std::uint32_t, FunctionSites>& functions);

}  // namespace kiln::cpu
