// SPDX-License-Identifier: MIT
// Local ids as threads get them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::xe {

/// For each thread, for each of the `dimensions` (a bit each), `lanes` numbers of 16 bits, each from a
/// register's start: what hardware generates, and what drivers write where it does not. `sizes`: the group's;
/// `order`: of WalkOrder, 0 to 5. Source: hw_walk_order.h and local_id_gen.inl of driver 22.43. Pure.
[[nodiscard]] std::vector<std::byte> local_ids(const std::array<std::uint32_t, 3>& sizes, std::uint32_t order,
                                               std::uint32_t lanes, std::uint32_t threads,
                                               std::uint32_t register_bytes, std::uint32_t dimensions);

}  // namespace kiln::xe
