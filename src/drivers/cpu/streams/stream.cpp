// SPDX-License-Identifier: MIT
// The submission thread of a stream and the running of commands.
#include "drivers/cpu/streams/stream.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "drivers/cpu/memory/system_memory.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/objects/object.hpp"
#include "drivers/cpu/settings/fault.hpp"

namespace kiln::cpu {
namespace {

constexpr int kNiceLow = 10, kNiceHigh = -5;

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<Progress>> streams;
};

// Never destroyed: streams that the application leaked still run at exit.
Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

void delete_chain(Command* command) {
  while (command) delete std::exchange(command, command->next);
}

static_assert(int{kHostMemory} == ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST &&
              int{kDeviceMemory} == ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE &&
              int{kSharedMemory} == ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);

std::uint32_t kind_bit(ze_memory_type_t type) {
  switch (type) {
    case ZE_MEMORY_TYPE_HOST:
      return kHostMemory;
    case ZE_MEMORY_TYPE_DEVICE:
      return kDeviceMemory;
    case ZE_MEMORY_TYPE_SHARED:
      return kSharedMemory;
    default:
      return 0;
  }
}

MemoryRange find_memory(std::uintptr_t address) {
  const auto* pointer = reinterpret_cast<const void*>(address);
  if (const auto found = usm().find(pointer)) return {found->base, found->size, kind_bit(found->type)};
  return find_system_memory(pointer).value_or(MemoryRange{});
}

std::atomic<int> running_kernels = 0;
struct KernelRuns {
  KernelRuns() { ++running_kernels; }
  ~KernelRuns() { --running_kernels; }
  KernelRuns(const KernelRuns&) = delete;
};

// Whether the wait is in vain nobody can know: the host may signal the event at any time. While a kernel runs
// it may well be what is waited for.
constexpr auto kPatience = std::chrono::seconds(10);
bool tell_of_wait(std::uint32_t signals) {
  if (running_kernels != 0) return false;
  if (signals == 0)
    std::fputs(
        "kiln cpu driver: a command has waited 10 s or more for an event that nothing has signalled, and no "
        "kernel runs\n",
        stderr);
  else
    std::fprintf(
        stderr,
        "kiln cpu driver: a command has waited 10 s or more for an event that was reset after its last "
        "signal, which was number %u, and no kernel runs\n",
        signals);
  return true;
}

}  // namespace

std::vector<std::shared_ptr<Progress>> all_progress() {
  const std::lock_guard lock(registry().mutex);
  return registry().streams;
}

Stream::Stream(LossesBefore losses, bool synchronous, ze_command_queue_priority_t priority, bool shuffled)
    : losses_(losses),
      synchronous_(synchronous),
      shuffled_(shuffled),
      priority_(priority),
      progress_(std::make_shared<Progress>()) {
  const std::lock_guard lock(registry().mutex);
  registry().streams.push_back(progress_);
}

bool Stream::stop(std::uint64_t timeout_ns) {
  EventRef waiting_for;
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
    waiting_for = waiting_for_;
  }
  arrived_.notify_all();
  Held::release();
  if (waiting_for) waiting_for->wake();
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return ended_ || !thread_.joinable(); };
  const auto deadline = deadline_after(timeout_ns);
  if (deadline != Clock::time_point::max()) return over_.wait_until(lock, deadline, ended);
  over_.wait(lock, ended);
  return true;
}

Stream::~Stream() {
  (void)stop(UINT64_MAX);
  if (thread_.joinable()) thread_.join();
  progress_->complete_all();
  delete_chain(first_);
  delete_chain(spare_);
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().streams, progress_);
}

Command* Stream::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (spare_) {
      Command* command = std::exchange(spare_, spare_->next);
      command->next = nullptr;
      return command;
    }
  }
  return new Command;
}

void Stream::give_back(Command* command) {
  command->clear();
  const std::lock_guard lock(mutex_);
  command->next = std::exchange(spare_, command);
}

