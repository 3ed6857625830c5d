// SPDX-License-Identifier: MIT
// Members of ar archives, for whoever writes one piece by piece.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln::detail {

/// May a member be named so without a table of long names?
[[nodiscard]] bool is_member_name(std::string_view name);

/// What stands before the member's content: no time, no owner, mode 644. After content of an odd number of
/// bytes comes a newline. Pure.
[[nodiscard]] std::string archive_member_header(std::string_view name, std::size_t size);

}  // namespace kiln::detail
