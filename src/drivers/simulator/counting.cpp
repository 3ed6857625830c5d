// SPDX-License-Identifier: MIT
// Adds launches of one code up.
#include "drivers/simulator/counting.hpp"

#include <algorithm>

namespace kiln::simulator {

void Counting::begin() {
  const std::scoped_lock lock(mutex_);
  codes_.clear();
  on_ = true;
}

void Counting::add(std::string_view target, std::span<const std::byte> code, std::uint64_t groups,
                   std::uint64_t threads, const xe::Counts& counts) {
  constexpr std::uint64_t kLongest = 16;  // bytes of an instruction
  std::uint64_t end = 0;
  for (const auto& [offset, each] : counts.at) end = std::max(end, offset + kLongest);
  code = code.first(std::min<std::size_t>(code.size(), end));
  const std::scoped_lock lock(mutex_);
  // A launch may go further than one before.
  const auto found = std::ranges::find_if(codes_, [&](const CountedCode& each) {
    const std::size_t both = std::min(each.code.size(), code.size());
    return each.target == target && std::ranges::equal(code.first(both), std::span(each.code).first(both));
  });
  CountedCode& to = found == codes_.end() ? codes_.emplace_back() : *found;
  to.target = target;
  if (code.size() > to.code.size()) to.code.assign(code.begin(), code.end());
  ++to.launches;
  to.groups += groups;
  to.threads += threads;
  to.counts.merge(counts);
}

std::vector<CountedCode> Counting::read() const {
  const std::scoped_lock lock(mutex_);
  return codes_;
}

Counting& counting() {
  static Counting all;
  return all;
}

}  // namespace kiln::simulator
