// SPDX-License-Identifier: MIT
// Reads the amounts in messages of allocators: PyTorch, llama.cpp, OpenVINO, chipStar, SYCL.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "diagnose/log_causes.hpp"
#include "kiln/diagnostic.hpp"

namespace kiln::detail {

/// What a log says of an allocation that failed, in bytes.
struct LoggedMemory {
  std::optional<std::uint64_t> asked, total, free, used, largest, allowed;
  bool relaxed = false;  ///< limits of a single allocation were lifted

  /// Takes what a line tells.
  void read(std::string_view line);
};

/// What the amounts say of the cause, and whether they leave another one open; none: they say nothing.
struct MemoryVerdict {
  Cause cause = Cause::none, or_else = Cause::none;
  std::string_view message{};
};
[[nodiscard]] MemoryVerdict verdict(const LoggedMemory& memory);

/// Is it a failure for want of memory, which an account of memory can decide?
[[nodiscard]] bool is_about_memory(const Diagnostic& failure);

/// The failure, with what an account of the same log says of it: its cause goes first where it is certain,
/// and its cure in any case.
[[nodiscard]] Diagnostic with_account(Diagnostic failure, const Diagnostic& account);

}  // namespace kiln::detail
