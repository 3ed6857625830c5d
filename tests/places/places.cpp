// SPDX-License-Identifier: MIT
// Prints where the library finds its own files, after it went to the folder that is named.
#include <unistd.h>

#include <cstdio>

#include "support/own_files.hpp"

int main(int, char** argv) {
  if (argv[1] && chdir(argv[1]) != 0) return 1;
  using namespace kiln::detail;
  for (const OwnFile& file : {kOwnCompiler, kOwnCpuDriver, kOwnKernels}) std::puts(own_file(file).c_str());
}
