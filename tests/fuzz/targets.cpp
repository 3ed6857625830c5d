// SPDX-License-Identifier: MIT
#include <map>

#include "fuzz/input.hpp"

namespace kiln::fuzz {
namespace {

std::map<std::string_view, Function>& functions() {
  static std::map<std::string_view, Function> all;
  return all;
}

}  // namespace

Function find_function(std::string_view name) {
  const auto found = functions().find(name);
  return found == functions().end() ? nullptr : found->second;
}

Listed::Listed(std::string_view name, Function function) { functions().emplace(name, function); }

}  // namespace kiln::fuzz
