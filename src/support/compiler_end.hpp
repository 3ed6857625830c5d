// SPDX-License-Identifier: MIT
// How the end of a compiler's process is judged and told, by the library and by its CPU driver.
#pragma once

#include <csignal>
#include <string_view>

namespace kiln {

/// Begins what the CPU driver's build log says when the compiler ended over the module itself.
inline constexpr std::string_view kModuleEndsCompiler = "error: this module makes the compiler end ";

/// A program that goes wrong gets these. All others come from outside, mostly for want of memory or time, and
/// would not come again.
inline bool is_own_fault(int signal) {
  switch (signal) {
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSEGV:
    case SIGSYS:
    case SIGTRAP:
      return true;
    default:
      return false;
  }
}

}  // namespace kiln
