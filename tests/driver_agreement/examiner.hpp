// SPDX-License-Identifier: MIT
// Puts each module, kernel and launch to Kiln's check and to Intel's driver, and compares the answers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "driver_agreement/plan.hpp"
#include "kiln/kiln.hpp"

namespace kiln::agreement {

/// Both answers to one case, with what a difference may depend on.
struct Answers {
  std::string kind;  ///< "module", "kernel", "launch", "suggestion", "cooperative", "allocation"
  bool kiln_fits = false, driver_fits = false;
  std::string kiln;    ///< code of the diagnostic, or the number that Kiln gives
  std::string driver;  ///< the result code's name, or the number
  const KernelFacts* kernel = nullptr;
  const LaunchPlan* launch = nullptr;
  std::string what;  ///< for the reproducer
  std::optional<AllocationRequest> allocation{};
  bool warned = false;  ///< Kiln's yes comes with a warning

  [[nodiscard]] bool agree() const { return kiln_fits == driver_fits && (driver_fits || kiln == driver); }
};

struct Setting {
  const OpenDevice* device = nullptr;
  const Target* target = nullptr;
  std::uint32_t driver_build = 0;  ///< the low 16 bits of Intel's driver version: 24595 is 22.43, 39122 26.27
};

/// A difference that is the driver's bug or a matter of its version.
struct Difference {
  const char* name;
  const char* reason;
  bool (*applies)(const Setting&, const Answers&);
};
[[nodiscard]] const Difference* explained(const Setting& setting, const Answers& answers);

struct Counts {
  std::uint64_t cases = 0, refused = 0, unexplained = 0;
  std::map<std::string, std::uint64_t> by_kind, by_difference, by_code;
};

class Examiner {
 public:
  /// Hears what comes next, so that it can be told should the driver end the process.
  using Note = std::function<void(const std::string&)>;
  /// answer() in another process: the driver may end it.
  using AskApart = std::function<std::string(const std::string& question)>;
  Examiner(Setting setting, std::string ocloc, Note note, AskApart ask_process);

  /// Everything about one drawn module: some dozen cases.
  void examine(std::uint64_t seed);
  /// What the driver says to "kernel NAME" of that module, or to "allocation KIND SIZE ALIGNMENT LIMITS".
  [[nodiscard]] std::string answer(std::uint64_t seed, const std::string& question);
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Made {
    KernelFile file;
    ModuleBuild build;
    std::string answer;
  };
  struct Built;
  [[nodiscard]] Made make(const ModulePlan& plan, bool native) const;
  void examine_allocation(Draw& draw);
  void examine_kernel(Draw& draw, Built& built, std::size_t index);
  void examine_launch(Draw& draw, const CheckedKernel& kernel, const KernelFacts& facts, std::size_t locals);
  void examine_concurrency(const CheckedKernel& checked, const KernelFacts& facts, const LaunchPlan& launch,
                           const std::vector<LaunchArgument>& arguments);
  void record(const Answers& answers);

  Setting setting_;
  Aim aim_;
  ThreadMemory memory_;
  CoreLimits cores_;
  std::string ocloc_;
  Note note_;
  AskApart ask_process_;
  std::string where_;
  CommandList list_;
  Buffer out_;
  Counts counts_;
};

}  // namespace kiln::agreement