ze_result_t Stream::run_here(Command* command) {
  progress_->add_submitted();
  ze_result_t result;
  {
    const std::lock_guard lock(run_mutex_);
    result = run(*command);
  }
  give_back(command);
  progress_->add_completed();
  return result;
}

// Without a thread of its own a stream still does what need not wait for anything.
ze_result_t Stream::run_without_thread(Command* command) {
  if (std::ranges::all_of(command->waits, [](const EventRef& event) { return event->signalled(); }))
    return run_here(command);
  give_back(command);
  set_last_error(
      "no thread could be started for the command list or queue, and the command waits for an event");
  return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

bool Stream::start_thread() {
  try {
    if (!thread_.joinable()) thread_ = std::thread(&Stream::work, this);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

ze_result_t Stream::submit(Command* command) {
  if (synchronous_) return run_here(command);
  {
    std::unique_lock lock(mutex_);
    if (stopping()) {
      lock.unlock();
      give_back(command);
      set_last_error("the command list or queue was destroyed while a kernel ran that does not end");
      return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    if (!start_thread()) {
      lock.unlock();
      return run_without_thread(command);
    }
    if (shuffled_ && !first_) held_since_ = Held::now();
    progress_->add_submitted();
    (last_ ? last_->next : first_) = command;
    last_ = command;
  }
  arrived_.notify_one();
  return ZE_RESULT_SUCCESS;
}

ze_result_t Stream::synchronize(std::uint64_t timeout_ns) {
  if (const auto state = losses_.state(); state != ZE_RESULT_SUCCESS) return state;
  if (!progress_->wait(progress_->submitted(), deadline_after(timeout_ns))) return ZE_RESULT_NOT_READY;
  if (failure_ == ZE_RESULT_SUCCESS) return ZE_RESULT_SUCCESS;
  const std::lock_guard lock(mutex_);
  set_last_error(std::move(failure_text_));
  return failure_.exchange(ZE_RESULT_SUCCESS);
}

void Stream::work() {
  work_until_stopped();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  over_.notify_all();
}

void Stream::work_until_stopped() {
  // The thread's own (0 means that on Linux). Raising needs a right that most processes lack; then it stays.
  if (priority_ == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW) setpriority(PRIO_PROCESS, 0, kNiceLow);
  if (priority_ == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH) setpriority(PRIO_PROCESS, 0, kNiceHigh);
  if (shuffled_) return work_unordered();
  for (;;) {
    Command* command = nullptr;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return first_ || stop_.load(std::memory_order_relaxed); });
      if (!first_) return;
      command = std::exchange(first_, first_->next);
      if (!first_) last_ = nullptr;
      command->next = nullptr;
    }
    set_last_error({});
    const ze_result_t result = run(*command);
    note(result);
    give_back(command);
    if (result == ZE_RESULT_ERROR_DEVICE_LOST && stopping()) return;
    progress_->add_completed();
    if (progress_->idle()) usm().collect();
  }
}

void Stream::note(ze_result_t result) {
  if (result == ZE_RESULT_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  if (failure_ != ZE_RESULT_SUCCESS) return;
  failure_ = result;
  failure_text_ = last_error();
}

void Stream::work_unordered() {
  std::vector<const Command*> commands;
  for (;;) {
    Held::Moment since = 0;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return first_ || stop_.load(std::memory_order_relaxed); });
      if (!first_) return;
      since = held_since_;
    }
    if (!stopping()) Held::wait_since(since);
    Command* chain = nullptr;
    {
      const std::lock_guard lock(mutex_);
      chain = std::exchange(first_, nullptr);
      last_ = nullptr;
    }
    commands.clear();
    for (const Command* each = chain; each; each = each->next) commands.push_back(each);
    // Memory that was freed waits for a number of commands, so these are counted in the order of their
    // appends.
    std::vector<bool> ended(commands.size());
    std::size_t counted = 0;
    set_last_error({});
    const ze_result_t result = run_unordered(commands, [&](std::size_t index) {
      ended[index] = true;
      for (; counted < ended.size() && ended[counted]; ++counted) progress_->add_completed();
    });
    note(result);
    while (chain) give_back(std::exchange(chain, chain->next));
    if (result == ZE_RESULT_ERROR_DEVICE_LOST && stopping()) return;
    if (progress_->idle()) usm().collect();
  }
}

