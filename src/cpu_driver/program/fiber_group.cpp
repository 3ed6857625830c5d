// SPDX-License-Identifier: MIT
// Fibers over Boost.Context's switch; a barrier goes straight to the next work-item, so each costs one
// switch.
#include "cpu_driver/program/fiber_group.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "cpu_driver/program/barrier.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_FIBERS_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define KILN_FIBERS_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define KILN_FIBERS_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define KILN_FIBERS_TSAN 1
#endif
#if defined(KILN_FIBERS_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(KILN_FIBERS_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace kiln::cpu {

using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

namespace {

constexpr std::size_t kSlmAlignment = 128;
constexpr std::uint64_t kLargestSlm = std::uint64_t{1} << 40;  // bytes

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
std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Both sides of a switch tell the sanitizers about it.
void leave([[maybe_unused]] Context& from, [[maybe_unused]] Context& to, [[maybe_unused]] bool for_ever) {
#if defined(KILN_FIBERS_TSAN)
  __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
#if defined(KILN_FIBERS_ASAN)
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.sanitizer, to.stack_bottom, to.stack_bytes);
#endif
}

Context& arrived(transfer_t transfer, [[maybe_unused]] Context* here) {
  auto& from = *static_cast<Context*>(transfer.data);
  from.place = transfer.fctx;
#if defined(KILN_FIBERS_ASAN)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here != nullptr ? here->sanitizer : nullptr, &bottom, &bytes);
  if (from.stack_bottom == nullptr) from.stack_bottom = bottom, from.stack_bytes = bytes;
#endif
  return from;
}

void switch_to(Context& from, Context& to, bool for_ever = false) {
  leave(from, to, for_ever);
  arrived(boost::context::detail::jump_fcontext(to.place, &from), &from);
}

}  // namespace

std::byte* SlmBuffer::reserve(std::uint64_t bytes) {
  bytes = std::max<std::uint64_t>(bytes, kSlmAlignment);
  if (bytes <= size_) return memory_.get();
  if (bytes > kLargestSlm) return nullptr;
  memory_.reset();
  size_ = 0;
  const std::size_t rounded = align_up(bytes, kSlmAlignment);
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kSlmAlignment, rounded)));
  if (memory_ != nullptr) size_ = rounded;
  return memory_.get();
}

void SlmBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

FiberStacks::~FiberStacks() { release(); }

void FiberStacks::release() {
#if defined(KILN_FIBERS_TSAN)
  for (Fiber& fiber : fibers_) __tsan_destroy_fiber(fiber.context.sanitizer);
#endif
  for (const Block& block : blocks_) {
    munmap(block.memory, block.bytes);
    guards_in_use -= block.guards;
  }
  blocks_.clear();
  fibers_.clear();
  stack_bytes_ = 0;
}

bool FiberStacks::reserve(std::size_t count, std::size_t bytes) {
  const std::size_t page = page_bytes();
  bytes = align_up(bytes + kColours, page);
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
#endif
  return fiber;
}

/// The items of one group, in rounds: in each, every live item runs up to its next barrier or its end.
class FiberGroup {
 public:
  FiberGroup(ItemEntry entry, const GroupState& group, const std::byte* arguments, FiberStacks& stacks)
      : entry_(entry), group_(group), arguments_(arguments), stacks_(stacks) {
    home_.group = this;
#if defined(KILN_FIBERS_TSAN)
    home_.sanitizer = __tsan_get_current_fiber();
#endif
  }

  bool run() {
    const std::uint64_t* size = group_.launch->local_size;
    live_ = size[0] * size[1] * size[2];
    std::size_t index = 0;
    for (std::uint64_t z = 0; z < size[2]; ++z) {
      for (std::uint64_t y = 0; y < size[1]; ++y) {
        for (std::uint64_t x = 0; x < size[0]; ++x) {
          Fiber& fiber = stacks_.start(index, this, fiber_main);
          fiber.group = &group_;
          fiber.local_id[0] = x;
          fiber.local_id[1] = y;
          fiber.local_id[2] = z;
          ++index;
        }
      }
    }
    waiting_.resize(live_);
    current_ = &stacks_.fiber(0);
    switch_to(home_, current_->context);
    return diverged_;
  }

  void barrier(Fiber& fiber) {
    waiting_[waiting_count_++] = static_cast<std::uint32_t>(&fiber - &stacks_.fiber(0));
    Context& to = next();
    if (&to != &fiber.context) switch_to(fiber.context, to);
  }

 private:
  // Where to go after the current item: the next of this round, the first of the next round, or home.
  Context& next() {
    if (++position_ == live_) {
      if (waiting_count_ == 0) return home_;
      if (waiting_count_ != live_) {
        diverged_ = true;
        all_live_ = false;
      }
      live_ = waiting_count_;
      waiting_count_ = position_ = 0;
    }
    // While all items live, the order is that of the group; `waiting_` may then be overwritten as the round
    // goes.
    current_ = &stacks_.fiber(all_live_ ? position_ : waiting_[position_]);
    return current_->context;
  }

  static void fiber_main(transfer_t transfer) {
    FiberGroup& group = *arrived(transfer, nullptr).group;
    Fiber& fiber = *group.current_;
    group.entry_(&fiber, group.arguments_);
    switch_to(fiber.context, group.next(), true);
    std::abort();  // an ended fiber is never switched to
  }

  ItemEntry entry_;
  const GroupState& group_;
  const std::byte* arguments_;
  FiberStacks& stacks_;
  Context home_;
  Fiber* current_ = nullptr;
  std::vector<std::uint32_t> waiting_;  // items at the barrier, in the order of this round
  std::size_t waiting_count_ = 0, position_ = 0, live_ = 0;
  bool all_live_ = true, diverged_ = false;
};

namespace {

// A call made on another stack; as a Context it is the place to come back to.
struct StackCall : Context {
  GroupEntry entry;
  const GroupState& group;
  const std::byte* arguments;
  Context& stack;

  static void main(transfer_t transfer) {
    auto& call = static_cast<StackCall&>(arrived(transfer, nullptr));
    call.entry(&call.group, call.arguments);
    switch_to(call.stack, call, true);
    std::abort();
  }
};

}  // namespace

void run_on_stack(GroupEntry entry, const GroupState& group, const std::byte* arguments,
                  FiberStacks& stacks) {
  Context& stack = stacks.start(0, nullptr, StackCall::main).context;
  StackCall call{{}, entry, group, arguments, stack};
#if defined(KILN_FIBERS_TSAN)
  call.sanitizer = __tsan_get_current_fiber();
#endif
  switch_to(call, stack);
}

bool run_fiber_group(ItemEntry entry, const GroupState& group, const std::byte* arguments,
                     FiberStacks& stacks) {
  return FiberGroup(entry, group, arguments, stacks).run();
}

}  // namespace kiln::cpu

void kiln_barrier(kiln::cpu::ItemState* item) {
  auto& fiber = static_cast<kiln::cpu::Fiber&>(*item);
  fiber.context.group->barrier(fiber);
}
