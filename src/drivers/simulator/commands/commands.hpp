// SPDX-License-Identifier: MIT
// Commands by their first word: name and length. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::simulator {

/// What is executed. `nothing`: a command that changes nothing here, such as the flush of a cache.
enum class Command : std::uint8_t {
  nothing,
  // The command streamer's own.
  set_predicate,
  batch_end,
  math,
  semaphore_wait,
  store_immediate,
  load_register,
  store_register,
  flush,
  load_from_memory,
  copy_register,
  copy_memory,
  atomic,
  batch_start,
  // Of the compute pipeline.
  base_address,
  compute_mode,
  pipe_control,
  l3_control,
  binding_tables,
  media_state,
  media_descriptors,
  media_walker,
  front_end,
  compute_walker,
  // Of the copy engine.
  block_copy,
  fast_fill,
  memory_copy,
  memory_fill,
};

struct KnownCommand {
  Command command = Command::nothing;
  std::string_view name;
  std::uint32_t words = 1;  ///< with the first
};

/// Nothing: not known. Source: hw_cmds_generated_*.inl of driver 22.43, and Intel's Programmer's Reference
/// Manuals, volume 2a, "Command Reference: Instructions".
[[nodiscard]] std::optional<KnownCommand> known_command(std::uint32_t first_word);

/// For a command that is not known: "MI command 0x36" or "command 0x7105 of the compute pipeline".
[[nodiscard]] std::string unknown_command(std::uint32_t first_word);

}  // namespace kiln::simulator
