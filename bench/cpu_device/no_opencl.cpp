// SPDX-License-Identifier: MIT
// Stands for PoCL where the benchmark is built without OpenCL.
#include "case.hpp"

namespace kiln::bench {

std::unique_ptr<Runner> run_with_opencl(const Case&, std::string& why) {
  why = "built without OpenCL";
  return nullptr;
}

}  // namespace kiln::bench
