// SPDX-License-Identifier: MIT
// Threads that wait for another one's answer.
#include "cache/flights.hpp"

namespace kiln::cache {

std::optional<CacheAnswer> Flights::join(const CacheKey& key) {
  std::unique_lock lock(mutex_);
  const auto [place, first] = flights_.try_emplace(key);
  if (first) {
    place->second = std::make_shared<Flight>();
    return std::nullopt;
  }
  const std::shared_ptr<Flight> flight = place->second;
  flight->landed.wait(lock, [&] { return flight->answer.has_value(); });
  return flight->answer;
}

void Flights::land(const CacheKey& key, const CacheAnswer& answer) {
  const std::lock_guard lock(mutex_);
  const auto place = flights_.find(key);
  place->second->answer = answer;
  place->second->landed.notify_all();
  flights_.erase(place);
}

}  // namespace kiln::cache
