// SPDX-License-Identifier: MIT
// The leases that this process holds while its program compiles, extended by a thread until they are given
// back.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "store/connection.hpp"

namespace kiln::store {

struct Lease {
  std::uint64_t store = 0;  ///< which one gave it
  CacheKey key{};
  std::uint64_t token = 0;
  Moment since{};     ///< when it was given
  bool lost = false;  ///< another machine leads: extended no more, and its token tells the store
};

/// Thread-safe. Owns a thread.
class Leases {
 public:
  explicit Leases(std::vector<cache::RemoteUrl> stores);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  /// A number for it, never 0.
  std::uint64_t add(const Lease& lease);
  [[nodiscard]] std::optional<Lease> find(std::uint64_t number) const;
  /// It is extended no more.
  std::optional<Lease> take(std::uint64_t number);
  [[nodiscard]] bool empty() const;
  /// All that are left, since nobody works for them any more.
  std::vector<Lease> take_all();

 private:
  void extend_all();
  void lose(std::uint64_t number);

  const std::vector<cache::RemoteUrl> stores_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Lease> held_;
  /// Begins anywhere: a number of a process that was killed names no lease of the one after it.
  std::uint64_t last_ = std::uint64_t{std::random_device()()} << 31;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace kiln::store
