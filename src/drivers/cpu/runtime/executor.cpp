// SPDX-License-Identifier: MIT
// Runs launches: argument bytes, SLM offsets, chunks of work-groups for the pool.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "drivers/cpu/native/intel_program.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/fibers/fiber_group.hpp"
#include "drivers/cpu/runtime/floating_point.hpp"
#include "drivers/cpu/runtime/grid_launch.hpp"
#include "drivers/cpu/runtime/group_run.hpp"
#include "drivers/cpu/runtime/launch_limit.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"
#include "drivers/cpu/runtime/thread_pool.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint64_t kNoSize = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kOwnStack = 256 << 10;   // bytes that any thread's stack has left for a kernel
constexpr std::uint64_t kChunksPerThread = 8;  // balance against the cost of taking a chunk

// The argument bytes as the kernel reads them.
struct Arguments {
  std::vector<std::uint64_t> words;  // aligned for pointers; kernels assume 16, which new gives
  std::uint64_t slm = 0;             // bytes a work-group; kNoSize when the sum has no meaning
};

std::uint64_t add_aligned(std::uint64_t offset, std::uint64_t alignment, std::uint64_t& end,
                          std::uint64_t bytes) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 48;
  if (offset > kLimit || bytes > kLimit) {
    end = kNoSize;
    return 0;
  }
  alignment = std::clamp<std::uint64_t>(alignment, 1, 128);
  const std::uint64_t begin = (offset + alignment - 1) / alignment * alignment;
  end = begin + bytes;
  return begin;
}

Arguments pack(const Execution& execution) {
  const CompiledKernel& kernel = *execution.kernel;
  const auto& loaded = *static_cast<const LoadedKernel*>(kernel.entry);
  Arguments out;
  out.words.resize(loaded.argument_offsets.back() / 8 + 2);
  out.slm = kernel.facts.static_slm;
  auto* bytes = reinterpret_cast<std::byte*>(out.words.data());
  const std::size_t count = std::min(execution.arguments.size(), kernel.facts.arguments.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ArgumentFacts& facts = kernel.facts.arguments[i];
    const ArgumentValue& value = execution.arguments[i];
    std::byte* slot = bytes + loaded.argument_offsets[i];
    if (facts.kind == ArgumentKind::local_pointer) {
      const std::uint64_t offset = add_aligned(out.slm, facts.local_alignment, out.slm, value.local_bytes);
      std::memcpy(slot, &offset, sizeof offset);
    } else {
      const std::size_t room = facts.kind == ArgumentKind::value ? facts.size : sizeof(void*);
      if (!value.bytes.empty()) std::memcpy(slot, value.bytes.data(), std::min(room, value.bytes.size()));
    }
  }
  return out;
}

LaunchState state_of(const Execution& execution) {
  LaunchState state{};
  for (std::size_t i = 0; i < 3; ++i) {
    state.local_size[i] = execution.group_size[i];
    state.group_count[i] = execution.groups[i];
    state.global_size[i] = std::uint64_t{execution.groups[i]} * execution.group_size[i];
    state.global_offset[i] = execution.global_offset[i];
    if (state.global_size[i] > 1) state.work_dimension = i + 1;
  }
  state.work_dimension = std::max<std::uint64_t>(state.work_dimension, 1);
  return state;
}

}  // namespace

std::string over_the_limit(std::chrono::nanoseconds limit) {
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), "%g", std::chrono::duration<double>(limit).count());
  return std::string("took longer than the ") + seconds.data() +
         " s that KILN_CPU_TIMEOUT gives a launch, and was stopped in its middle";
}

namespace {

class Launch : public SharedWork {
 public:
  Launch(const Execution& execution, const LaunchState& state, const Arguments& arguments,
         std::uint64_t groups, std::uint64_t items, LaunchLimit& limit)
      : execution_(execution),
        kernel_(*static_cast<const LoadedKernel*>(execution.kernel->entry)),
        arguments_(arguments),
        state_(state),
        groups_(groups),
        items_(items),
        limit_(limit) {
    const unsigned threads = ThreadPool::instance().thread_count();
    chunk_ = std::max<std::uint64_t>(1, groups_ / (kChunksPerThread * threads));
    shares_ = std::vector<Share>(std::min<std::uint64_t>(threads, width()));
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      shares_[i].next = width() * i / shares_.size() * chunk_;
      shares_[i].end = std::min(groups_, width() * (i + 1) / shares_.size() * chunk_);
    }
    // A kernel that has both is run by whole groups where each sub-group has its items of one row.
    by_items_ = kernel_.run_item != nullptr &&
                (kernel_.run_group == nullptr ||
                 (items != state.local_size[0] && state.local_size[0] % kernel_.sub_group_size != 0));
  }

  [[nodiscard]] std::uint64_t width() const override { return (groups_ - 1) / chunk_ + 1; }

