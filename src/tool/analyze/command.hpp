// SPDX-License-Identifier: MIT
// `kiln analyze`: what its options say, and the child that talks to libiga64.
#pragma once

#include <string>
#include <vector>

namespace kiln::tool {

struct AnalyzeOptions {
  std::vector<std::string> files, targets, locals;
  std::vector<std::string> flags;  ///< OpenCL build options for ocloc; two sets are compared
  std::string group;
  std::string kernel;                ///< that one alone; empty: all
  std::string budget, write_budget;  ///< files; empty: none
  std::string executed;              ///< JSON of a run on a simulated GPU; empty: none
  std::string report;                ///< HTML file; empty: none
  double timeout = 120;              ///< seconds for one compilation, and to decode one kernel
  bool disassemble = false, json = false;
};
int analyze(const AnalyzeOptions& options);

/// The child: code on stdin, its text on stdout.
int disassemble_stdin();

}  // namespace kiln::tool
