// SPDX-License-Identifier: MIT
// Counts cache lines and turns of SLM banks.
#include "drivers/cpu/counting/access_rules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace kiln::cpu {
namespace {

/// The units of `unit` bytes that the accesses lie in: each access's own, or all of them once. Until the next
/// call.
std::span<const std::uint64_t> units_of(std::span<const Touch> touches, std::uint64_t unit, bool once) {
  thread_local std::vector<std::uint64_t> units;  // asked for so often that its memory is kept
  units.clear();
  for (const Touch& touch : touches) {
    if (touch.bytes == 0) continue;
    const std::uint64_t last = (touch.address + touch.bytes - 1) / unit;
    for (std::uint64_t at = touch.address / unit; at <= last; ++at) units.push_back(at);
  }
  if (!once) return units;
  if (!std::ranges::is_sorted(units)) std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

/// Bytes from each access to the next, when all have as many and are that far apart; else nothing.
std::optional<std::uint64_t> step_of(std::span<const Touch> touches) {
  if (touches.size() < 2 || touches[0].bytes == 0) return std::nullopt;
  const std::uint64_t step = touches[1].address - touches[0].address;
  bool even = true;
  for (std::size_t i = 1; i < touches.size(); ++i)
    even &= touches[i].address - touches[i - 1].address == step && touches[i].bytes == touches[0].bytes;
  if (!even) return std::nullopt;
  return step;
}

}  // namespace

std::uint32_t lines_of(std::span<const Touch> touches) {
  if (const auto step = step_of(touches); step && *step <= kLineBytes) {  // none between is left out
    const std::uint64_t end = touches.back().address + touches.back().bytes;
    return static_cast<std::uint32_t>((end - 1) / kLineBytes - touches[0].address / kLineBytes + 1);
  }
  return static_cast<std::uint32_t>(units_of(touches, kLineBytes, true).size());
}

Turns slm_turns(std::span<const Touch> touches, bool atomic) {
  Turns turns;
  for (std::size_t at = 0; at < touches.size(); at += kServedTogether) {
    const auto together = touches.subspan(at, std::min(kServedTogether, touches.size() - at));
    static_assert(kServedTogether <= kBanks);
    const auto step = atomic ? std::nullopt : step_of(together);
    if (step && (*step == 0 || *step == kBankBytes) && together[0].bytes == kBankBytes &&
        together[0].address % kBankBytes == 0) {
      ++turns.taken;
      ++turns.least;
      continue;
    }
    const std::span<const std::uint64_t> words = units_of(together, kBankBytes, !atomic);
    std::array<std::uint64_t, kBanks> in_bank{};
    for (const std::uint64_t word : words) ++in_bank[word % kBanks];
    turns.taken += std::ranges::max(in_bank);
    turns.least += (words.size() + kBanks - 1) / kBanks;
  }
  return turns;
}

}  // namespace kiln::cpu
