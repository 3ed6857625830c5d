// SPDX-License-Identifier: MIT
// Programs behind connections: found, and no fault when they are gone.
#include "drivers/simulator/memory/program.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "drivers/simulator/server.hpp"

namespace {

using namespace kiln::simulator;

int connect_to(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  return connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? client : -1;
}

TEST_CASE("the program behind a connection is found, and nobody when it is closed") {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(listen(listener, 4) == 0);  // on a port of the system's choice
  REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const int client = connect_to(ntohs(address.sin_port)), server = accept(listener, nullptr, nullptr);
  REQUIRE(client >= 0);
  REQUIRE(server >= 0);
  CHECK(is_connected(server));
  CHECK(peer_process(server) == getpid());
  close(client);
  CHECK_FALSE(is_connected(server));
  CHECK_FALSE(peer_process(server));
  close(server);
  close(listener);
}

TEST_CASE("programs that end at once are no fault") {
  static std::atomic<int> faults{0};
  std::uint16_t port = 0;
  const auto fault = [](void*, int, const char*, bool) { ++faults; };
  REQUIRE(kiln_simulator_start("dg2", false, fault, nullptr, &port) == nullptr);
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(connect_to(port) >= 0 ? 0 : 1);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  // Others are served meanwhile: a register is read, which is answered by four words.
  for (int i = 0; i < 50; ++i) {
    const int client = connect_to(port);
    const std::array<std::uint32_t, 6> read{0, 1, 12, 0, 0x2234, 0};
    std::array<std::uint32_t, 4> answer{};
    REQUIRE(send(client, read.data(), sizeof read, 0) == sizeof read);
    CHECK(recv(client, answer.data(), sizeof answer, MSG_WAITALL) == sizeof answer);
    CHECK(answer[3] == 0x100);
    close(client);
  }
  CHECK(faults == 0);
}

}  // namespace
