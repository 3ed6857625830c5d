// SPDX-License-Identifier: MIT
// Messages by family: what each moves between registers and memory, against plain C++. Descriptors are
// written out by the bits of Intel's manuals, and libiga64 must call each what the row says it is.
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "xe/assembled.hpp"

namespace {

using namespace kiln;
using namespace kiln::test;

constexpr std::uint32_t kAddresses = 30, kData = 60, kMore = 80, kBytes = 4096, kTable = 5;

struct Message {
  const char *product, *unit;
  std::uint32_t descriptor;  ///< without the lengths of the payload
  const char* what;          ///< in libiga64's words
};

/// The instruction's text. `more`: registers of the second payload.
std::string text_of(const Message& message, std::uint32_t lanes, const std::string& result,
                    std::uint32_t received, std::uint32_t sent, const std::string& second, std::uint32_t more,
                    std::uint32_t extended = 0) {
  const bool older = std::string(message.product) == "tgllp";
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, " 0x%x 0x%x {$0}\n", extended | (older ? more << 6 : 0),
                message.descriptor | sent << 25 | received << 20);
  return "send." + std::string(message.unit) + " (" + std::to_string(lanes) + "|M0) " + result + " r" +
         std::to_string(kAddresses) + " " + second + (older ? "" : ":" + std::to_string(more)) + numbers;
}

/// libiga64 says of the first instruction of the text that it is this message.
void check_name(const std::string& text, const Message& message) {
  const std::uint32_t set = xe::instruction_set(*find_target(message.product));
  const auto code = assemble(text, set);
  REQUIRE_MESSAGE(code.size() >= 16, text);
  const auto disassembler = xe::Disassembler::open();
  REQUIRE(disassembler);
  const auto line = disassembler->line(std::span<const std::byte, 16>(code.data(), 16), set);
  REQUIRE(line);
  CHECK_MESSAGE(line->find(std::string("; ") + message.what) != std::string::npos, *line);
}

enum class Where : std::uint8_t { flat, surface, stateless };

/// A buffer of random bytes as the entry 5 of the binding table and from the general state's base on.
std::uint64_t add_memory(Machine& machine) {
  const std::uint64_t address = machine.bus.add(2 * kBytes);
  for (std::byte& each : machine.bus.bytes(address)) each = static_cast<std::byte>(random_number());
  machine.bus.bind(xe::SurfaceKind::table, kTable, {.base = address, .size = kBytes});
  machine.bus.set_general_state_base(address);
  return address;
}
std::vector<std::byte> content(Machine& machine, std::uint64_t address) {
  const auto bytes = machine.bus.bytes(address);
  return {bytes.begin(), bytes.begin() + 2 * kBytes};
}

/// Places of lanes that do not overlap, in steps of `step` bytes and `off` beside them; of surfaces some lie
/// behind the end.
std::vector<std::uint32_t> places(std::uint32_t lanes, std::uint32_t step, std::uint32_t off, bool beyond) {
  std::vector<std::uint32_t> order(kBytes / step - 1);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random_number);
  std::vector<std::uint32_t> all(lanes);
  for (std::uint32_t i = 0; i < lanes; ++i)
    all[i] = order[i] * step + off + (beyond && random_number() % 4 == 0 ? kBytes : 0);
  return all;
}

void put_addresses(Machine& machine, const std::vector<std::uint32_t>& all, std::uint32_t bytes,
                   std::uint64_t base) {
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const std::uint64_t at = base + all[i];
    std::memcpy(machine.registers.data() + kAddresses * machine.grf + i * bytes, &at, bytes);
  }
}

std::uint32_t registers_of(std::uint32_t bytes, std::uint32_t grf) { return (bytes + grf - 1) / grf; }

/// A load or store of each lane.
struct OfLanes {
  Message message;
  std::uint32_t lanes, address_bytes, memory_bytes, register_bytes;
  std::uint32_t components = 1;  ///< bit i: the element i behind the address
  Where where = Where::flat;
  std::uint32_t extended = 0;
  bool upper = false;  ///< 16 bits in the upper half of 32
};

