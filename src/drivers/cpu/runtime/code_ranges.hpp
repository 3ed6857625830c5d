// SPDX-License-Identifier: MIT
// Where the code of loaded programs lies, for a signal handler that must know what it interrupted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::cpu {

/// Announces code for as long as it lives. Thread-safe.
class CodeRange {
 public:
  CodeRange() = default;
  explicit CodeRange(std::span<const std::byte> code);
  CodeRange(CodeRange&& other) noexcept;
  CodeRange& operator=(CodeRange&& other) noexcept;
  ~CodeRange();

 private:
  struct Place;
  friend bool is_program_code(std::uintptr_t address);
  Place* place_ = nullptr;
};

/// Safe in signal handlers.
[[nodiscard]] bool is_program_code(std::uintptr_t address);

}  // namespace kiln::cpu
