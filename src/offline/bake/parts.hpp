// SPDX-License-Identifier: MIT
// What baking is made of: sources, what is compiled of them, and the files that are written.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kiln/bake.hpp"
#include "offline/ocloc.hpp"

namespace kiln::offline {

/// Build options, told apart by who needs them.
struct BakeFlags {
  std::string front_end;  ///< all of them, the folders of -I made absolute
  std::string back_end;   ///< without -I and -D: they say nothing to it, and binaries keep what it is given
  std::vector<std::filesystem::path> include_folders{};  ///< as they were given
  bool debug = false;                                    ///< -g without the -s that names the source
};

/// Splits at blanks outside of double quotes. Pure but for the current folder.
[[nodiscard]] BakeFlags parse_flags(std::string_view options);

struct BakeSource {
  std::string file;  ///< as it was given
  SourceLanguage language = SourceLanguage::spirv;
  std::vector<std::byte> bytes;
};

/// Files, then what is in memory: OpenCL C by its ending, SPIR-V by its first bytes. Errors: K0201, K0209,
/// K0420.
[[nodiscard]] Result<std::vector<BakeSource>> read_sources(const std::vector<std::string>& files,
                                                           const std::vector<KernelFile>& in_memory = {});

/// The files that a source of OpenCL C may include, and those that they may: every `#include` counts,
/// whatever the conditions around it, but for files that are not there and names made by macros.
[[nodiscard]] std::vector<std::string> included_files(const BakeSource& source, const BakeFlags& flags);

/// A rule for make without a recipe: the output depends on these files. Pure.
[[nodiscard]] std::string make_rule(const std::string& output, const std::vector<std::string>& dependencies);

/// All sources as one module for one target.
struct FrontEnd {
  std::vector<std::byte> spirv;
  std::vector<BakedKernel> kernels;
  std::vector<CompilerMessage> messages;
};

/// What bounds each run of ocloc.
struct Bounds {
  std::chrono::milliseconds time_limit;
  std::stop_token stop{};
};

/// OpenCL C through ocloc, then all linked into one. Errors: K0405, K0406; K0420 two kernels of one name, no
/// kernel, or sources that do not link. Thread-safe.
[[nodiscard]] tl::expected<FrontEnd, CompileFailure> compile_front_end(const std::vector<BakeSource>& sources,
                                                                       const std::string& target,
                                                                       const BakeFlags& flags,
                                                                       const Bounds& bounds);

struct BakedTarget {
  FrontEnd front_end;
  BakedMember native;
};

/// Thread-safe.
[[nodiscard]] tl::expected<BakedTarget, CompileFailure> bake_target(const std::vector<BakeSource>& sources,
                                                                    const Target& target,
                                                                    const BakeFlags& flags,
                                                                    const Bounds& bounds);

/// The object code of the CPU device on this machine. Errors: K0306, K0422.
[[nodiscard]] Result<BakedMember> bake_cpu(std::span<const std::byte> spirv, const BakeFlags& flags);

/// K0422. Pure.
[[nodiscard]] Error cpu_failure(ze_result_t code, const std::string& log);

/// Can a file be put there? Errors: K0421.
[[nodiscard]] Result<void> check_output(const std::string& path);
/// All of it or nothing, and never half of it under that name. Errors: K0421.
[[nodiscard]] Result<void> write_output(const std::string& path, std::span<const std::byte> bytes);

/// K0420 and K0421: something is wrong with this file, and what to do.
[[nodiscard]] Diagnostic bad_source(std::string message, std::vector<DiagnosticRow> rows, std::string help);
[[nodiscard]] Error bad_output(const std::string& path, std::string why, std::string help);

}  // namespace kiln::offline