void check_load(const OfLanes& of, bool store) {
  Machine machine(of.message.product);
  fill(machine);
  machine.active = static_cast<std::uint32_t>(random_number());
  const std::uint64_t address = add_memory(machine);
  const std::uint32_t grf = machine.grf, elements = static_cast<std::uint32_t>(std::popcount(of.components));
  // Data ports read and write words where they lie whole; bytes may lie anywhere.
  const auto at =
      places(of.lanes, 32, of.memory_bytes == 1 ? random_number() % 4 : 0, of.where == Where::surface);
  put_addresses(machine, at, of.address_bytes, of.where == Where::flat ? address : 0);
  const std::uint32_t block = registers_of(of.lanes * of.register_bytes, grf);
  const std::uint32_t sent = registers_of(of.lanes * of.address_bytes, grf);
  const std::string text =
      store ? text_of(of.message, of.lanes, "null", 0, sent, "r" + std::to_string(kData), elements * block,
                      of.extended)
            : text_of(of.message, of.lanes, "r2", elements * block, sent, "null", 0, of.extended);
  check_name(text, of.message);
  const Machine before = machine;
  std::vector<std::byte> memory = content(machine, address);
  machine.run(text);
  const std::uint32_t up = of.upper ? 2 : 0;
  for (std::uint32_t lane = 0; lane < of.lanes; ++lane) {
    std::uint32_t element = 0;
    for (std::uint32_t component = 0; component < 8; ++component) {
      if (!(of.components >> component & 1)) continue;
      const std::uint32_t from = at[lane] + component * of.memory_bytes;
      const std::uint32_t in_registers = element++ * block * grf + lane * of.register_bytes;
      const bool inside = of.where != Where::surface || from + of.memory_bytes <= kBytes;
      const bool active = machine.active >> lane & 1;
      if (store) {
        if (active && inside)
          std::memcpy(memory.data() + from, before.registers.data() + kData * grf + in_registers + up,
                      of.memory_bytes);
        continue;
      }
      std::vector<std::byte> expected(of.register_bytes);
      if (!active)
        std::memcpy(expected.data(), before.registers.data() + 2 * grf + in_registers, of.register_bytes);
      else if (inside)
        std::memcpy(expected.data() + up, memory.data() + from, of.memory_bytes);
      CHECK_MESSAGE(std::memcmp(expected.data(), machine.registers.data() + 2 * grf + in_registers,
                                of.register_bytes) == 0,
                    text);
    }
  }
  CHECK_MESSAGE(content(machine, address) == memory, text);
}

/// Bits of the LSC's descriptors.
constexpr std::uint32_t lsc(std::uint32_t operation, std::uint32_t address, std::uint32_t data,
                            std::uint32_t vector = 0, std::uint32_t type = 0) {
  return operation | address << 7 | data << 9 | vector << 12 | type << 29;
}
/// And of the data ports'.
constexpr std::uint32_t hdc(std::uint32_t type, std::uint32_t control, std::uint32_t entry = 255) {
  return entry | control << 8 | type << 14;
}

}  // namespace

