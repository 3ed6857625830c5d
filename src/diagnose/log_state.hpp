// SPDX-License-Identifier: MIT
// What a LogReader remembers of a log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/log_code.hpp"
#include "diagnose/log_line.hpp"
#include "diagnose/log_memory.hpp"
#include "diagnose/own_message.hpp"
#include "diagnose/rules/word_finder.hpp"
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

/// A call that has begun and not returned.
struct OpenCall {
  std::string thread, call, values;
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
  /// Begins, goes on with, or ends a table of kernels.
  void kernel_table(std::string_view line);
  /// That the process died.
  void death(std::string_view line);
  /// What a log without Kiln's own messages tells.
  [[nodiscard]] std::optional<Diagnostic> failure_finding() const;

  /// What an account of memory in the log says of such a failure.
  [[nodiscard]] std::optional<Diagnostic> account_finding() const;

  detail::OwnMessages own;
  detail::GitLog git_log;
  detail::PrintedAccount account;
  std::uint64_t lines = 0;
  std::map<std::string, detail::LoggedKernel, std::less<>> kernels;  // by handle
  std::map<std::string, std::string, std::less<>> arguments;         // of each call's latest one, by thread
  std::vector<detail::OpenCall> open;                                // the latest last
  std::vector<detail::OpenCall> died_in;                             // those that were open when it died
  std::optional<std::string> first_thread;                           // that a trace names,
  bool several_threads = false;                                      // and whether there are more
  std::uint64_t death_line = 0;
  std::string death_text;
  std::map<std::string, std::uint64_t, std::less<>> kernel_slm;  // bytes of `__local` arrays, by kernel
  std::size_t table_behind = 0, table_columns = 0;  // fields behind that of SLM, and in all; 0: no table
  std::optional<detail::LoggedFailure> failure;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> slm;  // bytes: asked for, available
  std::uint64_t abort_line = 0;
  std::string abort_text, abort_file;
  std::string unresolved, unresolved_kernel;  // the first symbol, and who uses it
  detail::LoggedSentence sentence;
  detail::LoggedSentence fallback;  // of a family, or that a program failed: where nothing else says more
  detail::LoggedSentence died;      // that a process died, in whatever log
  detail::LoggedSentence media_firmware;  // that HuC or GSC have no firmware, which few programs need,
  bool names_media = false;               // and whether the log is of one that does
  bool names_gpu = false;                 // the log is of a program that uses an Intel GPU,
  bool may_name_gpu = false;              // or of one that may be,
  bool lists = false;                     // or of one that only lists devices,
  bool compiler_died = false;             // or of a compiler that died,
  bool names_other = false;               // or uses that of another vendor
  std::optional<detail::LoggedCode> code;
  detail::LoggedMemory memory;
  detail::LoggedProcess process;
  detail::CallKind last_kind = detail::CallKind::unknown;  // of a call that a line before names,
  std::uint64_t last_kind_line = 0;                        // which one
  bool lists_devices = false, lists_gpu = false;           // sycl-ls
  std::uint64_t compiler_line = 0;  // of the compiler's command, until another one or a device follows
  std::uint64_t list_line = 0;
  bool lists_card = false;  // the device of lspci whose lines these are is a card of Intel's
};

}  // namespace kiln
