// SPDX-License-Identifier: MIT
// What a store answers that has no leases, and where memory ends.
#include "store/connection.hpp"

#include <new>

namespace kiln::store {
namespace {

Reply cannot() { return {Reply::End::failed, "this kind of store cannot do that"}; }

/// A question that memory ends at fails, and with it the connection, in the middle of an answer: no other
/// store has less of it for that.
class Bounded : public Connection {
 public:
  explicit Bounded(const cache::RemoteUrl& url) : url_(url) {}

  Reply get(const CacheKey& key, Moment deadline) override {
    return asked([&](Connection& to) { return to.get(key, deadline); });
  }
  Reply put(const CacheKey& key, std::span<const std::byte> bytes, const Put& how, Moment deadline) override {
    return asked([&](Connection& to) { return to.put(key, bytes, how, deadline); });
  }
  Reply has(const CacheKey& key, Moment deadline) override {
    return asked([&](Connection& to) { return to.has(key, deadline); });
  }
  Reply lead(const CacheKey& key, std::string_view who, std::chrono::milliseconds life,
             Moment deadline) override {
    return asked([&](Connection& to) { return to.lead(key, who, life, deadline); });
  }
  std::vector<Reply> extend(std::span<const LeaseName> leases, std::chrono::milliseconds life,
                            Moment deadline) override {
    std::vector<Reply> replies(leases.size());
    (void)asked([&](Connection& to) {
      replies = to.extend(leases, life, deadline);
      return Reply{};
    });
    return replies;
  }
  Reply release(const LeaseName& lease, Moment deadline) override {
    return asked([&](Connection& to) { return to.release(lease, deadline); });
  }
  Reply usual(const CacheKey& inputs, Moment deadline) override {
    return asked([&](Connection& to) { return to.usual(inputs, deadline); });
  }
  void remember(const CacheKey& inputs, std::uint64_t milliseconds, Moment deadline) override {
    (void)asked([&](Connection& to) {
      to.remember(inputs, milliseconds, deadline);
      return Reply{};
    });
  }
  Reply list(Moment deadline) override {
    return asked([&](Connection& to) { return to.list(deadline); });
  }
  Reply figures(Moment deadline) override {
    return asked([&](Connection& to) { return to.figures(deadline); });
  }

 private:
  template <class Ask>
  Reply asked(Ask ask) {
    try {
      if (!store_) store_ = url_.is_redis() ? make_redis(url_) : make_http(url_);
      return ask(*store_);
    } catch (const std::bad_alloc&) {
      store_.reset();
    }
    Reply failed{Reply::End::failed, "there is no memory for its answer"};
    failed.sent = true;
    return failed;
  }

  const cache::RemoteUrl url_;
  std::unique_ptr<Connection> store_;
};

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
  return std::make_unique<Bounded>(url);
}

}  // namespace kiln::store
