// SPDX-License-Identifier: MIT
// Payloads of threads.
#include "drivers/simulator/groups/walker.hpp"

#include <cstring>

namespace kiln::simulator {
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
