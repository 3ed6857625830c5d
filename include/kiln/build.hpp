// SPDX-License-Identifier: MIT
// Builds modules so that no input ends the process: everything is read first, and SPIR-V is compiled apart.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "kiln/manifest.hpp"
#include "kiln/module.hpp"
#include "kiln/open.hpp"

namespace kiln {

enum class Isolation : std::uint8_t {
  /// SPIR-V for any driver but Kiln's own (which does so itself) is compiled in a process of its own, since
  /// Intel's compiler leaves the process, or crashes, on some that is damaged. So is native code in the
  /// format
  /// before zebin made there first, which Kiln cannot read.
  automatic,
  /// All happens in this process. For callers who vouch for their inputs.
  never,
};

/// How many registers a hardware thread has. With 256 a kernel keeps in registers what it would spill to
/// memory, and a core holds half as many threads: a compiler cannot know what is better. For what is
/// compiled; products that have 128 alone (Gen12), and the CPU device, leave it at that.
enum class Registers : std::uint8_t {
  as_given,   ///< what the build options say, else the driver's own choice
  automatic,  ///< as given, and again with 256 where a kernel spills, or lacks scratch memory; what spills
              ///< less is kept
  r128,
  r256,
};

struct BuildOptions {
  Isolation isolation = Isolation::automatic;
  /// For the compiler's process, which is killed then.
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);
  std::string name{};  ///< of what is built, for who watches (CompilationNews)
};

/// Makes a module of one native binary (zebin, or a fat binary of ocloc), of one OpenCL C text where the
/// driver takes it (INVALID_ENUMERATION or UNSUPPORTED_FEATURE: it does not), or of one or several SPIR-V
/// inputs, which are linked in this order (where the driver has ZE_experimental_module_program). Never hides
/// the log: read `code` first.
///
/// What cannot be read, or what would end the process inside a driver (K0113, K0114), is refused with a text
/// in the log and never given to it: MODULE_BUILD_FAILURE for SPIR-V, INVALID_NATIVE_BINARY for native code.
/// Of a fat binary only the members that pass are shown to the driver. SPIR-V inside native code is hidden
/// from the driver, and compiled as SPIR-V is when the native code is for another device. When the compiler
/// ends its process: MODULE_BUILD_FAILURE and `compiler_died`. Also INVALID_NULL_HANDLE, INVALID_SIZE,
/// INVALID_ARGUMENT (native code among several inputs), UNSUPPORTED_FEATURE (a driver that does not link), or
/// the driver's own. Who watches compilations (kiln/observe.hpp) may cancel one: NOT_READY and `cancelled`.
///
/// The compiler's process is `kiln-compile`, installed with the library; KILN_COMPILER names another, and
/// KILN_COMPILER=off means Isolation::never, as does a table of the caller's own (load_table()), which no
/// other process can have. Where it cannot be started, or does not find the device, one warning is logged and
/// this process compiles. It inherits the environment. `driver` is the device's. Thread-safe.
[[nodiscard]] ModuleBuild build_module(DriverRef driver, ContextRef context, DeviceRef device,
                                       std::span<const ModuleInput> inputs, const BuildOptions& options = {});

/// Under what a build from SPIR-V is looked up in the cache.
struct CacheQuestion {
  Manifest manifest;
  /// Not empty: the cache is not asked, and why: a hit would not do what was asked for, or the manifest does
  /// not tell everything.
  std::string unusable;
};

/// The question that Bundle::load and Bundle::link ask. Thread-safe; as the environment is read, no thread
/// may change it meanwhile. Fields: docs/cache.md.
[[nodiscard]] CacheQuestion cache_question(const OpenDevice& device, std::span<const ModuleInput> inputs);

}  // namespace kiln
