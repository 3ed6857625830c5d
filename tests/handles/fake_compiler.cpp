// SPDX-License-Identifier: MIT
// Stands in for Intel's compiler beside the fake driver: the cache keeps nothing of a GPU's driver that has
// none.
extern "C" const char* fake_compiler();
extern "C" const char* fake_compiler() { return "libigc"; }
