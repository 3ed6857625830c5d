// SPDX-License-Identifier: MIT
// A library that aborts (1) or never returns (2) while it is opened.
#include <unistd.h>

#include <cstdlib>

namespace {

struct Opened {
  Opened() {
    if (KILN_TEST_HOW == 1) std::abort();
    for (;;) pause();
  }
} opened;

}  // namespace
