// SPDX-License-Identifier: MIT
// What a program may watch Kiln do: compilations, which it can cancel, refusals, and allocations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string_view>

#include "kiln/allocation.hpp"
#include "kiln/result.hpp"

// Each observer is one function and one pointer for the whole process, as the log's sink is, and null at the
// start, which costs nothing. replace_…() sets another and gives the one before, which is not called any more
// once it returns: calls under way on other threads are waited for, so what `user` points to may then go;
// from inside an observer, this thread's own is not waited for. An observer is called on the thread that does
// the work, with no lock held, by several threads at the same time; it must not throw, and must not wait for
// a thread that replaces it. Views and references are good until it returns. All functions here are
// thread-safe.
namespace kiln {

/// What compiles. Each runs by itself, so that OpenCL C may be two compilations, and Registers::automatic
/// one more.
enum class CompilationStep : std::uint8_t {
  front_end,  ///< libocloc: OpenCL C to SPIR-V
  code,       ///< the driver: SPIR-V, or OpenCL C where it takes that, to the code of the device
};

/// Told twice: before a compilation, and when it has ended, the same observer, or else, where another was set
/// meanwhile, nobody. In between nobody knows how far it is: neither
/// drivers nor ocloc tell. What comes from the cache, or waits for another thread that compiles the same, is
/// no compilation.
struct CompilationNews {
  std::uint64_t number = 0;  ///< of this compilation in the process, from 1 on: both calls have the same
  CompilationStep step = CompilationStep::code;
  std::string_view name;  ///< the file, or the source, as diagnostics name it; empty where nobody said
  bool ended = false;

  /// Where it has not ended. May be kept, and asked from any thread, the observer's own too: request_stop()
  /// ends the compiler's process where it has one (Isolation), at the latest after 50 ms; else a compilation
  /// that began runs to its end, and what it made is dropped. The build's error is then K0423 (NOT_READY),
  /// nothing is kept in a cache, and nothing else is tried. After the end it does nothing.
  std::stop_source cancel{std::nostopstate};

  // Where it has ended.
  ze_result_t code = ZE_RESULT_SUCCESS;
  std::string_view log;  ///< the compiler's
  std::chrono::nanoseconds time{};
};
struct CompilationObserver {
  void (*call)(void* user, const CompilationNews& news) = nullptr;
  void* user = nullptr;
};
CompilationObserver replace_compilation_observer(CompilationObserver observer);

/// What was refused.
enum class Refused : std::uint8_t {
  launch,      ///< launch(), launch_with(), launch_cooperative_with(), max_cooperative_groups()
  allocation,  ///< ContextRef::allocate_…(), allocate_exportable(), import_fd()
  build,       ///< Bundle::load(), compile() and link()
  kernel,      ///< Bundle::kernel() and make_kernel()
};

/// Told once for each of these calls that fails, just before the caller gets the same error, be it that Kiln
/// refused or the driver. For statistics, and for logs in one place; who called reads the Result all the
/// same.
struct RefusalObserver {
  void (*call)(void* user, Refused what, const Error& error) = nullptr;
  void* user = nullptr;
};
RefusalObserver replace_refusal_observer(RefusalObserver observer);

/// Memory that Kiln got from a driver, or is about to give back: told behind the one call and before the
/// other, so that no address is told twice without its end. A Buffer that was adopted is told when it goes
/// alone, and one that was released never again.
struct AllocationNews {
  const void* data = nullptr;
  std::size_t size = 0;  ///< bytes asked for
  MemoryKind kind = MemoryKind::device;
  bool freed = false;
  ze_context_handle_t context = nullptr;
};
struct AllocationObserver {
  void (*call)(void* user, const AllocationNews& news) = nullptr;
  void* user = nullptr;
};
AllocationObserver replace_allocation_observer(AllocationObserver observer);

}  // namespace kiln
