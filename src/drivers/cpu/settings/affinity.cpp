// SPDX-License-Identifier: MIT
// Reads ZE_AFFINITY_MASK.
#include "drivers/cpu/settings/affinity.hpp"

#include <algorithm>
#include <charconv>

namespace kiln::cpu {
namespace {

bool names(std::string_view entry, std::uint32_t number) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
  const std::string_view rest = entry.substr(static_cast<std::size_t>(end - entry.data()));
  return error == std::errc() && value == number && (rest.empty() || rest == ".0");
}

}  // namespace

std::vector<std::uint32_t> unmasked_devices(std::string_view mask, std::uint32_t count) {
  std::vector<std::uint32_t> left;
  for (std::uint32_t number = 0; number < count; ++number) {
    bool named = false;
    for (std::string_view rest = mask; !rest.empty() && !named;) {
      const auto comma = std::min(rest.find(','), rest.size());
      named = names(rest.substr(0, comma), number);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (named) left.push_back(number);
  }
  if (left.empty())
    for (std::uint32_t number = 0; number < count; ++number) left.push_back(number);
  return left;
}

}  // namespace kiln::cpu
