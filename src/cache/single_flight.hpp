// SPDX-License-Identifier: MIT
// One of the threads that ask for the same key at the same time works, the others take its answer.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "kiln/cache.hpp"

namespace kiln::cache {

/// Thread-safe.
class SingleFlight {
  struct Flight;
  using Map = std::map<CacheKey, std::shared_ptr<Flight>>;

 public:
  /// The one who works. The others wait until it goes, on whatever way: after land() they have that answer,
  /// without it each works for itself.
  class Lead {
   public:
    Lead(Lead&& other) noexcept
        : flights_(std::exchange(other.flights_, nullptr)),
          place_(other.place_),
          answer_(std::move(other.answer_)) {}
    Lead& operator=(Lead&&) = delete;
    ~Lead();
    /// An answer that is as good for the others.
    void land(CacheAnswer answer) { answer_ = std::move(answer); }

   private:
    friend SingleFlight;
    Lead(SingleFlight* flights, Map::iterator place) : flights_(flights), place_(place) {}
    SingleFlight* flights_;
    Map::iterator place_;
    std::optional<CacheAnswer> answer_;
  };

  /// One of the two; neither where another's result was good for it alone, or where a thread asks again for
  /// what it is working on: then it works for itself.
  struct Joined {
    std::optional<CacheAnswer> answer;
    std::optional<Lead> lead;
  };
  [[nodiscard]] Joined join(const CacheKey& key);

 private:
  struct Flight {
    std::thread::id leader{};
    std::condition_variable landing{};
    bool landed = false;
    std::optional<CacheAnswer> answer{};
  };
  std::mutex mutex_;
  Map flights_;
};

}  // namespace kiln::cache
