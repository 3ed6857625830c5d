// SPDX-License-Identifier: MIT
// Says what the facts about a machine mean for someone who wants a GPU. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "kiln/diagnostic.hpp"

namespace kiln::doctor {

enum class State : std::uint8_t { ok, note, problem };

/// "ok", "note" or "problem".
[[nodiscard]] const char* to_string(State state);

struct Finding {
  State state = State::ok;
  const char* area = "";          ///< "loader", "drivers", "GPU", "compiler", "environment", "files"
  std::string text;               ///< one line
  std::optional<Diagnostic> why;  ///< evidence and cure, for all but ok
};

struct Report {
  std::vector<Finding> findings;
  std::string device;   ///< what `kiln run` would use: "gpu", "cpu", "capture:dg2", or empty
  std::string verdict;  ///< the same as a sentence, with the reason
  bool gpu_usable = false;
};

[[nodiscard]] Report judge(const Facts& facts);

}  // namespace kiln::doctor
