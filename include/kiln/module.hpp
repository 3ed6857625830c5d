// SPDX-License-Identifier: MIT
// Modules, with the build log always returned, and kernels.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/context.hpp"
#include "kiln/extent.hpp"

namespace kiln {

class KernelRef;
using Kernel = Unique<KernelRef>;
class ModuleRef;
using Module = Unique<ModuleRef>;

struct KernelProperties {
  std::uint32_t arguments = 0;
  std::array<std::uint32_t, 3> required_group_size{};  ///< zeros: none
  std::uint32_t required_sub_groups = 0;
  std::uint32_t required_sub_group_size = 0;
  std::uint32_t max_sub_group_size = 0;
  std::uint32_t max_sub_groups = 0;
  std::uint32_t local_memory = 0;    ///< bytes; Intel's driver since 24.35 counts the dynamic part too
  std::uint32_t private_memory = 0;  ///< bytes; see the driver's version for the unit it counts by
  std::uint32_t spill_memory = 0;    ///< bytes
  std::optional<std::uint32_t> max_group_size;  ///< work-items, where the driver offers it
};

/// A kernel. One thread at a time: its arguments and group size are state. Creation is thread-safe.
class KernelRef : public Ref<ze_kernel_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] Result<KernelProperties> properties() const;
  [[nodiscard]] Result<void> set_group_size(Extent size) const;
  [[nodiscard]] Result<Extent> suggest_group_size(Extent global_size) const;
  /// Null `value` with a size in bytes sets the size of a `__local` argument.
  [[nodiscard]] Result<void> set_argument(std::uint32_t index, std::size_t size, const void* value) const;

  /// The kinds of memory that the kernel may reach through pointers which are no arguments: the driver then
  /// has all of the context's memory of these kinds in place, without which a GPU faults. CheckedKernel
  /// does this for kernels that may need it. Source: specification, zeKernelSetIndirectAccess.
  [[nodiscard]] Result<void> set_indirect_access(ze_kernel_indirect_access_flags_t kinds) const;

  static void destroy(KernelRef);
};
KILN_HANDLE_CHECKS(KernelRef);

/// A variable of a module at program scope, in memory of the device: lists copy to it and from it.
struct GlobalVariable {
  void* data = nullptr;
  std::size_t size = 0;  ///< bytes
};

enum class ModuleFormat : std::uint8_t {
  spirv,
  native,
  /// One text with its final zero, which Intel's driver compiles since 25.44. The specification has no such
  /// format: other drivers answer INVALID_ENUMERATION. Bundle::compile() asks where it can be had.
  opencl_c,
};

/// The value of a specialization constant; as many of its low bytes count as the constant's type has.
struct SpecializationConstant {
  std::uint32_t id = 0;
  std::uint64_t value = 0;
};

/// One input of a module. What it refers to must live until the call returns.
struct ModuleInput {
  ModuleFormat format = ModuleFormat::spirv;
  std::span<const std::byte> code;
  std::string flags{};  ///< OpenCL build options
  std::vector<SpecializationConstant> constants{};
};

/// A module, which build_module() makes. Thread-safe.
class ModuleRef : public Ref<ze_module_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] Result<Kernel> kernel(const char* name) const;
  [[nodiscard]] Result<std::vector<std::string>> kernel_names() const;
  [[nodiscard]] Result<std::vector<std::byte>> native_binary() const;
  /// Error: K0233, with the driver's code, for a name that the module does not export: OpenCL C's variables
  /// are kept by the compiler where the program says so (`-ze-take-global-address`).
  [[nodiscard]] Result<GlobalVariable> global(const char* name) const;
  /// The address of a function on the device, for kernels that call through pointers. Error:
  /// INVALID_FUNCTION_NAME (K0233); the build needs `-ze-take-global-address` or `-library-compilation`.
  [[nodiscard]] Result<void*> function(const char* name) const;

  static void destroy(ModuleRef);
};
KILN_HANDLE_CHECKS(ModuleRef);

/// Links modules after their build (zeModuleDynamicLink): what one declares and another defines, circles too.
/// All are built with `-library-compilation`, and no kernel is made before. All or nothing. Drivers link
/// functions and variables; on the CPU device, functions that use no work-item functions, barriers or SLM,
/// each call through a pointer. What defines something must outlive what uses it. Errors:
/// MODULE_LINK_FAILURE, or the driver's, with its log, which names what is missing (K0236); K0222, K0228.
/// Bundle::link() links before the build, which is faster to call. Thread-safe.
[[nodiscard]] Result<void> link_modules(std::span<const ModuleRef> modules);

/// The outcome of a build: a module, or the code of what refused it. There is no success without a module.
struct ModuleBuild {
  ModuleBuild() = default;  ///< not built
  explicit ModuleBuild(Module made) : module(std::move(made)) {}
  /// Refused, with the reason for the log; where the code is no refusal: UNKNOWN.
  ModuleBuild(ze_result_t code, std::string reason)
      : log(std::move(reason)), refusal_(code == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_UNKNOWN : code) {}

  /// SUCCESS as long as the module is there.
  [[nodiscard]] ze_result_t code() const { return module ? ZE_RESULT_SUCCESS : refusal_; }

  Module module;           ///< empty when the build failed
  std::string log;         ///< the driver's build log, also after success
  std::string last_error;  ///< the driver's last-error description when this build changed it
  /// What the module was made from where that was compiled in a process of its own, else empty: then ask
  /// ModuleRef::native_binary(). Good for a cache: the same driver takes it as a native input.
  std::vector<std::byte> native;
  /// Where that process had other libraries, variables or files that shape code than this one had when it
  /// loaded the driver: which. Then the result is good, but not what a cache would expect.
  std::string other_compiler;
  bool compiled = false;       ///< from SPIR-V, be it that inside a native binary for another device
  bool compiler_died = false;  ///< the compiler's process ended over these inputs; it would do so again
  bool cancelled = false;      ///< who watches compilations ended this one: NOT_READY

 private:
  ze_result_t refusal_ = ZE_RESULT_ERROR_UNINITIALIZED;
};

}  // namespace kiln
