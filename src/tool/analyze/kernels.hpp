// SPDX-License-Identifier: MIT
// The kernels of `kiln analyze`: files read and compiled, their native code decoded and counted.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/occupancy.hpp"
#include "tool/check/parts.hpp"
#include "tool/check/request.hpp"
#include "tool/executed/executed.hpp"
#include "xe/analysis.hpp"
#include "xe/lines.hpp"

namespace kiln::tool {

/// What one source line costs.
struct LineCost {
  std::string file;
  std::uint32_t line = 0;
  std::uint64_t instructions = 0, messages = 0;
  ExecutedCount executed{};  ///< where a run is given
};

/// Where an instruction is from; line 0: nobody knows.
struct InstructionLine {
  std::string file;
  std::uint32_t line = 0;
};

/// What a simulated GPU executed of a kernel: a functional machine counts, and nothing here is a time.
struct KernelExecution {
  std::string product;  ///< "dg2-g10"
  std::uint64_t launches = 0, groups = 0, threads = 0, instructions = 0;
  Json simd_efficiency, scratch;        ///< as `native_counters` of a run has them
  std::vector<ExecutedCount> counts{};  ///< of each instruction of the kernel
};

struct AnalyzedKernel {
  std::string file;
  const Target* target = nullptr;
  KernelFacts facts;
  std::string text;                             ///< of libiga64, where it was asked for
  std::vector<InstructionLine> places{};        ///< of its instructions, with the text
  std::vector<xe::Instruction> instructions{};  ///< with the text, without padding
  std::optional<KernelExecution> executed{};
  xe::CodeAnalysis code{};
  std::vector<LineCost> lines{};     ///< by file and line; empty: built without -g
  std::uint64_t group = 0, slm = 0;  ///< work-items and bytes that occupancy is for
  bool slm_known = true;             ///< false: bytes of some `__local` argument are not
  Occupancy occupancy{};
};

/// Bytes of a register. Pure.
[[nodiscard]] std::uint32_t register_bytes(const Target& target);

/// K0442. `kernel`: the one that was asked for, or empty; `target`: the product that it is missing for, null:
/// for any. Pure.
[[nodiscard]] Diagnostic nothing_native(const std::string& file, const std::string& kernel,
                                        const Target* target = nullptr);
/// The same, of a file that has other kernels. Pure.
[[nodiscard]] Diagnostic not_among(const std::string& file, const std::string& kernel,
                                   const std::vector<std::string>& names);

struct Analysis {
  std::vector<AnalyzedKernel> kernels;
  std::vector<Error> errors;
};

struct AnalyzeRequest {
  std::vector<const Target*> targets;
  CheckRequest launch;
  std::string kernel;      ///< empty: all
  bool keep_text = false;  ///< of the disassembly
  std::chrono::milliseconds time_limit{};
};

/// All kernels of a file, compiled with `flags` where it has no native code for the targets.
[[nodiscard]] Analysis analyze_file(const std::string& file, const std::string& flags,
                                    const AnalyzeRequest& request);

}  // namespace kiln::tool
