// SPDX-License-Identifier: MIT
// In place of redis.cpp in a build without hiredis: each question to a Redis fails, and says why.
#include "store/connection.hpp"

namespace kiln::store {
namespace {

class NoRedis : public Connection {
 public:
  Reply get(const CacheKey&, Moment) override { return cannot(); }
  Reply has(const CacheKey&, Moment) override { return cannot(); }
  Reply put(const CacheKey&, std::span<const std::byte>, const Put&, Moment) override { return cannot(); }
  Reply list(Moment) override { return cannot(); }
  Reply figures(Moment) override { return cannot(); }

 private:
  static Reply cannot() {
    return {Reply::End::failed,
            "this kiln-store speaks HTTP alone: it was built without hiredis (Meson option remote_redis)"};
  }
};

}  // namespace

std::unique_ptr<Connection> make_redis(const cache::RemoteUrl&) { return std::make_unique<NoRedis>(); }

}  // namespace kiln::store
