// SPDX-License-Identifier: MIT
// The memory of the program whose driver talks to the simulated GPU.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kiln::simulator {

/// The process that holds the other end of a loopback connection, as /proc tells; looked for in this process
/// first. Nothing: it cannot be told.
[[nodiscard]] std::optional<pid_t> peer_process(int socket);

/// Whether the socket's other end is still open.
[[nodiscard]] bool is_connected(int socket);

/// Where in its program's memory the other end of a connection waits for bytes. Bound to a thread.
class Receiver {
 public:
  explicit Receiver(int socket) : socket_(socket) {}
  /// The address to which so many bytes will go, once a thread of the program waits for them in recv(), other
  /// than at `but`. Nothing: nobody came to wait, or the kernel does not tell (/proc/PID/task/TID/syscall).
  [[nodiscard]] std::optional<std::uint64_t> place_of(std::size_t bytes,
                                                      std::optional<std::uint64_t> but = {});

 private:
  int socket_;
  std::optional<pid_t> process_;
  std::string inode_;   ///< of the other end
  std::string thread_;  ///< that waited last
};

/// Bytes of that process, this one or a descendant; false where they are not mapped or may not be read.
[[nodiscard]] bool read_program(pid_t process, std::uint64_t address, std::span<std::byte> to);

}  // namespace kiln::simulator
