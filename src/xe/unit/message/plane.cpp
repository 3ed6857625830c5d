// SPDX-License-Identifier: MIT
// Messages that move rectangles of a matrix in memory.
#include <algorithm>

#include "xe/unit/group.hpp"
#include "xe/unit/message/send.hpp"

namespace kiln::xe {

void move_plane(Thread& thread, const Op& op, const Form& form) {
  if (thread.mask(op) == 0) return;
  Payload payload(thread, op, form);
  const std::byte* header = payload.in(0, 32);
  if (!header) return;
  std::uint64_t base = 0;
  std::uint32_t words[8];
  std::memcpy(&base, header, sizeof base);
  std::memcpy(words, header, sizeof words);
  const std::uint64_t width = std::uint64_t{words[2] & 0xffffffU} + 1,
                      height = std::uint64_t{words[3] & 0xffffffU} + 1,
                      pitch = std::uint64_t{words[4] & 0xffffffU} + 1;  // bytes, rows, bytes
  const std::int64_t x = std::int64_t{static_cast<std::int32_t>(words[5])} + form.offset_x,
                     y = std::int64_t{static_cast<std::int32_t>(words[6])} + form.offset_y;  // elements, rows
  const std::uint32_t columns = (words[7] & 255U) + 1, rows = (words[7] >> 8 & 255U) + 1,
                      blocks = (words[7] >> 16 & 15U) + 1;
  if (form.transposed || form.vnni) {
    thread.fail(Fault::Kind::unknown, "a message for a rectangle that is turned");
    return;
  }
  const bool write = form.kind == Form::Kind::plane_store;
  const std::uint32_t size = form.memory_bytes, grf = thread.register_bytes;
  std::uint32_t row_bytes = 1;
  while (row_bytes < columns * size) row_bytes *= 2;  // rows begin at powers of two
  const std::uint32_t block_bytes = (rows * row_bytes + grf - 1) / grf * grf;
  for (std::uint32_t block = 0; block < blocks; ++block)
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::int64_t row_y = std::int64_t{y} + row,
                         row_x = (std::int64_t{x} + std::int64_t{block} * columns) * size;
      if (thread.counts && row_y >= 0 && static_cast<std::uint64_t>(row_y) < height) {
        const std::int64_t begin = std::max<std::int64_t>(row_x, 0),
                           end = std::min<std::int64_t>(row_x + std::int64_t{columns} * size,
                                                        static_cast<std::int64_t>(width));
        if (end > begin)
          count_block(thread, Range{},
                      base + static_cast<std::uint64_t>(row_y) * pitch + static_cast<std::uint64_t>(begin),
                      static_cast<std::uint32_t>(end - begin));
      }
      for (std::uint32_t column = 0; column < columns; ++column) {
        const std::uint32_t place = block * block_bytes + row * row_bytes + column * size;
        std::byte* data = write ? payload.in(form.sent * grf + place, size) : payload.out(place, size);
        if (!data) return;
        const std::int64_t at_x = (x + column + std::int64_t{block} * columns) * size, at_y = y + row;
        const bool inside = at_x >= 0 && at_y >= 0 && static_cast<std::uint64_t>(at_x) + size <= width &&
                            static_cast<std::uint64_t>(at_y) < height;
        if (!inside) {
          if (!write) std::memset(data, 0, size);
          continue;
        }
        const std::uint64_t at =
            base + static_cast<std::uint64_t>(at_y) * pitch + static_cast<std::uint64_t>(at_x);
        if (!transfer(thread, Range{}, at, data, size, write, -1)) return;
      }
    }
}

}  // namespace kiln::xe
