// SPDX-License-Identifier: MIT
// What the fuzz targets share: the list of them, bytes as a reader wants them, and a claim that ends the
// program when it is wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace kiln::fuzz {

/// Reads one input, of any content.
using Function = int (*)(const std::uint8_t* data, std::size_t size);

/// nullptr: there is none of that name.
Function find_function(std::string_view name);

/// Puts a target into the list, before main.
struct Listed {
  Listed(std::string_view name, Function function);
};

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

/// Begins the function of a target, which has its file's name.
#define FUZZ_TARGET(name)                                               \
  static int name##_target(const std::uint8_t* data, std::size_t size); \
  static const kiln::fuzz::Listed name##_listed_(#name, name##_target); \
  static int name##_target(const std::uint8_t* data, std::size_t size)
