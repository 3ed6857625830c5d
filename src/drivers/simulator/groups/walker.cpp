// SPDX-License-Identifier: MIT
// Payloads of threads.
#include "drivers/simulator/groups/walker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kiln::simulator {
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

std::vector<std::byte> payload(const Walk& walk, const Model& model, std::uint32_t thread,
                               std::uint32_t number) {
  std::array<std::uint32_t, 8> header = walk.header;
  header[2] = (header[2] & ~0xffu) | thread;
  // A thread's share of the scratch memory: up to Xe-LP its address is in r0.5, later a surface is, and the
  // number tells the share.
  if (walk.scratch_shift != 0) header[5] += number << walk.scratch_shift;
  header[5] = (header[5] & ~0x3ffu) | (number & 0x3ff);
  std::vector<std::byte> bytes(model.register_bytes);
  std::memcpy(bytes.data(), header.data(), sizeof header);
  const auto append = [&](const std::byte* from, std::size_t size) {
    bytes.insert(bytes.end(), from, from + size);
    bytes.resize((bytes.size() + model.register_bytes - 1) / model.register_bytes * model.register_bytes);
  };
  const auto own = [&] { append(walk.own.data() + std::size_t{thread} * walk.own_bytes, walk.own_bytes); };
  own();
  append(walk.shared.data(), walk.shared.size());
  return bytes;
}

void set_group(std::vector<std::byte>& payload, const std::array<std::uint32_t, 3>& group) {
  std::memcpy(payload.data() + 4, &group[0], 4);
  std::memcpy(payload.data() + 24, &group[1], 4);
  std::memcpy(payload.data() + 28, &group[2], 4);
}

}  // namespace kiln::simulator
