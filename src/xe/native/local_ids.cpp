// SPDX-License-Identifier: MIT
// Numbers the lanes of a work-group's threads.
#include "xe/native/local_ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kiln::xe {
namespace {

// Which dimension comes first, second and third, by WalkOrder.
constexpr std::array<std::array<std::uint8_t, 3>, 6> kOrders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}}};

}  // namespace

std::vector<std::byte> local_ids(const std::array<std::uint32_t, 3>& sizes, std::uint32_t order,
                                 std::uint32_t lanes, std::uint32_t threads, std::uint32_t register_bytes,
                                 std::uint32_t dimensions) {
  const std::uint32_t bytes = (2 * lanes + register_bytes - 1) / register_bytes * register_bytes;
  const std::uint32_t count = static_cast<std::uint32_t>(std::popcount(dimensions & 7));
  std::vector<std::byte> ids(std::size_t{bytes} * count * threads);
  const auto& way = kOrders[order % kOrders.size()];
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      std::array<std::uint32_t, 3> id{};
      std::uint32_t rest = thread * lanes + lane;
      for (const std::uint8_t dimension : way) {
        const std::uint32_t size = std::max(sizes[dimension], 1u);
        id[dimension] = rest % size;
        rest /= size;
      }
      std::size_t at = std::size_t{thread} * count * bytes + 2 * std::size_t{lane};
      for (unsigned dimension = 0; dimension < 3; ++dimension) {
        if (!(dimensions >> dimension & 1)) continue;
        const auto value = static_cast<std::uint16_t>(id[dimension]);
        std::memcpy(ids.data() + at, &value, 2);
        at += bytes;
      }
    }
  return ids;
}

}  // namespace kiln::xe
