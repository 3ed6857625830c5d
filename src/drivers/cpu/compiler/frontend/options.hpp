// SPDX-License-Identifier: MIT
// The application's build flags, as far as they mean something to the CPU driver.
#pragma once

#include <string>
#include <string_view>

namespace kiln::cpu {

struct ParsedOptions {
  bool optimize = true;          ///< false: -cl-opt-disable, -ze-opt-disable, -ze-opt-level=O0
  bool contract = false;         ///< a * b + c may become one fused operation
  bool fast_math = false;        ///< -cl-fast-relaxed-math, -cl-unsafe-math-optimizations
  bool finite_math = false;      ///< -cl-finite-math-only
  bool no_signed_zeros = false;  ///< -cl-no-signed-zeros
  bool counters = false;         ///< -kiln-counters
  bool keep_functions = false;   ///< -ze-take-global-address, -ze-library-compilation, and IGC's own of them
  bool library = false;          ///< the latter: what it calls and does not define is another module's
};

/// Flags without meaning here are passed over; unknown ones that no Intel driver would take add a warning to
/// `log`.
ParsedOptions parse_options(std::string_view flags, std::string& log);

/// The flags in the words of Intel's compiler, as its drivers write them into native binaries
/// (`.misc.buildOptions`): -ze-opt-level=2 is -ze-opt-level=O2 there.
std::string flags_for_file(std::string_view flags);

}  // namespace kiln::cpu
