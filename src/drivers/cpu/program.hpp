// SPDX-License-Identifier: MIT
// The seam between the CPU driver's Level Zero objects and its compiler and executor.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::cpu {

struct SpecializationConstant {
  std::uint32_t id;
  std::uint64_t bits;  ///< little-endian value, as many bytes as the constant's type has
};

/// One of the modules that a program is linked from.
struct SpirvModule {
  std::span<const std::byte> bytes;
  std::vector<SpecializationConstant> constants;
};

struct BuildOptions {
  std::string flags;  ///< the application's build flags, e.g. "-cl-fast-relaxed-math"
  std::vector<SpecializationConstant> constants;            ///< of a program that is one module
  std::array<std::uint32_t, 3> sub_group_sizes{8, 16, 32};  ///< those of the device; zero: not used
  bool fp64 = true;                                         ///< the device has double precision
  bool late = false;  ///< kernels may be compiled when Program::make_ready() asks for them
};

struct IntelKernel;

/// One kernel, ready to run unless it is refused. Lives as long as its Program. facts.simd_size is the
/// sub-group size.
struct CompiledKernel {
  KernelFacts facts;            ///< arguments_known is true; static_slm counts what the kernel reaches
  const void* entry = nullptr;  ///< the executor's business; null: not ready, see Program::make_ready()
  std::array<std::uint32_t, 3> group_size_hint{};  ///< zero: none
  std::string refused;        ///< why it cannot run, where other kernels of the module can; else empty
  bool grid_barrier = false;  ///< its work-groups wait for each other: for cooperative launches alone
  const IntelKernel* intel = nullptr;  ///< native code of Intel's compiler, which has no entry; else null
};

enum class BuildStatus : std::uint8_t {
  ok,
  invalid_native_binary,
  build_failure,
  out_of_memory,   ///< of the host
  compiler_killed  ///< from outside, or after its longest time: may go well another time
};

/// A built module. Immutable after creation, but for what links it and what makes kernels ready; thread-safe.
class Program {
 public:
  virtual ~Program() = default;
  /// Kernels in the order of the SPIR-V entry points.
  [[nodiscard]] virtual std::span<const CompiledKernel> kernels() const = 0;
  /// Compiles a kernel that was not yet: before, it cannot run, and nobody may read its `entry` and private
  /// memory. With null all are compiled, for native_binary(). The log says why that failed.
  [[nodiscard]] virtual BuildStatus make_ready(const CompiledKernel* kernel, std::string& log) const = 0;
  /// Kernels are compiled when they are asked for.
  [[nodiscard]] virtual bool is_late() const { return false; }
  /// Object code with `.ze_info`, identity and checksum; valid as long as the program.
  [[nodiscard]] virtual std::span<const std::byte> native_binary() const = 0;
  struct Symbol {
    void* address = nullptr;
    std::size_t size = 0;
    bool read_only = false;  ///< a store would end the process
  };
  /// A program-scope variable by name; null address: no such variable.
  [[nodiscard]] virtual Symbol global_variable(std::string_view name) const = 0;
  /// A function that kernels may call through a pointer, by name; null: none.
  [[nodiscard]] virtual void* function(std::string_view name) const = 0;

  /// The same with what it takes and returns, as a number.
  struct Callable {
    void* address = nullptr;
    std::uint64_t signature = 0;
    bool exported = false;  ///< other modules may name it
  };
  [[nodiscard]] virtual Callable callable(std::string_view name) const = 0;
  /// A function of another module that kernels here call.
  struct Import {
    std::string_view name;
    std::uint64_t signature = 0;
    bool linked = false;
  };
  [[nodiscard]] virtual std::vector<Import> imports() const = 0;
  /// Says where it is: a function that a program gave as callable. When that program is gone the import is
  /// not linked any more, and a kernel that calls it is stopped.
  virtual void link(std::string_view name, void* function) const = 0;
};

