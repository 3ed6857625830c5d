// SPDX-License-Identifier: MIT
// What `kiln check` was asked: targets, group sizes and counts, bytes of `__local` arguments.
#pragma once

#include "tool/common/session.hpp"

namespace kiln::tool {

struct CheckRequest {
  std::optional<Extent> group_size, groups;
  std::vector<std::pair<std::string, std::uint64_t>> locals;  ///< index or name, bytes

  /// The part of it that is about this kernel. Pure.
  [[nodiscard]] KernelRequest of(const KernelFacts& kernel) const;
  /// Is `argument` that `__local` argument of the kernel? Pure.
  [[nodiscard]] static bool names(const KernelFacts& kernel, std::size_t index, const std::string& argument);
};

/// K0404, which stands for all that cannot be meant.
[[nodiscard]] Error check_usage(std::string message, std::vector<std::string> help);

/// Errors: K0404. Pure.
[[nodiscard]] Result<CheckRequest> parse_check_request(const CheckOptions& options);

/// The products that are known, as a table on stdout or as JSON.
void print_targets(bool json);

}  // namespace kiln::tool
