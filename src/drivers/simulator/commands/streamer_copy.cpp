// SPDX-License-Identifier: MIT
// Commands of the copy engine.
#include <algorithm>
#include <bit>

#include "drivers/simulator/commands/streamer.hpp"
#include "drivers/simulator/ended.hpp"

namespace kiln::simulator {
namespace {

std::uint64_t linear(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32 | low) & 0x0000'ffff'ffff'ffff;
}

/// Bytes of a pixel, by the field of the first word.
std::uint32_t pixel_bytes(std::uint32_t first_word, const char* who) {
  constexpr std::array<std::uint32_t, 6> kBytes{1, 2, 4, 8, 12, 16};
  const std::uint32_t depth = first_word >> 19 & 7;
  if (depth >= kBytes.size()) end(std::string(who) + " with an unknown colour depth");
  return kBytes[depth];
}

struct Rectangle {
  std::uint32_t left, top, right, bottom;
};
Rectangle rectangle(std::uint32_t from, std::uint32_t to) {
  return {from & 0xffff, from >> 16, to & 0xffff, to >> 16};
}

}  // namespace

void Streamer::block_copy(Words words) {
  constexpr const char* kName = "XY_BLOCK_COPY_BLT";
  const std::uint32_t bytes = pixel_bytes(words[0], kName);
  if (words[1] >> 30 != 0 || words[8] >> 30 != 0) end("XY_BLOCK_COPY_BLT of tiled memory");
  const Rectangle to = rectangle(words[2], words[3]);
  const std::uint32_t source_left = words[7] & 0xffff, source_top = words[7] >> 16;
  if (to.right <= to.left || to.bottom <= to.top) return;
  // Pitches lack 1.
  const std::uint64_t pitch = (words[1] & 0x3ffff) + 1, source_pitch = (words[8] & 0x3ffff) + 1;
  std::vector<std::byte> row(std::size_t{to.right - to.left} * bytes);
  for (std::uint32_t y = 0; y < to.bottom - to.top; ++y) {
    space_.read(
        linear(words[9], words[10]) + (source_top + y) * source_pitch + std::uint64_t{source_left} * bytes,
        row, kName);
    space_.write(linear(words[4], words[5]) + (to.top + y) * pitch + std::uint64_t{to.left} * bytes, row,
                 kName);
  }
}

void Streamer::fast_fill(Words words) {
  constexpr const char* kName = "XY_FAST_COLOR_BLT";
  const std::uint32_t bytes = pixel_bytes(words[0], kName);
  const Rectangle to = rectangle(words[2], words[3]);
  if (to.right <= to.left || to.bottom <= to.top) return;
  const std::uint64_t pitch = (words[1] & 0x3ffff) + 1;
  // All rows, one after the other, with one colour: how they are tiled does not show.
  const bool whole = to.left == 0 && to.top == 0 && pitch == std::uint64_t{to.right} * bytes;
  if (words[1] >> 30 != 0 && !whole) end("XY_FAST_COLOR_BLT of tiled memory");
  std::vector<std::byte> row(std::size_t{to.right - to.left} * bytes);
  const auto colour = std::as_bytes(words.subspan(7, 4));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = colour[i % bytes];
  for (std::uint32_t y = to.top; y < to.bottom; ++y)
    space_.write(linear(words[4], words[5]) + y * pitch + std::uint64_t{to.left} * bytes, row, kName);
}

void Streamer::memory_copy(Words words) {
  constexpr const char* kName = "MEM_COPY";
  const std::uint64_t width = (words[1] & 0x3ffff) + 1;
  const std::uint64_t height = words[0] >> 17 & 3 ? (words[2] & 0x3ffff) + 1 : 1;
  const std::uint64_t source_pitch = (words[3] & 0x3ffff) + 1, pitch = (words[4] & 0x3ffff) + 1;
  std::vector<std::byte> row(width);
  for (std::uint64_t y = 0; y < height; ++y) {
    space_.read(linear(words[5], words[6]) + y * source_pitch, row, kName);
    space_.write(linear(words[7], words[8]) + y * pitch, row, kName);
  }
}

void Streamer::memory_fill(Words words) {
  constexpr const char* kName = "MEM_SET";
  const std::uint64_t width = (words[1] & 0x3ffff) + 1;
  const std::uint64_t height = words[0] >> 17 & 3 ? (words[2] & 0x3ffff) + 1 : 1;
  const std::uint64_t pitch = (words[3] & 0x3ffff) + 1;
  const std::vector<std::byte> row(width, static_cast<std::byte>(words[6] >> 24));
  for (std::uint64_t y = 0; y < height; ++y) space_.write(linear(words[4], words[5]) + y * pitch, row, kName);
}

}  // namespace kiln::simulator
