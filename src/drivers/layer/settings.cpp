// SPDX-License-Identifier: MIT
// Reads the layer's variables.
#include "drivers/layer/settings.hpp"

#include <cstdlib>
#include <string_view>

namespace kiln::layer {
namespace {

/// Not for a process with more rights than its user: what is named here is loaded or written to.
std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value ? value : "";
}

Settings read() {
  Settings settings;
  settings.driver = variable("KILN_LAYER_DRIVER");
  settings.json = variable("KILN_LAYER_JSON");
  settings.record = variable("KILN_LAYER_RECORD");
  settings.guard = variable("KILN_LAYER_MODE") == "guard";
  settings.verbose = variable("KILN_LAYER_VERBOSE") == "1";
  return settings;
}

}  // namespace

const Settings& settings() {
  static const auto* all = new Settings(read());  // calls come until the process is gone
  return *all;
}

}  // namespace kiln::layer
