// SPDX-License-Identifier: MIT
// Pooled stacks for fibers, and the SLM of a work-group: what a worker keeps between launches.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

/// The SLM of one work-group at a time, padded and between inaccessible pages, of which the one
/// before can be read. Grows, never shrinks.
class SlmBuffer {
 public:
  SlmBuffer() = default;
  SlmBuffer(const SlmBuffer&) = delete;
  SlmBuffer& operator=(const SlmBuffer&) = delete;
  ~SlmBuffer() { release(); }

  /// Null when memory is short. Aligned to a page.
  std::byte* reserve(std::uint64_t bytes);

 private:
  void release();

  std::byte* memory_ = nullptr;
  std::uint64_t size_ = 0;  ///< bytes that may be used, a multiple of a page
};

class FiberGroup;

/// A place of execution that can be left and come back to.
struct Context {
  boost::context::detail::fcontext_t place = nullptr;
  FiberGroup* group = nullptr;
  const void* stack_bottom = nullptr;  // the three last serve sanitizers only
  std::size_t stack_bytes = 0;
  void* sanitizer = nullptr;
};

/// One work-item with a stack of its own. Compiled code sees the ItemState.
struct Fiber : ItemState {
  Context context;
};

/// Stacks for fibers, each with an inaccessible page below.
class FiberStacks {
 public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  /// At least `count` stacks of at least `bytes` each. False when memory is short.
  bool reserve(std::size_t count, std::size_t bytes);
  /// Makes fiber `index` start in `main` when it is switched to.
  Fiber& start(std::size_t index, FiberGroup* group, void (*main)(boost::context::detail::transfer_t));
  [[nodiscard]] Fiber& fiber(std::size_t index) { return fibers_[index]; }

  /// For each fiber where it waits, and for what; filled by who runs the fibers.
  [[nodiscard]] std::span<std::uint32_t> places(std::size_t count) { return std::span(places_).first(count); }
  [[nodiscard]] std::span<Wait> waits(std::size_t count) { return std::span(waits_).first(count); }

 private:
  void release();

  struct Block {
    std::byte* memory;
    std::size_t bytes;
    std::size_t guards;
  };
  std::vector<Block> blocks_;
  std::vector<Fiber> fibers_;
  std::vector<std::uint32_t> places_;
  std::vector<Wait> waits_;
  std::size_t stack_bytes_ = 0;
};

}  // namespace kiln::cpu
