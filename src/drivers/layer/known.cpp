// SPDX-License-Identifier: MIT
// Reads what a module's code says.
#include "drivers/layer/known.hpp"

#include <pthread.h>

#include "build/cached_build.hpp"
#include "drivers/layer/real_driver.hpp"
#include "kiln/binary.hpp"

namespace kiln::layer {
namespace {

void unlock() {
  known.queues.mutex().unlock();
  known.kernels.mutex().unlock();
  known.modules.mutex().unlock();
}

}  // namespace

void KnownModule::made(ze_module_handle_t handle) {
  const std::lock_guard lock(mutex_);
  handle_ = handle;
}

void KnownModule::destroyed() {
  const std::lock_guard lock(mutex_);
  handle_ = nullptr;
}

void watch_forks() {
  pthread_atfork(
      [] {
        known.modules.mutex().lock();
        known.kernels.mutex().lock();
        known.queues.mutex().lock();
      },
      unlock, unlock);
}

const ModuleFacts& KnownModule::facts() {
  const std::lock_guard lock(mutex_);
  if (facts_) return *facts_;
  ModuleFacts source;
  if (!spirv.empty())
    if (auto read = read_spirv(spirv)) source = *std::move(read);
  std::vector<std::byte> native;
  if (const Api* api = real_api(); api && handle_)
    if (auto binary = ModuleRef(handle_, *api).native_binary()) native = *std::move(binary);
  facts_ = detail::compiled_facts(native, source);
  spirv = {};
  return *facts_;
}

}  // namespace kiln::layer
