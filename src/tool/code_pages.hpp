// SPDX-License-Identifier: MIT
// What docs/diagnostics.md says of Kiln's own codes.
#pragma once

#include <string>
#include <vector>

namespace kiln::tool {

struct CodePage {
  std::string code, cause;
  std::string result, cure;  ///< empty where the page has none
  std::string example;       ///< a diagnostic of that code as it is printed
};

const std::vector<CodePage>& code_pages();

}  // namespace kiln::tool
