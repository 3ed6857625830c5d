// SPDX-License-Identifier: MIT
// Faults on demand: what shall go wrong, for testing the programs that must live through it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "drivers/cpu/api/abi.hpp"

namespace kiln::cpu {

/// What KILN_CPU_FAULT asks for, a list with commas: `allocation=N`, `lost=N`, `reset=N`, `memory=BYTES`,
/// `build`, `event`. Counts start at 1.
struct Faults {
  std::uint64_t allocation = 0;  ///< the allocation that finds no memory; 0: none
  std::uint64_t lost = 0;        ///< the submission that loses the device; 0: none
  std::uint64_t reset = 0;       ///< the same, for the contexts that live then
  std::uint64_t memory = 0;      ///< bytes the device has; 0: the host's
  bool build = false;            ///< builds from SPIR-V fail with a log
  bool event = false;            ///< events are not signalled by the device
};

/// Nothing when the text asks for something else. Pure.
[[nodiscard]] std::optional<Faults> parse_faults(std::string_view text);

/// Those of the process. Set once, before the first driver handle is given out.
[[nodiscard]] const Faults& faults();
void set_faults(const Faults& faults);

/// Counts an allocation; true when it is the one that must fail. Thread-safe.
[[nodiscard]] bool allocation_fails();

/// Counts a submission, and loses the device at the one that was named. Thread-safe.
void count_submission();

/// Losses of the device before a context was made. The next one takes the context, and all that is made in
/// it, for good; what is made later lives. Thread-safe.
class LossesBefore {
 public:
  /// SUCCESS, or DEVICE_LOST.
  [[nodiscard]] ze_result_t state() const;
  /// The same of what ended at that time of now_ns(): what did before the loss stays so, as on GPUs, where
  /// the driver finds it in memory.
  [[nodiscard]] ze_result_t state(std::uint64_t ended_ns) const;

 private:
  friend class ContextLife;
  LossesBefore() = default;
  std::uint64_t number_ = 0;
};

/// Part of each context. Thread-safe.
class ContextLife {
 public:
  ContextLife();
  ~ContextLife();
  ContextLife(const ContextLife&) = delete;
  ContextLife& operator=(const ContextLife&) = delete;
  [[nodiscard]] const LossesBefore& losses() const { return losses_; }

 private:
  LossesBefore losses_;
};

/// SUCCESS, or DEVICE_LOST from the loss on until a context lives that was made after it. Thread-safe.
[[nodiscard]] ze_result_t device_state();

}  // namespace kiln::cpu
