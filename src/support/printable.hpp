// SPDX-License-Identifier: MIT
// Names come from kernel files and logs: on a terminal they must do nothing, and look like what they are.
#pragma once

#include <string>
#include <string_view>

namespace kiln::detail {

/// `\x1b` for an escape character and for each byte that is not UTF-8, `\u{202e}` for what turns the
/// direction of text or breaks lines without being a newline. `kept` are control characters that stay. What
/// is made safe stays as it is when it is made safe again. Pure. Source: Unicode 15, Cc and Bidi_Control; UAX
/// #9.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace kiln::detail
