// SPDX-License-Identifier: MIT
// Reads what a module's code says.
#include "drivers/layer/known.hpp"

#include <pthread.h>

#include "build/cached_build.hpp"
#include "drivers/layer/cache/module.hpp"
#include "drivers/layer/capture/launch.hpp"
#include "drivers/layer/real_driver.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"
#include "kiln/binary.hpp"

namespace kiln::layer {
namespace {

void lock_all() {
  for (std::mutex& each : all_locks) each.lock();
}

void unlock_all() {
  for (std::mutex& each : all_locks) each.unlock();
}

}  // namespace

void KnownModule::made(ze_module_handle_t handle) {
  const std::lock_guard lock(mutex_of(Lock::facts));
  handle_ = handle;
}

void KnownModule::destroyed() {
  const std::lock_guard lock(mutex_of(Lock::facts));
  handle_ = nullptr;
}

void watch_forks() {
  pthread_atfork(lock_all, unlock_all, [] {
    unlock_all();
    forget_recorded();
    forget_told();
    forget_cache();
    capture::forget_captures();
  });
}

const ModuleFacts& KnownModule::facts() {
  ze_module_handle_t handle = nullptr;
  std::shared_ptr<const std::vector<std::byte>> code;
  {
    const std::lock_guard lock(mutex_of(Lock::facts));
    if (facts_) return *facts_;
    handle = handle_;
    code = spirv_;
  }
  // Without the lock: a driver that compiles in a child forks, and a fork takes all locks of the layer.
  ModuleFacts source;
  if (!code->empty())
    if (auto read = read_spirv(*code)) source = *std::move(read);
  ModuleFacts facts = source;
  if (const Api* api = real_api(); api && handle)
    if (const auto all = drivers(*api); all && !all->empty())
      facts = detail::facts_of(all->front(), ModuleRef(handle, *api), source);
  const std::lock_guard lock(mutex_of(Lock::facts));
  if (!facts_) facts_ = std::move(facts);
  spirv_.reset();
  return *facts_;
}

}  // namespace kiln::layer