TEST_CASE("messages: loads of lanes") {
  const std::vector<OfLanes> all{
      // LSC by address of 64 bits: sizes, vectors.
      {{"dg2", "ugm", lsc(0, 3, 2), "load.ugm.d32.a64"}, 16, 8, 4, 4},
      {{"dg2", "ugm", lsc(0, 3, 2), "load.ugm.d32.a64"}, 8, 8, 4, 4},
      {{"dg2", "ugm", lsc(0, 3, 3), "load.ugm.d64.a64"}, 16, 8, 8, 8},
      {{"dg2", "ugm", lsc(0, 3, 4), "load.ugm.d8u32.a64"}, 16, 8, 1, 4},
      {{"dg2", "ugm", lsc(0, 3, 5), "load.ugm.d16u32.a64"}, 16, 8, 2, 4},
      {{"dg2", "ugm", lsc(0, 3, 6), "load.ugm.d16u32h.a64"}, 16, 8, 2, 4, 1, Where::flat, 0, true},
      {{"dg2", "ugm", lsc(0, 3, 2, 1), "load.ugm.d32x2.a64"}, 16, 8, 4, 4, 3},
      {{"dg2", "ugm", lsc(0, 3, 2, 2), "load.ugm.d32x3.a64"}, 16, 8, 4, 4, 7},
      {{"dg2", "ugm", lsc(0, 3, 3, 3), "load.ugm.d64x4.a64"}, 8, 8, 8, 8, 15},
      {{"dg2", "ugm", lsc(0, 3, 2, 4), "load.ugm.d32x8.a64"}, 8, 8, 4, 4, 255},
      {{"pvc", "ugm", lsc(0, 3, 2, 3), "load.ugm.d32x4.a64"}, 32, 8, 4, 4, 15},
      {{"pvc", "ugm", lsc(0, 3, 3), "load.ugm.d64.a64"}, 32, 8, 8, 8},
      // By surface, with channels left out.
      {{"dg2", "ugm", lsc(0, 2, 2, 0, 3), "load.ugm.d32.a32.bti[5]"},
       16,
       4,
       4,
       4,
       1,
       Where::surface,
       kTable << 24},
      {{"dg2", "ugm", lsc(2, 2, 2, 11, 3), "load_quad.ugm.d32.xyw.a32.bti[5]"},
       16,
       4,
       4,
       4,
       11,
       Where::surface,
       kTable << 24},
      // Data ports: by surface, stateless, by address of 64 bits.
      {{"tgllp", "dc0", hdc(3, 1, kTable), "dword gathering read"}, 16, 4, 4, 4, 1, Where::surface},
      {{"tgllp", "dc0", hdc(3, 1), "dword gathering read"}, 16, 4, 4, 4, 1, Where::stateless},
      {{"tgllp", "dc0", hdc(4, 1, kTable), "byte gathering read 8b"}, 16, 4, 1, 4, 1, Where::surface},
      {{"tgllp", "dc0", hdc(4, 5, kTable), "byte gathering read 16b"}, 16, 4, 2, 4, 1, Where::surface},
      {{"tgllp", "dc0", hdc(4, 8, kTable), "byte gathering read 32b"}, 8, 4, 4, 4, 1, Where::surface},
      {{"tgllp", "dc1", hdc(1, 0x18, kTable), "untyped surface read with xyz"},
       16,
       4,
       4,
       4,
       7,
       Where::surface},
      {{"tgllp", "dc1", hdc(1, 0x25, kTable), "untyped surface read with yw"},
       8,
       4,
       4,
       4,
       10,
       Where::surface},
      {{"tgllp", "dc1", hdc(0x11, 0x20), "a64 untyped surface read with xyzw"}, 8, 8, 4, 4, 15},
      {{"tgllp", "dc1", hdc(0x10, 0x10), "a64 byte gathering read 8b"}, 16, 8, 1, 4},
      {{"tgllp", "dc1", hdc(0x10, 0x14), "a64 byte gathering read 16b"}, 16, 8, 2, 4},
      {{"tgllp", "dc1", hdc(0x10, 0x11), "a64 dword gathering read"}, 16, 8, 4, 4},
      {{"tgllp", "dc1", hdc(0x10, 0x05), "a64 dword gathering read"}, 8, 8, 4, 4, 3},
      {{"tgllp", "dc1", hdc(0x10, 0x02), "a64 qword gathering read"}, 8, 8, 8, 8},
      {{"tgllp", "dcro", hdc(3, 1, kTable), "constant dword gathering read"},
       16,
       4,
       4,
       4,
       1,
       Where::surface}};
  for (const OfLanes& of : all)
    for (int trial = 0; trial < 5; ++trial) check_load(of, false);
}

