// SPDX-License-Identifier: MIT
// What kiln-store makes of uploads that fail: whether questions still go to that store.
#include "store/service.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <deque>
#include <functional>
#include <thread>

#include "cache/format/entry.hpp"
#include "cache/format/facts.hpp"
#include "cache/remote/link.hpp"
#include "support/descriptor.hpp"

using namespace kiln;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A port of this machine that is taken. Before listen() it refuses connections; after it, the kernel takes
/// them, and nobody says anything.
struct Port {
  detail::Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int number = 0;
  Port() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(socket.get(), any, size) == 0);
    REQUIRE(getsockname(socket.get(), any, &size) == 0);
    number = ntohs(address.sin_port);
  }
  void listen() const { REQUIRE(::listen(socket.get(), 16) == 0); }
};

/// A Redis that gives `answers` to what it is asked, empty ones by closing the connection; so many at a time.
struct Scripted {
  const Port port;
  const std::function<std::string(std::string_view)> answers;
  std::vector<std::jthread> threads;
  Scripted(int clients, std::function<std::string(std::string_view)> from) : answers(std::move(from)) {
    port.listen();
    for (int i = 0; i < clients; ++i) threads.emplace_back([this] { serve(); });
  }
  ~Scripted() { shutdown(port.socket.get(), SHUT_RDWR); }
  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port.number); }

 private:
  void serve() {
    for (;;) {
      const detail::Descriptor client(accept(port.socket.get(), nullptr, nullptr));
      if (!client) return;
      std::array<char, 4096> question{};
      for (ssize_t count; (count = recv(client.get(), question.data(), question.size(), 0)) > 0;) {
        const std::string answer = answers({question.data(), static_cast<std::size_t>(count)});
        if (answer.empty()) break;
        (void)send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    }
  }
};

cache::StoreAnswer asks(store::Service& service, store::Connections& connections,
                        cache::StoreRequest& request) {
  const store::Service::Asker asker{[](const cache::StoreAnswer&) {},
                                    [](std::chrono::milliseconds) { return true; }};
  return service.answer(request, connections, asker).answer;
}

std::int64_t in(std::chrono::milliseconds time) {
  return std::chrono::nanoseconds((Clock::now() + time).time_since_epoch()).count();
}

/// What comes in the end, on a machine that is busy as well; a test that waits in vain says for what.
void eventually(const char* what, const std::function<bool()>& is_so) {
  const auto end = Clock::now() + 60s;
  while (!is_so()) {
    CAPTURE(what);
    REQUIRE(Clock::now() < end);
    std::this_thread::sleep_for(10ms);
  }
}

/// Uploads that fail, one after the other, each with time of its own; then why a question finds nothing.
std::string asked_after_uploads(const std::string& store) {
  const std::string manifest = "a manifest";
  const auto facts = cache::encode_facts({});
  const std::array payload{std::byte{1}};
  const auto entry = cache::encode_entry({cache::EntryKind::binary, 0, 1, 1, manifest, "", facts, payload});
  store::Service service({{store}, {}});
  store::Connections connections(service.stores());
  cache::StoreRequest request;
  request.key = key_of(manifest);
  const auto ask = [&](cache::StoreVerb verb) {
    request.verb = verb;
    request.until = in(150ms);
    return asks(service, connections, request);
  };
  request.entry = entry;
  for (int i = 0; i < 5; ++i) {  // after so many failures it is left alone for 16 s
    const auto answer = ask(cache::StoreVerb::put_one);
    CHECK(answer.result == cache::StoreResult::failed);
    CHECK_FALSE(answer.reason.empty());
  }
  request.entry = {};
  const auto answer = ask(cache::StoreVerb::get);
  CHECK(answer.result == cache::StoreResult::absent);
  return answer.reason;
}

}  // namespace

TEST_CASE("a lease that is had at once is not late") {
  constexpr int kHolders = 8;
  std::atomic<int> answers{0};
  Scripted redis(kHolders, [&](std::string_view) {
    ++answers;
    return ":1\r\n";
  });
  const auto url = cache::parse_remote(redis.url());
  REQUIRE(url);
  const std::vector stores{*url};
  const store::Lease lease{0, {key_of("a manifest"), 1, "somebody"}, Clock::now()};
  // On one CPU the threads of these come to run when their leases are there.
  cpu_set_t all, one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const auto begin = Clock::now();
  std::deque<store::Leases> holders;
  for (int i = 0; i < kHolders; ++i) holders.emplace_back(stores).add(lease);
  sched_setaffinity(0, sizeof all, &all);
  eventually("two extensions of each", [&] { return answers >= 2 * kHolders; });
  // However late they are, it is not since before there were any.
  const auto latest = std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin);
  for (const store::Leases& each : holders) CHECK(each.life() <= store::kLeaseLife + 4 * latest);
}

