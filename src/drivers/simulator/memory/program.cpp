// SPDX-License-Identifier: MIT
// Finds the program behind a connection, and reads its memory through the kernel, which checks each address.
#include "drivers/simulator/memory/program.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace kiln::simulator {
namespace {

/// The inode of the socket whose own port is `port` and whose other end is `other`, by /proc/net/tcp.
std::string inode_of(unsigned port, unsigned other) {
  std::ifstream file("/proc/net/tcp");
  std::string line;
  while (std::getline(file, line)) {
    unsigned own_port = 0, other_port = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), " %*d: %*8x:%4x %*8x:%4x %*x %*s %*s %*s %*s %*s %lu", &own_port,
                    &other_port, &inode) == 3 &&
        own_port == port && other_port == other)
      return "socket:[" + std::to_string(inode) + "]";
  }
  return {};
}

bool is_link_to(const std::string& link, const std::string& inode) {
  char target[64];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  return length > 0 && inode.compare(0, inode.npos, target, static_cast<std::size_t>(length)) == 0;
}

bool holds(const std::string& process, const std::string& inode) {
  const std::string folder = "/proc/" + process + "/fd";
  DIR* const open = opendir(folder.c_str());
  if (!open) return false;
  bool found = false;
  while (const dirent* entry = readdir(open)) {
    if (is_link_to(folder + "/" + entry->d_name, inode)) {
      found = true;
      break;
    }
  }
  closedir(open);
  return found;
}

}  // namespace

namespace {

/// Of the other end.
std::string peer_inode(int socket) {
  sockaddr_in own{}, peer{};
  socklen_t size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  size = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  return inode_of(ntohs(peer.sin_port), ntohs(own.sin_port));
}

std::optional<pid_t> find_peer(int socket) {
  const std::string inode = peer_inode(socket);
  if (inode.empty()) return {};
  if (holds("self", inode)) return getpid();
  DIR* const processes = opendir("/proc");
  if (!processes) return {};
  std::optional<pid_t> found;
  while (const dirent* entry = readdir(processes)) {
    const int number = std::atoi(entry->d_name);
    if (number > 0 && holds(entry->d_name, inode)) {
      found = number;
      break;
    }
  }
  closedir(processes);
  return found;
}

}  // namespace

bool is_connected(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_ESTABLISHED;
}

std::optional<pid_t> peer_process(int socket) {
  // The kernel gives its tables in pieces, so a line may be missed where others go meanwhile.
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (const auto found = find_peer(socket)) return found;
    if (!is_connected(socket)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

namespace {

/// What a thread waits in, as the kernel tells of its system call.
struct Wait {
  bool known = false;  ///< else the thread is gone, or the kernel does not tell
  std::uint64_t descriptor = 0, buffer = 0, bytes = 0;  ///< of recv(); zeros: in something else
};

Wait wait_of(const std::string& thread) {
  std::ifstream file(thread + "/syscall");
  std::string line;
  Wait wait;
  wait.known = static_cast<bool>(std::getline(file, line));
  long number = -1;
  Wait read;
  if (std::sscanf(line.c_str(), "%ld %lx %lx %lx", &number, &read.descriptor, &read.buffer, &read.bytes) ==
          4 &&
      number == SYS_recvfrom) {
    read.known = true;
    return read;
  }
  return wait;
}

}  // namespace

std::optional<std::uint64_t> Receiver::place_of(std::size_t bytes, std::optional<std::uint64_t> but) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kMost{10};  // the program's thread is on its way to recv()
  if (!process_) {
    process_ = peer_process(socket_);
    inode_ = peer_inode(socket_);
    if (!process_ || inode_.empty()) return {};
  }
  const std::string process = "/proc/" + std::to_string(*process_);
  const auto waits = [&](const std::string& thread, bool& known) -> std::optional<std::uint64_t> {
    const Wait wait = wait_of(thread);
    known = wait.known;
    if (wait.bytes != bytes || wait.buffer == 0 || wait.buffer == but ||
        !is_link_to(process + "/fd/" + std::to_string(wait.descriptor), inode_))
      return {};
    return wait.buffer;
  };
  const auto start = Clock::now();
  for (std::chrono::microseconds pause{20}; is_connected(socket_) && Clock::now() - start < kMost;
       pause = std::min<std::chrono::microseconds>(2 * pause, std::chrono::milliseconds(2))) {
    bool known = false;
    if (!thread_.empty())
      if (const auto found = waits(thread_, known)) return found;
    DIR* const threads = opendir((process + "/task").c_str());
    if (!threads) return {};
    bool any_known = false;
    std::optional<std::uint64_t> found;
    while (const dirent* entry = readdir(threads)) {
      if (entry->d_name[0] == '.') continue;
      const std::string thread = process + "/task/" + entry->d_name;
      found = waits(thread, known);
      any_known |= known;
      if (!found) continue;
      thread_ = thread;
      break;
    }
    closedir(threads);
    if (found || !any_known) return found;
    std::this_thread::sleep_for(pause);
  }
  return {};
}

bool read_program(pid_t process, std::uint64_t address, std::span<std::byte> to) {
  const iovec local{to.data(), to.size()}, remote{reinterpret_cast<void*>(address), to.size()};
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
}

}  // namespace kiln::simulator
