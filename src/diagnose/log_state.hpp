// SPDX-License-Identifier: MIT
// What a LogReader remembers of a log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/own_message.hpp"
#include "diagnose/trace_line.hpp"
#include "kiln/explain.hpp"

namespace kiln {
namespace detail {

struct LoggedKernel {
  std::string name;                                    ///< empty: its creation is not in the log
  std::map<std::uint64_t, std::uint64_t> local_bytes;  ///< `__local` arguments: bytes by index
};

struct LoggedFailure {
  std::uint64_t line = 0;
  std::string call, result, values;
  LoggedKernel kernel;
  bool probe = false;  ///< may well be no failure
};

}  // namespace detail

struct LogReader::State {
  void entered(const detail::TraceLine& line);
  void left(const detail::TraceLine& line);
  void text(std::string_view line);
  void word_in(std::string_view line);
  detail::LoggedKernel& kernel(std::string_view handle);
  /// What a log without Kiln's own messages tells.
  [[nodiscard]] std::optional<Diagnostic> failure_finding() const;

  detail::OwnMessages own;
  std::uint64_t lines = 0;
  std::map<std::string, detail::LoggedKernel, std::less<>> kernels;  // by handle
  std::map<std::string, std::string, std::less<>> arguments;         // of each call's latest one
  std::string inside;                                                // the call that did not return yet
  std::optional<detail::LoggedFailure> failure;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> slm;  // bytes: asked for, available
  std::uint64_t abort_line = 0;
  std::string abort_text, abort_file;
  std::string scratch, page_fault, group_size, word, word_line;
  std::string unresolved, unresolved_kernel;  // the first symbol, and who uses it
};

}  // namespace kiln
