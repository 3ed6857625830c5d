// SPDX-License-Identifier: MIT
// Registers by offset; values that nobody reads are kept all the same.
#include "drivers/simulator/commands/registers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "drivers/simulator/model.hpp"

namespace kiln::simulator {

std::uint64_t ticks() {
  static std::atomic<std::uint64_t> last{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto nanoseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  const std::uint64_t wanted = nanoseconds / 1000 * (kTicksPerSecond / 1'000'000);
  std::uint64_t before = last.load();
  std::uint64_t result = 0;
  do {
    result = std::max(wanted, before + 1);
  } while (!last.compare_exchange_weak(before, result));
  return result;
}

std::uint32_t Registers::own(std::uint32_t offset) const {
  return offset >= base_ && offset < base_ + 0x1000 ? offset - base_ + 0x2000 : offset;
}

std::uint32_t Registers::read(std::uint32_t offset) const {
  switch (own(offset)) {
    case kTimestamp:
    case kThreadTime:
      return static_cast<std::uint32_t>(ticks());
    case kTimestamp + 4:
    case kThreadTime + 4:
      return static_cast<std::uint32_t>(ticks() >> 32);
    default:
      break;
  }
  const auto found = values_.find(own(offset));
  return found == values_.end() ? 0 : found->second;
}

void Registers::write(std::uint32_t offset, std::uint32_t value) {
  // Offsets are 23 bits of a command, in steps of 4: what a stream may fill is bounded.
  values_[own(offset)] = value;
}

std::uint64_t Registers::general(unsigned index) const {
  return std::uint64_t{read(kGeneral + 8 * index + 4)} << 32 | read(kGeneral + 8 * index);
}

void Registers::set_general(unsigned index, std::uint64_t value) {
  write(kGeneral + 8 * index, static_cast<std::uint32_t>(value));
  write(kGeneral + 8 * index + 4, static_cast<std::uint32_t>(value >> 32));
}

// Source: Intel's Programmer's Reference Manual for Tiger Lake, volume 2a, MI_MATH; register_offsets.h of
// driver 22.43: an opcode in bits 20-31 and two operands of 10 bits.
bool Registers::compute(std::span<const std::uint32_t> instructions, std::uint32_t& unknown) {
  std::uint64_t a = 0, b = 0, result = 0;
  bool zero = false, carry = false;
  const auto source = [&](std::uint32_t operand) -> std::uint64_t {
    if (operand < 16) return general(operand);
    switch (operand) {
      case 0x20:
        return a;
      case 0x21:
        return b;
      case 0x31:
        return result;
      case 0x32:
        return zero ? ~std::uint64_t{0} : 0;
      case 0x33:
        return carry ? ~std::uint64_t{0} : 0;
      default:
        return 0;
    }
  };
  const auto settle = [&](std::uint64_t value, bool carried) {
    result = value;
    zero = value == 0;
    carry = carried;
  };
  for (const std::uint32_t instruction : instructions) {
    const std::uint32_t code = instruction >> 20, first = instruction >> 10 & 1023,
                        second = instruction & 1023;
    const auto load = [&](std::uint64_t value) { (first == 0x20 ? a : b) = value; };
    switch (code) {
      case 0x000:
        break;
      case 0x080:
        load(source(second));
        break;
      case 0x480:
        load(~source(second));
        break;
      case 0x081:
        load(0);
        break;
      case 0x481:
        load(~std::uint64_t{0});
        break;
      case 0x100:
        settle(a + b, a + b < a);
        break;
      case 0x101:
        settle(a - b, a < b);
        break;
      case 0x102:
        settle(a & b, false);
        break;
      case 0x103:
        settle(a | b, false);
        break;
      case 0x104:
        settle(a ^ b, false);
        break;
      case 0x105:
        settle(a << (b & 63), false);
        break;
      case 0x106:
        settle(a >> (b & 63), false);
        break;
      case 0x180:
      case 0x580:
        if (first < 16) set_general(first, code == 0x180 ? source(second) : ~source(second));
        break;
      default:
        unknown = instruction;
        return false;
    }
  }
  return true;
}

}  // namespace kiln::simulator
