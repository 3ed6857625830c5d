// SPDX-License-Identifier: MIT
// After the fact: what is known around a call that the driver refused, joined into one diagnostic. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/allocation.hpp"
#include "kiln/check.hpp"
#include "kiln/memory_account.hpp"

namespace kiln {

/// What was gathered around a refused call. What is not known stays as it is here.
struct Refusal {
  ze_result_t code = ZE_RESULT_ERROR_UNKNOWN;
  const char* call = "";
  /// zeDeviceGetStatus behind the failure: SUCCESS and DEVICE_LOST count, any other answer says nothing.
  ze_result_t device_status = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  std::string driver_text;                   ///< the last-error description, when this call changed it
  std::uint64_t memory = 0;                  ///< bytes that the device has; 0: not known
  std::optional<std::uint64_t> free_memory;  ///< bytes at the moment
  std::uint64_t threads = 0;  ///< hardware threads that the device shows, a lower bound; 0: not known
  /// Where memory ran out: memory_rows() and memory_causes(). A cause that is an error is said first.
  std::vector<DiagnosticRow> account{};
  std::vector<Diagnostic> causes{};
};

/// K0220. Intel's immediate lists report a lost device as OUT_OF_DEVICE_MEMORY, so the status decides.
[[nodiscard]] bool is_lost(const Refusal& refusal);
[[nodiscard]] Diagnostic explain_lost_device(const Refusal& refusal);

/// zeModuleCreate that failed without a word: K0210. `format` as a person would name it.
[[nodiscard]] Diagnostic explain_silent_build(const Refusal& refusal, const std::string& file,
                                              const std::string& format);

/// The compiler ended its process over a file: K0227. `log` says how.
[[nodiscard]] Diagnostic explain_dead_compiler(const std::string& file, const std::string& format,
                                               const std::string& log);

/// zeKernelCreate: K0211 scratch of a thread, K0212 private memory and scratch of all threads, K0213 the
/// required group size, K0220; nothing for another code.
[[nodiscard]] std::optional<Diagnostic> explain_kernel(const Refusal& refusal, const KernelFacts& kernel);

/// zeMemAlloc*: K0214 device memory, K0215 host memory, K0216 a device of another context, K0207, K0220.
[[nodiscard]] std::optional<Diagnostic> explain_allocation(const Refusal& refusal,
                                                           const AllocationRequest& request);

/// zeEventPoolCreate: K0217. `count` is that of the events.
[[nodiscard]] std::optional<Diagnostic> explain_event_pool(const Refusal& refusal, std::uint32_t count);

/// Creation of a command list or a queue: K0218.
[[nodiscard]] std::optional<Diagnostic> explain_queue(const Refusal& refusal);

/// Work that was stopped before its end, as a program wished: K0423. `what` as in "the compilation of `x`".
[[nodiscard]] Diagnostic explain_stopped(const std::string& what);

/// A launch that the check let pass: K0219, or K0220. Here `driver_text` may be old: it is shown only when it
/// names this launch's SLM.
[[nodiscard]] Diagnostic explain_launch(const Refusal& refusal, const KernelFacts& kernel,
                                        const LaunchLimits& limits, const LaunchShape& shape,
                                        std::span<const LaunchArgument> arguments);

/// zeKernelSetArgumentValue of a pointer that lies in no allocation of the driver: K0229.
[[nodiscard]] Diagnostic explain_pointer(const Refusal& refusal, const KernelFacts& kernel, std::size_t index,
                                         const void* address);

/// A list that takes no such launch: K0122. Driver 22.43 has cooperative and ordinary launches on regular
/// lists of their own alone, and answers INVALID_ARGUMENT.
[[nodiscard]] Diagnostic explain_list_kind(const Refusal& refusal, const KernelFacts& kernel,
                                           bool cooperative);

/// A null image or sampler as an argument: K0121, before the driver hears of it.
[[nodiscard]] Diagnostic explain_null_object(const KernelFacts& kernel, std::size_t index, ArgumentKind kind);

/// A submission, or an append to an immediate list, that ran out of memory: K0221, or K0220.
[[nodiscard]] std::optional<Diagnostic> explain_submission(const Refusal& refusal);

}  // namespace kiln
