// SPDX-License-Identifier: MIT
// Work that takes its time: how far it is, and how it is stopped.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace kiln {

/// What a caller gives to long work. A value; both may be left empty.
struct LongWork {
  /// Called before each piece of the work and at its end: pieces that are done, and pieces in all. On any of
  /// the threads that work, one call at a time; it must return soon, and must not throw.
  std::function<void(std::size_t done, std::size_t all)> progress{};
  /// Asked between the pieces, and while another program works, which is ended then. Any thread may request
  /// it, `progress` too. The error is K0423.
  std::stop_token stop{};
};

}  // namespace kiln
