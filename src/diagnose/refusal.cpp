// SPDX-License-Identifier: MIT
// Joins what is known around a refused call into one diagnostic: one cause, one code.
#include "kiln/refusal.hpp"

#include <algorithm>
#include <bit>

namespace kiln {
namespace {

constexpr const char* kLookForHang =
    "look into the kernel log (dmesg) for a hang or a page fault of the GPU, and at what ran before";

/// What every refusal has.
Diagnostic start(const char* code, std::string message, const Refusal& refusal) {
  Diagnostic diagnostic{code, std::move(message), {}, {}};
  diagnostic.answer = {AnsweredBy::driver, static_cast<std::uint32_t>(refusal.code), refusal.call};
  if (!refusal.driver_text.empty()) diagnostic.rows.push_back({"driver says", refusal.driver_text});
  return diagnostic;
}

void add_memory(Diagnostic& diagnostic, const Refusal& refusal) {
  if (refusal.memory) diagnostic.rows.push_back({"memory of the device", {}, refusal.memory, "B"});
  if (refusal.free_memory) diagnostic.rows.push_back({"free at the moment", {}, *refusal.free_memory, "B"});
  if (refusal.device_status == ZE_RESULT_SUCCESS)
    diagnostic.rows.push_back({"state of the device", "zeDeviceGetStatus says that it is well"});
}

/// The account, and its causes: one that is certain is said in the message, its cure before all others.
void add_account(Diagnostic& diagnostic, const Refusal& refusal) {
  diagnostic.rows.insert(diagnostic.rows.end(), refusal.account.begin(), refusal.account.end());
  std::vector<std::string> cures;
  for (const Diagnostic& cause : refusal.causes) {
    const bool certain = cause.severity == Severity::error;
    if (certain && cures.empty()) diagnostic.message += ": " + cause.message;
    diagnostic.rows.push_back({(certain ? "cause, " : "may be in the way, ") + cause.code, cause.message});
    if (certain || cures.empty()) cures.insert(cures.end(), cause.help.begin(), cause.help.end());
  }
  diagnostic.help.insert(diagnostic.help.begin(), cures.begin(), cures.end());
}

/// What the driver reserves for all hardware threads: at least the number that the device shows.
void add_per_thread(Diagnostic& diagnostic, const Refusal& refusal, const char* name, std::uint64_t bytes) {
  if (bytes == 0) return;
  diagnostic.rows.push_back({std::string(name) + " a hardware thread", {}, bytes, "B"});
  if (refusal.threads)
    diagnostic.rows.push_back(
        {std::string(name) + " of all threads, at least", {}, bytes * refusal.threads, "B"});
}

void add_private(Diagnostic& diagnostic, const Refusal& refusal, const KernelFacts& kernel) {
  add_per_thread(diagnostic, refusal, "private memory", kernel.private_per_thread);
}

void add_scratch(Diagnostic& diagnostic, const Refusal& refusal, const KernelFacts& kernel) {
  const std::uint64_t bytes = std::max(kernel.scratch_per_thread[0], kernel.scratch_per_thread[1]);
  add_per_thread(diagnostic, refusal, "scratch", bytes ? std::bit_ceil(bytes) : 0);
}

void add_code(Diagnostic& diagnostic, const KernelFacts& kernel) {
  if (kernel.simd_size) diagnostic.rows.push_back({"SIMD width", {}, kernel.simd_size});
  if (kernel.grf_count) diagnostic.rows.push_back({"registers", {}, kernel.grf_count});
}

std::string product(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
}

bool out_of_memory(ze_result_t code) {
  return code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY || code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/// Is the driver's text about that much SLM? "Size of SLM (n) larger than available (m)", since 23.35.
bool about_slm(const std::string& text, std::uint64_t bytes) {
  return bytes != 0 && text.find("SLM (" + std::to_string(bytes) + ")") != text.npos;
}

}  // namespace

bool is_lost(const Refusal& refusal) {
  return refusal.code == ZE_RESULT_ERROR_DEVICE_LOST || refusal.device_status == ZE_RESULT_ERROR_DEVICE_LOST;
}

Diagnostic explain_lost_device(const Refusal& refusal) {
  Diagnostic diagnostic = start("K0220", "the device is lost", refusal);
  if (refusal.code != ZE_RESULT_ERROR_DEVICE_LOST)
    diagnostic.rows.push_back({"state of the device",
                               "zeDeviceGetStatus says that it is lost, so memory is "
                               "not the reason"});
  diagnostic.help = {kLookForHang, "destroy everything of this context, and open the device again"};
  return diagnostic;
}

Diagnostic explain_silent_build(const Refusal& refusal, const std::string& file, const std::string& format) {
  Diagnostic diagnostic =
      start("K0210", "the driver refuses `" + file + "` without a word in its build log", refusal);
  diagnostic.rows.push_back({"format", format});
  if (refusal.code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) add_memory(diagnostic, refusal);
  diagnostic.help = {
      "look for a kernel whose `__local` arrays are larger than the device's SLM: `kiln inspect` shows them; "
      "drivers before 26.18 refuse such a module in silence",
      "see the driver's own messages: NEOReadDebugKeys=1 PrintDebugMessages=1"};
  add_account(diagnostic, refusal);
  return diagnostic;
}

Diagnostic explain_dead_compiler(const std::string& file, const std::string& format, const std::string& log) {
  Diagnostic diagnostic{"K0227", "the compiler crashed on `" + file + "`", {}, {}};
  diagnostic.rows = {{"format", format}, {"build log", log}};
  const bool source = format == "OpenCL C";
  diagnostic.help = {
      source
          ? "see what of the source it is: leave parts out, or ask another compiler: `clang -x cl "
            "-fsyntax-only FILE`"
          : "see whether the SPIR-V is valid: `spirv-val --target-env opencl2.1 FILE`; if not, make it again",
      source ? "or install another release of the compiler, or name its libocloc in KILN_OCLOC"
             : "if it is, install another release of the driver and its compiler, or compile the kernel "
               "ahead of time: ocloc compile -device …"};
  return diagnostic;
}

std::optional<Diagnostic> explain_kernel(const Refusal& refusal, const KernelFacts& kernel) {
  if (is_lost(refusal)) return explain_lost_device(refusal);
  const std::string name = "kernel `" + kernel.name + "`";
  switch (refusal.code) {
    case ZE_RESULT_ERROR_INVALID_NATIVE_BINARY: {
      Diagnostic diagnostic = start(
          "K0211", name + " is refused: its scratch memory is more than a hardware thread can have", refusal);
      add_scratch(diagnostic, refusal, kernel);
      add_code(diagnostic, kernel);
      diagnostic.help = {
          "smaller arrays in the kernel, or the kernel in two parts",
          "or -ze-opt-large-register-file, or a sub-group size of 16 instead of 32: less is spilled then"};
      return diagnostic;
    }
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: {
      Diagnostic diagnostic = start(
          "K0212", name + " is refused: no room for the private memory and scratch of all threads", refusal);
      add_private(diagnostic, refusal, kernel);
      add_scratch(diagnostic, refusal, kernel);
      add_code(diagnostic, kernel);
      add_memory(diagnostic, refusal);
      diagnostic.help = {"smaller arrays a work-item, or a sub-group size of 16 instead of 32",
                         "or free memory of the device before the kernel is made"};
      add_account(diagnostic, refusal);
      return diagnostic;
    }
    case ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION: {
      Diagnostic diagnostic =
          start("K0213", name + " is refused: it requires more work-items a group than it can have", refusal);
      diagnostic.rows.push_back({"required", product(kernel.required_group_size)});
      add_code(diagnostic, kernel);
      diagnostic.help = {"take a smaller reqd_work_group_size",
                         "or build the kernel for fewer registers or a larger sub-group"};
      return diagnostic;
    }
    default:
      return std::nullopt;
  }
}

std::optional<Diagnostic> explain_allocation(const Refusal& refusal, const AllocationRequest& request) {
  if (refusal.device_status == ZE_RESULT_ERROR_DEVICE_LOST) return explain_lost_device(refusal);
  Diagnostic diagnostic;
  switch (refusal.code) {
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE:
      diagnostic = explain_allocation(AllocationVerdict::above_largest, {0, 0, refusal.free_memory}, request);
      diagnostic.answer->by = AnsweredBy::driver;
      return diagnostic;
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY:
      diagnostic = start("K0214", "the memory of the device is used up", refusal);
      diagnostic.help = {"free buffers that are done with, or allocate less at a time"};
      break;
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
      diagnostic = start("K0215", "the host has no memory left for an allocation", refusal);
      diagnostic.help = {"free memory of the host, or see what limits this process: ulimit -a, its cgroup"};
      break;
    case ZE_RESULT_ERROR_DEVICE_LOST:
      diagnostic = start("K0216", "the device of an allocation is not one of its context's", refusal);
      diagnostic.help = {"give the device that the context was made for: the driver calls any other one lost",
                         std::string("if it is the right one: ") + kLookForHang};
      break;
    default:
      return std::nullopt;
  }
  diagnostic.rows.push_back({"asked for", {}, request.size, "B"});
  add_memory(diagnostic, refusal);
  add_account(diagnostic, refusal);
  return diagnostic;
}

std::optional<Diagnostic> explain_event_pool(const Refusal& refusal, std::uint32_t count) {
  if (is_lost(refusal)) return explain_lost_device(refusal);
  if (!out_of_memory(refusal.code)) return std::nullopt;
  Diagnostic diagnostic = start("K0217", "no memory for an event pool", refusal);
  diagnostic.rows.push_back({"events", {}, count});
  diagnostic.help = {"make smaller pools, and use events again: one takes up to some hundred bytes"};
  add_account(diagnostic, refusal);
  return diagnostic;
}

std::optional<Diagnostic> explain_queue(const Refusal& refusal) {
  if (is_lost(refusal)) return explain_lost_device(refusal);
  if (!out_of_memory(refusal.code)) return std::nullopt;
  Diagnostic diagnostic = start("K0218", "no memory for a command list or queue", refusal);
  add_memory(diagnostic, refusal);
  diagnostic.help = {"reset lists and use them again: each has command buffers and heaps of its own",
                     "or free buffers that are done with"};
  add_account(diagnostic, refusal);
  return diagnostic;
}

Diagnostic explain_launch(const Refusal& refusal, const KernelFacts& kernel, const LaunchLimits& limits,
                          const LaunchShape& shape, std::span<const LaunchArgument> arguments) {
  const std::uint64_t slm = total_slm(kernel, arguments);
  Refusal known = refusal;
  if (!about_slm(known.driver_text, slm)) known.driver_text.clear();
  if (is_lost(known)) return explain_lost_device(known);
  Diagnostic diagnostic =
      start("K0219", "the driver refuses a launch of `" + kernel.name + "` that should fit", known);
  const Extent &size = shape.group_size, &groups = shape.groups;
  diagnostic.rows.push_back({"group size", product({size.x, size.y, size.z})});
  diagnostic.rows.push_back({"groups", product({groups.x, groups.y, groups.z})});
  if (slm) diagnostic.rows.push_back({"SLM a work-group", {}, slm, "B"});
  if (slm) diagnostic.rows.push_back({"SLM of the device", {}, limits.slm_per_group, "B"});
  if (!out_of_memory(refusal.code)) {
    diagnostic.help = {"see the driver's own messages: NEOReadDebugKeys=1 PrintDebugMessages=1"};
    return diagnostic;
  }
  add_private(diagnostic, refusal, kernel);
  add_scratch(diagnostic, refusal, kernel);
  add_memory(diagnostic, refusal);
  diagnostic.help = {
      "free memory of the device: the launch needs scratch, heaps and its buffers there at once",
      "on an immediate list this code may also stand for another failure of the submission"};
  add_account(diagnostic, refusal);
  return diagnostic;
}

Diagnostic explain_stopped(const std::string& what) {
  return {"K0423", what + " was stopped before its end", {}, {"begin it anew"}};
}

std::optional<Diagnostic> explain_submission(const Refusal& refusal) {
  if (is_lost(refusal)) return explain_lost_device(refusal);
  if (!out_of_memory(refusal.code)) return std::nullopt;
  Diagnostic diagnostic = start("K0221", "work cannot be submitted for lack of memory", refusal);
  add_memory(diagnostic, refusal);
  diagnostic.help = {
      "free buffers: all that the work uses must be in the device's memory at once, and i915 calls a full "
      "device lack of host memory",
      "where the work copies from or to host memory: it must be mapped, and ulimit -l may bound it"};
  if (refusal.device_status != ZE_RESULT_SUCCESS)
    diagnostic.help.push_back("ask zeDeviceGetStatus: an immediate list reports a hang by this code too");
  add_account(diagnostic, refusal);
  return diagnostic;
}

}  // namespace kiln
