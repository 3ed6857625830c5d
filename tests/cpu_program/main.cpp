// SPDX-License-Identifier: MIT
// Runs the CPU program tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
