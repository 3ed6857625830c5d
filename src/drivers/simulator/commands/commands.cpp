// SPDX-License-Identifier: MIT
// The table of commands.
#include "drivers/simulator/commands/commands.hpp"

#include <array>
#include <cstdio>

namespace kiln::simulator {
namespace {

struct Row {
  std::uint32_t code;
  Command command;
  std::string_view name;
  std::uint32_t length_mask;  ///< of the field in the first word, which lacks 2; 0: one word
};

// By bits 23-28. Those below 0x10 have one word.
constexpr std::array kStreamer{
    Row{0x00, Command::nothing, "MI_NOOP", 0},
    Row{0x01, Command::set_predicate, "MI_SET_PREDICATE", 0},
    Row{0x02, Command::nothing, "MI_USER_INTERRUPT", 0},
    Row{0x05, Command::nothing, "MI_ARB_CHECK", 0},
    Row{0x08, Command::nothing, "MI_ARB_ON_OFF", 0},
    Row{0x09, Command::nothing, "MI_MEM_FENCE", 0},
    Row{0x0a, Command::batch_end, "MI_BATCH_BUFFER_END", 0},
    Row{0x1a, Command::math, "MI_MATH", 0xff},
    Row{0x1c, Command::semaphore_wait, "MI_SEMAPHORE_WAIT", 0xff},
    Row{0x20, Command::store_immediate, "MI_STORE_DATA_IMM", 0x3ff},
    Row{0x22, Command::load_register, "MI_LOAD_REGISTER_IMM", 0xff},
    Row{0x24, Command::store_register, "MI_STORE_REGISTER_MEM", 0xff},
    Row{0x26, Command::flush, "MI_FLUSH_DW", 0x3f},
    Row{0x29, Command::load_from_memory, "MI_LOAD_REGISTER_MEM", 0xff},
    Row{0x2a, Command::copy_register, "MI_LOAD_REGISTER_REG", 0xff},
    Row{0x2e, Command::copy_memory, "MI_COPY_MEM_MEM", 0xff},
    Row{0x2f, Command::atomic, "MI_ATOMIC", 0xff},
    Row{0x31, Command::batch_start, "MI_BATCH_BUFFER_START", 0xff},
};

// By the upper half of the first word.
constexpr std::array kCompute{
    Row{0x6904, Command::nothing, "PIPELINE_SELECT", 0},
    Row{0x6101, Command::base_address, "STATE_BASE_ADDRESS", 0xff},
    // Where exceptions and preemption would go: nothing is preempted here, and exceptions end the kernel.
    Row{0x6102, Command::nothing, "STATE_SIP", 0xff},
    Row{0x6103, Command::nothing, "STATE_PREFETCH", 0xff},
    Row{0x6104, Command::nothing, "GPGPU_CSR_BASE_ADDRESS", 0xff},
    Row{0x6105, Command::compute_mode, "STATE_COMPUTE_MODE", 0xff},
    Row{0x6106, Command::nothing, "3DSTATE_BTD", 0xff},
    Row{0x6109, Command::nothing, "STATE_SYSTEM_MEM_FENCE_ADDRESS", 0xff},
    Row{0x7000, Command::media_state, "MEDIA_VFE_STATE", 0xffff},
    Row{0x7002, Command::media_descriptors, "MEDIA_INTERFACE_DESCRIPTOR_LOAD", 0xffff},
    Row{0x7004, Command::nothing, "MEDIA_STATE_FLUSH", 0xffff},
    Row{0x7105, Command::media_walker, "GPGPU_WALKER", 0xff},
    Row{0x7200, Command::front_end, "CFE_STATE", 0xff},
    Row{0x7208, Command::compute_walker, "COMPUTE_WALKER", 0xff},
    Row{0x7919, Command::binding_tables, "3DSTATE_BINDING_TABLE_POOL_ALLOC", 0xff},
    Row{0x7a00, Command::pipe_control, "PIPE_CONTROL", 0xff},
    Row{0x7d80, Command::l3_control, "L3_CONTROL", 0xff},
};

// By bits 22-28.
constexpr std::array kCopy{
    Row{0x41, Command::block_copy, "XY_BLOCK_COPY_BLT", 0xff},
    Row{0x44, Command::fast_fill, "XY_FAST_COLOR_BLT", 0xff},
    Row{0x5a, Command::memory_copy, "MEM_COPY", 0xff},
    Row{0x5b, Command::memory_fill, "MEM_SET", 0xff},
};

template <std::size_t count>
const Row* find(const std::array<Row, count>& rows, std::uint32_t code) {
  for (const Row& row : rows)
    if (row.code == code) return &row;
  return nullptr;
}

}  // namespace

std::optional<KnownCommand> known_command(std::uint32_t first) {
  const Row* row = nullptr;
  switch (first >> 29) {
    case 0:
      row = find(kStreamer, first >> 23 & 63);
      break;
    case 2:
      row = find(kCopy, first >> 22 & 127);
      break;
    case 3:
      row = find(kCompute, first >> 16);
      break;
    default:
      break;
  }
  if (!row) return {};
  return KnownCommand{row->command, row->name, row->length_mask == 0 ? 1 : (first & row->length_mask) + 2};
}

std::string unknown_command(std::uint32_t first) {
  char text[64];
  switch (first >> 29) {
    case 0:
      std::snprintf(text, sizeof text, "MI command 0x%02x", first >> 23 & 63);
      break;
    case 2:
      std::snprintf(text, sizeof text, "command 0x%02x of the copy engine", first >> 22 & 127);
      break;
    case 3:
      std::snprintf(text, sizeof text, "command 0x%04x of the compute pipeline", first >> 16);
      break;
    default:
      std::snprintf(text, sizeof text, "command of type %u", first >> 29);
      break;
  }
  return std::string(text) + " (first word " + [&] {
    char word[16];
    std::snprintf(word, sizeof word, "0x%08x", first);
    return std::string(word);
  }() + ")";
}

}  // namespace kiln::simulator