TEST_CASE("messages: stores of lanes") {
  const std::vector<OfLanes> all{
      {{"dg2", "ugm", lsc(4, 3, 2), "store.ugm.d32.a64"}, 16, 8, 4, 4},
      {{"dg2", "ugm", lsc(4, 3, 3), "store.ugm.d64.a64"}, 16, 8, 8, 8},
      {{"dg2", "ugm", lsc(4, 3, 4), "store.ugm.d8u32.a64"}, 16, 8, 1, 4},
      {{"dg2", "ugm", lsc(4, 3, 5), "store.ugm.d16u32.a64"}, 16, 8, 2, 4},
      {{"dg2", "ugm", lsc(4, 3, 2, 3), "store.ugm.d32x4.a64"}, 16, 8, 4, 4, 15},
      {{"pvc", "ugm", lsc(4, 3, 2, 1), "store.ugm.d32x2.a64"}, 32, 8, 4, 4, 3},
      {{"dg2", "ugm", lsc(4, 2, 2, 0, 3), "store.ugm.d32.a32.bti[5]"},
       16,
       4,
       4,
       4,
       1,
       Where::surface,
       kTable << 24},
      {{"dg2", "ugm", lsc(6, 2, 2, 6, 3), "store_quad.ugm.d32.yz.a32.bti[5]"},
       16,
       4,
       4,
       4,
       6,
       Where::surface,
       kTable << 24},
      {{"tgllp", "dc0", hdc(0xb, 1, kTable), "dword scattering write"}, 16, 4, 4, 4, 1, Where::surface},
      {{"tgllp", "dc0", hdc(0xc, 1, kTable), "byte scattering write 8b"}, 16, 4, 1, 4, 1, Where::surface},
      {{"tgllp", "dc0", hdc(0xc, 5), "byte scattering write 16b"}, 16, 4, 2, 4, 1, Where::stateless},
      {{"tgllp", "dc1", hdc(9, 0x1c, kTable), "untyped surface write with xy"},
       16,
       4,
       4,
       4,
       3,
       Where::surface},
      {{"tgllp", "dc1", hdc(0x19, 0x28), "a64 untyped surface write with xyz"}, 8, 8, 4, 4, 7},
      {{"tgllp", "dc1", hdc(0x1a, 0x10), "a64 byte scattering write 8b"}, 16, 8, 1, 4},
      {{"tgllp", "dc1", hdc(0x1a, 0x11), "a64 dword scattering write"}, 16, 8, 4, 4},
      {{"tgllp", "dc1", hdc(0x1a, 0x06), "a64 qword scattering write"}, 8, 8, 8, 8, 3}};
  for (const OfLanes& of : all)
    for (int trial = 0; trial < 5; ++trial) check_load(of, true);
}

TEST_CASE("messages: blocks") {
  // The header is the first register of the addresses.
  struct Block {
    Message message;
    std::uint32_t bytes;
    enum class Header : std::uint8_t { address, words, owords, stack, scratch, first_word } header;
    std::uint32_t extended = 0, ahead = 0;  ///< bytes that the descriptor adds
  };
  using Header = Block::Header;
  constexpr std::uint32_t kHeader = 1 << 19, kTransposed = 1 << 15;
  const std::vector<std::pair<Block, bool>> all{
      {{{"tgllp", "dc0", hdc(0, 3, kTable) | kHeader, "oword block read x4"}, 64, Header::owords}, false},
      {{{"tgllp", "dc0", hdc(8, 4, kTable) | kHeader, "oword block write x8"}, 128, Header::owords}, true},
      {{{"tgllp", "dc0", hdc(0, 2) | kHeader, "oword block read x2"}, 32, Header::stack}, false},
      {{{"tgllp", "dc0", hdc(8, 3) | kHeader, "oword block write x4"}, 64, Header::stack}, true},
      {{{"tgllp", "dc0", hdc(1, 2, kTable) | kHeader, "oword aligned block read x2"}, 32, Header::words},
       false},
      {{{"tgllp", "dcro", hdc(0, 3, kTable) | kHeader, "constant oword block read x4"}, 64, Header::owords},
       false},
      {{{"tgllp", "dc1", hdc(0x14, 4) | kHeader, "a64 unaligned oword block read x8"}, 128, Header::address},
       false},
      {{{"tgllp", "dc1", hdc(0x15, 3) | kHeader, "a64 unaligned oword block write x4"}, 64, Header::address},
       true},
      {{{"tgllp", "dc0", 1U << 18 | 1U << 12 | 3U | kHeader, "hword scratch block read x2"},
        64,
        Header::scratch,
        0,
        96},
       false},
      {{{"tgllp", "dc0", 3U << 17 | 0U << 12 | 5U | kHeader, "hword scratch block write x1"},
        32,
        Header::scratch,
        0,
        160},
       true},
      {{{"dg2", "ugm", lsc(0, 3, 2, 4) | kTransposed, "load.ugm.d32x8t.a64"}, 32, Header::address}, false},
      {{{"dg2", "ugm", lsc(0, 3, 3, 7) | kTransposed, "load.ugm.d64x64t.a64"}, 512, Header::address}, false},
      {{{"pvc", "ugm", lsc(4, 3, 2, 6) | kTransposed, "store.ugm.d32x32t.a64"}, 128, Header::address}, true},
      {{{"dg2", "ugm", lsc(0, 2, 2, 5, 3) | kTransposed, "load.ugm.d32x16t.a32.bti[5]"},
        64,
        Header::first_word,
        kTable << 24},
       false}};
  for (const auto& [block, store] : all)
    for (int trial = 0; trial < 5; ++trial) {
      Machine machine(block.message.product);
      fill(machine);
      const std::uint64_t address = add_memory(machine);
      const std::uint32_t grf = machine.grf, header = kAddresses * grf,
                          count = registers_of(block.bytes, grf);
      std::uint32_t at = 16 * (random_number() % 200);
      switch (block.header) {
        case Header::address:
          machine.put<std::uint64_t>(header, address + at);
          break;
        case Header::owords:
          machine.put<std::uint32_t>(header + 8, at / 16);
          break;
        case Header::words:
          machine.put<std::uint32_t>(header + 8, at);
          break;
        case Header::first_word:
          machine.put<std::uint32_t>(header, at);
          break;
        case Header::stack:  // of the thread whose r0.5 the header has
          machine.put<std::uint32_t>(header + 8, at / 16);
          machine.put<std::uint32_t>(header + 20, 1024U | 0x155);
          at += 1024;
          break;
        case Header::scratch:  // a thread's space begins at a multiple of 1 KiB; the lower bits mean
                               // something else
          at = 1024 * (1 + at % 2);
          machine.put<std::uint32_t>(header + 20, at | 0x155);
          break;
      }
      const std::uint32_t lanes = block.message.unit == std::string("ugm") ? 1 : 8;
      const std::string text =
          "(W) " + (store ? text_of(block.message, lanes, "null", 0, 1, "r" + std::to_string(kData), count,
                                    block.extended)
                          : text_of(block.message, lanes, "r2", count, 1, "null", 0, block.extended));
      check_name(text, block.message);
      const Machine before = machine;
      auto memory = content(machine, address);
      machine.run(text);
      if (store)
        std::memcpy(memory.data() + at + block.ahead, before.registers.data() + kData * grf, block.bytes);
      else
        CHECK_MESSAGE(std::memcmp(machine.registers.data() + 2 * grf, memory.data() + at + block.ahead,
                                  block.bytes) == 0,
                      text);
      CHECK_MESSAGE(content(machine, address) == memory, text);
    }
}

