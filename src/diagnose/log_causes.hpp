// SPDX-License-Identifier: MIT
// What can be behind a failure: the causes, and the sentences that tell of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::detail {

enum class Cause : std::uint8_t {
  none,
  slm,
  scratch,
  private_memory,
  build,
  driver_abort,
  page_fault,
  memory_full,
  misuse,
  unresolved,
  hang,
  too_large,
  host_memory,
  no_device,
  permission,
  library,
  fp64,
  sub_group,
  argument_size,
  compiler_crash,
  group_size,
  other_target,
  small_bar,
  peer,
  spirv,
  wedged,
  kernel_driver,
};

struct CauseText {
  Cause cause;
  std::string_view code;     ///< "K0511"
  std::string_view message;  ///< of the diagnostic
  std::string_view name;     ///< where it is one of several that are possible
  std::string_view help[4];  ///< empty ones behind
  std::string_view decide;   ///< what tells whether it is this one
};
[[nodiscard]] const CauseText& text_of(Cause cause);

/// A sentence that tells of a cause. All in small letters; `a|b` is either; a line has a space before it and
/// behind.
struct Rule {
  std::string_view word;     ///< in the line,
  std::string_view also;     ///< and this (or kGpuLibrary); `a|b&c` is c and one of both,
  std::string_view without;  ///< and not this; empty: nothing
  Cause cause;
  std::uint8_t rank;            ///< of several sentences the highest counts, of equal ones the first
  Cause or_else = Cause::none;  ///< the sentence leaves this one open too
  std::string_view message{};   ///< instead of the cause's own
};
/// All of them; those of kernels, drivers and compilers first, then those of programs and frameworks, then
/// families.
[[nodiscard]] std::span<const Rule> log_rules();
[[nodiscard]] std::span<const Rule> program_rules();
/// By the program that prints them.
[[nodiscard]] std::span<const Rule> framework_rules();
/// Of programs that compute, and of what gives the GPU to containers.
[[nodiscard]] std::span<const Rule> compute_rules();
/// Of video, and of what shows pictures.
[[nodiscard]] std::span<const Rule> media_rules();
/// Not a sentence that somebody has met, but what sentences of one kind have in common, whoever prints them.
[[nodiscard]] std::span<const Rule> rule_families();

/// As Rule::word: the line is of i915 or xe. Of such lines no other families are asked.
constexpr std::string_view kKernelLine = "i915 0000:| xe 0000:|[drm|i915:| xe:| drmn0:";

/// Of i915's and xe's own lines.
[[nodiscard]] constexpr bool is_kernel_rule(const Rule& rule) { return rule.word == kKernelLine; }

/// As Rule::also: the line names a library of the driver, its compiler, or the runtimes above them.
constexpr std::string_view kGpuLibrary = "(a library)";
[[nodiscard]] bool names_gpu_library(std::string_view small);
/// One that runtimes and the loader try, and go on without: that of another device.
[[nodiscard]] bool names_optional_library(std::string_view small);

constexpr std::string_view kLibraryMissing =
    "a library that the program needs is missing, or one that this needs";

constexpr std::string_view kDoesNotSupport =
    "the program, or a library of it, does not support this device, or what it was asked for there";
constexpr std::string_view kNoSuchDevice =
    "the program asks for a device by a number or name that there is not";
constexpr std::string_view kDeviceHeld = "another program or driver holds the device";
constexpr std::string_view kNotAsAsked =
    "this GPU, or its driver, does not encode or decode in the way that it was asked for";
constexpr std::string_view kNoMediaRuntime =
    "the runtime of oneVPL for this GPU (libmfx-gen1.2 or libmfxhw64, by its generation) is missing, or "
    "does not take the GPU";
constexpr std::string_view kDoesNotCompile =
    "a program for the GPU does not compile: the compiler's first `error:` is the reason";

/// DEVICE_LOST of zeMemAllocDevice and zeMemAllocShared (intel/compute-runtime 22.43 to 26.31, context.cpp).
constexpr std::string_view kForeignDevice =
    "memory was asked for on a device that is not in the context, or that is lost";

/// Words of programs that use an Intel GPU. Sentences of kFallbackRank and less count in their logs alone.
[[nodiscard]] std::span<const std::string_view> gpu_words();
/// Words of programs that decode and encode video, or keep what they show secret.
[[nodiscard]] std::span<const std::string_view> media_words();
/// Words of programs that use a GPU: where no other vendor's is named, it may be Intel's.
[[nodiscard]] std::span<const std::string_view> any_gpu_words();

constexpr std::uint8_t kFallbackRank = 30;  ///< of families, and of sentences that say that a program failed
constexpr std::uint8_t kMediaFirmwareRank =
    51;  ///< of the sentence that HuC or GSC have no firmware; has a slot of its own
constexpr std::uint8_t kDeathRank = 2;      ///< of sentences that say that a process died
constexpr std::uint8_t kFamilyRank = 10;    ///< of families, which say more than a code that blames nothing
constexpr std::uint8_t kCodeRank = 55;      ///< of a result code; what ranks higher says more
constexpr std::uint8_t kNoDeviceRank = 40;  ///< of one that says only that there is no device
constexpr std::uint8_t kSentenceRank = 90;  ///< of one that names the cause itself

}  // namespace kiln::detail
