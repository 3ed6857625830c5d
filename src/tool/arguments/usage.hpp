// SPDX-License-Identifier: MIT
// What is said of a command line that cannot be meant: K0400, with the word that was meant where one is near.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/result.hpp"

namespace kiln::tool {

/// K0400.
[[nodiscard]] Error usage_error(std::string message, std::vector<std::string> help);

/// `kiln fly`, `kiln cache stat`: no command of `page`, which has these. Pure.
[[nodiscard]] Error unknown_command(const std::string& page, const std::string& word,
                                    const std::vector<std::string>& commands);

/// `--sise`: no option of `page`. Pure.
[[nodiscard]] Error unknown_option(const std::string& page, const std::string& word,
                                   const std::vector<std::string>& options);

/// A word behind all that `page` takes. Pure.
[[nodiscard]] Error surplus_word(const std::string& page, const std::string& word,
                                 const std::vector<std::string>& options);

/// What an option takes, from the smallest to the largest.
struct Range {
  std::uint64_t least = 0, most = UINT64_MAX;
};

/// A whole number, decimal or 0x…. Error: K0400, with the option and the range. Pure.
[[nodiscard]] Result<std::uint64_t> parse_whole(const std::string& option, const std::string& text,
                                                Range range);

/// Seconds, with a fraction. Error: as above. Pure.
[[nodiscard]] Result<double> parse_seconds(const std::string& option, const std::string& text, double least,
                                           double most);

/// Any number. Error: as above. Pure.
[[nodiscard]] Result<double> parse_real(const std::string& option, const std::string& text, double least,
                                        double most);

/// Did the caller ask for JSON? Looked up by eye, for a command line that cannot be parsed. Pure.
[[nodiscard]] bool wants_json(int argc, const char* const* argv);

}  // namespace kiln::tool
