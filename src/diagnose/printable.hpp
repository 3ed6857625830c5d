// SPDX-License-Identifier: MIT
// Names come from kernel files: on a terminal their control characters must do nothing.
#pragma once

#include <string>
#include <string_view>

namespace kiln::detail {

/// `\x1b` for an escape character, and so on. `kept` are control characters that stay. Pure.
inline std::string printable(std::string_view text, std::string_view kept = {}) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7f) || kept.find(c) != kept.npos)
      shown += c;
    else
      shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return shown;
}

}  // namespace kiln::detail
