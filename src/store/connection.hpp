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
  std::uint64_t token = 0;
  std::shared_ptr<const void> owner{};  ///< of `bytes`
};

/// Every function takes at most until its deadline. Bound to a thread.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual Reply get(const CacheKey& key, Moment deadline) = 0;
  struct Put {
    std::uint64_t token = 0;  ///< of the lease that is used up; 0: none
    bool replace = false;
  };
  virtual Reply put(const CacheKey& key, std::span<const std::byte> bytes, const Put& how,
                    Moment deadline) = 0;
  /// Whether there is one, without its bytes.
  virtual Reply has(const CacheKey& key, Moment deadline) = 0;

  /// Leases: where a store has none, `lead` fails, and nobody calls the others. `who` asks, and has the same
  /// lease again where the answer was lost.
  virtual Reply lead(const CacheKey& key, std::string_view who, Moment deadline);
  virtual Reply extend(const CacheKey& key, std::uint64_t token, Moment deadline);
  virtual Reply release(const CacheKey& key, std::uint64_t token, Moment deadline);
  /// Milliseconds that a compilation of these inputs took when somebody did it last, else the longest of
  /// late; `token` has them, absent: nobody knows.
  virtual Reply usual(const CacheKey& inputs, Moment deadline);
  virtual void remember(const CacheKey& inputs, std::uint64_t milliseconds, Moment deadline);

  /// All keys that it has, a line each; figures as lines of `name value`: in `reason`, with End::found.
  virtual Reply list(Moment deadline);
  virtual Reply figures(Moment deadline);
};

/// How long a lease lives that nobody extends: longer than a holder, or the store, that others crowd out does
/// not run. Only a machine that died, or lost the network, keeps the others waiting so long: a program that
/// ends gives its leases back.
constexpr std::chrono::milliseconds kLeaseLife{10'000};

[[nodiscard]] std::unique_ptr<Connection> make_connection(const cache::RemoteUrl& url);
[[nodiscard]] std::unique_ptr<Connection> make_http(const cache::RemoteUrl& url);
[[nodiscard]] std::unique_ptr<Connection> make_redis(const cache::RemoteUrl& url);

}  // namespace kiln::store
