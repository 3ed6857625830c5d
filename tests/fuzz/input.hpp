// SPDX-License-Identifier: MIT
// What the fuzz targets share: bytes as a reader wants them, and a claim that ends the program when it is
// wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kiln::fuzz {

inline std::span<const std::byte> bytes(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Does the input break what Kiln promises? The fuzzer takes the abort for a crash.
inline void claim(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "claim broken: %s\n", what);
  std::abort();
}

}  // namespace kiln::fuzz
