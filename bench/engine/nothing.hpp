// SPDX-License-Identifier: MIT
// A driver that does nothing any more: what a frame takes then is the caller's own.
#pragma once

#include "kiln/api.hpp"

namespace kiln::bench {

/// While it lives, the calls of a frame, and those that make and destroy a kernel, succeed at once and do
/// nothing. What was made before is real, and goes after it. One thread makes and destroys it, alone.
class Nothing {
 public:
  explicit Nothing(const Api& table);
  ~Nothing();
  Nothing(const Nothing&) = delete;
  Nothing& operator=(const Nothing&) = delete;

 private:
  Api& table_;
  const Api before_;
};

}  // namespace kiln::bench
