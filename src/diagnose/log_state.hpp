// SPDX-License-Identifier: MIT
// What a LogReader remembers of a log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/log_code.hpp"
#include "diagnose/log_memory.hpp"
#include "diagnose/own_message.hpp"
#include "diagnose/trace_line.hpp"
#include "diagnose/word_finder.hpp"
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

/// The sentence that says most of the cause.
struct LoggedSentence {
  const Rule* rule = nullptr;
  std::uint64_t line = 0;
  std::string text;
};

/// The first result code outside of a trace.
struct LoggedCode {
  std::string name;  ///< as explain_code() takes it
  std::uint64_t line = 0;
  std::string text;
  CallKind kind = CallKind::unknown;
};

/// What the kernel's log names.
struct LoggedProcess {
  std::string process, engine, reason;
};

}  // namespace detail

struct LogReader::State {
  void entered(const detail::TraceLine& line);
  void left(const detail::TraceLine& line);
  void text(std::string_view line);
  void sentences(std::string_view line, const detail::WordFinder::Found& found);
  void code_in(std::string_view line, detail::CallKind here);
  void kernel_log(std::string_view line);
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
  std::string unresolved, unresolved_kernel;  // the first symbol, and who uses it
  detail::LoggedSentence sentence;
  std::optional<detail::LoggedCode> code;
  detail::LoggedMemory memory;
  detail::LoggedProcess process;
  detail::CallKind last_kind = detail::CallKind::unknown;  // of a call that a line before names,
  std::uint64_t last_kind_line = 0;                        // which one
  bool lists_devices = false, lists_gpu = false;           // sycl-ls
  std::uint64_t list_line = 0;
};

}  // namespace kiln
