// SPDX-License-Identifier: MIT
// Ring, batches, and which command goes where.
#include "drivers/simulator/commands/streamer.hpp"

#include <cstring>

#include "drivers/simulator/ended.hpp"

namespace kiln::simulator {
namespace {

constexpr unsigned kMostLevels = 3;  // ring, first and second level

std::uint64_t batch_target(std::span<const std::uint32_t> words) {
  return (std::uint64_t{words[2]} << 32 | words[1]) & 0x0000'ffff'ffff'fffc;
}
bool second_level(std::uint32_t first_word) { return first_word >> 22 & 1; }

}  // namespace

void Streamer::count_command() {
  if (++commands_ > machine_.limits.commands)
    end("a submission has more than " + std::to_string(machine_.limits.commands) +
        " commands: batch buffers that start each other in a circle");
  if ((commands_ & 1023) == 0 && machine_.stop.load(std::memory_order_relaxed)) end("the program is gone");
}

void Streamer::run(const Submission& submission) {
  space_.tables().set_root(submission.root);
  commands_ = 0;
  noop_ = false;
  const auto word = [&](std::uint32_t offset) {
    const std::byte* const at = space_.tables().find_global(submission.ring + offset);
    if (!at) end("the ring at " + hex(submission.ring) + " is not mapped");
    std::uint32_t value = 0;
    std::memcpy(&value, at, 4);
    return value;
  };
  std::uint32_t at = submission.head;
  while (at != submission.tail) {
    count_command();
    const auto command = known_command(word(at));
    if (!command) end("the ring has an unknown " + unknown_command(word(at)));
    if (command->words > 64 || submission.size - at < 4 * command->words)
      end("a command of the ring goes on behind its end");
    for (std::uint32_t i = 0; i < command->words; ++i) words_[i] = word(at + 4 * i);
    const Words words(words_.data(), command->words);
    at = (at + 4 * command->words) % submission.size;
    if (command->command == Command::batch_start && words.size() >= 3)
      batch(batch_target(words), 1);
    else
      execute_or_tell(*command, words);
  }
}

void Streamer::run_batch(std::uint64_t address) {
  commands_ = 0;
  noop_ = false;
  batch(address, 1);
}

Streamer::Words Streamer::fetch(std::uint64_t address, KnownCommand& command) {
  words_[0] = space_.read_word(address, "a batch buffer");
  const auto known = known_command(words_[0]);
  if (!known) end("an unknown " + unknown_command(words_[0]) + " in the batch buffer at " + hex(address));
  command = *known;
  if (command.words > words_.size()) end(std::string(command.name) + " is longer than any is");
  if (command.words > 1)
    space_.read(address + 4, std::as_writable_bytes(std::span(words_)).subspan(4, 4 * (command.words - 1)),
                "a batch buffer");
  return {words_.data(), command.words};
}

void Streamer::batch(std::uint64_t address, unsigned level) {
  if (level >= kMostLevels + 1) end("batch buffers are nested too deep");
  while (true) {
    count_command();
    KnownCommand command;
    const Words words = fetch(address, command);
    address += 4 * words.size();
    if (command.command == Command::batch_end) return;
    if (command.command == Command::batch_start) {
      if (words.size() < 3) end("MI_BATCH_BUFFER_START is too short");
      if (noop_) continue;
      // From a first-level batch a second-level one returns; all others go on elsewhere.
      if (second_level(words[0]) && level == 1)
        batch(batch_target(words), level + 1);
      else
        address = batch_target(words);
    } else {
      execute_or_tell(command, words);
    }
  }
}

void Streamer::execute_or_tell(const KnownCommand& command, Words words) {
  if (!on_fault) return execute(command, words);
  if (lost_) switch (command.command) {
      case Command::media_walker:
      case Command::compute_walker:
      case Command::semaphore_wait:
      case Command::block_copy:
      case Command::fast_fill:
      case Command::memory_copy:
      case Command::memory_fill:
        return;
      default:
        break;
    }
  try {
    execute(command, words);
  } catch (const Ended& ended) {
    if (machine_.stop) throw;
    if (!lost_) on_fault(ended.text);
    lost_ = true;
  }
}

void Streamer::execute(const KnownCommand& command, Words words) {
  if (noop_ && command.command != Command::set_predicate) return;
  const auto needs = [&](std::size_t count) {
    if (words.size() < count)
      end(std::string(command.name) + " has " + std::to_string(words.size()) + " words, not " +
          std::to_string(count));
  };
  switch (command.command) {
    case Command::nothing:
      return;
    case Command::set_predicate:
      switch (words[0] & 15) {
        case 0:
          noop_ = false;
          return;
        case 1:
          noop_ = !(registers_.read(kPredicateResult) & 1);
          return;
        case 2:
          noop_ = registers_.read(kPredicateResult) & 1;
          return;
        case 15:
          noop_ = true;
          return;
        default:
          end("MI_SET_PREDICATE with the condition " + std::to_string(words[0] & 15));
      }
    case Command::math:
      return math(words);
    case Command::semaphore_wait:
      return needs(4), semaphore_wait(words);
    case Command::store_immediate:
      return needs(4), store_immediate(words);
    case Command::load_register:
      return needs(3), load_registers(words);
    case Command::store_register:
      needs(4);
      return space_.write_word((std::uint64_t{words[3]} << 32 | words[2]) & ~std::uint64_t{3},
                               registers_.read(words[1] & 0x7ffffc), "MI_STORE_REGISTER_MEM");
    case Command::load_from_memory:
      needs(4);
      return registers_.write(words[1] & 0x7ffffc,
                              space_.read_word((std::uint64_t{words[3]} << 32 | words[2]) & ~std::uint64_t{3},
                                               "MI_LOAD_REGISTER_MEM"));
    case Command::copy_register:
      needs(3);
      return registers_.write(words[2] & 0x7ffffc, registers_.read(words[1] & 0x7ffffc));
    case Command::copy_memory:
      needs(5);
      return space_.write_word(
          (std::uint64_t{words[2]} << 32 | words[1]) & ~std::uint64_t{3},
          space_.read_word((std::uint64_t{words[4]} << 32 | words[3]) & ~std::uint64_t{3}, "MI_COPY_MEM_MEM"),
          "MI_COPY_MEM_MEM");
    case Command::flush:
      return needs(3), flush(words);
    case Command::atomic:
      return needs(3), atomic(words);
    case Command::pipe_control:
      return needs(6), pipe_control(words);
    case Command::l3_control:
      return l3_control(words);
    case Command::base_address:
      return needs(18), base_address(words);
    case Command::compute_mode:
      needs(2);
      if (words[1] >> 31) many_registers_ = words[1] >> 15 & 1;
      return;
    case Command::binding_tables:
      needs(4);
      base_.tables = (std::uint64_t{words[2]} << 32 | words[1]) & 0x0000'ffff'ffff'f000;
      base_.pool = true;
      return;
    case Command::media_state:
    case Command::front_end:
      needs(6);
      scratch_ = words[1];
      return;
    case Command::media_descriptors:
      needs(4);
      descriptors_ = base_.dynamic + words[3];
      return;
    case Command::media_walker:
      return needs(15), media_walker(words);
    case Command::compute_walker:
      return needs(39), compute_walker(words);
    case Command::block_copy:
      return needs(12), block_copy(words);
    case Command::fast_fill:
      return needs(11), fast_fill(words);
    case Command::memory_copy:
      return needs(10), memory_copy(words);
    case Command::memory_fill:
      return needs(7), memory_fill(words);
    case Command::batch_start:
    case Command::batch_end:
      end(std::string(command.name) + " where none can be");
  }
}

}  // namespace kiln::simulator
