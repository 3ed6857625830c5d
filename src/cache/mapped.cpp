// SPDX-License-Identifier: MIT
// Reads the libraries of this process from memory, and the file behind one where memory does not tell.
#include <fcntl.h>
#include <link.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "cache/libraries.hpp"

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

void read_dynamic(const Image& image, std::span<const std::byte> dynamic, Library& library) {
  std::uintptr_t table = 0;
  std::uint64_t table_size = 0;
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> name;
  for (; dynamic.size() >= sizeof(ElfW(Dyn)); dynamic = dynamic.subspan(sizeof(ElfW(Dyn)))) {
    ElfW(Dyn) entry;
    std::memcpy(&entry, dynamic.data(), sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) table_size = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
  }
  if (table < library.base) table += library.base;  // C libraries other than glibc leave the file's address
  const auto strings = image.bytes(table, table_size);
  const auto text = [&](std::uint64_t at) -> std::string {
    if (at >= strings.size()) return {};
    const char* begin = reinterpret_cast<const char*>(strings.data()) + at;
    return {begin, strnlen(begin, strings.size() - at)};
  };
  for (const std::uint64_t at : needed) library.needed.push_back(text(at));
  if (name && !text(*name).empty()) library.name = text(*name);
}

struct Search {
  std::uintptr_t builder;
  std::vector<Library> found;
};

int add_library(dl_phdr_info* info, std::size_t, void* user) {
  auto& search = *static_cast<Search*>(user);
  const Image image(*info);
  Library library;
  library.path = info->dlpi_name ? info->dlpi_name : "";
  library.name = library.path.substr(library.path.rfind('/') + 1);
  library.base = info->dlpi_addr;
  library.kiln = image.holds(reinterpret_cast<std::uintptr_t>(&add_library), 1);
  library.driver = image.holds(search.builder, 1);
  const bool shapes = library.kiln || library.driver || !is_neutral(library.name);
  for (const auto& header : image.headers()) {
    if (!shapes) break;
    if (header.p_type == PT_NOTE && library.build_id.empty())
      library.build_id = build_id(image.bytes(header), header.p_align);
    if (header.p_type == PT_DYNAMIC) read_dynamic(image, image.bytes(header), library);
  }
  search.found.push_back(std::move(library));
  return 0;
}

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

std::vector<Library> mapped_libraries(const void* builder) {
  Search search{reinterpret_cast<std::uintptr_t>(builder), {}};
  search.found.reserve(64);
  dl_iterate_phdr(&add_library, &search);
  return std::move(search.found);
}

std::uint64_t mapping_count() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* user) {
        *static_cast<std::uint64_t*>(user) = info->dlpi_adds + info->dlpi_subs;  // both only grow
        return 1;
      },
      &count);
  return count;
}

std::optional<std::string> digest_of_mapped(const Library& library) {
  const auto mapped = mapped_file(library.base);
  const std::string path = library.path.empty() ? "/proc/self/exe" : library.path;
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
