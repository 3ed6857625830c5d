// SPDX-License-Identifier: MIT
// Commands from words, without a driver: what they leave in memory, and what ends a submission.
#include <doctest/doctest.h>

#include "drivers/simulator/engine.hpp"
#include "simulator/world.hpp"
#include "xe/native/local_ids.hpp"

namespace {

using namespace kiln;
using namespace kiln::simulator;

constexpr std::uint32_t kLow = static_cast<std::uint32_t>(World::kData),
                        kHigh = static_cast<std::uint32_t>(World::kData >> 32);
constexpr std::uint32_t kStore = 0x20 << 23 | 2, kStoreLong = 0x20 << 23 | 1 << 21 | 3,
                        kLoad = 0x22 << 23 | 1, kKeep = 0x24 << 23 | 2, kFetch = 0x29 << 23 | 2,
                        kCopy = 0x2a << 23 | 1;
constexpr std::uint32_t general(std::uint32_t index) { return 0x2600 + 8 * index; }

bool says(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST_CASE("words and registers") {
  World world;
  CHECK(world.run({kStore, kLow, kHigh, 42}) == "");
  CHECK(world.word(0) == 42);
  CHECK(world.run({kStoreLong, kLow + 8, kHigh, 1, 2}) == "");
  CHECK(world.lengthy(8) == 0x2'0000'0001);
  CHECK(world.run({kLoad, general(0), 7, kCopy, general(0), general(1), kKeep, general(1), kLow + 16,
                   kHigh}) == "");
  CHECK(world.word(16) == 7);
  CHECK(world.run({kFetch, general(2), kLow, kHigh, kKeep, general(2), kLow + 20, kHigh}) == "");
  CHECK(world.word(20) == 42);
}

TEST_CASE("memory of the program is every engine's, for whichever the driver maps it") {
  World world;
  constexpr std::uint64_t kShared = 0x7000'0000'0000;
  world.map(kShared);
  world.space.write_word(kShared, 42, "a test");
  Tables other(world.machine.memory);
  other.set_root(std::uint64_t{1} << 29);
  Space space(other);
  CHECK(space.read_word(kShared, "a test") == 42);
  space.write_word(kShared + 4, 43, "a test");
  CHECK(world.space.read_word(kShared + 4, "a test") == 43);
  CHECK(other.find(kShared + kPage, false) == nullptr);  // which nobody was given
  CHECK(other.find(World::kData, false) == nullptr);     // no address of the program's
}

TEST_CASE("arithmetic") {
  World world;
  // r2 = r0 + r1; r3 = r0 > r1, from the carry of r1 - r0.
  constexpr std::uint32_t kMath = 0x1a << 23;
  const auto load = [](std::uint32_t to, std::uint32_t from) { return 0x080u << 20 | to << 10 | from; };
  const auto store = [](std::uint32_t to, std::uint32_t from) { return 0x180u << 20 | to << 10 | from; };
  CHECK(world.run({kLoad,         general(0),     9,
                   kLoad,         general(0) + 4, 0,
                   kLoad,         general(1),     5,
                   kLoad,         general(1) + 4, 0,
                   kMath | 7,     load(0x20, 0),  load(0x21, 1),
                   0x100u << 20,  store(2, 0x31), load(0x20, 1),
                   load(0x21, 0), 0x101u << 20,   store(3, 0x33),
                   kKeep,         general(2),     kLow,
                   kHigh,         kKeep,          general(3),
                   kLow + 4,      kHigh}) == "");
  CHECK(world.word(0) == 14);
  CHECK((world.word(4) & 1) == 1);
  CHECK(says(world.run({kMath, 0x7ffu << 20, 0}), "MI_MATH"));
}

TEST_CASE("post-sync writes, timestamps that grow, atomics") {
  World world;
  constexpr std::uint32_t kControl = 0x7a000004, kImmediate = 1 << 14, kTime = 3 << 14;
  CHECK(world.run({kControl, kImmediate, kLow, kHigh, 5, 6, kControl, kTime, kLow + 8, kHigh, 0, 0, kControl,
                   kTime, kLow + 16, kHigh, 0, 0}) == "");
  CHECK(world.lengthy(0) == 0x6'0000'0005);
  CHECK(world.lengthy(16) > world.lengthy(8));
  CHECK(says(world.run({kControl, 2 << 14, kLow, kHigh, 0, 0}), "depth"));

  constexpr std::uint32_t kCaches = 0x7d802603;  // without and with a write behind it
  CHECK(world.run({kCaches, 0, 0, 0, 0, kCaches | 1 << 14, kLow + 32, kHigh, 3, 4}) == "");
  CHECK(world.lengthy(32) == 0x4'0000'0003);
  CHECK(says(world.run({0x7d800000 | 1 << 14, kLow}), "L3_CONTROL"));

  constexpr std::uint32_t kFlush = 0x26 << 23 | 3;
  CHECK(world.run({kFlush | 1 << 14, kLow + 24, kHigh, 8, 9}) == "");
  CHECK(world.lengthy(24) == 0x9'0000'0008);

  constexpr std::uint32_t kAtomic = 0x2f << 23 | 1;
  CHECK(world.run({kStore, kLow, kHigh, 41, kAtomic | 5 << 8, kLow, kHigh}) == "");
  CHECK(world.word(0) == 42);
  CHECK(says(world.run({kAtomic | 0x1f << 8, kLow, kHigh}), "MI_ATOMIC"));
}

TEST_CASE("waits") {
  World world;
  constexpr std::uint32_t kWait = 0x1c << 23 | 1 << 15 | 3, kEqual = 4 << 12;
  CHECK(world.run({kStore, kLow, kHigh, 3, kWait | kEqual, 3, kLow, kHigh, 0}) == "");
  CHECK(world.run({kWait | 1 << 12, 2, kLow, kHigh, 0}) == "");  // at least
  CHECK(says(world.run({kWait | kEqual, 4, kLow, kHigh, 0}), "MI_SEMAPHORE_WAIT waits"));
}

TEST_CASE("batch buffers return, go on elsewhere, and end in a circle") {
  World world;
  constexpr std::uint32_t kStart = 0x31 << 23 | 1 << 8 | 1, kSecond = 1 << 22, kEnd = 0x0a << 23;
  const auto low = [](std::uint64_t offset) { return static_cast<std::uint32_t>(World::kBatch + offset); };
  const auto high = static_cast<std::uint32_t>(World::kBatch >> 32);
  const std::array<std::uint32_t, 5> second{kStore, kLow, kHigh, 11, kEnd};
  world.put(World::kBatch + kPage, second);
  CHECK(world.run({kStart | kSecond, low(kPage), high, kStore, kLow + 4, kHigh, 12}) == "");
  CHECK(world.word(0) == 11);
  CHECK(world.word(4) == 12);
  // A batch of the first level does not come back.
  CHECK(world.run({kStart, low(kPage), high, kStore, kLow + 4, kHigh, 13}) == "");
  CHECK(world.word(4) == 12);
  CHECK(says(world.run({kStart, low(0), high}), "circle"));
  CHECK(says(world.run({kStart, 0, 0}), "nothing is mapped"));
}

TEST_CASE("what is not known ends the submission and is named") {
  World world;
  CHECK(says(world.run({0x36 << 23 | 2, 0, 0, 0}), "MI command 0x36"));
  CHECK(says(world.run({0x71080000, 0}), "command 0x7108 of the compute pipeline"));
  CHECK(says(world.run({2u << 29 | 0x42 << 22}), "command 0x42 of the copy engine"));
  CHECK(says(world.run({0x20000000}), "command of type 1"));
  CHECK(says(world.run({kStore, 0, 0, 1}), "MI_STORE_DATA_IMM writes to 0x0"));
  CHECK(says(world.run({0x20 << 23}), "has 2 words"));
  CHECK(world.streamer.on_fault == nullptr);
}

/// Submits a ring of one unknown command, whose register of the start has lower bits too, to the engine at
/// that base of registers: the fault.
std::string fault_of_ring(std::uint32_t base) {
  std::string fault;
  {
    Engine engine(std::make_shared<Machine>(*find_model("dg2"), std::nullopt), false,
                  [&](const std::string& text, bool) { fault = text; });
    const auto put = [&](std::uint64_t at, std::uint32_t value) {
      REQUIRE(engine.tables().write(at, std::as_bytes(std::span(&value, 1)), true));
    };
    for (std::uint64_t page = 1; page < 4; ++page) engine.tables().write_gtt(page, page * kPage | 1);
    // Of an image at 0x1000: start, control (one page) and tail of the ring.
    for (const auto& [at, value] : {std::pair{0x2024U, 0x3fffU}, {0x202cU, 0U}, {0x201cU, 4U}})
      put(at, value);
    put(0x3000, 0x36 << 23);
    put(0x3ffc, 0x37 << 23);
    engine.write_register(base + 0x510, 0x1000);
    engine.write_register(base + 0x550, 1);
    CHECK(engine.read_register(base + 0x234) == 0x100);
    engine.settle();
  }
  return fault;
}

TEST_CASE("a ring begins with a page, whatever else its register holds") {
  CHECK(says(fault_of_ring(0x2000), "the ring has an unknown MI command 0x36"));
}

TEST_CASE("engines have their registers at several places, and pvc's link copy engines nowhere") {
  for (const std::uint32_t base : {0x1a000U, 0x1c000U, 0x22000U, 0x26000U, 0xffffffffU})
    CHECK(says(fault_of_ring(base), "the ring has an unknown MI command 0x36"));
  CHECK(fault_of_ring(0x4000).empty());
}

TEST_CASE("predicates") {
  World world;
  CHECK(world.run({kLoad, 0x2418, 0, 0x01 << 23 | 1, kStore, kLow, kHigh, 5, 0x01 << 23, kStore, kLow + 4,
                   kHigh, 6}) == "");
  CHECK(world.word(0) == 0);
  CHECK(world.word(4) == 6);
}

TEST_CASE("copies and fills") {
  World world;
  std::vector<std::uint32_t> source(3000);
  for (std::uint32_t i = 0; i < source.size(); ++i) source[i] = i * 77;
  world.put(World::kData, source);
  const std::uint32_t to = kLow + 0x10000;
  // 100 bytes of each of 50 rows, with other pitches.
  constexpr std::uint32_t kBlock = 2u << 29 | 0x41 << 22 | 10;
  CHECK(world.run({kBlock, 127, 0, 50 << 16 | 100, to, kHigh, 0, 0, 239, kLow, kHigh, 0}) == "");
  for (std::uint32_t row = 0; row < 50; ++row)
    CHECK(world.word(0x10000 + row * 128 + 96) == world.word(row * 240 + 96));
  CHECK(world.word(0x10000 + 100) == 0);
  CHECK(says(world.run({kBlock, 1u << 30, 0, 1 << 16 | 1, to, kHigh, 0, 0, 0, kLow, kHigh, 0}), "tiled"));

  constexpr std::uint32_t kFill = 2u << 29 | 0x44 << 22 | 2 << 19 | 9;
  CHECK(world.run({kFill, 39, 0, 2 << 16 | 10, to, kHigh, 0, 0xabcd1234, 0, 0, 0}) == "");
  CHECK(world.word(0x10000) == 0xabcd1234);
  CHECK(world.word(0x10000 + 76) == 0xabcd1234);
  CHECK(world.word(0x10000 + 80) != 0xabcd1234);

  constexpr std::uint32_t kMemoryCopy = 2u << 29 | 0x5a << 22 | 8, kMemorySet = 2u << 29 | 0x5b << 22 | 5;
  CHECK(world.run({kMemoryCopy, 4999, 0, 4999, 4999, kLow, kHigh, to, kHigh, 0}) == "");
  CHECK(world.word(0x10000 + 4996) == world.word(4996));
  CHECK(world.run({kMemorySet, 15, 0, 15, to, kHigh, 0x5a000000}) == "");
  CHECK(world.word(0x10000 + 12) == 0x5a5a5a5a);
  CHECK(says(world.run({kMemoryCopy, 4999, 0, 4999, 4999, 0, 0, to, kHigh, 0}), "MEM_COPY reads"));
}

TEST_CASE("a walker's payload: local ids in the order of the walk") {
  const auto at = [](const std::vector<std::byte>& ids, std::size_t index) {
    std::uint16_t value = 0;
    std::memcpy(&value, ids.data() + 2 * index, 2);
    return value;
  };
  // 8x2x2 work-items, two threads of 16, registers of 32 bytes.
  const auto x_first = xe::local_ids({8, 2, 2}, 0, 16, 2, 32, 7);
  REQUIRE(x_first.size() == 2 * 3 * 32);
  CHECK(at(x_first, 9) == 1);            // x of lane 9
  CHECK(at(x_first, 16 + 9) == 1);       // its y
  CHECK(at(x_first, 48 + 32 + 9) == 1);  // z of the second thread
  const auto z_first = xe::local_ids({8, 2, 2}, 5, 16, 2, 32, 7);
  CHECK(at(z_first, 1) == 0);
  CHECK(at(z_first, 32 + 1) == 1);
  CHECK(at(z_first, 4) == 1);
  // Lanes of 32 take a register of 64 bytes each, of 8 a whole one of 32.
  CHECK(xe::local_ids({32, 1, 1}, 0, 32, 1, 64, 7).size() == 3 * 64);
  CHECK(xe::local_ids({8, 1, 1}, 0, 8, 1, 32, 1).size() == 32);
}

TEST_CASE("SLM as the driver encodes it") {
  CHECK(slm_bytes(*find_model("tgllp"), 0) == 0);
  CHECK(slm_bytes(*find_model("tgllp"), 7) == 64 << 10);
  CHECK(slm_bytes(*find_model("dg2"), 8) == 128 << 10);
  CHECK(slm_bytes(*find_model("pvc"), 8) == 24 << 10);
  CHECK(slm_bytes(*find_model("pvc"), 11) == 128 << 10);
}

TEST_CASE("a walker that asks for what cannot be") {
  World world;
  std::vector<std::uint32_t> words(39);
  words[0] = 0x72080000 | 0x25;
  words[7] = words[8] = words[9] = 1;
  const auto run = [&] {
    std::vector<std::uint32_t> all(words);
    all.push_back(0x0a << 23);
    world.put(World::kBatch, all);
    try {
      world.streamer.run_batch(World::kBatch);
    } catch (const Ended& ended) {
      return ended.text;
    }
    return std::string();
  };
  CHECK(says(run(), "0 threads"));
  words[18 + 5] = 1;
  CHECK(says(run(), "starts code at 0x0, where nothing is mapped"));
  words[7] = words[8] = words[9] = 0xffffffff;
  CHECK(says(run(), "groups"));
  words[2] = 1u << 30;
  CHECK(says(run(), "tiles"));
  World old("tgllp");
  CHECK(says(old.run({0x72080000}), "has 2 words"));
}

}  // namespace
