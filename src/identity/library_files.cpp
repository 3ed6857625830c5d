// SPDX-License-Identifier: MIT
// Looks for libraries as the dynamic linker does, and reads of their files what it would.
#include "identity/library_files.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "identity/libraries.hpp"
#include "support/build_id.hpp"
#include "support/descriptor.hpp"
#include "support/hex.hpp"

namespace kiln::cache {
namespace {

constexpr std::string_view kField = "front_end.";
constexpr std::uint64_t kLargestPart = 1 << 20;    // bytes, of what is read of a library's file
constexpr std::uint64_t kLargestCache = 64 << 20;  // bytes

using Bytes = std::vector<std::byte>;

std::optional<Bytes> read_part(int file, std::uint64_t offset, std::uint64_t size, std::uint64_t most) {
  if (size > most || offset > INT64_MAX) return std::nullopt;
  Bytes bytes(size);
  for (std::size_t end = 0; end < size;) {
    const ssize_t got = pread(file, bytes.data() + end, size - end, static_cast<off_t>(offset + end));
    if (got <= 0) return std::nullopt;
    end += static_cast<std::size_t>(got);
  }
  return bytes;
}

template <class T>
T at(const Bytes& bytes, std::size_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof value)
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The C string there; empty outside.
std::string text_at(const Bytes& bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const auto* first = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {first, strnlen(first, bytes.size() - offset)};
}

class LibraryReader {
 public:
  explicit LibraryReader(int file) : file_(file) {}

  bool read(LibraryFile& library) {
    const auto header = read_part(file_, 0, sizeof(Elf64_Ehdr), kLargestPart);
    if (!header) return false;
    const auto elf = at<Elf64_Ehdr>(*header, 0);
    if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_machine != EM_X86_64 || elf.e_type != ET_DYN || elf.e_phentsize != sizeof(Elf64_Phdr))
      return false;
    const auto segments =
        read_part(file_, elf.e_phoff, std::uint64_t{elf.e_phnum} * sizeof(Elf64_Phdr), kLargestPart);
    if (!segments) return false;
    for (std::size_t i = 0; i < elf.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(*segments, i * sizeof(Elf64_Phdr)));
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_NOTE && library.build_id.empty())
        if (const auto notes = read_part(file_, segment.p_offset, segment.p_filesz, kLargestPart))
          for (const std::byte byte : detail::build_id(*notes, segment.p_align))
            library.build_id.push_back(static_cast<char>(byte));
      if (segment.p_type == PT_DYNAMIC) read_dynamic(segment, library);
    }
    return true;
  }

 private:
  void read_dynamic(const Elf64_Phdr& segment, LibraryFile& library) {
    const auto entries = read_part(file_, segment.p_offset, segment.p_filesz, kLargestPart);
    if (!entries) return;
    std::uint64_t names = 0, size = 0;
    std::vector<std::uint64_t> needed;
    for (std::size_t i = 0; i + sizeof(Elf64_Dyn) <= entries->size(); i += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(*entries, i);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) names = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
    }
    for (const Elf64_Phdr& load : segments_) {
      if (load.p_type != PT_LOAD || names < load.p_vaddr || names - load.p_vaddr >= load.p_filesz) continue;
      // A table of many symbols is long; the names are read one by one.
      for (const std::uint64_t offset : needed) {
        const std::uint64_t place = names - load.p_vaddr + load.p_offset + offset;
        const std::uint64_t most = offset < size ? std::min<std::uint64_t>(size - offset, 256) : 0;
        if (const auto text = read_part(file_, place, most, kLargestPart); text && most != 0)
          library.needed.push_back(text_at(*text, 0));
      }
    }
  }

  int file_;
  std::vector<Elf64_Phdr> segments_;
};

std::optional<LibraryFile> read_library(const std::string& path) {
  const detail::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  LibraryFile library;
  library.path = path;
  if (!LibraryReader(file.get()).read(library)) return std::nullopt;
  return library;
}

