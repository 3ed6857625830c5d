// SPDX-License-Identifier: MIT
// What the program sent on another connection is taken first.
#include "drivers/simulator/arrivals.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <thread>

#include "drivers/simulator/engine.hpp"

namespace {

using namespace kiln::simulator;
using namespace std::chrono_literals;

/// Something in a thread that may have to wait.
struct Attempt {
  template <class Call>
  explicit Attempt(Call call) : done(std::async(std::launch::async, call)) {}
  /// What must not happen is given this long to happen.
  [[nodiscard]] bool waits() const { return done.wait_for(30ms) == std::future_status::timeout; }
  [[nodiscard]] bool goes_on() const { return done.wait_for(60s) == std::future_status::ready; }
  std::future<void> done;
};

/// A connection and the thread that reads from it, a byte a message, each when it is let.
struct Connection {
  explicit Connection(Arrivals& arrivals) : reader(arrivals) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    thread = std::thread([this] {
      char byte = 0;
      while (true) {
        reader.wait_for_bytes(ends[0]);
        if (read(ends[0], &byte, 1) != 1) return;
        take.acquire();
        ++messages;
      }
    });
  }
  ~Connection() {
    close(ends[1]);
    thread.join();
    close(ends[0]);
  }
  void send() const { REQUIRE(write(ends[1], "", 1) == 1); }

  Arrivals::Reader reader;
  std::array<int, 2> ends{};
  std::binary_semaphore take{0};
  std::atomic<int> messages{0};
  std::thread thread;
};

TEST_CASE("what arrived on another connection is taken first") {
  Arrivals arrivals;
  const std::atomic<bool> goes{false};
  Arrivals::Reader own(arrivals);
  Connection other(arrivals);
  own.catch_up(goes);  // nothing was sent
  other.send();
  const Attempt attempt([&] { own.catch_up(goes); });
  CHECK(attempt.waits());
  other.take.release();
  CHECK(attempt.goes_on());
  CHECK(other.messages == 1);
}

TEST_CASE("nobody waits for a connection on which nothing comes, nor for one that is gone") {
  Arrivals arrivals;
  std::atomic<bool> stop{false};
  Arrivals::Reader own(arrivals);
  auto busy = std::make_unique<Arrivals::Reader>(arrivals);
  {
    const Attempt attempt([&] { own.catch_up(stop); });
    CHECK(attempt.waits());
    const Arrivals::Nothing comes(*busy);
    CHECK(attempt.goes_on());
    // Two that are both asked for an answer.
    const Arrivals::Nothing here(own);
    const Attempt second([&] { own.catch_up(stop); }), third([&] { busy->catch_up(stop); });
    CHECK(second.goes_on());
    CHECK(third.goes_on());
  }
  const Attempt attempt([&] { own.catch_up(stop); });
  CHECK(attempt.waits());
  busy.reset();
  CHECK(attempt.goes_on());
  Arrivals::Reader another(arrivals);
  const Attempt last([&] { own.catch_up(stop); });
  CHECK(last.waits());
  stop = true;
  CHECK(last.goes_on());
}

TEST_CASE("a connection that has no reader yet counts as one that has something to take") {
  Arrivals arrivals;
  const std::atomic<bool> goes{false};
  std::atomic<bool> comes{true};
  arrivals.newcomers = [&] { return comes.load(); };
  Arrivals::Reader own(arrivals);
  const Attempt attempt([&] { own.catch_up(goes); });
  CHECK(attempt.waits());
  comes = false;
  CHECK(attempt.goes_on());
}

TEST_CASE("a submission begins, and an answer is given, when other connections have caught up") {
  const auto machine = std::make_shared<Machine>(*find_model("dg2"), std::nullopt);
  const auto none = [](const std::string&, bool) {};
  Engine engine(machine, false, none);
  Arrivals::Reader other(machine->arrivals);
  engine.write_register(0x2510, 0);
  engine.write_register(0x2550, 1);  // of an empty ring
  const Attempt submission([&] { machine->activity.settle(machine->stop); });
  const Attempt answer([&] { engine.settle(); });
  CHECK(submission.waits());
  CHECK(answer.waits());
  const Arrivals::Nothing comes(other);
  CHECK(submission.goes_on());
  CHECK(answer.goes_on());
}

}  // namespace
