// SPDX-License-Identifier: MIT
// Reading and writing the 64 bytes of IPC handles.
#pragma once

#include <cstring>

#include "shared_file.hpp"

namespace kiln::cpu {

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
