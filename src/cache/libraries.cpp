// SPDX-License-Identifier: MIT
// Chooses, of all mapped libraries, those that shape a binary, and names their builds.
#include "cache/libraries.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "binary/hex.hpp"

namespace kiln::cache {
namespace {

constexpr std::string_view kCompilers[] = {"libigc",          "libigdfcl", "libopencl-clang",
                                           "libopencl_clang", "liblld",    "libclang"};
// The loader's own layers pass calls on.
constexpr std::string_view kNoDrivers[] = {"libze_loader", "libze_tracing_layer", "libze_validation_layer",
                                           "libze_null"};
// They serve drivers and compilers without shaping code. libm is not here: LLVM folds sin() of a constant
// with it.
constexpr std::string_view kNeutral[] = {
    "ld-linux",     "libasan",   "libatomic",   "libboost_context", "libbsd",     "libc.so",
    "libcrypto",    "libdl.so",  "libedit",     "libffi",           "libgcc_s",   "libicu",
    "libigdgmm",    "liblzma",   "libmd.so",    "libncurses",       "libpthread", "librt.so",
    "libsanitizer", "libstdc++", "libtinfo",    "libtsan",          "libubsan",   "libutil.so",
    "libxml2",      "libxxhash", "libyaml-cpp", "libz.so",          "libzstd",    "linux-vdso"};
// is_neutral() relies on both.
static_assert(std::ranges::is_sorted(kNeutral));
static_assert(std::ranges::adjacent_find(kNeutral, [](auto a, auto b) { return b.starts_with(a); }) ==
              std::end(kNeutral));

bool begins_with_any(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

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

/// Adds what they link, and what that links, and so on.
void add_linked(std::span<const Library> mapped, Libraries& libraries) {
  struct Candidate {
    std::string_view name, file;
    const Library* library;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(mapped.size());
  for (const Library& library : mapped)
    if (!is_neutral(library.name)) candidates.push_back({library.name, last_part(library.path), &library});
  for (std::size_t next = 0; next < libraries.size(); ++next)
    for (const std::string_view needed : libraries[next]->needed)
      for (const auto& [name, file, library] : candidates)
        if ((needed == name || needed == file) && std::ranges::find(libraries, library) == libraries.end())
          libraries.push_back(library);
}

}  // namespace

bool is_neutral(std::string_view name) {
  // No prefix begins with another one: only the last that is not behind the name can be its.
  const auto after = std::ranges::upper_bound(kNeutral, name);
  return after != std::begin(kNeutral) && name.starts_with(*std::prev(after));
}

std::span<const std::byte> build_id(std::span<const std::byte> notes, std::size_t align) {
  const std::size_t mask = align == 8 ? 7 : 3;
  const auto padded = [&](std::uint64_t size) { return (size + mask) & ~std::uint64_t{mask}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;  // the same in 32 bits
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t begin = sizeof note + padded(note.n_namesz);
    if (begin > notes.size() || note.n_descsz > notes.size() - begin) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU && note.n_descsz > 0 &&
        note.n_descsz <= 64 &&
        std::memcmp(notes.data() + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return notes.subspan(begin, note.n_descsz);
    notes = notes.subspan(std::min<std::uint64_t>(begin + padded(note.n_descsz), notes.size()));
  }
  return {};
}

LibraryInputs library_inputs(std::span<const Library> mapped,
                             const std::function<std::optional<std::string>(const Library&)>& digest_of) {
  LibraryInputs inputs;
  const auto at_hand = std::ranges::find(mapped, true, &Library::driver);
  const bool through_loader = at_hand != mapped.end() && begins_with_any(at_hand->name, kNoDrivers);
  const auto is_driver = [&](const Library& library) {
    return library.driver ? !through_loader
                          : through_loader && library.name.starts_with("libze_") &&
                                !begins_with_any(library.name, kNoDrivers);
  };
  Libraries shaping, compilers, own;
  bool compiler = false;
  for (const Library& library : mapped) {
    if (is_driver(library)) {
      shaping.push_back(&library);
      inputs.intel |= !library.name.starts_with("libze_kiln_cpu");
    } else if (begins_with_any(library.name, kCompilers)) {
      compilers.push_back(&library);
      compiler |= library.name.starts_with("libigc");
    } else if (library.kiln) {
      own.push_back(&library);
    }
  }
  if (shaping.empty()) inputs.unknown = "no driver is loaded";
  if (inputs.intel && !compiler) inputs.unknown = "the driver has not loaded its compiler";
  if (inputs.intel) shaping.insert(shaping.end(), compilers.begin(), compilers.end());
  add_linked(mapped, shaping);
  for (const Library* library : own)
    if (std::ranges::find(shaping, library) == shaping.end()) shaping.push_back(library);

  for (const Library* library : shaping) {
    std::string build = hex(std::as_bytes(std::span(library->build_id)));
    if (build.empty()) {
      const auto digest = digest_of(*library);
      if (digest) build = "sha256:" + *digest;
      if (!digest)
        inputs.unknown = "no build-id in " + std::string(library->name) + ", and its file was replaced";
    }
    const std::string field =
        std::string("library.").append(library->path.empty() ? "(program)" : library->name);
    const std::string* others = inputs.fields.find(field);
    inputs.fields.set(field, others ? with_another(*others, std::move(build)) : std::move(build));
  }
  return inputs;
}

}  // namespace kiln::cache
