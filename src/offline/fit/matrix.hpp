// SPDX-License-Identifier: MIT
// Kernels against targets: what Kiln answers in each cell, and what the driver does.
#pragma once

#include "offline/fit/parts.hpp"

namespace kiln::offline {

/// What Intel's driver without a GPU says to the same kernel and launch.
struct DriverAnswer {
  bool asked = false;
  bool fits = false;
  std::string reason;    ///< why it was not asked
  std::string call;      ///< the last one
  std::string result;    ///< its result code by name; empty when it did not return
  std::string ended_by;  ///< what ended the process inside that call: "SIGABRT"; empty when it returned
  std::string said;      ///< the driver's own words: build log, or its last line before the end
};

struct Cell {
  const Part* part = nullptr;           ///< where the kernel is from; null: from nowhere
  const KernelFacts* kernel = nullptr;  ///< null: nothing is known of it for this target
  bool not_compiled = false;            ///< ocloc was to make a binary from `part` and could not
  std::vector<Diagnostic> findings;     ///< errors first
  std::string note;                     ///< why there is no native binary
  std::optional<Occupancy> occupancy;   ///< of a compiled kernel whose group size is known, when it fits
  std::optional<DriverAnswer> driver;   ///< nothing: not wanted

  /// Warnings are no refusal.
  [[nodiscard]] bool fits() const;
  bool truncated = false;  ///< asked for a `__local` argument of 4 GiB or more

  /// Kiln says yes and the driver no, or the other way round.
  [[nodiscard]] bool differs() const { return driver && driver->asked && driver->fits != fits(); }
  /// Why that is to be expected; empty: it is not, or they agree.
  [[nodiscard]] std::string_view known_difference() const;
  [[nodiscard]] bool disagrees() const { return differs() && known_difference().empty(); }
  [[nodiscard]] FitBasis by() const;
};

struct Row {
  std::string family, kernel;
  std::vector<Cell> cells;  ///< one for each target
};

struct Matrix {
  std::vector<const Target*> targets;
  std::vector<Row> rows;

  [[nodiscard]] bool all_fit() const;  ///< by Kiln, and by the driver where it was asked
};

/// Every kernel of the set against every target. Pure; keeps pointers into the set.
[[nodiscard]] Matrix check_all(const PartSet& set, const std::vector<const Target*>& targets,
                               const FitLaunch& launch);

/// A `--local` argument that no kernel has is a mistake in the command: K0404. Pure.
[[nodiscard]] std::optional<Error> unknown_local(const FitLaunch& launch, const PartSet& set);

}  // namespace kiln::offline
