// SPDX-License-Identifier: MIT
// The memory of the program whose driver talks to the simulated GPU.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kiln::simulator {

/// The process that holds the other end of a loopback connection, as /proc tells; looked for in this process
/// first. Nothing: it cannot be told.
[[nodiscard]] std::optional<pid_t> peer_process(int socket);

/// Whether the socket's other end is still open.
[[nodiscard]] bool is_connected(int socket);

/// Bytes of that process, this one or a descendant; false where they are not mapped or may not be read.
[[nodiscard]] bool read_program(pid_t process, std::uint64_t address, std::span<std::byte> to);

}  // namespace kiln::simulator
