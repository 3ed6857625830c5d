// SPDX-License-Identifier: MIT
// Chooses, of all mapped libraries, those that shape a binary, and names their builds.
#include "identity/libraries.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "support/hex.hpp"

namespace kiln::cache {
namespace {

// What Intel's driver opens by name; all else of its compiler these two link. A libclang or liblld that is
// mapped besides is the application's own.
constexpr std::string_view kCompilers[] = {"libigc", "libigdfcl"};
// They pass calls on: the loader, its own layers, and that of `kiln exec`.
constexpr std::string_view kNoDrivers[] = {"libze_loader", "libze_tracing_layer", "libze_validation_layer",
                                           "libze_null", "libze_kiln_layer"};
// They serve drivers and compilers without shaping code; in order, behind the `lib` that most begin with.
// libm is not here: LLVM folds sin() of a constant with it.
constexpr std::string_view kNeutral[] = {
    "asan",    "atomic",  "boost_context", "bsd",       "c.so",     "crypto", "dl.so",
    "edit",    "ffi",     "gcc_s",         "icu",       "igdgmm",   "lzma",   "md.so",
    "ncurses", "pthread", "rt.so",         "sanitizer", "stdc++",   "tinfo",  "tsan",
    "ubsan",   "util.so", "xml2",          "xxhash",    "yaml-cpp", "z.so",   "zstd"};
constexpr std::string_view kNeutralOthers[] = {"ld-linux", "linux-vdso"};
/// Where in kNeutral each letter begins, and the end.
constexpr auto kNeutralBegins = [] {
  std::array<std::uint8_t, 27> begins{};
  for (std::size_t letter = 0; letter < begins.size(); ++letter)
    begins[letter] = static_cast<std::uint8_t>(std::ranges::count_if(
        kNeutral, [&](std::string_view part) { return static_cast<std::size_t>(part[0] - 'a') < letter; }));
  return begins;
}();
static_assert(std::ranges::is_sorted(kNeutral));

// What is hot lies side by side: src/meson.build says why.
[[gnu::hot]] bool begins_with_any(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// "libigc" of "libigc.so.1".
[[gnu::hot]] bool is_compiler(std::string_view name) {
  return std::ranges::find(kCompilers, name.substr(0, name.find(".so"))) != std::end(kCompilers);
}

/// Whether the loader finds that library when something needs this name.
[[gnu::hot]] bool answers_to(const Library& library, std::string_view needed) {
  if (library.name == needed || library.path == needed) return true;
  const std::string_view path = library.path;
  return path.size() > needed.size() && path[path.size() - needed.size() - 1] == '/' &&
         path.ends_with(needed);
}

/// The builds of libraries that have one name, in order.
std::string with_another(const std::string& builds, std::string build) {
  std::set<std::string> all{std::move(build)};
  std::istringstream known(builds);
  for (std::string one; known >> one;) all.insert(std::move(one));
  std::string joined;
  for (const std::string& one : all) joined.append(joined.empty() ? "" : " ").append(one);
  return joined;
}

using Libraries = std::vector<const Library*>;

[[gnu::hot]] bool is_among(const Libraries& libraries, const Library& library) {
  return std::ranges::find(libraries, &library) != libraries.end();
}

/// Adds what they link, and what that links, and so on.
[[gnu::hot]] void add_linked(std::span<const Library> mapped, Libraries& libraries) {
  for (std::size_t next = 0; next < libraries.size(); ++next)
    for (const std::string_view needed : libraries[next]->needed)
      for (const Library& library : mapped)
        if (answers_to(library, needed) && !is_neutral(library.name) && !is_among(libraries, library))
          libraries.push_back(&library);
}

/// By its build-id, or the digest of its file; nothing when neither is known.
[[gnu::hot]] std::optional<std::string> build_of(const Library& library, const DigestOfLibrary& digest_of) {
  if (!library.build_id.empty()) return hex(std::as_bytes(std::span(library.build_id)));
  auto digest = digest_of(library);
  if (digest) digest->insert(0, "sha256:");
  return digest;
}

}  // namespace

[[gnu::hot]] bool is_neutral(std::string_view name) {
  if (!name.starts_with("lib")) return begins_with_any(name, kNeutralOthers);
  name.remove_prefix(3);
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  const auto letter = static_cast<std::size_t>(name[0] - 'a');
  return begins_with_any(name,
                         std::span(kNeutral).subspan(kNeutralBegins[letter],
                                                     kNeutralBegins[letter + 1] - kNeutralBegins[letter]));
}

[[gnu::hot]] LibraryInputs library_inputs(std::span<const Library> mapped, const DigestOfLibrary& digest_of) {
  LibraryInputs inputs;
  const auto at_hand = std::ranges::find(mapped, true, &Library::driver);
  const bool passed_on = at_hand != mapped.end() && begins_with_any(at_hand->name, kNoDrivers);
  const auto is_driver = [&](const Library& library) {
    return library.driver ? !passed_on
                          : passed_on && library.name.starts_with("libze_") &&
                                !begins_with_any(library.name, kNoDrivers);
  };
  Libraries shaping;
  shaping.reserve(mapped.size());
  for (const Library& library : mapped)
    if (is_driver(library)) {
      shaping.push_back(&library);
      inputs.intel |= !library.name.starts_with("libze_kiln_cpu");
    }
  if (shaping.empty()) inputs.unknown = "no driver is loaded";
  if (inputs.intel) {
    bool compiler = false;
    for (const Library& library : mapped)
      if (is_compiler(library.name) && !is_among(shaping, library)) {
        shaping.push_back(&library);
        compiler |= library.name.starts_with("libigc");
      }
    if (!compiler) inputs.unknown = "the driver has not loaded its compiler";
  }
  add_linked(mapped, shaping);
  for (const Library& library : mapped)
    if (library.kiln && !is_among(shaping, library)) shaping.push_back(&library);

  inputs.fields.reserve(shaping.size());
  for (const Library* library : shaping) {
    if (!library->kiln) inputs.places.push_back(library->base);
    auto build = build_of(*library, digest_of);
    if (!build)
      inputs.unknown = "no build-id in " + std::string(library->name) + ", and its file was replaced";
    std::string field(library->path.empty() ? kProgramField : "library.");
    if (!library->path.empty()) field += library->name;
    const std::string* others = inputs.fields.find(field);
    std::string value = std::move(build).value_or("");
    if (others) value = with_another(*others, std::move(value));
    inputs.fields.set({std::move(field), std::move(value)});
  }
  return inputs;
}

}  // namespace kiln::cache
