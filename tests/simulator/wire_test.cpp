// SPDX-License-Identifier: MIT
// Messages as bytes, pages and page tables.
#include "drivers/simulator/wire.hpp"

#include <doctest/doctest.h>

#include "simulator/world.hpp"

namespace {

using namespace kiln;
using namespace kiln::simulator;

template <std::size_t count>
std::array<std::byte, 4 * count> bytes_of(const std::array<std::uint32_t, count>& words) {
  return std::bit_cast<std::array<std::byte, 4 * count>>(words);
}

tl::expected<Message, std::string> message(std::uint32_t kind, std::vector<std::uint32_t> body) {
  const std::array<std::uint32_t, 3> head{kind, 7, static_cast<std::uint32_t>(4 * body.size())};
  const auto header = read_header(bytes_of(head));
  REQUIRE(header);
  return read_message(*header, std::as_bytes(std::span(body)));
}

std::vector<std::byte> filled(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

void begin(Memory& memory) { const auto done_at_once = memory.begin_submission(); }

TEST_CASE("messages of the driver are read") {
  const auto write = message(0, {1, 0x2550, 1});
  REQUIRE(write);
  CHECK(write->kind == Message::Kind::write_register);
  CHECK(write->transaction == 7);
  CHECK(write->address == 0x2550);
  CHECK(write->value == 1);
  CHECK(message(0, {0, 0x2234, 0})->kind == Message::Kind::read_register);

  const auto entry = message(2, {1, 5, 0x1001, 2});
  REQUIRE(entry);
  CHECK(entry->kind == Message::Kind::write_gtt);
  CHECK(entry->address == 5);
  CHECK(entry->value == 0x2'0000'1001);

  // Bits 32 to 39 of an address are the first word's uppermost byte.
  const auto store = message(4, {0x12000040, 0x3000, 4096});
  REQUIRE(store);
  CHECK(store->kind == Message::Kind::write_memory);
  CHECK(store->address == 0x12'0000'3000);
  CHECK(store->size == 4096);
  CHECK(message(5, {0, 0x3000, 16})->kind == Message::Kind::read_memory);
  CHECK(message(11, {0})->kind == Message::Kind::control);
}

TEST_CASE("what no driver sends is refused") {
  CHECK_FALSE(message(3, {0, 0, 0}));
  CHECK_FALSE(message(0, {1, 2}));
  CHECK_FALSE(message(4, {}));
  const std::array<std::uint32_t, 3> long_body{4, 0, 1 << 20};
  CHECK_FALSE(read_header(bytes_of(long_body)));
}

TEST_CASE("answers are words of the driver's order") {
  CHECK(register_answer(9, 0x100) == bytes_of(std::array<std::uint32_t, 4>{1, 9, 4, 0x100}));
  Message read;
  read.transaction = 3;
  read.address = 0x12'0000'3000;
  read.size = 64;
  CHECK(memory_answer(read) == bytes_of(std::array<std::uint32_t, 6>{6, 3, 12, 0x12000000, 0x3000, 64}));
}

TEST_CASE("a page keeps what the GPU wrote and takes what the program changed") {
  Memory memory(std::nullopt);
  const std::uint64_t address = World::kData;
  REQUIRE(memory.upload(address, filled(kPage, 1)));
  Page* const page = memory.page(address);
  CHECK(page->data()[5] == std::byte{1});
  page->begin_write();
  page->data()[5] = std::byte{9};
  // The same bytes again, as with each submission: nothing of the program's has changed.
  REQUIRE(memory.upload(address, filled(kPage, 1)));
  CHECK(page->data()[5] == std::byte{9});
  auto changed = filled(kPage, 1);
  changed[6] = std::byte{4};
  REQUIRE(memory.upload(address, changed));
  CHECK(page->data()[5] == std::byte{9});
  CHECK(page->data()[6] == std::byte{4});
  // What the program downloads it has: an older upload of the same byte is a change of its own.
  std::vector<std::byte> down(kPage);
  memory.download(address, down)->arrived();
  CHECK(down[5] == std::byte{9});
  REQUIRE(memory.upload(address, changed));
  CHECK(page->data()[5] == std::byte{1});
}

TEST_CASE("memory that the program shares is read from it") {
  Memory memory(getpid());
  alignas(kPage) static std::array<std::byte, kPage> own{};
  const auto address = reinterpret_cast<std::uint64_t>(own.data());
  REQUIRE(memory.upload(address, own));
  Page* const page = memory.page(address);
  CHECK(page->of_program.load());
  own[3] = std::byte{7};
  begin(memory);
  memory.refresh(*page, address);
  CHECK(page->data()[3] == std::byte{7});
  // Once a submission.
  own[3] = std::byte{8};
  memory.refresh(*page, address);
  CHECK(page->data()[3] == std::byte{7});
  begin(memory);
  memory.refresh(*page, address);
  CHECK(page->data()[3] == std::byte{8});
  // Bytes that are on their way to the program: what it has until then is old.
  page->begin_write();
  page->data()[4] = std::byte{5};
  std::vector<std::byte> down(kPage);
  Page* const given = memory.download(address, down);
  begin(memory);
  memory.refresh(*page, address);
  CHECK(page->data()[4] == std::byte{5});
  own[4] = down[4];
  given->arrived();
  begin(memory);
  memory.refresh(*page, address);
  CHECK(page->data()[4] == std::byte{5});
  // Other bytes than the program has there belong to something else.
  auto other = filled(kPage, 3);
  REQUIRE(memory.upload(address, other));
  CHECK_FALSE(page->of_program.load());
}

TEST_CASE("pages that the program has itself are given back") {
  Memory memory(getpid(), 0);
  alignas(kPage) static std::array<std::byte, kPage> own{};
  const auto address = reinterpret_cast<std::uint64_t>(own.data());
  own[3] = std::byte{7};
  REQUIRE(memory.upload(address, own));
  REQUIRE(memory.upload(World::kData, filled(kPage, 1)));  // the GPU's alone
  CHECK(memory.pages_in_use() == 2);
  Page* const page = memory.page(address);
  {
    const auto in_use = memory.begin_submission();
    CHECK(memory.pages_in_use() == 1);
    own[3] = std::byte{8};
    memory.refresh(*page, address);
    CHECK(page->data()[3] == std::byte{8});
    page->begin_write();
    page->data()[4] = std::byte{5};
    begin(memory);  // another engine's: the first one is not done
    CHECK(memory.pages_in_use() == 2);
  }
  begin(memory);  // what the GPU wrote is not in the program yet
  CHECK(memory.pages_in_use() == 2);
  Page* const given = memory.download(address, own);
  begin(memory);
  CHECK(memory.pages_in_use() == 2);
  given->arrived();
  begin(memory);
  CHECK(memory.pages_in_use() == 2);  // it looks when there are twice as many as after the last time
  for (int i = 1; i < 4; ++i) REQUIRE(memory.upload(World::kData + i * kPage, filled(kPage, 1)));
  begin(memory);
  CHECK(memory.pages_in_use() == 4);
  // It is written as before.
  memory.refresh(*page, address);
  CHECK(page->data()[4] == std::byte{5});
  page->begin_write();
  page->data()[4] = std::byte{6};
  own[5] = std::byte{9};
  memory.refresh_now(*page, address);
  CHECK(page->data()[4] == std::byte{6});
  CHECK(page->data()[5] == std::byte{9});
}

TEST_CASE("page tables are walked from the root on") {
  World world;
  CHECK(world.tables.find(World::kData, false));
  CHECK(world.tables.find(World::kData + 63 * kPage, true));
  CHECK_FALSE(world.tables.find(World::kData + 64 * kPage, false));
  CHECK_FALSE(world.tables.find(0, false));
  // Not for writing.
  map_page(world.tables, 0x9000'0000'0000, 500 * kPage, 1);
  CHECK(world.tables.find(0x9000'0000'0000, false));
  CHECK_FALSE(world.tables.find(0x9000'0000'0000, true));
  // No longer there.
  map_page(world.tables, 0x9000'0000'0000, 500 * kPage, 0);
  CHECK_FALSE(world.tables.find(0x9000'0000'0000, false));
  world.tables.set_root(std::uint64_t{1} << 35);
  CHECK_FALSE(world.tables.find(World::kData, false));
}

TEST_CASE("what is written to a physical page shows at its virtual address") {
  World world;
  const std::uint64_t physical = 400 * kPage;
  REQUIRE(world.tables.write(physical, filled(kPage, 2), true));  // in no table: the engine's own
  map_page(world.tables, 0x9000'0000'0000, 300 * kPage);
  REQUIRE(world.tables.write(300 * kPage + 8, filled(8, 6), true));
  CHECK(world.space.read_word(0x9000'0000'0008, "a test") == 0x06060606);
  std::vector<std::byte> back(16);
  Page* const page = world.tables.read(300 * kPage, back);
  REQUIRE(page);
  page->arrived();
  CHECK(back[8] == std::byte{6});
  // Global addresses go through their own table.
  world.tables.write_gtt(3, physical | 1);
  REQUIRE(world.tables.find_global(3 * kPage + 4));
  CHECK(*world.tables.find_global(3 * kPage + 4) == std::byte{2});
  CHECK_FALSE(world.tables.find_global(4 * kPage));
}

}  // namespace
