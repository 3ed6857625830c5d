// SPDX-License-Identifier: MIT
// Programs behind connections: found, and no fault when they are gone.
#include "drivers/simulator/memory/program.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <thread>

#include "drivers/simulator/memory/memory.hpp"
#include "drivers/simulator/server.hpp"

namespace {

using namespace kiln::simulator;

/// Calls `before` with the socket before it is connected.
int connect_with(std::uint16_t port, const std::function<void(int socket)>& before) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  before(client);
  return connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? client : -1;
}

int connect_to(std::uint16_t port) {
  return connect_with(port, [](int) {});
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

TEST_CASE("a connection for which no descriptor is free is taken when one is") {
  static std::atomic<int> faults{0};
  std::uint16_t port = 0;
  const auto fault = [](void*, int, const char*, bool) { ++faults; };
  REQUIRE(kiln_simulator_start("dg2", false, fault, nullptr, &port) == nullptr);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int client = connect_with(port, [&](int) {
    const rlimit standard_input_alone{1, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &standard_input_alone) == 0);
  });
  const std::array<std::uint32_t, 6> read{0, 1, 12, 0, 0x2234, 0};
  CHECK(send(client, read.data(), sizeof read, 0) == sizeof read);
  pollfd answered{client, POLLIN, 0};
  CHECK(poll(&answered, 1, 100) == 0);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  std::array<std::uint32_t, 4> answer{};
  const timeval most{60, 0};
  REQUIRE(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0);
  CHECK(recv(client, answer.data(), sizeof answer, MSG_WAITALL) == sizeof answer);
  CHECK(answer[3] == 0x100);
  CHECK(kiln_simulator_program() == getpid());
  close(client);
  CHECK(faults == 0);
}

TEST_CASE("memory that nobody uploaded is the program's own where it is downloaded") {
  static std::atomic<int> faults{0};
  std::uint16_t port = 0;
  const auto fault = [](void*, int, const char*, bool) { ++faults; };
  REQUIRE(kiln_simulator_start("dg2", false, fault, nullptr, &port) == nullptr);
  const int client = connect_to(port);
  // Of each, as an engine knows them by numbers of the driver's choice: from where on, and how many bytes. An
  // answer's head has 24 bytes, as some of the parts have.
  struct Part {
    std::size_t begin, bytes;
  };
  constexpr std::size_t kPages = 4;
  alignas(kPage) static std::array<std::byte, kPages * kPage> memory;
  std::uint32_t number = 0x284000;
  for (const Part part : {Part{0x120, 256}, Part{0x120, 24}, Part{0, kPage + 24}, Part{0x1d0, 2 * kPage},
                          Part{kPage - 24, 24}, Part{kPage - 24, 48}, Part{0, 2 * kPage + 24}}) {
    CAPTURE(part.begin);
    CAPTURE(part.bytes);
    number += kPages * kPage;
    for (const int pattern : {0x5a, 0x17, 0x17}) {
      memory.fill(static_cast<std::byte>(pattern));
      const std::array<std::uint32_t, 6> read{5,
                                              1,
                                              12,
                                              0,
                                              number + static_cast<std::uint32_t>(part.begin),
                                              static_cast<std::uint32_t>(part.bytes)};
      std::array<std::uint32_t, 6> head{};
      REQUIRE(send(client, read.data(), sizeof read, 0) == sizeof read);
      REQUIRE(recv(client, head.data(), sizeof head, MSG_WAITALL) == sizeof head);
      // As the driver does: what is there, then the rest.
      for (std::span wanted(memory.data() + part.begin, part.bytes); !wanted.empty();) {
        const ssize_t got = recv(client, wanted.data(), wanted.size(), 0);
        REQUIRE(got > 0);
        wanted = wanted.subspan(static_cast<std::size_t>(got));
      }
      CHECK(std::ranges::count(memory, static_cast<std::byte>(pattern)) == kPages * kPage);
    }
  }
  close(client);
  CHECK(faults == 0);
}

TEST_CASE("where a thread waits for bytes is found, and not where it waits for others") {
  std::array<int, 2> client{}, server{};
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(listen(listener, 4) == 0);
  REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  for (std::size_t i = 0; i < 2; ++i) {
    client[i] = connect_to(ntohs(address.sin_port));
    server[i] = accept(listener, nullptr, nullptr);
  }
  std::array<std::array<std::byte, 64>, 2> to{};
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads[i] =
        std::thread([&, i] { CHECK(recv(client[i], to[i].data(), to[i].size(), MSG_WAITALL) == 64); });
  for (std::size_t i = 0; i < 2; ++i) {
    Receiver receiver(server[i]);
    for (int again = 0; again < 2; ++again)
      CHECK(receiver.place_of(64) == reinterpret_cast<std::uintptr_t>(to[i].data()));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(send(server[i], to[1 - i].data(), 64, 0) == 64);
    threads[i].join();
    close(client[i]);
    Receiver receiver(server[i]);
    CHECK_FALSE(receiver.place_of(64));  // nobody is there any more
    close(server[i]);
  }
  close(listener);
}

}  // namespace
