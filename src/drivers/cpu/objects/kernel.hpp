// SPDX-License-Identifier: MIT
// A kernel object: its group size, its arguments and what they ask for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drivers/cpu/objects/module.hpp"
#include "drivers/cpu/objects/object.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Belongs to one thread at a time, as the specification says of kernels.
class Kernel : public Object {
 public:
  using Handle = ze_kernel_handle_t;

  Kernel(std::shared_ptr<const Program> program, const CompiledKernel& compiled);

  [[nodiscard]] const KernelFacts& facts() const { return compiled->facts; }

  [[nodiscard]] ze_result_t set_group_size(std::uint32_t x, std::uint32_t y, std::uint32_t z);
  [[nodiscard]] ze_result_t set_argument(std::uint32_t index, std::size_t size, const void* value);

  /// Bytes of shared local memory a work-group takes with the arguments as they are.
  [[nodiscard]] std::uint64_t slm() const { return slm_; }

  /// Whether the shared local memory fits; when not, the last error says so.
  [[nodiscard]] ze_result_t check_slm() const;

  /// check_slm, and that every argument was set.
  [[nodiscard]] ze_result_t check_launch() const;

  std::shared_ptr<const Program> program;  ///< outlives the module object
  const CompiledKernel* compiled;
  std::vector<ArgumentValue> arguments;
  std::array<std::uint32_t, 3> group_size{1, 1, 1};
  std::array<std::uint64_t, 3> global_offset{};
  ze_kernel_indirect_access_flags_t indirect_access = 0;

 private:
  struct ArgumentState {
    bool set = false;
    const void* pointer = nullptr;  // the last global pointer found good ...
    std::uint64_t generation = 0;   // ... in this generation of the USM registry
  };
  [[nodiscard]] ze_result_t set_global_pointer(std::uint32_t index, const void* value);

  std::vector<ArgumentState> states_;
  std::uint32_t unset_ = 0;
  std::uint64_t slm_ = 0;
};

/// How many work-groups of a cooperative launch can run at the same time.
[[nodiscard]] std::uint32_t max_cooperative_groups();

}  // namespace kiln::cpu
