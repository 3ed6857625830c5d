// SPDX-License-Identifier: MIT
// What result codes mean on Intel's driver, and why a program failed, read from its trace or log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/diagnostic.hpp"

namespace kiln {

/// What is known about a result code of Level Zero, or of what stands above it.
struct CodeMeaning {
  std::string name;                    ///< "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"
  std::optional<std::uint32_t> value;  ///< Level Zero's number
  std::string meaning;                 ///< what the specification, or the layer above, says by it
  std::vector<std::string> causes;     ///< what makes Intel's driver give it
  std::vector<std::string> cures;
};

/// Takes a name (with or without ZE_RESULT_ERROR_), 0x70000003, 1879048195, and 0x1879048195: tracers put 0x
/// before a decimal number. Also what OpenCL and SYCL make of it: -5, CL_OUT_OF_RESOURCES,
/// UR_RESULT_ERROR_OUT_OF_RESOURCES. Pure; thread-safe. Source: Level Zero specification, ze_result_t; for
/// the causes intel/compute-runtime 22.43 to 26.31.
[[nodiscard]] std::optional<CodeMeaning> explain_code(std::string_view word);

/// Reads a log line by line and tells why the program failed: the kernel's log (i915, xe), call traces of
/// onetrace, unitrace and ze_tracer, the loader's validation layer, debug messages and aborts of Intel's
/// driver, build logs, what SYCL, OpenCL, PyTorch, llama.cpp, OpenVINO and Triton programs print, and Kiln's
/// own messages as text and JSON. Time is linear in the log, and memory does not grow with it. One thread at
/// a time.
class LogReader {
 public:
  LogReader();
  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;
  ~LogReader();

  /// A line without its end. Anything may be in it; what is behind 64 KiB is ignored.
  void line(std::string_view text);
  /// The cause, by the lines until now: K0501 to K0527, or nothing where no failure was seen. A row
  /// `undecided` has what else it may be.
  [[nodiscard]] std::optional<Diagnostic> finding() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln
