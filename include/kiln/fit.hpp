// SPDX-License-Identifier: MIT
// Which products kernel files fit: every kernel of the files against every target, without a device. Of
// libkiln-offline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/bundle.hpp"
#include "kiln/diagnostic.hpp"
#include "kiln/long_work.hpp"
#include "kiln/occupancy.hpp"
#include "kiln/result.hpp"
#include "kiln/target.hpp"

namespace kiln {

/// A launch to look at: for every kernel of the files, as far as it applies to it.
struct FitLaunch {
  std::optional<Extent> group_size{}, groups{};
  /// Bytes for `__local` arguments, by index or name.
  std::vector<std::pair<std::string, std::uint64_t>> locals{};

  /// The part of it that is about this kernel. Pure.
  [[nodiscard]] KernelRequest of(const KernelFacts& kernel) const;
  /// Is `argument` that `__local` argument of the kernel? Pure.
  [[nodiscard]] static bool names(const KernelFacts& kernel, std::size_t index, const std::string& argument);
};

struct FitOptions {
  /// Files on disk: OpenCL C where the name ends in .cl; SPIR-V, native code and archives by their first
  /// bytes. "saxpy.pvc.bin" and "saxpy.spv" are files of one family: what stands before the first dot.
  std::vector<std::string> files{};
  std::vector<KernelFile> sources{};  ///< files in memory, behind those and told apart in the same way
  /// As BakeOptions::targets. None: those that the files were made for, else one of each generation.
  std::vector<std::string> targets{};
  FitLaunch launch{};
  std::string flags{};  ///< OpenCL build options for what is compiled
  /// Whether ocloc compiles SPIR-V and OpenCL C for the targets that no native code is for. Without it OpenCL
  /// C is left out, which is among FitReport::errors, and of SPIR-V is told what it says itself.
  bool compile = true;
  std::chrono::milliseconds time_limit = std::chrono::minutes(2);  ///< for one run of ocloc
  LongWork work{};                                                 ///< a piece is a compilation
};

/// Where what is known of a kernel for a target is from.
enum class FitBasis : std::uint8_t {
  none,      ///< nothing is known
  native,    ///< native code for it among the files
  compiled,  ///< ocloc made it, just now
  spirv,     ///< the SPIR-V, which a driver would compile
};

/// "native", "compiled", "spirv" or "none". Pure.
[[nodiscard]] const char* to_string(FitBasis basis);

/// One kernel on one target.
struct KernelFit {
  std::string target;  ///< ocloc's name
  FitBasis basis = FitBasis::none;
  std::string file, member;              ///< where the kernel is from; empty: from nowhere, from no archive
  bool fits = false;                     ///< it can be built, and launched as far as FitLaunch says
  std::vector<Diagnostic> findings{};    ///< errors first; warnings are no refusal
  std::string note{};                    ///< why there is no native code, where there is none
  std::optional<Occupancy> occupancy{};  ///< of native code whose group size is known, when it fits
};

struct FitRow {
  std::string family, kernel;
  std::vector<KernelFit> targets;  ///< in the order of FitReport::targets
};

struct FitReport {
  std::vector<std::string> targets;
  std::vector<FitRow> rows;
  std::vector<Error> errors{};  ///< files that are left out, and why

  /// There are kernels, every one fits every target, and no file was left out. Pure.
  [[nodiscard]] bool all_fit() const;
};

/// Holds every kernel of the files against every target: limits of SLM, group sizes, scratch memory,
/// features, symbols. Errors, INVALID_ARGUMENT unless something else is named: K0404 a target, or a `__local`
/// argument that no kernel has; K0423 stopped (NOT_READY). A file that cannot be read is among
/// FitReport::errors. Thread-safe. It needs memory for the files and what is compiled, and room in the
/// temporary folder (TMPDIR).
[[nodiscard]] Result<FitReport> check_fit(const FitOptions& options);

}  // namespace kiln