/// What ldconfig knows under a name. Source: sysdeps/generic/dl-cache.h of glibc.
std::string in_system_cache(const std::string& name) {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr std::uint32_t kX86_64 = 0x0303;
  struct Header {
    char magic[20];
    std::uint32_t entries, strings;
    std::uint8_t flags, padding[3];
    std::uint32_t extensions, unused[3];
  };
  struct Entry {
    std::uint32_t flags, key, value, os_version;
    std::uint64_t hwcap;
  };
  static_assert(sizeof(Header) == 48 && sizeof(Entry) == 24);
  const detail::Descriptor file(open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return {};
  const auto cache = read_part(file.get(), 0, static_cast<std::uint64_t>(status.st_size), kLargestCache);
  if (!cache || cache->size() < sizeof(Header) ||
      std::memcmp(cache->data(), kMagic.data(), kMagic.size()) != 0)
    return {};
  const auto header = at<Header>(*cache, 0);
  for (std::uint32_t i = 0; i < header.entries; ++i) {
    const std::size_t place = sizeof(Header) + std::size_t{i} * sizeof(Entry);
    if (place >= cache->size()) break;
    const auto entry = at<Entry>(*cache, place);
    if (entry.flags == kX86_64 && entry.hwcap == 0 && text_at(*cache, entry.key) == name)
      return text_at(*cache, entry.value);
  }
  return {};
}

/// libocloc opens these by name, releases of it another number.
constexpr const char* kFrontEnds[] = {"libigdfcl.so.1", "libigdfcl.so.2", "libigdfcl.so.3", "libigdfcl.so"};
/// How the names of what makes SPIR-V begin, whatever opened it.
constexpr std::string_view kOwnParts[] = {"libocloc", "libigdfcl", "libopencl-clang", "libopencl_clang"};
constexpr std::string_view kOtherParts[] = {"libclang", "libLLVM"};

bool is_part(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.starts_with(part); });
}

std::string front_end_field(std::string_view name) { return std::string(kField).append(name); }

std::string id_text(std::string_view build_id) { return hex(std::as_bytes(std::span(build_id))); }

}  // namespace

std::optional<LibraryFile> find_library(const std::string& name, std::string_view search) {
  if (name.find('/') != name.npos) return read_library(name);
  while (!search.empty()) {
    const auto end = std::min(search.find_first_of(":;"), search.size());
    const std::string folder(search.substr(0, end));
    search.remove_prefix(std::min(end + 1, search.size()));
    if (auto library = read_library((folder.empty() ? "." : folder) + "/" + name)) return library;
  }
  if (const std::string path = in_system_cache(name); !path.empty())
    if (auto library = read_library(path)) return library;
  for (const char* folder : {"/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/lib64/", "/usr/lib64/",
                             "/lib/", "/usr/lib/"})
    if (auto library = read_library(folder + name)) return library;
  return std::nullopt;
}

FrontEndFields front_end_fields(const FindLibrary& find) {
  FrontEndFields result;
  std::vector<std::string> names{detail::kOclocName};
  names.insert(names.end(), std::begin(kFrontEnds), std::end(kFrontEnds));
  const std::size_t roots = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i];
    if (is_neutral(name)) continue;
    const auto library = find(name);
    if (!library) {
      // One that is missing now may be there another time.
      if (i == 0 || i >= roots) result.fields.set(front_end_field(name), "");
      continue;
    }
    if (i == 0) result.library = library->path;
    if (library->build_id.empty()) result.unknown = library->path + " has no build-id";
    result.fields.set(front_end_field(name), id_text(library->build_id));
    for (const std::string& needed : library->needed)
      if (std::ranges::find(names, needed) == names.end()) names.push_back(needed);
  }
  return result;
}

Manifest mapped_front_end() {
  Manifest fields;
  const MappedLibraries mapped(nullptr);
  for (const Library& library : mapped.all()) {
    if (is_part(library.name, kOwnParts) || is_part(library.name, kOtherParts))
      fields.set(front_end_field(library.name), id_text(library.build_id));
  }
  return fields;
}

std::string other_front_end(const Manifest& told, const Manifest& mapped) {
  for (const ManifestField& field : mapped.fields()) {
    const std::string* expected = told.find(field.name);
    const std::string name = field.name.substr(kField.size());
    if (expected ? *expected != field.value : is_part(name, kOwnParts))
      return name + " is another one where the source was compiled";
  }
  return {};
}

}  // namespace kiln::cache
