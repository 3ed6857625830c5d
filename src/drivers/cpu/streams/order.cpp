// SPDX-License-Identifier: MIT
// Parses KILN_CPU_ORDER, draws commands, and lets go those that lists hold back.
#include "drivers/cpu/streams/order.hpp"

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <mutex>

namespace kiln::cpu {
namespace {

Order the_order;
std::atomic<std::uint64_t> shuffles = 0;

struct Gate {
  std::mutex mutex;
  std::condition_variable opened;
  Held::Moment moment = 0;
};

// Never destroyed: streams that the application leaked still run at exit.
Gate& gate() {
  static auto* gate = new Gate;
  return *gate;
}

}  // namespace

std::optional<Order> parse_order(std::string_view text) {
  if (text.empty()) return Order{};
  constexpr std::string_view kShuffle = "shuffle";
  if (text == kShuffle) return Order{true, {}};
  if (!text.starts_with(kShuffle) || text[kShuffle.size()] != ':') return std::nullopt;
  const std::string_view digits = text.substr(kShuffle.size() + 1);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Order{true, seed};
}

const Order& order() { return the_order; }
void set_order(const Order& order) { the_order = order; }

Shuffle::Shuffle() {
  std::seed_seq seed{the_order.seed.value_or(0), shuffles.fetch_add(1)};
  random_.seed(seed);
}

std::size_t Shuffle::pick(std::size_t count) {
  return the_order.seed ? static_cast<std::size_t>(random_() % count) : count - 1;
}

void Held::release() {
  if (!the_order.shuffle) return;
  {
    const std::lock_guard lock(gate().mutex);
    ++gate().moment;
  }
  gate().opened.notify_all();
}

Held::Moment Held::now() {
  const std::lock_guard lock(gate().mutex);
  return gate().moment;
}

void Held::wait_since(Moment moment) {
  std::unique_lock lock(gate().mutex);
  gate().opened.wait_for(lock, kLongest, [moment] { return gate().moment > moment; });
}

}  // namespace kiln::cpu