TEST_CASE("messages: rectangles") {
  for (const bool store : {false, true}) {
    Machine machine("pvc");
    fill(machine);
    const std::uint64_t address = add_memory(machine);
    // 16 columns of 32 bits and 8 rows at column 3 and row 30 of a matrix of 18 columns and 34 rows.
    constexpr std::uint32_t kColumns = 16, kRows = 8, kX = 3, kY = 30, kWidth = 18, kHeight = 34, kPitch = 80;
    const std::uint32_t header = kAddresses * machine.grf;
    machine.put<std::uint64_t>(header, address);
    machine.put<std::uint32_t>(header + 8, kWidth * 4 - 1);
    machine.put<std::uint32_t>(header + 12, kHeight - 1);
    machine.put<std::uint32_t>(header + 16, kPitch - 1);
    machine.put<std::uint32_t>(header + 20, kX);
    machine.put<std::uint32_t>(header + 24, kY);
    machine.put<std::uint32_t>(header + 28, (kColumns - 1) | (kRows - 1) << 8);
    const Message message{"pvc", "ugm", store ? lsc(7, 0, 2) : lsc(3, 0, 2),
                          store ? "store_block2d.ugm.d32.a64" : "load_block2d.ugm.d32.a64"};
    const std::string text =
        "(W) " + (store ? text_of(message, 1, "null", 0, 1, "r" + std::to_string(kData), kRows)
                        : text_of(message, 1, "r2", kRows, 1, "null", 0));
    check_name(text, message);
    const Machine before = machine;
    auto memory = content(machine, address);
    machine.run(text);
    for (std::uint32_t row = 0; row < kRows; ++row)
      for (std::uint32_t column = 0; column < kColumns; ++column) {
        const bool inside = kX + column < kWidth && kY + row < kHeight;
        const std::uint32_t at = (kY + row) * kPitch + (kX + column) * 4,
                            in_registers = (row * kColumns + column) * 4;
        if (store) {
          if (inside)
            std::memcpy(memory.data() + at, before.registers.data() + kData * before.grf + in_registers, 4);
          continue;
        }
        std::uint32_t expected = 0;
        if (inside) std::memcpy(&expected, memory.data() + at, 4);
        CHECK(machine.get<std::uint32_t>(2 * machine.grf + in_registers) == expected);
      }
    CHECK(content(machine, address) == memory);
  }
}

