// SPDX-License-Identifier: MIT
// What a store answers that has no leases.
#include "store/connection.hpp"

namespace kiln::store {
namespace {

Reply cannot() { return {Reply::End::failed, "this kind of store cannot do that"}; }

}  // namespace

Reply Connection::lead(const CacheKey&, std::string_view, std::chrono::milliseconds, Moment) {
  return cannot();
}
std::vector<Reply> Connection::extend(std::span<const LeaseName> leases, std::chrono::milliseconds, Moment) {
  return std::vector<Reply>(leases.size(), cannot());
}
Reply Connection::release(const LeaseName&, Moment) { return cannot(); }
Reply Connection::usual(const CacheKey&, Moment) { return cannot(); }
void Connection::remember(const CacheKey&, std::uint64_t, Moment) {}
Reply Connection::list(Moment) { return cannot(); }
Reply Connection::figures(Moment) { return cannot(); }

std::unique_ptr<Connection> make_connection(const cache::RemoteUrl& url) {
  return url.is_redis() ? make_redis(url) : make_http(url);
}

}  // namespace kiln::store
