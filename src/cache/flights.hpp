// SPDX-License-Identifier: MIT
// One of the threads that ask for the same key at the same time works, the others take its answer.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "kiln/cache.hpp"

namespace kiln::cache {

/// Thread-safe.
class Flights {
 public:
  /// Nothing: the caller is the one who works, and must call land(). Otherwise the answer of the other
  /// thread.
  [[nodiscard]] std::optional<CacheAnswer> join(const CacheKey& key);
  void land(const CacheKey& key, const CacheAnswer& answer);

 private:
  struct Flight {
    std::condition_variable landed;
    std::optional<CacheAnswer> answer;
  };
  std::mutex mutex_;
  std::map<CacheKey, std::shared_ptr<Flight>> flights_;
};

}  // namespace kiln::cache
