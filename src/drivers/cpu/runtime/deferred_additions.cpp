// SPDX-License-Identifier: MIT
#include "drivers/cpu/runtime/deferred_additions.hpp"

#include <algorithm>
#include <atomic>
#include <new>

namespace kiln::cpu {

bool DeferredAdditions::add(std::uint32_t* line, const std::uint32_t* values) {
  const auto address = reinterpret_cast<std::uintptr_t>(line);
  if (declines_ || address % sizeof(Line) != 0) return false;
  if (!lines_) lines_.reset(new (std::nothrow) Line[kLines]);
  if (!lines_) return false;
  const std::size_t place = address / sizeof(Line) % kLines;
  std::array<std::uint32_t, kWords>& sums = lines_[place].sums;
  if (places_[place] == line) {
    ++again_;
    for (std::size_t i = 0; i < kWords; ++i) sums[i] += values[i];
    return true;
  }
  if (places_[place] != nullptr) {
    make(place);
    // Sums are worth their while where lines come again.
    if (++gave_way_ > kFew && again_ / 2 < gave_way_) {
      declines_ = true;
      return false;
    }
  }
  // Where nothing may be written, this is where the program ends, as without sums.
  std::atomic_ref(*line).fetch_add(0, std::memory_order_relaxed);
  any_ = true;
  std::copy_n(values, kWords, sums.begin());
  places_[place] = line;
  return true;
}

void DeferredAdditions::make(std::size_t place) {
  for (std::size_t i = 0; i < kWords; ++i)
    if (const std::uint32_t sum = lines_[place].sums[i])
      std::atomic_ref(places_[place][i]).fetch_add(sum, std::memory_order_relaxed);
  places_[place] = nullptr;
}

void DeferredAdditions::make() {
  for (std::size_t place = 0; any_ && place < kLines; ++place)
    if (places_[place] != nullptr) make(place);
  again_ = gave_way_ = 0;
  any_ = declines_ = false;
}

}  // namespace kiln::cpu
