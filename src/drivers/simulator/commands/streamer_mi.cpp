// SPDX-License-Identifier: MIT
// Commands of the streamer itself: memory, registers, waits.
#include <atomic>
#include <chrono>

#include "drivers/simulator/commands/streamer.hpp"
#include "drivers/simulator/ended.hpp"

namespace kiln::simulator {
namespace {

std::uint64_t address_of(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32 | low) & 0x0000'ffff'ffff'fffc;
}

bool compare(std::uint32_t operation, std::uint32_t memory, std::uint32_t data) {
  switch (operation) {
    case 0:
      return memory > data;
    case 1:
      return memory >= data;
    case 2:
      return memory < data;
    case 3:
      return memory <= data;
    case 4:
      return memory == data;
    case 5:
      return memory != data;
    default:
      end("MI_SEMAPHORE_WAIT with the comparison " + std::to_string(operation));
  }
}

}  // namespace

void Streamer::math(Words words) {
  std::uint32_t unknown = 0;
  if (!registers_.compute(words.subspan(1), unknown))
    end("MI_MATH has the unknown instruction " + hex(unknown));
}

void Streamer::semaphore_wait(Words words) {
  constexpr const char* kName = "MI_SEMAPHORE_WAIT";
  const std::uint32_t operation = words[0] >> 12 & 7;
  const bool of_register = words[0] >> 16 & 1;
  const std::uint64_t address = address_of(words[2], words[3]);
  const std::uint32_t wanted = words[1];
  const auto start = std::chrono::steady_clock::now();
  Activity::Wait waiting(machine_.activity);
  for (std::uint64_t round = 0;; ++round) {
    const std::uint32_t now = of_register ? registers_.read(static_cast<std::uint32_t>(address) & 0x7ffffc)
                                          : space_.watch(address, kName);
    if (compare(operation, now, wanted)) return;
    if (machine_.stop) end("the program is gone");
    if (std::chrono::steady_clock::now() - start > machine_.limits.wait)
      end(std::string(kName) + " waits for the word at " + hex(address) + ", which is " + hex(now) +
          ", not " + hex(wanted) + ", for " + std::to_string(machine_.limits.wait.count()) + " milliseconds");
    waiting.pause(std::chrono::microseconds(round < 100 ? 20 : 1000));
  }
}

void Streamer::store_immediate(Words words) {
  constexpr const char* kName = "MI_STORE_DATA_IMM";
  const std::uint64_t address = address_of(words[1], words[2]);
  const bool of_long = words[0] >> 21 & 1;
  if (of_long && words.size() < 5) end(std::string(kName) + " of 64 bits is too short");
  if (of_long)
    space_.write_long(address, std::uint64_t{words[4]} << 32 | words[3], kName);
  else
    space_.write_word(address, words[3], kName);
}

void Streamer::load_registers(Words words) {
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) registers_.write(words[i] & 0x7ffffc, words[i + 1]);
}

void Streamer::flush(Words words) {
  constexpr const char* kName = "MI_FLUSH_DW";
  const std::uint32_t operation = words[0] >> 14 & 3;
  if (operation == 0) return;
  const std::uint64_t address = address_of(words[1], words[2]) & ~std::uint64_t{7};
  if (operation == 1 && words.size() >= 5)
    space_.write_long(address, std::uint64_t{words[4]} << 32 | words[3], kName);
  else if (operation == 1 && words.size() == 4)
    space_.write_word(address, words[3], kName);
  else if (operation == 3)
    space_.write_long(address, ticks(), kName);
  else
    end(std::string(kName) + " with the post-sync operation " + std::to_string(operation));
}

void Streamer::atomic(Words words) {
  constexpr const char* kName = "MI_ATOMIC";
  const std::uint32_t code = words[0] >> 8 & 0xff;
  const bool inline_data = words[0] >> 18 & 1, returns = words[0] >> 16 & 1;
  const bool of_long = code >= 0x20;
  if (inline_data && words.size() < 11) end(std::string(kName) + " with inline data is too short");
  // Operands: inline, in words 3 and 5, 4 and 6; else in general registers 0 and 1.
  const std::uint64_t first = inline_data ? std::uint64_t{words[5]} << 32 | words[3] : registers_.general(0);
  const std::uint64_t second = inline_data ? std::uint64_t{words[6]} << 32 | words[4] : registers_.general(1);
  const std::uint64_t address = address_of(words[1], words[2]);
  if (address % (of_long ? 8 : 4) != 0) end(std::string(kName) + " at an address that is not aligned");
  Page* const page = space_.tables().find(address, true);
  if (!page) end(std::string(kName) + " reaches " + hex(address) + ", where nothing is mapped");

  const auto change = [&]<class T>(T) {
    using Signed = std::make_signed_t<T>;
    const std::atomic_ref<T> cell(*reinterpret_cast<T*>(page->data() + address % kPage));
    const T a = static_cast<T>(first), b = static_cast<T>(second);
    T old = cell.load();
    T result = 0;
    do {
      switch (code & 0x1f) {
        case 0x01:
          result = old & a;
          break;
        case 0x02:
          result = old | a;
          break;
        case 0x03:
          result = old ^ a;
          break;
        case 0x04:
          result = a;
          break;
        case 0x05:
          result = old + 1;
          break;
        case 0x06:
          result = old - 1;
          break;
        case 0x07:
          result = old + a;
          break;
        case 0x08:
          result = old - a;
          break;
        case 0x09:
          result = a - old;
          break;
        case 0x0a:
          result = static_cast<Signed>(old) > static_cast<Signed>(a) ? old : a;
          break;
        case 0x0b:
          result = static_cast<Signed>(old) < static_cast<Signed>(a) ? old : a;
          break;
        case 0x0c:
          result = old > a ? old : a;
          break;
        case 0x0d:
          result = old < a ? old : a;
          break;
        case 0x0e:
          result = old == a ? b : old;
          break;
        default:
          end(std::string(kName) + " with the unknown operation " + hex(code));
      }
    } while (!cell.compare_exchange_weak(old, result));
    return std::uint64_t{old};
  };
  const std::uint64_t old = of_long ? change(std::uint64_t{}) : change(std::uint32_t{});
  if (returns) registers_.set_general(0, old);
}

/// Writes caches back, of which there are none, and may write a value behind that.
void Streamer::l3_control(Words words) {
  if (!(words[0] >> 14 & 1)) return;
  if (words.size() < 5) end("L3_CONTROL is too short for what it writes");
  space_.write_long(address_of(words[1], words[2]), std::uint64_t{words[4]} << 32 | words[3], "L3_CONTROL");
}

void Streamer::pipe_control(Words words) {
  constexpr const char* kName = "PIPE_CONTROL";
  if (words[1] >> 23 & 1)  // writes a register instead
    return registers_.write(words[2] & 0x7ffffc, words[4]);
  const std::uint64_t address = address_of(words[2], words[3]);
  switch (words[1] >> 14 & 3) {
    case 0:
      return;
    case 1:
      return space_.write_long(address, std::uint64_t{words[5]} << 32 | words[4], kName);
    case 3:
      return space_.write_long(address, ticks(), kName);
    default:
      end("PIPE_CONTROL that writes the count of depth samples");
  }
}

}  // namespace kiln::simulator
