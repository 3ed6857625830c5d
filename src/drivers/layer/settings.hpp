// SPDX-License-Identifier: MIT
// What `kiln exec` tells the layer, in variables of the environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::layer {

struct Settings {
  std::string driver;  ///< the library behind; empty: the first of Intel's that is there
  std::string json;    ///< file for refusals; empty: stderr
  std::string record;  ///< file for the record of calls; empty: memory alone
  std::string cache;   ///< the folder of --cache, or "on": the user's; empty: no cache is asked
  bool guard = false;
  bool verbose = false;
  std::string capture;                                     ///< the archive of --capture; empty: none
  std::vector<std::string> capture_kernels;                ///< empty: all
  std::uint64_t capture_launch = 1;                        ///< of each kernel, counted from 1
  std::uint64_t capture_limit = std::uint64_t{512} << 20;  ///< bytes of memory, before and after
};

/// Read once, when the layer is opened. Thread-safe.
[[nodiscard]] const Settings& settings();

}  // namespace kiln::layer
