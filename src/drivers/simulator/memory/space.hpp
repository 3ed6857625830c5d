// SPDX-License-Identifier: MIT
// An engine's commands reach memory by virtual address: reads and writes of any length, or the end of the
// submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "drivers/simulator/memory/tables.hpp"

namespace kiln::simulator {

/// "0x8000000012"
[[nodiscard]] std::string hex(std::uint64_t value);

/// Functions throw Ended for what is not mapped; `who` names the command. Bound to a thread.
class Space {
 public:
  explicit Space(Tables& tables) : tables_(tables) {}

  void read(std::uint64_t address, std::span<std::byte> to, const char* who);
  void write(std::uint64_t address, std::span<const std::byte> from, const char* who);
  [[nodiscard]] std::uint32_t read_word(std::uint64_t address, const char* who);
  [[nodiscard]] std::uint64_t read_long(std::uint64_t address, const char* who);
  void write_word(std::uint64_t address, std::uint32_t value, const char* who);
  void write_long(std::uint64_t address, std::uint64_t value, const char* who);
  /// As the program has it at this moment: for commands that wait.
  [[nodiscard]] std::uint32_t watch(std::uint64_t address, const char* who);
  /// From an address on, to the end of what is mapped, at most `most` bytes.
  [[nodiscard]] std::vector<std::byte> read_mapped(std::uint64_t address, std::size_t most);
  [[nodiscard]] Tables& tables() { return tables_; }

 private:
  [[nodiscard]] std::byte* at(std::uint64_t address, bool write, const char* who);
  Tables& tables_;
};

}  // namespace kiln::simulator
