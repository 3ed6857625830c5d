// SPDX-License-Identifier: MIT
// What kiln-store makes of uploads that fail: whether questions still go to that store.
#include "store/service.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "cache/format/entry.hpp"
#include "cache/format/facts.hpp"
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

/// Uploads that fail, one after the other, each with time of its own; then why a question finds nothing.
std::string asked_after_uploads(const std::string& store) {
  const std::string manifest = "a manifest";
  const auto facts = cache::encode_facts({});
  const std::array payload{std::byte{1}};
  const auto entry = cache::encode_entry({cache::EntryKind::binary, 0, 1, 1, manifest, "", facts, payload});
  store::Service service({{store}, {}});
  store::Connections connections(service.stores());
  const store::Service::Asker asker{[](const cache::StoreAnswer&) {},
                                    [](std::chrono::milliseconds) { return true; }};
  cache::StoreRequest request;
  request.key = key_of(manifest);
  const auto ask = [&](cache::StoreVerb verb) {
    request.verb = verb;
    request.until = std::chrono::nanoseconds((Clock::now() + 150ms).time_since_epoch()).count();
    return service.answer(request, connections, asker).answer;
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
