// SPDX-License-Identifier: MIT
// What the completions of the three shells share.
#pragma once

#include <functional>

#include "tool/help/page.hpp"

namespace kiln::tool {

/// The page, then each command below it.
void for_each_page(const Page& page, const std::function<void(const Page&)>& visit);

/// The words of a kind of value; none where nothing is known of it.
[[nodiscard]] ValueWords words_of(const std::vector<ValueWords>& values, const std::string& value);

[[nodiscard]] std::string joined(const std::vector<std::string>& words, const char* between);

/// In single quotes, for bash, zsh and fish alike: text must have no quote, which becomes ’.
[[nodiscard]] std::string single_quoted(const std::string& text);

/// "_cache_warm" of "kiln cache warm".
[[nodiscard]] std::string function_name(const Page& page);

}  // namespace kiln::tool
