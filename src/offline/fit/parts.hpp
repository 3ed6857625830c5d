// SPDX-License-Identifier: MIT
// Kernel files whose kernels are known, and what ocloc makes of those that are not native code for a target
// yet.
#pragma once

#include <chrono>
#include <memory>

#include "kiln/fit.hpp"
#include "offline/ocloc.hpp"

namespace kiln::offline {

/// A kernel file, or a member of one, whose kernels are known.
struct Part {
  std::string family, file;  ///< "saxpy" of "saxpy.pvc.bin"
  BinaryPart part;
  std::span<const std::byte> code;       ///< what a driver or a compiler would be given
  const Target* compiled_for = nullptr;  ///< by ocloc, just now, from `file`; null: found as it is
  bool is_inside = false;                ///< SPIR-V that native code carries along

  [[nodiscard]] bool is_spirv() const { return part.format == BinaryFormat::spirv; }
  [[nodiscard]] bool is_for(const Target& target) const;  ///< native code for it
};

struct OpenClSource {
  std::string family, file;
  std::span<const std::byte> code;
};

struct PartSet {
  std::vector<Part> parts;
  std::vector<OpenClSource> sources;
  std::vector<std::pair<std::string, CompileFailure>> failures;      ///< by file
  std::vector<Error> errors;                                         ///< files that are left out
  std::vector<std::unique_ptr<const std::vector<std::byte>>> bytes;  ///< what every `code` is part of

  /// The failure for a file and a target, or null.
  [[nodiscard]] const CompileFailure* failure(const std::string& file, const Target& target) const;
};

/// What each part would be given to a driver as, in the order of read_parts(); fewer where a file is damaged.
[[nodiscard]] std::vector<std::span<const std::byte>> codes_of(std::span<const std::byte> file,
                                                               const std::vector<BinaryPart>& parts);

/// Reads the files; those that cannot be read become errors.
[[nodiscard]] PartSet read_files(const std::vector<std::string>& files);
void add_file(PartSet& set, KernelFile file);

/// Compiles SPIR-V and OpenCL C for each target that no native binary of the same family is for. OpenCL C
/// that cannot be compiled at all becomes an error (K0405, K0406); where ocloc knows not the target, its
/// SPIR-V serves.
void compile_missing(PartSet& set, const std::vector<const Target*>& targets, const std::string& options,
                     std::chrono::milliseconds time_limit, const LongWork& work);

/// Those that the files were compiled for; without any, one of each generation.
[[nodiscard]] std::vector<const Target*> default_targets(const PartSet& set);

}  // namespace kiln::offline
