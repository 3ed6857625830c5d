// SPDX-License-Identifier: MIT
// Maps stacks with guard pages and gives them to fibers.
#include "drivers/cpu/runtime/fibers/fiber_stacks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "drivers/cpu/runtime/fibers/fiber_switch.hpp"

namespace kiln::cpu {

using boost::context::detail::transfer_t;

namespace {

constexpr std::size_t kSlmPadding =
    128;  // bytes: the widest access, a double16, by which an item goes too far

// Every guard page splits a mapping in two, and a process may have some 65,000 mappings. Beyond this many
// guards, in groups of 1024 items on very many cores, new stacks get one guard a block.
constexpr std::size_t kMostGuards = 16384;
std::atomic<std::size_t> guards_in_use = 0;

// Stacks begin at different offsets within a page; else the hot ends of all of them would fall on the same
// few cache sets.
constexpr std::size_t kColours = 4096, kColourStep = 320;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
std::size_t rounded_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

namespace {

// Vectors of items of which the first few take no part load from before the begin: where a page is not there,
// that takes a processor hundreds of cycles, and no such load brings it. Page tables may lose it at any time
// (balancing of NUMA nodes, hypervisors with page tables of their own): so before each launch.
std::byte* touched(std::byte* slm) {
  static_cast<void>(*reinterpret_cast<volatile const std::byte*>(slm - 1));
  return slm;
}

}  // namespace

std::byte* SlmBuffer::reserve(std::uint64_t bytes) {
  if (bytes > kLargestSlm) return nullptr;
  bytes += kSlmPadding;
  if (bytes <= size_) return touched(memory_);
  release();
  const std::size_t page = page_bytes(), rounded = rounded_up(bytes, page);
  void* all =
      mmap(nullptr, rounded + 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  std::byte* memory = static_cast<std::byte*>(all) + 2 * page;
  if (mprotect(memory, rounded, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(memory - page, page, PROT_READ) != 0) {
    munmap(all, rounded + 3 * page);
    return nullptr;
  }
  memory_ = memory;
  size_ = rounded;
  return touched(memory_);
}

void SlmBuffer::release() {
  const std::size_t page = page_bytes();
  if (memory_ != nullptr) munmap(memory_ - 2 * page, size_ + 3 * page);
  memory_ = nullptr;
  size_ = 0;
}

FiberStacks::~FiberStacks() { release(); }

void FiberStacks::release() {
#if defined(KILN_FIBERS_TSAN)
  for (Fiber& fiber : fibers_) __tsan_destroy_fiber(fiber.context.sanitizer);
#endif
  for (const Block& block : blocks_) {
#if defined(KILN_FIBERS_ASAN)
    __asan_unpoison_memory_region(block.memory, block.bytes);  // the next mapping may lie here
#endif
    munmap(block.memory, block.bytes);
    guards_in_use -= block.guards;
  }
  blocks_.clear();
  fibers_.clear();
  stack_bytes_ = 0;
}

bool FiberStacks::reserve(std::size_t count, std::size_t bytes) {
  const std::size_t page = page_bytes();
  bytes = rounded_up(bytes + kColours, page);
  if (bytes > stack_bytes_) {
    release();
    stack_bytes_ = bytes;
  }
  if (fibers_.size() >= count) return true;
  const std::size_t missing = count - fibers_.size();
  const std::size_t stride = stack_bytes_ + page;
  if (missing > SIZE_MAX / stride) return false;
  void* memory = mmap(nullptr, missing * stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return false;
  Block block{static_cast<std::byte*>(memory), missing * stride, 0};
  const bool guard_all = guards_in_use.load() + missing <= kMostGuards;
  for (std::size_t i = 0; i < missing; ++i) {
    std::byte* bottom = block.memory + i * stride;
    if ((guard_all || i == 0) && mprotect(bottom, page, PROT_NONE) == 0) ++block.guards;
    Fiber fiber{};
    fiber.context.stack_bottom = bottom + page;
    fiber.context.stack_bytes = stack_bytes_;
#if defined(KILN_FIBERS_TSAN)
    fiber.context.sanitizer = __tsan_create_fiber(0);
#endif
    fibers_.push_back(fiber);
  }
  guards_in_use += block.guards;
  blocks_.push_back(block);
  places_.resize(fibers_.size());
  waits_.resize(fibers_.size());
  return true;
}

Fiber& FiberStacks::start(std::size_t index, FiberGroup* group, void (*main)(transfer_t)) {
  Fiber& fiber = fibers_[index];
  const std::size_t bytes = stack_bytes_ - index * kColourStep % kColours / 64 * 64;
  auto* bottom = static_cast<std::byte*>(const_cast<void*>(fiber.context.stack_bottom));
  fiber.context.place = boost::context::detail::make_fcontext(bottom + bytes, bytes, main);
  fiber.context.group = group;
#if defined(KILN_FIBERS_ASAN)
  fiber.context.sanitizer = nullptr;
  __asan_unpoison_memory_region(bottom, bytes);  // frames of a fiber that hung were never left
#endif
  return fiber;
}

}  // namespace kiln::cpu
