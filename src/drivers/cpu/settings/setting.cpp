// SPDX-License-Identifier: MIT
// Reads variables of the environment.
#include "drivers/cpu/settings/setting.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace kiln::cpu {

std::string_view setting(const char* name) {
  const char* value = secure_getenv(name);
  return value ? value : "";
}

void refuse_setting(const char* name, std::string_view value, std::string_view expected) {
  constexpr std::size_t kMostShown = 80;
  std::string shown;
  for (const char c : value.substr(0, kMostShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  if (value.size() > kMostShown) shown += "...";
  std::fprintf(stderr, "kiln cpu driver: cannot read %s \"%s\"; expected %.*s\n", name, shown.c_str(),
               static_cast<int>(expected.size()), expected.data());
}

}  // namespace kiln::cpu