TEST_CASE("a store that does not hear that a lease is given back is told again") {
  constexpr int kDeaf = 100;  // more than are asked in the time for one
  std::atomic<int> told{0};
  Scripted redis(4, [&](std::string_view question) -> std::string {
    if (question.find("unheard") != question.npos) return ++told > kDeaf ? ":1\r\n" : "";
    if (question.find("EVAL") != question.npos) return "*2\r\n:3\r\n:1\r\n";
    return "$-1\r\n";
  });
  store::Service service({{redis.url() + ",unsigned"}, {}});
  store::Connections connections(service.stores());
  cache::StoreRequest request;
  request.key = key_of("a manifest");
  request.lead_ms = 1000;
  request.until = in(10s);
  request.lease = asks(service, connections, request).lease;
  REQUIRE(request.lease != 0);
  request.verb = cache::StoreVerb::release;
  (void)asks(service, connections, request);
  CHECK_FALSE(service.idle());
  told = kDeaf;
  eventually("it is told again", [&] { return told > kDeaf; });
  eventually("nothing is left", [&] { return service.idle(); });
}

TEST_CASE("a kiln-store that is late ends with its leases, also where a forked child has its sockets") {
  std::atomic<int> told{0};
  const auto first = key_of("the first"), second = key_of("the second");
  Scripted redis(8, [&](std::string_view question) -> std::string {
    if (question.find(second.hex()) != question.npos) return "";
    if (question.find("unheard") != question.npos) return ++told, ":1\r\n";
    if (question.find("'EXISTS', KEYS[4]") != question.npos) return "*2\r\n:3\r\n:1\r\n";
    return question.find("EVAL") != question.npos ? ":1\r\n" : "$-1\r\n";
  });
  cache::StoreLink link({{redis.url() + ",unsigned"}, {}});
  cache::StoreRequest request;
  request.key = first;
  request.lead_ms = 60'000;
  request.until = in(20s);
  const auto leads = link.ask(request, Clock::now() + 30s);
  REQUIRE(leads.has_value());
  REQUIRE(leads->answer.result == cache::StoreResult::lead);
  struct Child {
    const pid_t process = fork();
    ~Child() {
      if (process < 0) return;
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  } const child;
  REQUIRE(child.process >= 0);
  if (child.process == 0)
    for (;;) pause();
  request.key = second;
  request.lead_ms = 0;
  CHECK_FALSE(link.ask(request, Clock::now() + 50ms).has_value());
  eventually("the lease is given back", [&] { return told > 0; });
}

TEST_CASE("a kiln-store that one question gave up did not end by itself for the others") {
  const Port port;
  port.listen();
  cache::StoreLink link({{"http://127.0.0.1:" + std::to_string(port.number) + "/x,unsigned"}, {}});
  cache::StoreRequest request;
  request.until = in(60s);
  std::string other;
  std::jthread waits([&] {
    auto reply = link.ask(request, Clock::now() + 60s);
    other = reply ? "an answer" : reply.error();
  });
  std::this_thread::sleep_for(200ms);  // its question is under way
  const auto late = link.ask(request, Clock::now() + 50ms);
  waits.join();
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error() == "kiln-store does not answer in time");
  CHECK(other == cache::kLeftAlone);
}

TEST_CASE("a store that takes no connection for an upload is not asked") {
  const Port port;
  for (const std::string scheme : {"redis", "http"}) {
    CAPTURE(scheme);
    const std::string why =
        asked_after_uploads(scheme + "://127.0.0.1:" + std::to_string(port.number) + ",unsigned");
    CHECK(why.find("is left alone for a while, since it failed") != why.npos);
  }
}

TEST_CASE("a store that is late with uploads is asked") {
  const Port port;
  port.listen();
  for (const std::string scheme : {"redis", "http"}) {
    CAPTURE(scheme);
    const std::string why =
        asked_after_uploads(scheme + "://127.0.0.1:" + std::to_string(port.number) + ",unsigned");
    CHECK_FALSE(why.empty());
    CHECK(why.find("is left alone") == why.npos);
  }
}

TEST_CASE("a store that connections come to nowhere is not asked") {
  const Port port;
  REQUIRE(listen(port.socket.get(), 0) == 0);  // room for one: what comes after it has no answer at all
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port.number));
  std::array<detail::Descriptor, 3> others;
  for (auto& other : others) {
    other = detail::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)connect(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  for (const std::string scheme : {"redis", "http"}) {
    CAPTURE(scheme);
    const std::string why =
        asked_after_uploads(scheme + "://127.0.0.1:" + std::to_string(port.number) + ",unsigned");
    CHECK(why.find("is left alone for a while, since it failed") != why.npos);
  }
}
