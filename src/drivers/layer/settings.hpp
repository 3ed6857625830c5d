// SPDX-License-Identifier: MIT
// What `kiln exec` tells the layer, in variables of the environment.
#pragma once

#include <string>

namespace kiln::layer {

struct Settings {
  std::string driver;  ///< the library behind; empty: the first of Intel's that is there
  std::string json;    ///< file for refusals; empty: stderr
  std::string record;  ///< file for the record of calls; empty: memory alone
  bool guard = false;
  bool verbose = false;
};

/// Read once, when the layer is opened. Thread-safe.
[[nodiscard]] const Settings& settings();

}  // namespace kiln::layer
