// SPDX-License-Identifier: MIT
// What the parent of a driver child asks and what comes back, as JSON in a file and JSON lines in a pipe.
#pragma once

#include "tool/common/session.hpp"

namespace kiln::tool {

/// One argument that is set before the launch.
struct ArgumentQuestion {
  std::uint32_t index = 0;
  ArgumentKind kind = ArgumentKind::value;
  std::uint64_t bytes = 0;  ///< of the value, which is zeros, or of SLM
};

struct KernelQuestion {
  std::string name;
  bool launch = false;  ///< else the kernel is only made
  Extent group_size, groups;
  std::vector<ArgumentQuestion> arguments;
};

/// One module and its kernels, for the device `capture:PRODUCT`.
struct ModuleQuestion {
  std::string file;
  bool spirv = false;
  std::string flags;
  std::vector<KernelQuestion> kernels;
};

struct DriverQuestion {
  std::string product;
  std::vector<ModuleQuestion> modules;
};

/// A line from the child: before each call its name, and after the last one of a kernel how that ended.
/// `module` or `kernel` of -1: the line is about all of them.
struct DriverLine {
  int module = -1, kernel = -1;
  std::string call;
  std::optional<std::string> result;  ///< by name; nothing: the call begins
  std::string said;                   ///< build log; or why the device cannot be opened
  std::string code;                   ///< K0308 and so on: the device cannot be opened
};

[[nodiscard]] Json to_json(const DriverQuestion& question);
[[nodiscard]] std::optional<DriverQuestion> parse_question(const std::string& text);
[[nodiscard]] std::string to_line(const DriverLine& line);
/// Nothing for anything else, such as words that the driver wrote in between. Pure.
[[nodiscard]] std::optional<DriverLine> parse_line(const std::string& text);

/// In the child's folder: what the driver wrote on stdout and stderr.
constexpr const char* kPrintedFile = "printed.txt";
/// The line that says where an abort was called, else the last one that is not empty, made fit for a
/// terminal. Pure.
[[nodiscard]] std::string last_words(const std::string& printed);

/// The child itself: answers the question in that file on stdout. The process may not survive it.
int answer_question(const std::string& file);

}  // namespace kiln::tool
