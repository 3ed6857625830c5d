// SPDX-License-Identifier: MIT
// Pages between guard pages.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "drivers/cpu/memory/usm.hpp"

namespace kiln::cpu {
namespace {

// Every guard splits a mapping in two, and a process may have some 65,000 mappings. Beyond this many
// allocations new ones come without.
constexpr std::size_t kMostGuarded = 8192;
std::atomic<std::size_t> guarded_now = 0;

// Bytes behind an allocation that belong to nobody: the widest access that OpenCL has, a double16.
constexpr std::size_t kPadding = 128;

// From here on memory asks for pages of 2 MiB, where the system gives them: what kernels do with megabytes
// costs them fewer translations of addresses, and first touches.
constexpr std::size_t kLarge = 4 << 20;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
std::uintptr_t page_up(std::uintptr_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

Pages::Pages(std::size_t size, std::size_t alignment) {
  const std::size_t page = page_bytes();
  alignment = std::max(alignment, page);
  std::size_t bytes = 0, reserved = 0;
  if (__builtin_add_overflow(size, kPadding + page, &bytes) ||
      __builtin_add_overflow(bytes, page + alignment, &reserved))
    return;
  bytes = bytes / page * page;
  void* memory = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t base = page_up(start + page, alignment);
  // One guard page on each side stays; what alignment took beyond goes back.
  const std::uintptr_t first = base - page, end = base + bytes + page;
  if (first > start) munmap(memory, first - start);
  if (start + reserved > end) munmap(reinterpret_cast<void*>(end), start + reserved - end);
  whole_ = Mapping(reinterpret_cast<void*>(first), end - first);
  guarded_ = true;
  auto* pages = reinterpret_cast<void*>(base);
  const bool guard = guarded_now.fetch_add(1) < kMostGuarded;
  const bool usable = guard ? mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0
                            : mprotect(whole_.get(), whole_.size(), PROT_READ | PROT_WRITE) == 0;
  if (usable) base_ = pages;
  if (usable && bytes >= kLarge) (void)madvise(pages, bytes, MADV_HUGEPAGE);
}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(whole_, other.whole_);
  std::swap(base_, other.base_);
  std::swap(guarded_, other.guarded_);
  return *this;
}

Pages::~Pages() {
  if (guarded_) guarded_now.fetch_sub(1);
}

std::size_t Pages::room() const { return guarded_ ? whole_.size() - 2 * page_bytes() : whole_.size(); }

}  // namespace kiln::cpu
