// SPDX-License-Identifier: MIT
// How many registers a hardware thread gets: by a build option, or by building twice and keeping the better.
#pragma once

#include "build/cached_build.hpp"

namespace kiln::detail {

struct RegisterPolicy {
  Registers registers = Registers::as_given;
  std::uint32_t spill_limit = 0;  ///< bytes a hardware thread, that may spill before more registers are tried
};

/// `flags` with the option for 128 or 256 registers; alone where they have one already, or the policy is
/// another. Pure.
[[nodiscard]] std::string with_registers(const std::string& flags, Registers registers);
/// Whether the flags themselves say how many registers. Pure.
[[nodiscard]] bool says_registers(std::string_view flags);

/// Whether hardware threads of the device can have 256 registers. Gen12 has 128 alone, and is told by its
/// seven threads an EU, as older drivers give no IP version; the CPU device has none.
[[nodiscard]] bool has_more_registers(const OpenDevice& device);

/// What became of one build, as far as registers are concerned.
struct RegisterUse {
  bool built = false;
  bool lacks_scratch = false;  ///< the compiler refused for it, or the driver makes no kernel
  std::string kernel{};        ///< the one that spills most
  std::uint64_t spill = 0;     ///< its bytes a hardware thread
  std::uint32_t lanes = 0;     ///< its SIMD width; 0: not known
};

/// Should it be built again with more registers? Pure.
[[nodiscard]] bool wants_registers(const RegisterUse& first, std::uint32_t spill_limit);
/// Is the build with more the better one? Equal ones are not: they have half the threads. Pure.
[[nodiscard]] bool is_better(const RegisterUse& more, const RegisterUse& first);
/// "`f` spills 16384 B a hardware thread, 128 registers of 32 bits a lane". Pure.
[[nodiscard]] std::string spill_text(const RegisterUse& use);

/// Begins the line in front of a build log that tells what was chosen, and why.
inline constexpr std::string_view kRegistersChosen = "kiln: 256 registers a hardware thread: ";
inline constexpr std::string_view kRegistersKept = "kiln: registers as given: ";

/// A module built with these flags.
using MakeWithFlags = std::function<MadeModule(const std::string& flags)>;

/// What tells the question of build_with_registers() from that of a build with the flags as given; nothing
/// where it decides nothing.
[[nodiscard]] std::optional<ManifestField> registers_field(const OpenDevice& device,
                                                           const RegisterPolicy& policy,
                                                           std::string_view flags);

/// By the policy; Registers::automatic asks the cache for its decision, `question` being that of the flags as
/// given. Thread-safe.
[[nodiscard]] CachedBuild build_with_registers(
    Cache* cache, const OpenDevice& device, const RegisterPolicy& policy, const std::string& flags,
    const std::function<CacheQuestion(const std::string& flags)>& question, const MakeWithFlags& make);

}  // namespace kiln::detail
