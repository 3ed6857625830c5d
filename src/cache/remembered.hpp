// SPDX-License-Identifier: MIT
// Which remembered results still spare a compilation.
#pragma once

#include <chrono>
#include <string>

#include "cache/format/entry.hpp"

namespace kiln::cache {

/// Why a load that finds this entry compiles all the same, in words; empty: it does not. Pure.
inline std::string why_again(const Entry& entry, std::chrono::sys_seconds now,
                             std::chrono::seconds remember_failures) {
  constexpr std::uint32_t kMostCrashes = 2;
  const std::chrono::sys_seconds created{std::chrono::seconds(entry.created)};
  if (entry.kind == EntryKind::failure && (created > now || now - created >= remember_failures))
    return "it failed before, too long ago";
  if (entry.kind == EntryKind::crash && entry.attempts < kMostCrashes)
    return "the compiler ended by itself once";
  return {};
}

}  // namespace kiln::cache
