// SPDX-License-Identifier: MIT
// What was executed, summed up.
#include "tool/executed/executed.hpp"

#include <doctest/doctest.h>

namespace {

using namespace kiln;
using namespace kiln::tool;

std::vector<std::byte> bytes_of(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 ^ i >> 4);
  return bytes;
}

Executed::Instruction instruction(const char* text, ExecutedCount count, std::uint32_t line) {
  const auto read = xe::read_instruction(text);
  REQUIRE(read.has_value());
  return {count, *read, text, line};
}

}  // namespace

TEST_CASE("a kernel's code is found behind what the driver skips, and with its addresses filled in") {
  const auto kernel = bytes_of(1024);
  const auto from = [&](std::size_t begin, std::size_t size) {
    return std::vector<std::byte>(kernel.begin() + static_cast<std::ptrdiff_t>(begin),
                                  kernel.begin() + static_cast<std::ptrdiff_t>(begin + size));
  };
  CHECK(place_in(kernel, from(0, 512)) == 0);
  CHECK(place_in(kernel, from(64, 512)) == 64);
  auto patched = from(64, 512);
  for (std::size_t i = 100; i < 108; ++i) patched[i] ^= std::byte{0xff};
  CHECK(place_in(kernel, patched) == 64);
  for (std::size_t i = 200; i < 300; ++i) patched[i] ^= std::byte{0xff};
  CHECK_FALSE(place_in(kernel, patched).has_value());
  CHECK_FALSE(place_in(kernel, {}).has_value());
  // The last instruction may be of 8 bytes, and stand at the end.
  auto over = from(512, 512);
  over.resize(520);
  CHECK(place_in(kernel, over) == 512);
}

TEST_CASE("sums by kind, message, memory and line") {
  Executed executed;
  executed.target = "dg2-g10";
  executed.instructions = {
      instruction("        add (16|M0)              r1.0<1>:d     r2.0<1;1,0>:d     r3.0<1;1,0>:d    {A@1}",
                  {0, 10, 120, 0, 0, 0, 0}, 3),
      instruction("(W)     mov (8|M0)               r1.0<1>:d     r2.0<1;1,0>:d                    {A@1}",
                  {16, 10, 80, 0, 0, 0, 0}, 3),
      instruction(
          "        send.slm (16|M0)         r5       r3      null:0  0x0            0x04200500           "
          "{A@1,$1} // wr:2+0, rd:2; load.slm.d32.a32",
          {32, 10, 120, 480, 0, 40, 30}, 4)};
  const Json json = executed_json(executed, Json());
  CHECK(json["instructions"].get<std::uint64_t>() == 30);
  // Of 320 lanes that the two which are masked could have.
  CHECK(json["simd_efficiency"].get<double>() == 0.75);
  CHECK(json["totals"]["slm_reads"]["turns"].get<std::uint64_t>() == 40);
  CHECK(json["totals"]["slm_reads"]["conflict_turns"].get<std::uint64_t>() == 30);
  CHECK(json["scratch"]["messages"].get<std::uint64_t>() == 0);
  CHECK(json["lines"].size() == 2);
  CHECK(json["lines"][0]["executed"].get<std::uint64_t>() == 20);
  CHECK(json["lines"][1]["bytes"].get<std::uint64_t>() == 480);
  CHECK(json["kinds"].size() == 3);
  CHECK(simulated_product(executed) == "dg2");
}
