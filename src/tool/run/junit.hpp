// SPDX-License-Identifier: MIT
// Results of `kiln test`, and their form for machines that build and test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::tool {

enum class CaseVerdict : std::uint8_t {
  right,
  not_compared,  ///< it ran, and says nothing of what to expect
  wrong,         ///< another answer, or a defect
  error,         ///< it was not run to its end
};
[[nodiscard]] const char* to_string(CaseVerdict verdict);

struct CaseResult {
  std::string path;
  CaseVerdict verdict = CaseVerdict::error;
  std::string kernel{}, reason{}, said{};  ///< `said`: on standard error
  double seconds = 0;

  [[nodiscard]] bool is_good() const {
    return verdict == CaseVerdict::right || verdict == CaseVerdict::not_compared;
  }
};

/// JUnit's XML, one suite of these cases. Text from outside cannot leave its place. Pure.
[[nodiscard]] std::string junit_xml(const std::vector<CaseResult>& results);

}  // namespace kiln::tool
