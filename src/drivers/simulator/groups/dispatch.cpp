// SPDX-License-Identifier: MIT
// Work-groups on threads of the pool, and what their messages reach.
#include "drivers/simulator/groups/dispatch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include "drivers/simulator/commands/registers.hpp"
#include "drivers/simulator/counting.hpp"
#include "drivers/simulator/ended.hpp"
#include "drivers/simulator/memory/space.hpp"

namespace kiln::simulator {
namespace {

// No kernel is longer.
constexpr std::size_t kMostCode = std::size_t{4} << 20;
constexpr std::uint32_t kMostThreads = 128;  // of a group: 1024 work-items of SIMD 8

class WalkerBus final : public xe::Bus {
 public:
  WalkerBus(Tables& tables, const Walk& walk) : tables_(tables), walk_(walk), id_(next()) {}

  xe::Stretch reach(std::uint64_t address, bool write) override {
    const std::uint64_t number = (address & 0x0000'ffff'ffff'ffff) / kPage;
    Known& known = known_pages()[number % kKnown];
    if (known.bus != id_ || known.number != number || (write && !known.write)) {
      Page* const page = tables_.find(address, write);
      if (!page) return {};
      known = {id_, number, page->data(), write};
    }
    return {known.data + address % kPage, kPage - address % kPage};
  }

  std::optional<xe::Surface> surface(xe::SurfaceKind kind, std::uint32_t index) override {
    std::uint64_t state = 0;
    switch (kind) {
      case xe::SurfaceKind::table: {
        const auto entry = word(walk_.table + 4 * std::uint64_t{index});
        if (!entry) return {};
        state = walk_.surface_base + (*entry & ~63u);
        break;
      }
      case xe::SurfaceKind::bindless:
        state = walk_.bindless_base + index;
        break;
      case xe::SurfaceKind::state:
        state = walk_.surface_base + index;
        break;
    }
    std::array<std::uint32_t, 10> words{};
    for (unsigned i = 0; i < words.size(); ++i) {
      const auto value = word(state + 4 * i);
      if (!value) return {};
      words[i] = *value;
    }
    // RENDER_SURFACE_STATE: a buffer's size less 1 is spread over width, height and depth.
    constexpr std::uint32_t kBuffer = 4, kScratch = 6;
    const std::uint32_t type = words[0] >> 29;
    xe::Surface surface;
    surface.base = std::uint64_t{words[9]} << 32 | words[8];
    const std::uint64_t entries =
        (std::uint64_t{words[2] & 0x7f} | std::uint64_t{words[2] >> 16 & 0x3fff} << 7 |
         std::uint64_t{words[3] >> 21} << 21) +
        1;
    surface.buffer = type == kBuffer || type == kScratch;
    if (type == kScratch) {
      surface.thread_bytes = (words[3] & 0x3ffff) + 1;
      surface.size = entries * surface.thread_bytes;
    } else {
      surface.size = entries;
    }
    return surface;
  }

  std::uint64_t general_state_base() override { return walk_.general_base; }
  std::uint64_t ticks() override { return simulator::ticks(); }

 private:
  struct Known {
    std::uint64_t bus, number;
    std::byte* data;
    bool write;
  };
  static constexpr std::size_t kKnown = 512;

  // A thread's own, so that no lock is on the way; of the walker that runs.
  static std::array<Known, kKnown>& known_pages() {
    thread_local std::array<Known, kKnown> pages{};
    return pages;
  }
  static std::uint64_t next() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }
  std::optional<std::uint32_t> word(std::uint64_t address) {
    const xe::Stretch stretch = reach(address, false);
    if (!stretch.data || stretch.size < 4) return {};
    std::uint32_t value = 0;
    std::memcpy(&value, stretch.data, 4);
    return value;
  }

