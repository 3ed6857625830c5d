// SPDX-License-Identifier: MIT
// Launches of native code: work-groups on the pool, each on the execution unit.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "drivers/cpu/native/intel_program.hpp"
#include "drivers/cpu/runtime/thread_pool.hpp"
#include "xe/native/launch.hpp"

namespace kiln::cpu {
namespace {

/// What kernels reach of the application's memory: allocations of the driver. Each worker has its own.
class UsmBus final : public xe::Bus {
 public:
  explicit UsmBus(FindMemory find) : find_(find) {}
  xe::Stretch reach(std::uint64_t address, bool) override {
    if (address < last_.begin || address - last_.begin >= last_.bytes) {
      const MemoryRange found = find_ ? find_(address) : MemoryRange{};
      if (found.bytes == 0) return {};
      last_ = found;
    }
    return {reinterpret_cast<std::byte*>(address), last_.bytes - (address - last_.begin)};
  }
  std::optional<xe::Surface> surface(xe::SurfaceKind, std::uint32_t) override { return std::nullopt; }
  std::uint64_t general_state_base() override { return 0; }
  std::uint64_t ticks() override {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

 private:
  FindMemory find_;
  MemoryRange last_;
};

class IntelLaunch final : public SharedWork {
 public:
  IntelLaunch(const Execution& execution, const xe::NativeLaunch& launch, std::uint64_t groups,
              xe::NativeLaunch::Limits limits)
      : execution_(execution), launch_(launch), groups_(groups), limits_(limits) {}

  [[nodiscard]] std::uint64_t width() const override {
    return std::min<std::uint64_t>(groups_, xe::NativeLaunch::kMostWorkers);
  }
  void run(Worker&) override {
    const std::uint32_t number = workers_.fetch_add(1);
    if (number >= xe::NativeLaunch::kMostWorkers) return;  // of those who came others work
    UsmBus bus(execution_.find_memory);
    xe::NativeLaunch::Worker worker(launch_, number, bus, limits_);
    const auto& extent = execution_.groups;
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::uint64_t index = next_.fetch_add(1);
      if (index >= groups_) return;
      const std::array<std::uint32_t, 3> group{static_cast<std::uint32_t>(index % extent[0]),
                                               static_cast<std::uint32_t>(index / extent[0] % extent[1]),
                                               static_cast<std::uint32_t>(index / extent[0] / extent[1])};
      const auto fault = worker.run(group);
      if (!fault && std::chrono::steady_clock::now() < limits_.deadline) continue;
      if (stop_.exchange(true)) return;
      const std::string where = " in work-group (" + std::to_string(group[0]) + ", " +
                                std::to_string(group[1]) + ", " + std::to_string(group[2]) + ")";
      report_ = fault ? "stopped" + where + ": " + fault->text : "runs longer than it may";
    }
  }
  [[nodiscard]] const std::string& report() const { return report_; }

 private:
  const Execution& execution_;
  const xe::NativeLaunch& launch_;
  std::uint64_t groups_;
  xe::NativeLaunch::Limits limits_;
  std::atomic<std::uint32_t> workers_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::string report_;
};

}  // namespace

ExecutionStatus run_intel(const Execution& execution, std::string& report) {
  const IntelKernel& kernel = *execution.kernel->intel;
  std::uint64_t groups = 1;
  for (const std::uint32_t count : execution.groups)
    if (__builtin_mul_overflow(groups, std::uint64_t{count}, &groups))
      return ExecutionStatus::out_of_host_memory;
  std::vector<xe::NativeArgument> arguments(execution.arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentValue& from = execution.arguments[i];
    xe::NativeArgument& to = arguments[i];
    to.value = from.bytes;
    to.local_bytes = from.local_bytes;
    if (i >= execution.kernel->facts.arguments.size() ||
        execution.kernel->facts.arguments[i].kind != ArgumentKind::global_pointer || from.bytes.size() < 8)
      continue;
    std::memcpy(&to.address, from.bytes.data(), sizeof to.address);
    const MemoryRange range = execution.find_memory ? execution.find_memory(to.address) : MemoryRange{};
    if (range.bytes != 0) to.bytes = range.bytes - (to.address - range.begin);
  }
  const xe::NativeShape shape{execution.groups, execution.group_size, execution.global_offset};
  const auto launch = xe::NativeLaunch::make(kernel.module, kernel.index, shape, arguments,
                                             ThreadPool::instance().thread_count());
  if (!launch) {
    report = "cannot be launched: " + launch.error();
    return ExecutionStatus::stopped;
  }
  xe::NativeLaunch::Limits limits;
  if (execution.limit.count() != 0) limits.deadline = std::chrono::steady_clock::now() + execution.limit;
  IntelLaunch work(execution, **launch, groups, limits);
  ThreadPool::instance().run(work);
  report = work.report();
  if (!report.empty() && std::chrono::steady_clock::now() >= limits.deadline)
    report = over_the_limit(execution.limit);
  return report.empty() ? ExecutionStatus::ok : ExecutionStatus::stopped;
}

}  // namespace kiln::cpu
