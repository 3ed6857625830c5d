// SPDX-License-Identifier: MIT
// All mutexes of the layer, so that a fork forgets none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace kiln::layer {

/// In the order in which a thread may take several. None is held where a driver may fork, as those that
/// compile in a child do: a fork takes them all.
enum class Lock : std::uint8_t {
  captured_modules,
  captured_kernels,
  capture,
  modules,
  kernels,
  queues,
  images,
  facts,
  names,
  lists,
  told,
  count
};

/// Calls come until the process is gone, so these are never destroyed.
inline constinit std::array<std::mutex, static_cast<std::size_t>(Lock::count)> all_locks{};

[[nodiscard]] inline std::mutex& mutex_of(Lock lock) { return all_locks[static_cast<std::size_t>(lock)]; }

}  // namespace kiln::layer
