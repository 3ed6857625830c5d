// SPDX-License-Identifier: MIT
// One file to attach to a bug report: what `kiln doctor` found, the devices, the memory, the kernel's log.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/judge.hpp"
#include "kiln/memory_account.hpp"

namespace kiln::doctor {

/// As it is published: made of facts that a Cleaner has cleaned.
struct BugReport {
  std::string kiln, system, kernel;  ///< "0.1.0", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64, x86_64"
  Report report;
  std::map<std::string, std::string> environment;
  std::size_t left_out = 0;  ///< variables that look like a driver's, and are not shown
  MemoryAccount memory;
  std::vector<Diagnostic> memory_causes;
  std::vector<std::string> kernel_log;
  bool by_sudo = false;          ///< variables and rights are root's, and not those of who asked
  std::string kernel_log_error;  ///< why it could not be read; empty: it could
  std::string devices;           ///< JSON of `kiln devices --json`; empty: none came back
};

/// The whole log of the kernel, as syslog(2) gives it; nothing and errno where this user may not read it.
[[nodiscard]] std::optional<std::string> read_kernel_log();

/// PRETTY_NAME of os-release. Pure.
[[nodiscard]] std::string system_name(std::string_view os_release);

/// Markdown, for people. `json` goes to its end, for programs. Pure.
[[nodiscard]] std::string to_markdown(const BugReport& report, std::string_view json);

/// A finding and what is behind it, in lines. Pure.
[[nodiscard]] std::string finding_text(const Finding& finding);

}  // namespace kiln::doctor