  Tables& tables_;
  const Walk& walk_;
  std::uint64_t id_;
};

struct Shared {
  std::mutex mutex;
  xe::Counts counts;  // where they are wanted
  std::optional<std::string> fault;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
};

std::string describe(const xe::Fault& fault, const Machine& machine, const Walk& walk,
                     const std::array<std::uint32_t, 3>& group) {
  return fault.text + "; in the kernel at " + hex(walk.kernel) + ", group " + std::to_string(group[0]) + "," +
         std::to_string(group[1]) + "," + std::to_string(group[2]) + ", on " +
         std::string(machine.model.name);
}

}  // namespace

void dispatch(Machine& machine, Tables& tables, const Walk& walk) {
  std::array<std::uint64_t, 3> extent{};
  for (unsigned i = 0; i < 3; ++i) {
    if (walk.end[i] <= walk.first[i]) return;
    extent[i] = walk.end[i] - walk.first[i];
  }
  if (walk.threads == 0 || walk.threads > kMostThreads)
    end("a walker starts groups of " + std::to_string(walk.threads) + " threads");
  // Dimensions of 32 bits each: their product may be more than 64 bits have.
  if (extent[0] * extent[1] > machine.limits.groups / extent[2])
    end("a walker starts more than " + std::to_string(machine.limits.groups) + " groups");
  const std::uint64_t groups = extent[0] * extent[1] * extent[2];

  const Target* const target = find_target(machine.model.target);
  Space space(tables);
  const std::vector<std::byte> bytes = space.read_mapped(walk.kernel, kMostCode);
  if (bytes.empty()) end("a walker starts code at " + hex(walk.kernel) + ", where nothing is mapped");
  const auto code = machine.codes.get(*target, bytes, 0);
  if (!code) end(code.error());

  WalkerBus bus(tables, walk);
  Shared shared;
  const bool counts = counting().is_on();
  const auto work = [&](unsigned worker) {
    xe::Counts own;
    std::vector<xe::ThreadStart> threads(walk.threads);
    const std::uint32_t all = walk.lanes >= 32 ? ~0u : (1u << walk.lanes) - 1;
    for (std::uint32_t thread = 0; thread < walk.threads; ++thread) {
      threads[thread].number = worker * kMostThreads + thread;
      threads[thread].dispatch_mask = thread + 1 == walk.threads ? walk.last_mask & all : all;
      threads[thread].payload = payload(walk, machine.model, thread, threads[thread].number);
    }
    xe::Group group;
    group.register_bytes = machine.model.register_bytes;
    group.registers = walk.registers;
    group.slm_bytes = walk.slm;
    group.control = walk.rounding << 4;
    group.unwritten = machine.unwritten_registers;
    group.threads = threads;
    group.most_instructions = machine.limits.instructions;
    while (!shared.stop.load(std::memory_order_relaxed)) {
      const std::uint64_t index = shared.next.fetch_add(1);
      if (index >= groups) break;
      const std::array<std::uint32_t, 3> ids{
          static_cast<std::uint32_t>(walk.first[0] + index % extent[0]),
          static_cast<std::uint32_t>(walk.first[1] + index / extent[0] % extent[1]),
          static_cast<std::uint32_t>(walk.first[2] + index / extent[0] / extent[1])};
      for (xe::ThreadStart& thread : threads) set_group(thread.payload, ids);
      if (const auto fault = xe::run_group(**code, group, bus, counts ? &own : nullptr)) {
        const std::scoped_lock lock(shared.mutex);
        if (!shared.fault) shared.fault = describe(*fault, machine, walk, ids);
        shared.stop = true;
      }
      if (machine.stop.load(std::memory_order_relaxed)) shared.stop = true;
    }
    if (!counts) return;
    const std::scoped_lock lock(shared.mutex);
    shared.counts.merge(own);
  };
  machine.pool.run(static_cast<unsigned>(std::min<std::uint64_t>(groups, machine.pool.size())), work);
  if (counts) counting().add(machine.model.target, bytes, groups, groups * walk.threads, shared.counts);
  if (shared.fault) end(*shared.fault);
}

}  // namespace kiln::simulator
