// SPDX-License-Identifier: MIT
// `kiln analyze … --report FILE.html`: what native code costs as a page.
#pragma once

#include "tool/analyze/measures.hpp"

namespace kiln::tool {

/// What the page is of.
struct NativePage {
  const std::vector<AnalyzedKernel>& kernels;    ///< with their text
  const Comparison* comparison = nullptr;        ///< of two sides; null: none
  std::vector<Diagnostic> problems{};            ///< what went wrong on the way, and the budget's verdict
  std::map<std::string, std::string> sources{};  ///< OpenCL C by file
};

/// What is worth a change in a kernel, the gravest first. Pure.
struct NativeNote {
  std::string title;  ///< with code in backquotes
  std::vector<std::string> help;
};
[[nodiscard]] std::vector<NativeNote> notes_of(const AnalyzedKernel& kernel);

/// Pure.
[[nodiscard]] std::string native_page(const NativePage& page);

}  // namespace kiln::tool