namespace {

using Bits = std::uint64_t;
struct Operation {
  Message message;
  std::uint32_t lanes, address_bytes, bytes, operands;
  std::function<Bits(Bits, Bits, Bits)> next;  ///< of the old value and the operands
  Where where = Where::flat;
  bool new_value = false;  ///< the answer is the new one
};

float real(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
Bits bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::int64_t whole(Bits bits, std::uint32_t bytes) {
  return static_cast<std::int64_t>(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

void check_atomic(const Operation& of, bool floats) {
  Machine machine(of.message.product);
  fill(machine);
  machine.active = static_cast<std::uint32_t>(random_number());
  const std::uint64_t address = add_memory(machine);
  const std::uint32_t grf = machine.grf, word = std::max(4U, of.bytes);
  const auto at = places(of.lanes, 32, 0, false);
  put_addresses(machine, at, of.address_bytes, of.where == Where::flat ? address : 0);
  const std::uint32_t block = registers_of(of.lanes * word, grf),
                      sent = registers_of(of.lanes * of.address_bytes, grf);
  const auto memory = machine.bus.bytes(address);
  for (std::uint32_t lane = 0; lane < of.lanes; ++lane) {
    if (floats)
      for (std::uint32_t i = 0; i < 3; ++i) {
        const float value = static_cast<float>(random_number() % 9) - 4;
        std::byte* const to = i == 2 ? memory.data() + at[lane]
                                     : machine.registers.data() + kData * grf + i * block * grf + lane * word;
        std::memcpy(to, &value, 4);
      }
    if (random_number() % 2)  // for compare and swap
      std::memcpy(machine.registers.data() + kData * grf + lane * word, memory.data() + at[lane], of.bytes);
  }
  const std::string second = of.operands ? "r" + std::to_string(kData) : "null";
  const std::string text =
      text_of(of.message, of.lanes, "r2", block, sent, second, of.operands * block,
              of.where == Where::surface && of.message.unit == std::string("ugm") ? kTable << 24 : 0);
  check_name(text, of.message);
  const Machine before = machine;
  auto expected = content(machine, address);
  machine.run(text);
  for (std::uint32_t lane = 0; lane < of.lanes; ++lane) {
    if (!(machine.active >> lane & 1)) continue;
    Bits old = 0, a = 0, b = 0, got = 0;
    std::memcpy(&old, expected.data() + at[lane], of.bytes);
    std::memcpy(&a, before.registers.data() + kData * grf + lane * word, of.bytes);
    std::memcpy(&b, before.registers.data() + kData * grf + block * grf + lane * word, of.bytes);
    Bits next = of.next(old, a, b);
    if (of.bytes < 8) next &= (Bits{1} << 8 * of.bytes) - 1;
    std::memcpy(expected.data() + at[lane], &next, of.bytes);
    std::memcpy(&got, machine.registers.data() + 2 * grf + lane * word, of.bytes);
    CHECK_MESSAGE(got == (of.new_value ? next : old), text);
  }
  CHECK_MESSAGE(content(machine, address) == expected, text);
}

}  // namespace

TEST_CASE("messages: atomic operations on integers") {
  std::vector<Operation> all;
  struct Kind {
    const char *lsc, *port;
    std::uint32_t number, of_port, operands;  ///< 99: there is none
    std::function<Bits(Bits, Bits, Bits, std::uint32_t)> next;
  };
  const std::vector<Kind> kinds{
      {"iinc", "integer increment", 8, 5, 0, [](Bits old, Bits, Bits, std::uint32_t) { return old + 1; }},
      {"idec", "integer decrement", 9, 6, 0, [](Bits old, Bits, Bits, std::uint32_t) { return old - 1; }},
      {"load", "", 10, 99, 0, [](Bits old, Bits, Bits, std::uint32_t) { return old; }},
      {"store", "store", 11, 4, 1, [](Bits, Bits a, Bits, std::uint32_t) { return a; }},
      {"iadd", "integer add", 12, 7, 1, [](Bits old, Bits a, Bits, std::uint32_t) { return old + a; }},
      {"isub", "integer subtract", 13, 8, 1, [](Bits old, Bits a, Bits, std::uint32_t) { return old - a; }},
      {"smin", "signed-integer min", 14, 11, 1,
       [](Bits old, Bits a, Bits, std::uint32_t n) { return whole(a, n) < whole(old, n) ? a : old; }},
      {"smax", "signed-integer max", 15, 10, 1,
       [](Bits old, Bits a, Bits, std::uint32_t n) { return whole(a, n) < whole(old, n) ? old : a; }},
      {"umin", "unsigned-integer min", 16, 13, 1,
       [](Bits old, Bits a, Bits, std::uint32_t) { return std::min(a, old); }},
      {"umax", "unsigned-integer max", 17, 12, 1,
       [](Bits old, Bits a, Bits, std::uint32_t) { return std::max(a, old); }},
      {"icas", "integer compare and swap", 18, 14, 2,
       [](Bits old, Bits a, Bits b, std::uint32_t) { return old == a ? b : old; }},
      {"and", "logical AND", 24, 1, 1, [](Bits old, Bits a, Bits, std::uint32_t) { return old & a; }},
      {"or", "logical OR", 25, 2, 1, [](Bits old, Bits a, Bits, std::uint32_t) { return old | a; }},
      {"xor", "logical XOR", 26, 3, 1, [](Bits old, Bits a, Bits, std::uint32_t) { return old ^ a; }},
      {nullptr, "commuted integer subtract", 0, 9, 1,
       [](Bits old, Bits a, Bits, std::uint32_t) { return a - old; }}};
  static std::vector<std::string> names;  // what rows point at
  names.clear();
  names.reserve(200);
  const auto keep = [](std::string name) { return names.emplace_back(std::move(name)).c_str(); };
  for (const Kind& kind : kinds) {
    const auto with = [&](std::uint32_t bytes) {
      return [&kind, bytes](Bits old, Bits a, Bits b) { return kind.next(old, a, b, bytes); };
    };
    if (kind.lsc) {
      const std::string name = "atomic_" + std::string(kind.lsc) + ".ugm.";
      all.push_back(
          {{"dg2", "ugm", lsc(kind.number, 3, 2), keep(name + "d32.a64")}, 16, 8, 4, kind.operands, with(4)});
      all.push_back(
          {{"dg2", "ugm", lsc(kind.number, 3, 3), keep(name + "d64.a64")}, 8, 8, 8, kind.operands, with(8)});
      all.push_back({{"dg2", "ugm", lsc(kind.number, 3, 5), keep(name + "d16u32.a64")},
                     16,
                     8,
                     2,
                     kind.operands,
                     with(2)});
      all.push_back(
          {{"pvc", "ugm", lsc(kind.number, 3, 2), keep(name + "d32.a64")}, 32, 8, 4, kind.operands, with(4)});
      all.push_back({{"dg2", "ugm", lsc(kind.number, 2, 2, 0, 3), keep(name + "d32.a32.bti[5]")},
                     16,
                     4,
                     4,
                     kind.operands,
                     with(4),
                     Where::surface});
    }
    if (kind.of_port == 99) continue;
    const std::uint32_t answer = 1 << 5, number = kind.of_port;
    const std::string name = kind.port;
    all.push_back({{"tgllp", "dc1", hdc(2, answer | number, kTable), keep("untyped atomic int32 " + name)},
                   16,
                   4,
                   4,
                   kind.operands,
                   with(4),
                   Where::surface});
    all.push_back({{"tgllp", "dc1", hdc(0x12, answer | number), keep("untyped a64 atomic int32 " + name)},
                   8,
                   8,
                   4,
                   kind.operands,
                   with(4)});
    all.push_back(
        {{"tgllp", "dc1", hdc(0x12, answer | 1 << 4 | number), keep("untyped a64 atomic int64 " + name)},
         8,
         8,
         8,
         kind.operands,
         with(8)});
  }
  for (const Operation& of : all)
    for (int trial = 0; trial < 4; ++trial) check_atomic(of, false);
}

TEST_CASE("messages: atomic operations on floats") {
  const auto add = [](Bits old, Bits a, Bits) { return bits_of(real(old) + real(a)); };
  const auto subtract = [](Bits old, Bits a, Bits) { return bits_of(real(old) - real(a)); };
  const auto least = [](Bits old, Bits a, Bits) { return real(a) < real(old) ? a : old; };
  const auto most = [](Bits old, Bits a, Bits) { return real(a) > real(old) ? a : old; };
  const auto swap = [](Bits old, Bits a, Bits b) { return real(old) == real(a) ? b : old; };
  constexpr std::uint32_t kAnswer = 1 << 5;
  const std::vector<Operation> all{
      {{"dg2", "ugm", lsc(19, 3, 2), "atomic_fadd.ugm.d32.a64"}, 16, 8, 4, 1, add},
      {{"dg2", "ugm", lsc(20, 3, 2), "atomic_fsub.ugm.d32.a64"}, 16, 8, 4, 1, subtract},
      {{"dg2", "ugm", lsc(21, 3, 2), "atomic_fmin.ugm.d32.a64"}, 16, 8, 4, 1, least},
      {{"dg2", "ugm", lsc(22, 3, 2), "atomic_fmax.ugm.d32.a64"}, 16, 8, 4, 1, most},
      {{"dg2", "ugm", lsc(23, 3, 2), "atomic_fcas.ugm.d32.a64"}, 16, 8, 4, 2, swap},
      {{"pvc", "ugm", lsc(19, 3, 2), "atomic_fadd.ugm.d32.a64"}, 32, 8, 4, 1, add},
      {{"tgllp", "dc1", hdc(0x1b, kAnswer | 4, kTable), "float atomic add (32b) with return"},
       16,
       4,
       4,
       1,
       add,
       Where::surface},
      {{"tgllp", "dc1", hdc(0x1b, kAnswer | 1, kTable), "float atomic max (32b) with return"},
       16,
       4,
       4,
       1,
       most,
       Where::surface},
      {{"tgllp", "dc1", hdc(0x1d, kAnswer | 2), "a64 float atomic min (32b) with return"}, 8, 8, 4, 1, least},
      {{"tgllp", "dc1", hdc(0x1d, kAnswer | 3), "a64 float atomic fp-compare and swap"}, 8, 8, 4, 2, swap}};
  for (const Operation& of : all)
    for (int trial = 0; trial < 4; ++trial) check_atomic(of, true);
}

TEST_CASE("messages: shared local memory") {
  // Zero at first. Each lane writes two words, all add to one, and each reads what another one wrote.
  Machine machine("dg2");
  machine.slm_bytes = 4096;
  fill(machine);
  const auto at = places(16, 32, 0, false);
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    machine.put<std::uint32_t>(kAddresses * kGrf + 4 * lane, at[lane]);
    machine.put<std::uint32_t>(kMore * kGrf + 4 * lane, at[lane ^ 5] + 4);
    machine.put<std::uint32_t>((kMore + 2) * kGrf + 4 * lane, 4092);
    machine.put<std::uint32_t>((kMore + 4) * kGrf + 4 * lane, lane + 1);
  }
  const Message store{"dg2", "slm", lsc(4, 2, 2, 1), "store.slm.d32x2.a32"};
  const Message load{"dg2", "slm", lsc(0, 2, 2), "load.slm.d32.a32"};
  const Message add{"dg2", "slm", lsc(12, 2, 2), "atomic_iadd.slm.d32.a32"};
  const auto from = [](std::string text, std::uint32_t first) {
    const std::string usual = " r" + std::to_string(kAddresses) + " ";
    return text.replace(text.find(usual), usual.size(), " r" + std::to_string(first) + " ");
  };
  const std::string stores = text_of(store, 16, "null", 0, 2, "r" + std::to_string(kData), 4),
                    loads = from(text_of(load, 16, "r2", 2, 2, "null", 0), kMore),
                    adds = from(text_of(add, 16, "r4", 2, 2, "r" + std::to_string(kMore + 4), 2), kMore + 2),
                    total = from(text_of(load, 16, "r6", 2, 2, "null", 0), kMore + 2);
  check_name(stores, store);
  check_name(loads, load);
  check_name(adds, add);
  machine.run(stores + loads + adds + total);
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    const auto of = [&](std::uint32_t first) { return machine.get<std::uint32_t>(first * kGrf + 4 * lane); };
    CHECK(of(2) == machine.get<std::uint32_t>((kData + 2) * kGrf + 4 * (lane ^ 5)));
    CHECK(of(4) == sum);  // in the order of the lanes
    CHECK(of(6) == 136);
    sum += lane + 1;
  }
}
