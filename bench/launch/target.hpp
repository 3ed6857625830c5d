// SPDX-License-Identifier: MIT
// What is launched on in the launch benchmark: a list, a kernel and its facts, on a fake or a real driver.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "kiln/kiln.hpp"

namespace kiln::bench {

/// Launches between two resets of a list: many enough to hide the clock, few enough for a list's memory.
inline constexpr int kBatch = 256;

/// zeCommandListAppendLaunchKernelWithArguments (1.14), which headers before it lack.
struct GroupSize {
  std::uint32_t x, y, z;
};
using LaunchWithArguments = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t, ze_kernel_handle_t,
                                                     ze_group_count_t, GroupSize, void**, const void*,
                                                     ze_event_handle_t, std::uint32_t, ze_event_handle_t*);

struct Target {
  std::string name;
  std::optional<OpenDevice> device;  // before what is made on it
  std::optional<Bundle> bundle;
  std::optional<Buffer> buffer;
  CommandList owned_list;
  CheckedKernel own_kernel;  // of the fake driver
  const CheckedKernel* kernel = nullptr;
  CommandListRef list;
  void* data = nullptr;
  LaunchWithArguments with_arguments = nullptr;  // null: neither driver nor loader has it

  /// Makes room for the next batch.
  [[nodiscard]] Result<void> reset() const;
};

/// "stub", or what kiln::open_device takes. The list is a regular one, so nothing is executed.
[[nodiscard]] Result<std::unique_ptr<Target>> open_target(const std::string& name);

/// Fills Kiln's table with functions that do nothing and succeed.
void load_stub();

/// kBatch launches: three arguments, the group size, the append. Zero when all went well.
using Batch = int (*)(const Target&);
struct Batches {
  Batch raw, kiln;
  Batch one_call;  // the same launches by one raw call each, where the target has it
};

/// The same loops at several places of the program: where a call stands decides what the branch predictor
/// makes of the driver's own branches, which on some drivers is more than what is measured.
inline constexpr std::size_t kPlaces = 16;
extern const std::array<Batches, kPlaces> kBatches;

// With C names, for callgrind's --toggle-collect.
extern "C" int measured_raw_batch(const Target& target);
extern "C" int measured_kiln_batch(const Target& target);

}  // namespace kiln::bench
