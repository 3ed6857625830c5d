// SPDX-License-Identifier: MIT
// The narrow form in which compilers write `.ze_info`.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kiln::detail {

/// Where the first line is that compilers do not write, in bytes from the start; nothing when there is none.
/// YAML allows more, and Intel's own parser ends the process over some of it: a key without colon, brackets
/// that do not fit, lists that go on deeper below a plain value, long lists in one line. Pure. Source:
/// yaml_parser.cpp of intel/compute-runtime, seen to abort with 26.27.
[[nodiscard]] std::optional<std::size_t> irregular_line(std::string_view text);

}  // namespace kiln::detail
