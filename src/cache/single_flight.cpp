// SPDX-License-Identifier: MIT
// Threads that wait for another one's answer.
#include "cache/single_flight.hpp"

namespace kiln::cache {

SingleFlight::Joined SingleFlight::join(const CacheKey& key) {
  std::unique_lock lock(mutex_);
  const auto place = flights_.find(key);
  if (place == flights_.end()) {
    auto flight = std::make_shared<Flight>();
    flight->leader = std::this_thread::get_id();
    return {std::nullopt, Lead(this, flights_.emplace(key, std::move(flight)).first)};
  }
  const std::shared_ptr<Flight> flight = place->second;
  if (flight->leader == std::this_thread::get_id()) return {};
  flight->landing.wait(lock, [&] { return flight->landed; });
  return {flight->answer, std::nullopt};
}

SingleFlight::Lead::~Lead() {
  if (!flights_) return;
  const std::lock_guard lock(flights_->mutex_);
  Flight& flight = *place_->second;
  flight.answer = std::move(answer_);
  flight.landed = true;
  flight.landing.notify_all();
  flights_->flights_.erase(place_);
}

}  // namespace kiln::cache
