// SPDX-License-Identifier: MIT
// Reads the libraries of this process from memory, and the file behind one where memory does not tell.
#include <fcntl.h>
#include <link.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "identity/libraries.hpp"
#include "support/build_id.hpp"

namespace kiln::cache {
namespace {

/// The bytes of a mapped library that may be read: what lies in one of its loaded segments.
class Image {
 public:
  explicit Image(const dl_phdr_info& info) : info_(info) {}

  std::span<const ElfW(Phdr)> headers() const { return {info_.dlpi_phdr, info_.dlpi_phnum}; }

  bool holds(std::uintptr_t begin, std::uint64_t size) const {
    for (const auto& header : headers()) {
      const std::uintptr_t start = info_.dlpi_addr + header.p_vaddr;
      if (header.p_type == PT_LOAD && (header.p_flags & PF_R) && begin >= start &&
          begin - start <= header.p_memsz && size <= header.p_memsz - (begin - start))
        return true;
    }
    return false;
  }

  std::span<const std::byte> bytes(std::uintptr_t begin, std::uint64_t size) const {
    if (!holds(begin, size)) return {};
    return {reinterpret_cast<const std::byte*>(begin), size};
  }
  std::span<const std::byte> bytes(const ElfW(Phdr) & header) const {
    return bytes(info_.dlpi_addr + header.p_vaddr, header.p_memsz);
  }

 private:
  const dl_phdr_info& info_;
};

std::uint64_t mapping_count_of(const dl_phdr_info& info) {
  return info.dlpi_adds + info.dlpi_subs;  // both only grow
}

/// What a library calls itself, and what it links.
class Names {
 public:
  Names(const Image& image, std::uintptr_t base, std::span<const std::byte> dynamic) {
    std::uintptr_t table = 0;
    std::uint64_t table_size = 0;
    for (; dynamic.size() >= sizeof(ElfW(Dyn)); dynamic = dynamic.subspan(sizeof(ElfW(Dyn)))) {
      const ElfW(Dyn) entry = first(dynamic);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) table_size = entry.d_un.d_val;
      if (entry.d_tag == DT_SONAME) own_ = entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED && needed_count_++ == 0) needed_ = dynamic;
    }
    if (table == 0) return;
    if (table < base) table += base;  // C libraries other than glibc leave the file's address
    strings_ = image.bytes(table, table_size);
  }

  /// Empty when it has none.
  std::string_view own() const { return own_ ? text(*own_) : std::string_view(); }
  std::size_t needed_count() const { return needed_count_; }

  template <class Visit>
  void each_needed(Visit visit) const {
    auto rest = needed_;  // they mostly stand together
    for (std::size_t left = needed_count_; left > 0; rest = rest.subspan(sizeof(ElfW(Dyn))))
      if (const ElfW(Dyn) entry = first(rest); entry.d_tag == DT_NEEDED)
        visit(text(entry.d_un.d_val)), --left;
  }

 private:
  static ElfW(Dyn) first(std::span<const std::byte> dynamic) {
    ElfW(Dyn) entry;
    std::memcpy(&entry, dynamic.data(), sizeof entry);
    return entry;
  }
  std::string_view text(std::uint64_t at) const {
    if (at >= strings_.size()) return {};
    const char* begin = reinterpret_cast<const char*>(strings_.data()) + at;
    return {begin, strnlen(begin, strings_.size() - at)};
  }

  std::span<const std::byte> strings_, needed_;
  std::optional<std::uint64_t> own_;
  std::size_t needed_count_ = 0;
};

using FileName = std::array<std::uint64_t, 2>;  // device, inode

/// The file that the kernel has mapped at that address.
std::optional<FileName> mapped_file(std::uintptr_t address) {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
  char line[512];
  bool begins = true;  // a long path continues in the next piece
  while (maps && std::fgets(line, sizeof line, maps.get())) {
    std::uint64_t begin = 0, end = 0, inode = 0;
    unsigned major_part = 0, minor_part = 0;
    const bool is_entry = begins && std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64,
                                                &begin, &end, &major_part, &minor_part, &inode) == 5;
    begins = std::strchr(line, '\n') != nullptr;
    if (is_entry && address >= begin && address < end)
      return inode ? std::optional(FileName{makedev(major_part, minor_part), inode}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> digest_of_file(int file) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return std::nullopt;
  std::vector<char> buffer(std::size_t{1} << 18);
  ssize_t count = 0;
  while ((count = read(file, buffer.data(), buffer.size())) > 0)
    if (EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(count)) != 1)
      return std::nullopt;
  CacheKey sum;
  if (count != 0 || EVP_DigestFinal_ex(context.get(), sum.bytes.data(), nullptr) != 1) return std::nullopt;
  return sum.hex();
}

}  // namespace

