// SPDX-License-Identifier: MIT
// The work-item built-ins and the memory that compiled kernels share with the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace llvm {
class CallInst;
class Function;
class IRBuilderBase;
class Module;
class Value;
}  // namespace llvm

namespace kiln::cpu {

/// Address spaces as the translator numbers them.
inline constexpr unsigned kPrivateSpace = 0, kGlobalSpace = 1, kConstantSpace = 2, kLocalSpace = 3;

/// Bytes, so that sums stay in range.
inline constexpr std::uint64_t kLargestSlm = std::uint64_t{1} << 40;

// Compiled code reads the three structs below by offset: they are part of the native binary's ABI.

/// One launch; the same for all work-groups.
struct LaunchState {
  std::uint64_t global_size[3];
  std::uint64_t local_size[3];
  std::uint64_t group_count[3];
  std::uint64_t global_offset[3];
  std::uint64_t work_dimension;
};

/// One work-group.
struct GroupState {
  const LaunchState* launch;
  std::uint64_t group_id[3];
  std::byte* slm;  ///< 128-byte aligned
};

/// One work-item of a kernel with collectives. The executor keeps more behind it.
struct ItemState {
  const GroupState* group;
  std::uint64_t local_id[3];
  std::uint64_t lane;       ///< in its sub-group
  std::uint64_t sub_group;  ///< of the work-group
  /// Its sub-group's first item's local_id[0], where all of one are of one row: only regions of sub-groups
  /// ask.
  std::uint64_t first_id;
};

/// Runs a whole work-group (kernels without collectives, or with regions between them): first argument
/// GroupState, second the argument bytes.
using GroupEntry = void (*)(const GroupState*, const std::byte*);
/// Runs one work-item (kernels whose items may come apart before a group or sub-group function, and others).
using ItemEntry = void (*)(ItemState*, const std::byte*);

/// Raise when compiled code and run time stop fitting together, or other code is made of the same module.
inline constexpr std::uint32_t kAbiVersion = 12;

/// What a work-item can ask. Calls stand in the IR until the kernel's body is part of its entry function.
enum class WorkItem : std::uint8_t {
  global_id,
  local_id,
  local_size,
  group_count,
  group_id,
  global_offset,
  global_size,  // by dimension
  work_dimension,
  global_linear_id,
  local_linear_id,
  local_linear_size,
  sub_group_id,
  sub_group_local_id,
  sub_group_size,
  sub_group_max_size,
  sub_group_count,
  equal_mask,
  greater_or_equal_mask,
  greater_mask,
  less_or_equal_mask,
  less_mask,  // bits of lanes compared with the own one
  collective,
};

/// The built-in that `name` ("BuiltInGlobalInvocationId") stands for.
std::optional<WorkItem> work_item_of(std::string_view name);

/// The work-item function that `function` is, if it is one; also for those made by work_item_call.
std::optional<WorkItem> work_item_of(const llvm::Function& function);

/// A call of a work-item function; functions by dimension take a 32-bit `dimension`.
llvm::CallInst* work_item_call(llvm::IRBuilderBase& b, llvm::Module& module, WorkItem item,
                               llvm::Value* dimension = nullptr);

/// The operands of a collective (see Wait) before the kernel's body is part of its entry function.
struct CollectiveOperands {
  llvm::Value* kind;   ///< i32
  llvm::Value* scope;  ///< i32 as in SPIR-V
  bool may_diverge = false;
  std::uint64_t size = 0;
  llvm::Value* value = nullptr;  ///< null: none, as are those below
  llvm::Value* parameter = nullptr;
  llvm::Value* combine = nullptr;
};
llvm::CallInst* collective_call(llvm::IRBuilderBase& b, llvm::Module& module,
                                const CollectiveOperands& operands);

}  // namespace kiln::cpu
