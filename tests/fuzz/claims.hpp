// SPDX-License-Identifier: MIT
// What must hold for facts from any file: the checks end, agree with each other, and render.
#pragma once

#include <array>

#include "kiln/kiln.hpp"

namespace kiln::fuzz {

/// A launch as 64 bytes of input, all values allowed.
struct Request {
  Extent group_size{8, 8, 1}, groups{4, 4, 4};
  std::uint32_t slm = 64 << 10;                             // bytes that the made-up device has
  std::uint32_t flags = 0;                                  // see claims.cpp
  std::array<std::uint32_t, 8> sizes{4096, 16, 0, 100000};  // of `__local` arguments, over and over
};
static_assert(sizeof(Request) == 64);

/// Text and JSON of a diagnostic are what they should be.
void claim_renders(const Diagnostic& diagnostic);

/// The first kernels against all targets and against a made-up device.
void claim_checks(const ModuleFacts& facts, const Request& request = {});

}  // namespace kiln::fuzz
