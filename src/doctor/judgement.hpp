// SPDX-License-Identifier: MIT
// The parts of the judgement, one an area, and what they share.
#pragma once

#include <string_view>

#include "doctor/judge.hpp"

namespace kiln::doctor {

class Findings {
 public:
  void ok(const char* area, std::string text) { list_.push_back({State::ok, area, std::move(text), {}}); }
  /// A note for a warning, a problem for an error.
  void add(const char* area, Diagnostic why);
  [[nodiscard]] std::vector<Finding> take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
};

/// What the driver's debug keys are, wherever they come from.
struct DebugKeys {
  bool enabled = false;    ///< NEOReadDebugKeys
  bool simulated = false;  ///< the driver shows a device that is not there
  std::string source;      ///< "the environment", or the settings file that replaces it
  std::map<std::string, std::string> keys;
  std::size_t hidden = 0;  ///< more of them, which are not shown
};
/// There are some 750 keys; all have the shape of `UseAubStream`, which few other variables have.
[[nodiscard]] bool is_key(std::string_view name);
[[nodiscard]] DebugKeys debug_keys(const Facts& facts);

void judge_loader(const Facts& facts, Findings& findings);
void judge_drivers(const Facts& facts, Findings& findings);
void judge_gpus(const Facts& facts, Findings& findings);
void judge_compilers(const Facts& facts, Findings& findings);
void judge_environment(const Facts& facts, Findings& findings);
void judge_debug_keys(const Facts& facts, Findings& findings);
void judge_files(const Facts& facts, Findings& findings);

/// The devices that are there in earnest: GPUs that the loader shows and that no debug key makes up.
[[nodiscard]] std::vector<DeviceFact> usable_gpus(const Facts& facts);

enum class Mask : std::uint8_t { unset, fine, ill_formed, hides_all };
[[nodiscard]] Mask affinity_mask(const Facts& facts);

/// The value of an environment variable; null when it is not set.
[[nodiscard]] const std::string* variable(const Facts& facts, const std::string& name);

/// For a line of a terminal: control characters replaced, and not without end.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 120);
/// The same for all of a diagnostic that quotes what comes from outside.
[[nodiscard]] Diagnostic printable(Diagnostic diagnostic);

/// "signal 6 (Aborted)", "no answer within 30 s"; empty for a good end.
[[nodiscard]] std::string end_text(const ChildEnd& end);

/// How many keys are not shown, if any.
void add_hidden(std::vector<DiagnosticRow>& rows, std::size_t keys);

[[nodiscard]] const Start* intel_driver(const Facts& facts);

/// It cannot be opened although it is there, crashes, or is no driver: a finding of its own.
[[nodiscard]] bool is_broken(const Start& driver);

/// "8086:56a0".
[[nodiscard]] std::string pci_id(std::uint32_t vendor, std::uint32_t device);

inline constexpr std::uint32_t kIntel = 0x8086;

}  // namespace kiln::doctor