  void run(Worker& worker) override {
    std::byte* slm = worker.slm.reserve(arguments_.slm);
    // What can be interrupted runs on a stack that can be left.
    const bool needs_stack = by_items_ || kernel_.stack_bytes > kOwnStack || limit_.set();
    if (slm == nullptr ||
        (needs_stack && !worker.stacks.reserve(by_items_ ? items_ : 1, kernel_.stack_bytes))) {
      out_of_memory_ = true;
      return;
    }
    const DefaultFloatingPoint floating_point;
    const LaunchLimit::Thread inside(limit_);
    GroupRun group;
    group.launch = &state_;
    group.slm = slm;
    group.memory = &worker.items;
    group.deferred = &worker.deferred;
    struct Made {  // before others hear that the groups are done
      DeferredAdditions& deferred;
      ~Made() { deferred.make(); }
    } const made{worker.deferred};
    std::optional<Recorder> recorder;
    if (kernel_.counters != nullptr) recorder.emplace(*kernel_.counters, execution_, arguments_.slm);
    const auto* bytes = reinterpret_cast<const std::byte*>(arguments_.words.data());
    for (std::size_t shares_done = 0; shares_done < shares_.size();) {
      Share& share = shares_[(worker.number + shares_done) % shares_.size()];
      const std::uint64_t first = share.next.fetch_add(chunk_);
      if (out_of_memory_ || stopped_) return;
      if (first >= share.end) {
        ++shares_done;
        continue;
      }
      const std::uint64_t last = first + std::min(chunk_, share.end - first);
      group.group_id[0] = first % state_.group_count[0];
      group.group_id[1] = first / state_.group_count[0] % state_.group_count[1];
      group.group_id[2] = first / state_.group_count[0] / state_.group_count[1];
      for (std::uint64_t i = first; i < last; ++i, step(group.group_id)) {
        if (recorder) recorder->begin_group(group);
        if (by_items_) {
          std::string report =
              run_fiber_group(kernel_.run_item, group, bytes, worker.stacks, kernel_.sub_group_size);
          if (!report.empty()) return stop(std::move(report));
        } else if (needs_stack) {
          run_on_stack(kernel_.run_group, group, bytes, worker.stacks);
        } else {
          kernel_.run_group(&group, bytes);
        }
        if (limit_.over()) return;
        if (group.out_of_memory) out_of_memory_ = true;
        if (kernel_.calls_pointers)
          if (std::string wrong = take_wrong_call(); !wrong.empty()) return stop(std::move(wrong));
        if (!group.report.empty()) return stop(std::move(group.report));
        if (recorder) recorder->end_group();
      }
    }
  }

  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }
  /// Of the first group that cannot go on; empty when none was.
  [[nodiscard]] const std::string& report() const { return report_; }

 private:
  // Divisions cost as much as a small group.
  void step(std::uint64_t* id) const {
    if (++id[0] < state_.group_count[0]) return;
    id[0] = 0;
    if (++id[1] < state_.group_count[1]) return;
    id[1] = 0;
    ++id[2];
  }

  /// Groups that one thread takes in chunks, and others when theirs are done: a thread reads and writes what
  /// lies together, and in the next launch again what its core has in its cache.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> next = 0;
    std::uint64_t end = 0;
  };

  void stop(std::string&& report) {
    if (!stopped_.exchange(true)) report_ = std::move(report);
  }

  const Execution& execution_;
  const LoadedKernel& kernel_;
  const Arguments& arguments_;
  const LaunchState& state_;
  std::uint64_t groups_, items_, chunk_ = 1;
  bool by_items_ = false;
  LaunchLimit& limit_;
  std::vector<Share> shares_;
  std::atomic<bool> out_of_memory_ = false, stopped_ = false;
  std::string report_;
};

}  // namespace

ExecutionStatus execute(const Execution& execution, std::string* report) {
  std::uint64_t groups = 1, items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (execution.groups[i] == 0 || execution.group_size[i] == 0) return ExecutionStatus::ok;
    if (__builtin_mul_overflow(groups, std::uint64_t{execution.groups[i]}, &groups) ||
        __builtin_mul_overflow(items, std::uint64_t{execution.group_size[i]}, &items))
      return ExecutionStatus::out_of_host_memory;
  }
  const auto told = [&](const std::string& why) {
    const std::string text = "kernel '" + execution.kernel->facts.name + "' " + why;
    std::fprintf(stderr, "kiln: %s\n", text.c_str());
    if (report != nullptr) *report = text;
    return ExecutionStatus::stopped;
  };
  if (execution.kernel->intel) {
    std::string why;
    const ExecutionStatus status = run_intel(execution, why);
    return status == ExecutionStatus::stopped ? told(why) : status;
  }
  const Arguments arguments = pack(execution);
  if (arguments.slm == kNoSize) return ExecutionStatus::out_of_host_memory;
  const LaunchState state = state_of(execution);
  LaunchLimit limit(execution.limit);
  GridResult result;
  if (execution.kernel->grid_barrier) {
    const auto* bytes = reinterpret_cast<const std::byte*>(arguments.words.data());
    result = run_grid(execution, state, bytes, arguments.slm, limit);
  } else {
    Launch launch(execution, state, arguments, groups, items, limit);
    ThreadPool::instance().run(launch);
    result = {launch.out_of_memory(), launch.report()};
  }
  if (limit.over()) result.report = over_the_limit(execution.limit);
  std::fflush(stdout);
  if (const auto& counters = static_cast<const LoadedKernel*>(execution.kernel->entry)->counters) {
    counters->add_launch(groups, items);
    std::fputs(counters->new_defects(execution.kernel->facts.name).c_str(), stderr);
  }
  if (!result.report.empty()) return told(result.report);
  return result.out_of_memory ? ExecutionStatus::out_of_host_memory : ExecutionStatus::ok;
}

}  // namespace kiln::cpu