bool Stream::wait_for(const EventRef& event) {
  if (event->signalled()) return true;
  Held::release();  // another list may hold what signals it
  {
    const std::lock_guard lock(mutex_);
    waiting_for_ = event;  // from here on the destructor wakes us
  }
  const bool signalled = event->wait(stop_, kPatience, tell_of_wait);
  const std::lock_guard lock(mutex_);
  waiting_for_.reset();
  return signalled;
}

ze_result_t Stream::run(const Command& command) {
  for (const EventRef& event : command.waits)
    if (!wait_for(event)) return ZE_RESULT_ERROR_DEVICE_LOST;
  return run_started(command);
}

ze_result_t Stream::run_unordered(std::span<const Command* const> commands, const Done& done) {
  ze_result_t first_failure = ZE_RESULT_SUCCESS;
  std::vector<std::size_t> started;  // and not yet run
  const auto starts = [&](const Command& command) {
    if (started.empty()) return true;  // when it has waited
    return !command.barrier &&
           std::ranges::all_of(command.waits, [](const EventRef& event) { return event->signalled(); });
  };
  for (std::size_t next = 0; next < commands.size() || !started.empty();) {
    while (next < commands.size() && starts(*commands[next])) {
      const Command& command = *commands[next];
      for (const EventRef& event : command.waits)
        if (!wait_for(event)) return ZE_RESULT_ERROR_DEVICE_LOST;
      started.push_back(next++);
      if (command.barrier) break;
    }
    const auto place = started.begin() + static_cast<std::ptrdiff_t>(shuffle_.pick(started.size()));
    const std::size_t index = *place;
    started.erase(place);
    const ze_result_t result = run_started(*commands[index]);
    if (first_failure == ZE_RESULT_SUCCESS) first_failure = result;
    if (done) done(index);
  }
  return first_failure;
}

ze_result_t Stream::run_started(const Command& command) {
  const std::uint64_t start = now_ns();
  const ze_result_t result = guarded([&] { return perform(command); });
  if (command.signal && !faults().event)
    command.signal->signal({start, now_ns()}, result, result == ZE_RESULT_SUCCESS ? "" : last_error());
  return result;
}

ze_result_t Stream::perform(const Command& command) {
  const Launch& launch = command.launch;
  if (!launch.kernel) return command.action ? command.action(*this) : ZE_RESULT_SUCCESS;
  Execution execution{launch.kernel,     launch.arguments,     launch.groups,
                      launch.group_size, launch.global_offset, find_memory};
  execution.indirect_access = launch.indirect_access;
  if (launch.indirect_limit && launch.indirect_index >= *launch.indirect_limit) return ZE_RESULT_SUCCESS;
  if (launch.indirect)
    execution.groups = {launch.indirect->groupCountX, launch.indirect->groupCountY,
                        launch.indirect->groupCountZ};
  if (execution.groups[0] == 0 || execution.groups[1] == 0 || execution.groups[2] == 0)
    return ZE_RESULT_SUCCESS;
  // Two cooperative launches at once could each hold workers that the other one needs.
  static std::mutex one_cooperative_launch;
  std::unique_lock lock(one_cooperative_launch, std::defer_lock);
  if (launch.cooperative) lock.lock();
  execution.limit = driver()->launch_limit;
  std::string report;
  const KernelRuns counted;
  switch (execute(execution, &report)) {
    case ExecutionStatus::ok:
      return ZE_RESULT_SUCCESS;
    case ExecutionStatus::out_of_host_memory:
      set_last_error({});
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case ExecutionStatus::stopped:
      break;
  }
  // What a GPU's driver says once it has found the hang; this device goes on.
  set_last_error(std::move(report));
  return ZE_RESULT_ERROR_DEVICE_LOST;
}

}  // namespace kiln::cpu
