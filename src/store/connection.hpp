// SPDX-License-Identifier: MIT
// What a store of any kind can be asked. One connection belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/remote/frame.hpp"
#include "cache/remote/url.hpp"
#include "kiln/manifest.hpp"

namespace kiln::store {

using cache::Moment;

/// How a question to a store ended.
struct Reply {
  enum class End : std::uint8_t {
    found,    ///< get: `bytes`; put: it is there now; extend: it is still ours
    absent,   ///< get: nobody has it; put: there was one already; extend: it is lost
    lead,     ///< this one may compile: `token`
    busy,     ///< another one compiles
    failed,   ///< `reason`
    refused,  ///< lead, put: it answers, and lets this one only read: `reason`
  } end = End::failed;
  std::string reason{};
  std::span<const std::byte> bytes{};
  /// lead: the number of the lease; busy: milliseconds that the other's lives on from its extension.
  std::uint64_t token = 0;
  std::shared_ptr<const void> owner{};  ///< of `bytes`, which may end with the connection's next question
  bool unreached = false;               ///< failed: at the end it took no connection
  bool sent = false;                    ///< failed: it may have heard the question; of lead
};

/// A lease as its store knows it. The number alone names nobody: a store that starts anew, empty, gives the
/// same ones again.
struct LeaseName {
  CacheKey key{};
  std::uint64_t token = 0;  ///< 0: the answer was not heard; release() then also ends what still comes to it
  std::string who{};        ///< that asked for it, without spaces
};

/// Every function takes at most until its deadline. Bound to a thread.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual Reply get(const CacheKey& key, Moment deadline) = 0;
  struct Put {
    const LeaseName* lease = nullptr;  ///< that is used up; null: none
    bool replace = false;
  };
  virtual Reply put(const CacheKey& key, std::span<const std::byte> bytes, const Put& how,
                    Moment deadline) = 0;
  /// Whether there is one, without its bytes.
  virtual Reply has(const CacheKey& key, Moment deadline) = 0;

  /// Leases: where a store has none, `lead` fails, and nobody calls the others. `who` asks, and has the same
  /// lease again where the answer was lost. It lives for `life` from then, or from its extension.
  virtual Reply lead(const CacheKey& key, std::string_view who, std::chrono::milliseconds life,
                     Moment deadline);
  /// All in one exchange; an answer for each.
  virtual std::vector<Reply> extend(std::span<const LeaseName> leases, std::chrono::milliseconds life,
                                    Moment deadline);
  virtual Reply release(const LeaseName& lease, Moment deadline);
  /// Milliseconds that a compilation of these inputs took when somebody did it last: found; else the longest
  /// of the last ten minutes: busy. `token` has them; absent: nobody knows.
  virtual Reply usual(const CacheKey& inputs, Moment deadline);
  virtual void remember(const CacheKey& inputs, std::uint64_t milliseconds, Moment deadline);

  /// All keys that it has, a line each; figures as lines of `name value`: in `reason`, with End::found.
  virtual Reply list(Moment deadline);
  virtual Reply figures(Moment deadline);
};

/// How long a lease lives that nobody extends: longer than a holder, or the store, that others crowd out does
/// not run. Only a machine that died, or lost the network, keeps the others waiting so long: a program that
/// ends gives its leases back. Where extensions come late, lives are as much longer, up to the second.
constexpr std::chrono::milliseconds kLeaseLife{10'000}, kLongestLife{60'000};
constexpr std::chrono::milliseconds kForRelease{200};  ///< to give one back

[[nodiscard]] std::unique_ptr<Connection> make_connection(const cache::RemoteUrl& url);
[[nodiscard]] std::unique_ptr<Connection> make_http(const cache::RemoteUrl& url);
[[nodiscard]] std::unique_ptr<Connection> make_redis(const cache::RemoteUrl& url);

/// The connections of one thread, made when they are needed.
class Connections {
 public:
  explicit Connections(const std::vector<cache::RemoteUrl>& stores)
      : stores_(stores), connections_(stores.size()) {}
  Connection& to(std::uint64_t store) {
    auto& connection = connections_[store];
    if (!connection) connection = make_connection(stores_[store]);
    return *connection;
  }

 private:
  const std::vector<cache::RemoteUrl>& stores_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace kiln::store
