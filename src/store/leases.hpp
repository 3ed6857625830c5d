// SPDX-License-Identifier: MIT
// The leases that this process holds while its program compiles, extended by a thread until they are given
// back.
#pragma once

#include <atomic>
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
  LeaseName name{};
  Moment since{};     ///< when it was given, or given back
  bool lost = false;  ///< another machine leads: extended no more, and its name tells the store
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
  /// As take(), and tells the store, without a wait for it.
  void give_back(std::uint64_t number);
  /// The same of one that has no number: its store may have given it in an answer that was not heard, or did
  /// not answer when it was told.
  void give_back(const Lease& lease);
  [[nodiscard]] bool empty() const;
  /// From an extension on: four times longer than usual what extensions were late of late, so that a machine
  /// that others crowd out, and a store that is slow, lose none.
  [[nodiscard]] std::chrono::milliseconds life() const { return life_.load(); }
  /// All that are left, since nobody works for them any more.
  std::vector<Lease> take_all();
  /// Tells the stores, and gives those of `leases` whose stores did not answer.
  static std::vector<Lease> release(const std::vector<Lease>& leases, Connections& connections);

 private:
  void extend_all();
  void tell_all(std::unique_lock<std::mutex>& lock, Connections& connections);
  void return_(Lease lease);  // with the mutex
  void extend_of(std::uint64_t store, const std::map<std::uint64_t, Lease>& held, Connection& connection);
  void heard(Moment now);
  void lose(std::uint64_t number);

  const std::vector<cache::RemoteUrl> stores_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Lease> held_;
  std::vector<Lease> returned_;  ///< that no store was told of yet
  std::vector<Lease> untold_;    ///< whose stores did not answer, told again until they have run out there
  /// Begins anywhere: a number of a process that was killed names no lease of the one after it.
  std::uint64_t last_ = std::uint64_t{std::random_device()()} << 31;
  bool ends_ = false, tells_ = false;  ///< the thread has some in hand that are in none of these
  std::atomic<std::chrono::milliseconds> life_{kLeaseLife};
  Moment heard_ =
      std::chrono::steady_clock::now();  ///< when there was an answer, or nothing to extend; of the thread
  Moment::duration late_{};              ///< the latest extension, forgotten slowly; of the thread
  std::thread thread_;
};

}  // namespace kiln::store