struct BuildResult {
  BuildStatus status = BuildStatus::build_failure;
  std::shared_ptr<const Program> program;  ///< set when status is ok
  std::string log;                         ///< names the instruction or function that cannot be run
};

/// Compiles SPIR-V with LLVM, in a child process, as both LLVM and the translator end theirs on some input.
/// Never throws.
[[nodiscard]] BuildResult build_from_spirv(std::span<const std::byte> spirv, const BuildOptions& options);

/// The same for a program of several modules, which are linked: what one imports, another exports.
[[nodiscard]] BuildResult build_from_spirv(std::span<const SpirvModule> modules, const BuildOptions& options);

/// Loads what native_binary() gave, in this or another process. A damaged one, or one for another CPU or
/// compiler version, is invalid_native_binary with a log that says which.
[[nodiscard]] BuildResult build_from_native(std::span<const std::byte> object);

/// Whether a native binary is Intel's, or a fat binary: not the host's object code. Pure.
[[nodiscard]] bool is_intel_native(std::span<const std::byte> file);

/// Takes the code in it that is for the product of that IP version, as zeDeviceGetProperties gives it. For
/// another product it is build_failure, as of driver 26.27; damaged, or without the libiga64 that it needs,
/// invalid_native_binary.
[[nodiscard]] BuildResult build_from_intel_native(std::span<const std::byte> file, std::uint32_t ip_version);

/// What was counted of a kernel that was built with `-kiln-counters`, over all its launches, as JSON
/// (docs/counters.md); empty when it was built without. Thread-safe.
[[nodiscard]] std::string counters_json(const CompiledKernel& kernel);

void clear_counters(const CompiledKernel& kernel);

/// Kinds of memory, as bits: those of zeKernelSetIndirectAccess.
enum MemoryKindBit : std::uint32_t { kHostMemory = 1, kDeviceMemory = 2, kSharedMemory = 4 };

/// Memory that kernels may touch.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uint64_t bytes = 0;  ///< 0: there is none
  std::uint32_t kind = 0;   ///< a MemoryKindBit; 0: kernels need no leave to reach it
};
/// The allocation that holds an address. Thread-safe.
using FindMemory = MemoryRange (*)(std::uintptr_t address);

/// The value of one kernel argument.
struct ArgumentValue {
  std::vector<std::byte> bytes;   ///< values and pointers
  std::uint64_t local_bytes = 0;  ///< __local pointers
};

struct Execution {
  const CompiledKernel* kernel = nullptr;
  std::span<const ArgumentValue> arguments;  ///< one for each of facts.arguments
  std::array<std::uint32_t, 3> groups{};
  std::array<std::uint32_t, 3> group_size{};
  std::array<std::uint64_t, 3> global_offset{};
  FindMemory find_memory =
      nullptr;  ///< for instrumented kernels; null: accesses of global memory are not checked
  std::chrono::nanoseconds limit{};   ///< the launch is stopped when it takes longer; 0: it may take for ever
  std::uint32_t indirect_access = 0;  ///< kinds of memory that need not be an argument
};

enum class ExecutionStatus : std::uint8_t {
  ok,
  out_of_host_memory,
  stopped  ///< by a fault of the kernel; the report says which
};

/// Whether a kernel can be left in its middle here, as Execution::limit asks; else limits are passed over.
[[nodiscard]] bool can_limit_launches();

/// Workers of the process-wide thread pool: one a core, or KILN_CPU_THREADS, at most 1024.
[[nodiscard]] std::uint32_t worker_count();

/// As many of them as the system let start; starts them.
[[nodiscard]] std::uint32_t running_workers();

/// Runs all work-groups over the pool and returns when the last one is done. printf output goes to stdout.
/// A group whose work-items wait for each other in vain, or that calls through a pointer what is no function,
/// or a launch beyond its limit, ends with `stopped`; stderr and `report` then say who waits where, what was
/// called, or how long it took. Thread-safe; concurrent calls share the pool.
[[nodiscard]] ExecutionStatus execute(const Execution& execution, std::string* report = nullptr);

}  // namespace kiln::cpu
