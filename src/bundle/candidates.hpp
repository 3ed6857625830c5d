// SPDX-License-Identifier: MIT
// What a module could be made of: files, and the members of fat binaries, in the order of trying.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kiln/bundle.hpp"

namespace kiln::detail {

struct Candidate {
  std::string file, member;  ///< member: empty where the file itself is the candidate
  BinaryFormat format = BinaryFormat::unknown;
  std::span<const std::byte> code{};  ///< inside the file's bytes
  ModuleFacts facts{};
  std::string target{};  ///< the product it was compiled for, "cpu" for the CPU device; empty: not said
  /// The driver gets the member in an archive of its own, so that it holds the member's name against the
  /// device: driver 22.43 tells nobody its version.
  bool by_name = false;
  BinaryFit fit = BinaryFit::compatible;  ///< should it be taken

  [[nodiscard]] std::string name() const;  ///< for messages
};

struct CandidateList {
  std::vector<Candidate> candidates;   ///< the most fitting first
  std::vector<DiagnosticRow> unread;   ///< what is damaged, and how
  std::vector<DiagnosticRow> foreign;  ///< what is for another kind of device
};

/// A fat binary of that member alone, without SPIR-V inside. Empty: it cannot have that name. Pure.
[[nodiscard]] std::vector<std::byte> archive_of(const Candidate& candidate);

/// Which native binary fits is the driver's to judge; what is said here is the order. Keeps spans into
/// `files`. With `library` SPIR-V needs no kernel. Pure.
[[nodiscard]] CandidateList find_candidates(std::span<const KernelFile> files, const DeviceProperties& device,
                                            bool library = false);

}  // namespace kiln::detail
