// SPDX-License-Identifier: MIT
// The entry points of the fake loader that nobody calls: weak, so that those of fake_loader.cpp come before.
#include "kiln/api.hpp"

extern "C" __attribute__((used)) ze_result_t fake_loader_refuses();
ze_result_t fake_loader_refuses() { return ZE_RESULT_ERROR_UNINITIALIZED; }

#define KILN_REQUIRED(table, name) \
  asm(".globl ze" #table #name "\n.weak ze" #table #name "\n.set ze" #table #name ", fake_loader_refuses");
#define KILN_OPTIONAL(name, type)
KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
