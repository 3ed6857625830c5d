// SPDX-License-Identifier: MIT
// What kiln-store does for the program that started it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/remote/message.hpp"
#include "store/breaker.hpp"
#include "store/connection.hpp"
#include "store/leases.hpp"
#include "store/signing.hpp"

namespace kiln::store {

/// An answer with bytes of its own.
struct OwnAnswer {
  cache::StoreAnswer answer{};
  cache::FrameBytes entry{};
};

/// Thread-safe. Owns the threads that upload and that extend leases.
class Service {
 public:
  explicit Service(const cache::StoreSettings& settings);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// `pauses` is called while another machine compiles: for so long, or until the asker is gone, which it
  /// says. `tells` sends an answer before the last.
  struct Asker {
    std::function<void(const cache::StoreAnswer&)> tells;
    std::function<bool(std::chrono::milliseconds)> pauses;
  };
  OwnAnswer answer(const cache::StoreRequest& request, Connections& connections, const Asker& asker);

  /// The answer to what is not asked for `reason`. No lease is left with it.
  OwnAnswer refuse(const cache::StoreRequest& request, std::string reason);
  /// A lease whose holder does not learn of it. Needs no memory.
  void give_back(std::uint64_t lease) { leases_.give_back(lease); }

  [[nodiscard]] const std::vector<cache::RemoteUrl>& stores() const { return stores_; }
  /// Nothing is under way for anybody.
  [[nodiscard]] bool idle();
  /// Uploads what is left, and gives back what nobody works for any more, also what stores are about to give,
  /// until `deadline`.
  void finish(Moment deadline);

 private:
  struct Upload {
    cache::StoreRequest request;  ///< its entry is `entry`
    std::vector<std::byte> entry;
  };
  struct Got {
    bool found = false;
    cache::FrameBytes entry;
    std::string why;  ///< not
  };
  OwnAnswer get(const cache::StoreRequest& request, Connections& connections, const Asker& asker);
  std::optional<OwnAnswer> lead(const cache::StoreRequest& request, std::uint64_t store,
                                Connections& connections, const Asker& asker, Moment deadline,
                                std::string& why);
  Got get_from(std::uint64_t store, const CacheKey& key, Connections& connections, Moment deadline);
  Got read(std::uint64_t store, const CacheKey& key, std::span<const std::byte> wire);
  OwnAnswer put(const cache::StoreRequest& request);
  /// Empty: it has it.
  std::string put_into(std::uint64_t store, const cache::StoreRequest& request, Connections& connections,
                       Moment deadline);
  bool begin_lead(std::uint64_t store, const CacheKey& key);
  void end_lead();
  [[nodiscard]] bool takes(std::uint64_t store) const;
  [[nodiscard]] std::optional<std::uint64_t> leading_store();
  void upload(Upload upload, Connections& connections);
  void upload_all();
  void free(const Lease& lease, Connections& connections);
  void note_result(std::uint64_t store, const Reply& reply);
  void note_written(std::uint64_t store, const Reply& reply);
  void note(std::string text);
  std::string take_notes();
  const tl::expected<SigningKey, std::string>& signing_key();

  std::vector<cache::RemoteUrl> stores_;
  const std::string key_file_;
  std::vector<Breaker> breakers_, writes_;  ///< of questions; of leases and uploads
  Leases leases_;

  std::once_flag key_read_;
  std::optional<tl::expected<SigningKey, std::string>> key_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Upload> uploads_;
  std::size_t queued_ = 0;  ///< bytes of them
  int busy_ = 0;            ///< threads that upload
  bool ends_ = false;
  int leads_ = 0;  ///< questions for a lease under way
  std::string notes_;
  std::set<std::pair<std::uint64_t, CacheKey>> damaged_;  ///< to be replaced

  std::atomic<bool> finishes_{false};
  std::vector<std::thread> threads_;
};

}  // namespace kiln::store
