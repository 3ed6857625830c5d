// SPDX-License-Identifier: MIT
// Parses KILN_CPU_FAULT and counts towards the faults it names.
#include "drivers/cpu/settings/fault.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>

#include "drivers/cpu/streams/clock.hpp"

namespace kiln::cpu {
namespace {

Faults the_faults;
std::atomic<std::uint64_t> allocations = 0, submissions = 0;

constexpr std::uint64_t kForGood = UINT64_MAX;
std::atomic<std::uint64_t> losses_so_far = 0;  // kForGood: what is made later is lost too
std::atomic<std::uint64_t> last_loss_ns = 0;
std::mutex contexts_mutex;          // a loss, and what follows
std::uint64_t living_contexts = 0;  // of those that were made after the last loss

/// A number above zero, with K, M or G for powers of 1024.
bool parse_number(std::string_view text, std::uint64_t& value) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    const auto place = std::string_view("KMG").find(text.back());
    if (place != std::string_view::npos) {
      unit = std::uint64_t{1} << (10 * (place + 1));
      text.remove_suffix(1);
    }
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value != 0 &&
         !__builtin_mul_overflow(value, unit, &value);
}

bool parse_fault(std::string_view text, Faults& faults) {
  if (text == "build") return faults.build = true;
  if (text == "event") return faults.event = true;
  const auto equals = text.find('=');
  if (equals == text.npos) return false;
  const std::string_view name = text.substr(0, equals), number = text.substr(equals + 1);
  if (name == "allocation") return parse_number(number, faults.allocation);
  if (name == "lost") return parse_number(number, faults.lost);
  if (name == "reset") return parse_number(number, faults.reset);
  return name == "memory" && parse_number(number, faults.memory);
}

}  // namespace

std::optional<Faults> parse_faults(std::string_view text) {
  Faults faults;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (!parse_fault(text.substr(0, comma), faults)) return std::nullopt;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return faults;
}

const Faults& faults() { return the_faults; }
void set_faults(const Faults& faults) { the_faults = faults; }

bool allocation_fails() { return the_faults.allocation != 0 && ++allocations == the_faults.allocation; }

void count_submission() {
  if (the_faults.lost == 0 && the_faults.reset == 0) return;
  const std::uint64_t number = ++submissions;
  if (number != the_faults.lost && number != the_faults.reset) return;
  const std::lock_guard lock(contexts_mutex);
  if (losses_so_far == kForGood) return;
  last_loss_ns = now_ns();
  losses_so_far = number == the_faults.lost ? kForGood : losses_so_far + 1;
  living_contexts = 0;
}

ze_result_t LossesBefore::state() const {
  const std::uint64_t now = losses_so_far.load(std::memory_order_relaxed);
  return now == number_ && now != kForGood ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_DEVICE_LOST;
}

ze_result_t LossesBefore::state(std::uint64_t ended_ns) const {
  const ze_result_t now = state();
  return now != ZE_RESULT_SUCCESS && ended_ns < last_loss_ns ? ZE_RESULT_SUCCESS : now;
}

ContextLife::ContextLife() {
  const std::lock_guard lock(contexts_mutex);
  losses_.number_ = losses_so_far;
  ++living_contexts;
}

ContextLife::~ContextLife() {
  const std::lock_guard lock(contexts_mutex);
  if (losses_.number_ == losses_so_far) --living_contexts;
}

ze_result_t device_state() {
  const std::lock_guard lock(contexts_mutex);
  const bool lost = losses_so_far == kForGood || (losses_so_far != 0 && living_contexts == 0);
  return lost ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
