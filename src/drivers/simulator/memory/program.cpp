// SPDX-License-Identifier: MIT
// Finds the program behind a connection, and reads its memory through the kernel, which checks each address.
#include "drivers/simulator/memory/program.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

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

bool holds(const std::string& process, const std::string& inode) {
  const std::string folder = "/proc/" + process + "/fd";
  DIR* const open = opendir(folder.c_str());
  if (!open) return false;
  bool found = false;
  while (const dirent* entry = readdir(open)) {
    char target[64];
    const ssize_t length = readlink((folder + "/" + entry->d_name).c_str(), target, sizeof target);
    if (length > 0 && inode.compare(0, inode.npos, target, static_cast<std::size_t>(length)) == 0) {
      found = true;
      break;
    }
  }
  closedir(open);
  return found;
}

}  // namespace

namespace {

std::optional<pid_t> find_peer(int socket) {
  sockaddr_in own{}, peer{};
  socklen_t size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  size = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  const std::string inode = inode_of(ntohs(peer.sin_port), ntohs(own.sin_port));
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

bool read_program(pid_t process, std::uint64_t address, std::span<std::byte> to) {
  const iovec local{to.data(), to.size()}, remote{reinterpret_cast<void*>(address), to.size()};
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
}

}  // namespace kiln::simulator
