// SPDX-License-Identifier: MIT
// The floating-point environment of kernels.
#pragma once

#include <cfenv>

namespace kiln::cpu {

/// Kernels run with the default one; the calling thread gets its own back.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&saved_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace kiln::cpu
