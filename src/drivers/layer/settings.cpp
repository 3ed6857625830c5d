// SPDX-License-Identifier: MIT
// Reads the layer's variables.
#include "drivers/layer/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "support/digits.hpp"

namespace kiln::layer {
namespace {

/// Not for a process with more rights than its user: what is named here is loaded or written to.
std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value ? value : "";
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  return detail::parse_digits(variable(name)).value_or(otherwise);
}

Settings read() {
  Settings settings;
  settings.driver = variable("KILN_LAYER_DRIVER");
  settings.json = variable("KILN_LAYER_JSON");
  settings.record = variable("KILN_LAYER_RECORD");
  settings.cache = variable("KILN_LAYER_CACHE");
  settings.guard = variable("KILN_LAYER_MODE") == "guard";
  settings.verbose = variable("KILN_LAYER_VERBOSE") == "1";
  settings.capture = variable("KILN_LAYER_CAPTURE");
  const std::string kernels = variable("KILN_LAYER_CAPTURE_KERNELS");
  for (std::size_t begin = 0; begin < kernels.size();) {
    const std::size_t end = std::min(kernels.find(',', begin), kernels.size());
    if (end > begin) settings.capture_kernels.push_back(kernels.substr(begin, end - begin));
    begin = end + 1;
  }
  settings.capture_launch = number("KILN_LAYER_CAPTURE_LAUNCH", settings.capture_launch);
  settings.capture_limit = number("KILN_LAYER_CAPTURE_LIMIT", settings.capture_limit);
  return settings;
}

}  // namespace

const Settings& settings() {
  static const auto* all = new Settings(read());  // calls come until the process is gone
  return *all;
}

}  // namespace kiln::layer
