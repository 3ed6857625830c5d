// SPDX-License-Identifier: MIT
// The libraries that make a binary: a driver's, its compiler's, and all that they link.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/manifest.hpp"

struct dl_phdr_info;

namespace kiln::cache {

/// One library as it is mapped into this process. The views are another's.
struct Library {
  std::string_view path;                   ///< as the loader opened it; empty for the program itself
  std::string_view name;                   ///< its own (DT_SONAME), else the last part of the path
  std::string_view build_id;               ///< its bytes; none when the library has none
  std::vector<std::string_view> needed{};  ///< names of the libraries that it links, neutral ones aside
  std::uintptr_t base = 0;                 ///< where it is mapped
  bool kiln = false;                       ///< holds Kiln's own code
  bool driver = false;                     ///< holds the function behind the table that builds modules
};

struct LibraryInputs {
  Manifest fields;      ///< "library.libigc.so.1" = build-id, or "sha256:…"
  std::string unknown;  ///< not empty: a library that shapes the result cannot be told
  bool intel = false;   ///< a driver that is not Kiln's is among them: the settings files of Intel's count
  std::vector<std::uintptr_t> places{};  ///< where they are mapped, Kiln's own code aside
};

/// What is part of the program itself.
inline constexpr std::string_view kProgramField = "library.(program)";

/// Serves drivers and compilers without shaping code. Pure.
[[nodiscard]] bool is_neutral(std::string_view name);

/// Of the file behind a library without build-id; nothing when it cannot be told.
using DigestOfLibrary = std::function<std::optional<std::string>(const Library&)>;

/// Kiln's own code, the driver at hand (all behind the loader), Intel's compiler when that driver is not
/// Kiln's, and what they link, save libraries that never shape code. Pure.
[[nodiscard]] LibraryInputs library_inputs(std::span<const Library> mapped, const DigestOfLibrary& digest_of);

/// How often libraries were mapped or unmapped so far: when it did not change, nothing did. Thread-safe.
[[nodiscard]] std::uint64_t mapping_count();

/// What is mapped when this is made, save neutral libraries; from memory alone: no file is opened. Copies
/// what may go when another thread unloads a library; mostly into itself, as this is on the way of the first
/// hit. Making it is thread-safe.
class MappedLibraries {
 public:
  /// `builder` is the address of a function of the driver.
  explicit MappedLibraries(const void* builder);
  MappedLibraries(const MappedLibraries&) = delete;
  MappedLibraries& operator=(const MappedLibraries&) = delete;

  [[nodiscard]] std::span<const Library> all() const { return all_; }
  /// The mapping_count() of all().
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  void add(const dl_phdr_info& info);
  std::string_view keep(std::string_view text);

  std::uintptr_t builder_;
  std::uint64_t count_ = 0;
  std::vector<Library> all_;
  std::array<char, 4096> room_;
  std::size_t used_ = 0;
  std::forward_list<std::string> others_;
};

/// Those of the names that stand, as C strings, in the constants of the libraries mapped at `places`: the
/// settings that their code can ask for. It reads all constants of those libraries, so ask once. Thread-safe.
[[nodiscard]] std::vector<std::string> names_in(std::span<const std::uintptr_t> places,
                                                std::vector<std::string> names);

/// SHA-256 of the file that is mapped there; nothing when the file on disk is another one by now. What was
/// read once is remembered. Thread-safe.
[[nodiscard]] std::optional<std::string> digest_of_mapped(const Library& library);

}  // namespace kiln::cache
