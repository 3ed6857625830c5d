// SPDX-License-Identifier: MIT
// Compiled with exceptions: without them a vector that gets no memory ends the process.
#include "support/room.hpp"

#include <exception>

namespace kiln::detail {

bool try_resize(std::vector<std::byte>& bytes, std::size_t size) try {
  bytes.resize(size);
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace kiln::detail
