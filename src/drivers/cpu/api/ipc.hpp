// SPDX-License-Identifier: MIT
// Sharing memory, and reading and writing the 64 bytes of IPC handles.
#pragma once

#include <level_zero/ze_api.h>

#include <cstring>

#include "drivers/cpu/memory/shared_file.hpp"

namespace kiln::cpu {

/// A handle for an allocation, a mapped range, or a physical memory whose handle stands for a pointer (1.15).
/// The results are those of Usm::share. Thread-safe.
[[nodiscard]] ze_result_t share_memory(const void* pointer, SharedHandle& handle);

template <class IpcHandle>
void write_handle(const SharedHandle& from, IpcHandle& to) {
  static_assert(sizeof to.data >= sizeof from);
  std::memset(to.data, 0, sizeof to.data);
  std::memcpy(to.data, &from, sizeof from);
}

template <class IpcHandle>
[[nodiscard]] SharedHandle read_handle(const IpcHandle& from) {
  SharedHandle to;
  std::memcpy(&to, from.data, sizeof to);
  return to;
}

}  // namespace kiln::cpu
