// SPDX-License-Identifier: MIT
// What `kiln run --advise` runs in place of what was given: group sizes, tiles, sub-group sizes, registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/extent.hpp"

namespace kiln::tool {

/// -DNAME=VALUE in build options.
struct Macro {
  std::string name;
  std::uint64_t value = 0;
  friend bool operator==(const Macro&, const Macro&) = default;
};

/// What differs from what was given; what is not set stays.
struct Alternative {
  std::optional<Extent> group{};           ///< work-items
  std::optional<Extent> global{};          ///< work-items in all
  std::vector<Macro> macros{};             ///< of build options
  std::uint64_t local_times = 1,           ///< `__local` arguments have so many times
      local_divided = 1;                   ///< the bytes that were given
  std::optional<std::uint64_t> slm{};      ///< bytes, as --slm of a sample
  std::uint32_t sub_group_size = 0;        ///< 0: as it is
  bool large_registers = false;            ///< 256 a hardware thread
  std::optional<std::uint32_t> barrier{};  ///< this one is left out, counted from 0
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

/// Group sizes that divide `items` evenly, of 16 to `most` work-items: in x alone where the items are in x
/// alone, else in x and y. In each dimension those next to a power of two; z stays that of `given`. Without
/// `given`. Pure.
[[nodiscard]] std::vector<Extent> group_shapes(const Extent& items, const Extent& given, std::uint64_t most);

/// Macros of `flags` whose value is a power of two from 2 on and whose name `source` has. Pure.
[[nodiscard]] std::vector<Macro> size_macros(const std::string& flags, const std::string& source);

/// Those that `source` itself defines so where `flags` do not name them: `#ifndef NAME`, `#define NAME 16`.
/// What is inactive is not told from what is not. Pure.
[[nodiscard]] std::vector<Macro> default_macros(const std::string& flags, const std::string& source);

/// `flags` with these macros' values in place of those there, or behind them. Pure.
[[nodiscard]] std::string with_macros(const std::string& flags, const std::vector<Macro>& macros);

/// Another value of a macro, in the ways that it may go with the launch: dimensions of the group that are the
/// macro's value follow it; so do `__local` arguments, by the factor or its square; or each work-item does
/// more. The likeliest first. Pure.
[[nodiscard]] std::vector<Alternative> with_macro(const Alternative& from, const Macro& macro,
                                                  std::uint64_t value, const Extent& group,
                                                  const Extent& items, bool has_locals);

}  // namespace kiln::tool
