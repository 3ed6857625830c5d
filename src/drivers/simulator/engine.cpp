// SPDX-License-Identifier: MIT
// Registers, context images, and the queue of submissions.
#include "drivers/simulator/engine.hpp"

#include <cstring>

#include "drivers/simulator/ended.hpp"

// Source: submitLRCA() and LrcaHelper of driver 22.43: the descriptor of a context goes to 0x510 of the
// engine's block, then 1 to 0x550. In the image ring registers stand from 0x1000 on, each behind its offset.
namespace kiln::simulator {
namespace {

constexpr std::uint32_t kDescriptor = 0x510, kLoad = 0x550, kStatus = 0x234;
constexpr std::uint32_t kTail = 0x101c, kStart = 0x1024, kControl = 0x102c, kRootHigh = 0x10c4,
                        kRootLow = 0x10cc;
constexpr std::uint32_t kIdle = 0x100;
constexpr std::size_t kMostRegisters = 1 << 16;

// Of pvc's eight link copy engines driver 22.43 has no base: it takes -1 (aub_mem_dump_pvc_and_later.inl).
constexpr std::uint32_t kNoBase = 0xffffffff, kCopyBase = 0x22000;

/// Where engines have their registers: render, compute, copy.
bool is_engine(std::uint32_t base) { return base == 0x2000 || base >= 0x1a000; }

std::uint32_t base_of(std::uint32_t offset) {
  return offset == kNoBase + kLoad || offset == kNoBase + kStatus ? kNoBase : offset & ~0xfffU;
}

}  // namespace

Engine::~Engine() {
  const Arrivals::Nothing comes(reader_);
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  machine_->activity.end(waiting_.size());
}

void Engine::write_register(std::uint32_t offset, std::uint32_t value) {
  if (registers_.size() < kMostRegisters || registers_.contains(offset)) registers_[offset] = value;
  const std::uint32_t base = base_of(offset);
  if (offset - base == kLoad && (value & 1) && is_engine(base) && registers_.contains(base + kDescriptor))
    submit(base);
}

std::uint32_t Engine::read_register(std::uint32_t offset) {
  if (offset - base_of(offset) == kStatus) return kIdle;
  const auto found = registers_.find(offset);
  return found == registers_.end() ? 0 : found->second;
}

void Engine::submit(std::uint32_t base) {
  const std::uint64_t image = registers_[base + kDescriptor] & 0xfffff000;
  const auto word = [&](std::uint32_t offset) {
    const std::byte* const at = tables_.find_global(image + offset);
    std::uint32_t value = 0;
    if (at) std::memcpy(&value, at, 4);
    return value;
  };
  Submission submission;
  submission.ring = word(kStart) & 0xfffff000;  // it begins with a page
  // Pages less one from bit 12 on.
  submission.size = (word(kControl) & 0x1ff000) + 0x1000;
  submission.tail = word(kTail) & 0x1ffffc;
  submission.root = std::uint64_t{word(kRootHigh)} << 32 | word(kRootLow);
  std::uint32_t& head = heads_[image];
  submission.head = head;
  if (submission.tail >= submission.size) submission.tail = head;
  // The driver fills the rest of a ring with nothing before it starts at the front again.
  head = submission.tail;
  {
    const std::scoped_lock lock(mutex_);
    if (!streamer_) {
      streamer_ = std::make_unique<Streamer>(*machine_, tables_, base == kNoBase ? kCopyBase : base);
      if (after_fault_)
        streamer_->on_fault = [this](const std::string& text) {
          if (!machine_->stop) on_fault_(text, false);
        };
    }
    machine_->activity.begin();
    waiting_.push_back(submission);
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  changed_.notify_all();
}

void Engine::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const Submission submission = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    reader_.catch_up(machine_->stop);  // with what it uses and another engine's connection brought
    auto in_use = machine_->memory.begin_submission();
    try {
      streamer_->run(submission);
    } catch (const Ended& ended) {
      if (!machine_->stop) on_fault_(ended.text, true);
    }
    in_use.unlock();
    machine_->activity.end();
    lock.lock();
  }
}

}  // namespace kiln::simulator
