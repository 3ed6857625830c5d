// SPDX-License-Identifier: MIT
// Chooses, of all mapped libraries, those that shape a binary, and names their builds.
#include "cache/libraries.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

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
    "linux-vdso", "ld-linux",    "libc.so",      "libstdc++",  "libgcc_s",         "libpthread",
    "libdl.so",   "librt.so",    "libutil.so",   "libatomic",  "libz.so",          "libzstd",
    "libffi",     "libedit",     "libtinfo",     "libncurses", "libxml2",          "libicu",
    "libbsd",     "libmd.so",    "liblzma",      "libigdgmm",  "libboost_context", "libxxhash",
    "libcrypto",  "libyaml-cpp", "libsanitizer", "libasan",    "libubsan",         "libtsan"};

bool begins_with_any(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// What `roots` link, and what that links, and so on; with the roots.
std::set<const Library*> closure(std::span<const Library> mapped, std::vector<const Library*> roots) {
  std::multimap<std::string_view, const Library*> by_name;
  for (const Library& library : mapped) {
    if (is_neutral(library.name)) continue;
    by_name.emplace(library.name, &library);
    by_name.emplace(last_part(library.path), &library);
  }
  std::set<const Library*> all;
  while (!roots.empty()) {
    const Library* library = roots.back();
    roots.pop_back();
    if (!all.insert(library).second) continue;
    for (const std::string& needed : library->needed)
      for (auto [found, end] = by_name.equal_range(needed); found != end; ++found)
        roots.push_back(found->second);
  }
  return all;
}

}  // namespace

bool is_neutral(std::string_view name) { return begins_with_any(name, kNeutral); }

std::string build_id(std::span<const std::byte> notes, std::size_t align) {
  const std::size_t mask = align == 8 ? 7 : 3;
  const auto padded = [&](std::uint64_t size) { return (size + mask) & ~std::uint64_t{mask}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;  // the same in 32 bits
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t begin = sizeof note + padded(note.n_namesz);
    if (begin > notes.size() || note.n_descsz > notes.size() - begin) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU && note.n_descsz > 0 &&
        note.n_descsz <= 64 &&
        std::memcmp(notes.data() + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      constexpr char kDigits[] = "0123456789abcdef";
      std::string text;
      text.reserve(2 * note.n_descsz);
      for (const std::byte byte : notes.subspan(begin, note.n_descsz)) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 15];
      }
      return text;
    }
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
  const auto is_intel = [&](const Library& library) {
    return is_driver(library) && !library.name.starts_with("libze_kiln_cpu");
  };
  const bool intel = std::ranges::any_of(mapped, is_intel);
  const auto is_compiler = [&](const Library& library) {
    return intel && begins_with_any(library.name, kCompilers);
  };

  std::vector<const Library*> roots, own;
  bool driver = false, compiler = false;
  for (const Library& library : mapped) {
    if (library.kiln) own.push_back(&library);
    if (is_driver(library) || is_compiler(library)) roots.push_back(&library);
    driver |= is_driver(library);
    compiler |= library.name.starts_with("libigc");
  }
  std::set<const Library*> shaping = closure(mapped, std::move(roots));
  shaping.insert(own.begin(), own.end());

  std::map<std::string, std::set<std::string>> builds;
  for (const Library* library : shaping) {
    std::string build = library->build_id;
    if (build.empty()) {
      const auto digest = digest_of(*library);
      if (digest) build = "sha256:" + *digest;
      if (!digest) inputs.unknown = "no build-id in " + library->name + ", and its file was replaced";
    }
    builds[library->path.empty() ? "(program)" : library->name].insert(std::move(build));
  }
  for (const auto& [name, ids] : builds) {
    std::string all;
    for (const std::string& id : ids) all.append(all.empty() ? "" : " ").append(id);
    inputs.fields.set("library." + name, std::move(all));
  }
  if (!driver) inputs.unknown = "no driver is loaded";
  if (driver && intel && !compiler) inputs.unknown = "the driver has not loaded its compiler";
  return inputs;
}

}  // namespace kiln::cache
