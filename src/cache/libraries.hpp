// SPDX-License-Identifier: MIT
// The libraries that make a binary: a driver's, its compiler's, and all that they link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/manifest.hpp"

namespace kiln::cache {

/// One library as it is mapped into this process. The views are another's.
struct Library {
  std::string_view path;                   ///< as the loader opened it; empty for the program itself
  std::string_view name;                   ///< its own (DT_SONAME), else the last part of the path
  std::string_view build_id;               ///< its bytes; none when the library has none
  std::vector<std::string_view> needed{};  ///< names of the libraries that it links
  std::uintptr_t base = 0;                 ///< where it is mapped
  bool kiln = false;                       ///< holds Kiln's own code
  bool driver = false;                     ///< holds the function behind the table that builds modules
};

struct LibraryInputs {
  Manifest fields;      ///< "library.libigc.so.1" = build-id, or "sha256:…"
  std::string unknown;  ///< not empty: a library that shapes the result cannot be told
  bool intel = false;   ///< a driver that is not Kiln's is among them: the settings files of Intel's count
};

/// Serves drivers and compilers without shaping code. Pure.
[[nodiscard]] bool is_neutral(std::string_view name);

/// The build-id in the notes of an ELF segment; empty when there is none. `align` is the segment's. Reads
/// nothing outside. Pure.
[[nodiscard]] std::span<const std::byte> build_id(std::span<const std::byte> notes, std::size_t align);

/// Kiln's own code, the driver at hand (all behind the loader), Intel's compiler when that driver is not
/// Kiln's, and what they link, save libraries that never shape code. `digest_of` is asked for libraries
/// without build-id. Pure.
[[nodiscard]] LibraryInputs library_inputs(
    std::span<const Library> mapped,
    const std::function<std::optional<std::string>(const Library&)>& digest_of);

/// How often libraries were mapped or unmapped so far: when it did not change, nothing did. Thread-safe.
[[nodiscard]] std::uint64_t mapping_count();

/// Shows what is mapped now, save neutral libraries, to `visit`; from memory alone: no file is opened.
/// `builder` is the address of a function of the driver. Returns the mapping_count() of what it showed.
/// Thread-safe.
std::uint64_t visit_mapped(const void* builder, const std::function<void(std::span<const Library>)>& visit);

/// SHA-256 of the file that is mapped there; nothing when the file on disk is another one by now. What was
/// read once is remembered. Thread-safe.
[[nodiscard]] std::optional<std::string> digest_of_mapped(const Library& library);

}  // namespace kiln::cache