// What is hot lies side by side: src/meson.build says why.
[[gnu::hot]] MappedLibraries::MappedLibraries(const void* builder)
    : builder_(reinterpret_cast<std::uintptr_t>(builder)) {
  all_.reserve(16);
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                     void* user) { return static_cast<MappedLibraries*>(user)->add(*info), 0; },
                  this);
}

[[gnu::hot]] std::string_view MappedLibraries::keep(std::string_view text) {
  if (text.size() > room_.size() - used_) return others_.emplace_front(text);
  char* begin = room_.data() + used_;
  used_ += text.copy(begin, text.size());
  return {begin, text.size()};
}

[[gnu::hot]] void MappedLibraries::add(const dl_phdr_info& info) {
  count_ = mapping_count_of(info);
  const char* path = info.dlpi_name ? info.dlpi_name : "";
  const char* slash = std::strrchr(path, '/');
  if (is_neutral(slash ? slash + 1 : path)) return;
  const Image image(info);
  Library& library = all_.emplace_back();
  library.path = keep(path);
  library.name = library.path.substr(slash ? static_cast<std::size_t>(slash + 1 - path) : 0);
  library.base = info.dlpi_addr;
  library.kiln = image.holds(reinterpret_cast<std::uintptr_t>(&mapping_count_of), 1);
  library.driver = image.holds(builder_, 1);
  for (const auto& header : image.headers()) {
    if (header.p_type == PT_NOTE && library.build_id.empty()) {
      const auto id = detail::build_id(image.bytes(header), header.p_align);
      library.build_id = keep({reinterpret_cast<const char*>(id.data()), id.size()});
    }
    if (header.p_type != PT_DYNAMIC) continue;
    const Names names(image, library.base, image.bytes(header));
    if (const auto own = names.own(); !own.empty()) library.name = keep(own);
    library.needed.reserve(names.needed_count());
    names.each_needed([&](std::string_view needed) {
      if (!is_neutral(needed)) library.needed.push_back(keep(needed));
    });
  }
}

[[gnu::hot]] std::uint64_t mapping_count() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* user) {
        *static_cast<std::uint64_t*>(user) = mapping_count_of(*info);
        return 1;
      },
      &count);
  return count;
}

std::vector<std::string> names_in(std::span<const std::uintptr_t> places, std::vector<std::string> names) {
  struct Search {
    std::span<const std::uintptr_t> places;
    std::vector<std::string> left, found;
  } search{places, std::move(names), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* user) {
        Search& search = *static_cast<Search*>(user);
        if (std::ranges::find(search.places, info->dlpi_addr) == search.places.end()) return 0;
        const Image image(*info);
        for (const auto& header : image.headers()) {
          if (header.p_type != PT_LOAD || (header.p_flags & (PF_R | PF_W)) != PF_R) continue;
          const auto constants = image.bytes(header);
          std::erase_if(search.left, [&](std::string& name) {
            // With the NUL behind it; the linker may have put it at the end of a longer one.
            if (!memmem(constants.data(), constants.size(), name.c_str(), name.size() + 1)) return false;
            search.found.push_back(std::move(name));
            return true;
          });
        }
        return 0;
      },
      &search);
  return std::move(search.found);
}

std::optional<std::string> digest_of_mapped(const Library& library) {
  const auto mapped = mapped_file(library.base);
  const std::string path(library.path.empty() ? "/proc/self/exe" : library.path);
  const int file = mapped ? open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::optional<std::string> digest;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      *mapped == FileName{status.st_dev, status.st_ino}) {
    using Version = std::array<std::int64_t, 7>;
    static std::mutex mutex;
    static auto* known = new std::map<Version, std::string>;
    const Version version{
        static_cast<std::int64_t>(status.st_dev),          static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size),         static_cast<std::int64_t>(status.st_mtim.tv_sec),
        static_cast<std::int64_t>(status.st_mtim.tv_nsec), static_cast<std::int64_t>(status.st_ctim.tv_sec),
        static_cast<std::int64_t>(status.st_ctim.tv_nsec)};
    const std::lock_guard lock(mutex);
    if (const auto found = known->find(version); found != known->end())
      digest = found->second;
    else if ((digest = digest_of_file(file)))
      known->emplace(version, *digest);
  }
  close(file);
  return digest;
}

}  // namespace kiln::cache
