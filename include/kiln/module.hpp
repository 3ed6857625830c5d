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

  static void destroy(Handle handle);
};
KILN_HANDLE_CHECKS(KernelRef);

enum class ModuleFormat : std::uint8_t { spirv, native };

struct ModuleBuild;

/// A module. Thread-safe.
class ModuleRef : public Ref<ze_module_handle_t> {
 public:
  using Ref::Ref;
  /// Native code goes to the driver as it is, and a malformed one can end the process there: Bundle::load
  /// looks at it first. What does not begin as SPIR-V is refused here. Never hides the log: read `code`
  /// first. `flags` are OpenCL build options. Where the loader intercepts calls, the log of a failed build
  /// says how to get it instead (the loader cannot give it).
  [[nodiscard]] static ModuleBuild build(DriverRef, ContextRef, DeviceRef, ModuleFormat,
                                         std::span<const std::byte> code, const char* flags = "");
  [[nodiscard]] Result<Kernel> kernel(const char* name) const;
  [[nodiscard]] Result<std::vector<std::string>> kernel_names() const;
  [[nodiscard]] Result<std::vector<std::byte>> native_binary() const;

  static void destroy(Handle handle);
};
KILN_HANDLE_CHECKS(ModuleRef);

/// The outcome of a build.
struct ModuleBuild {
  ze_result_t code = ZE_RESULT_SUCCESS;
  Module module;           ///< empty when the build failed
  std::string log;         ///< the driver's build log, also after success
  std::string last_error;  ///< the driver's last-error description when this build changed it
};

}  // namespace kiln
