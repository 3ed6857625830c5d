// SPDX-License-Identifier: MIT
// Moves and combines the values that work-items bring to a collective.
#include "drivers/cpu/runtime/collective.hpp"

#include <algorithm>
#include <cstring>

namespace kiln::cpu {
namespace {

using Items = std::span<const Wait>;
using Members = std::span<const std::uint32_t>;

// In the order of the items: floating-point sums must not change from run to run.
void reduce(Items items, Members members, std::size_t size) {
  alignas(kLargestCollectiveValue) std::byte sum[kLargestCollectiveValue];
  const Wait& first = items[members[0]];
  std::memcpy(sum, first.value, size);
  for (const std::uint32_t member : members.subspan(1)) first.combine(sum, items[member].value);
  for (const std::uint32_t member : members) std::memcpy(items[member].value + size, sum, size);
}

void reduce_clusters(Items items, Members members, std::size_t size) {
  const std::uint64_t cluster = std::max<std::uint64_t>(1, items[members[0]].parameter);
  while (!members.empty()) {
    const auto end = std::ranges::find_if(
        members, [&](std::uint32_t member) { return member / cluster != members[0] / cluster; });
    const auto count = static_cast<std::size_t>(end - members.begin());
    reduce(items, members.first(count), size);
    members = members.subspan(count);
  }
}

void scan(Items items, Members members, std::size_t size, bool inclusive) {
  alignas(kLargestCollectiveValue) std::byte sum[kLargestCollectiveValue];
  const Wait& first = items[members[0]];
  std::memcpy(sum, first.value, size);
  if (inclusive) std::memcpy(first.value + size, sum, size);
  for (const std::uint32_t member : members.subspan(1)) {
    const Wait& item = items[member];
    if (!inclusive) std::memcpy(item.value + size, sum, size);
    item.combine(sum, item.value);
    if (inclusive) std::memcpy(item.value + size, sum, size);
  }
}

// Who asks for the value of one that does not take part gets its own: the specifications leave it open.
void gather(Items items, Members members, std::size_t size) {
  for (const std::uint32_t member : members) {
    const std::uint64_t wanted = items[member].parameter;
    std::uint32_t source = member;
    if (wanted == kFirstMember)
      source = members[0];
    else if (wanted < items.size() && std::ranges::binary_search(members, wanted))
      source = static_cast<std::uint32_t>(wanted);
    std::memcpy(items[member].value + size, items[source].value, size);
  }
}

void ballot(Items items, Members members) {
  std::uint64_t ayes = 0;
  for (const std::uint32_t member : members) {
    std::uint64_t vote = 0;
    std::memcpy(&vote, items[member].value, sizeof vote);
    if (vote != 0 && member < 64) ayes |= std::uint64_t{1} << member;
  }
  for (const std::uint32_t member : members)
    std::memcpy(items[member].value + sizeof ayes, &ayes, sizeof ayes);
}

/// A value, so that it is moved in registers.
template <class T>
struct Moves {
  static constexpr std::size_t size = sizeof(T);
  static void copy(void* to, const void* from) { std::memcpy(to, from, sizeof(T)); }
};
struct MovesBytes {
  std::size_t size;
  void copy(void* to, const void* from) const { std::memcpy(to, from, size); }
};

// In the same order as above.
template <class M>
void combine_in_order(const M& moves, const Wait& first, std::size_t count, std::size_t stride) {
  alignas(kLargestCollectiveValue) std::byte sum[kLargestCollectiveValue];
  std::byte* value = first.value;
  moves.copy(sum, value);
  if (first.kind() == Collective::reduce) {
    for (std::size_t i = 1; i < count; ++i) first.combine(sum, value + i * stride);
    for (std::size_t i = 0; i < count; ++i) moves.copy(value + i * stride + moves.size, sum);
    return;
  }
  const bool inclusive = first.kind() == Collective::inclusive_scan;
  if (inclusive) moves.copy(value + moves.size, sum);
  for (std::size_t i = 1; i < count; ++i) {
    std::byte* own = value + i * stride;
    if (!inclusive) moves.copy(own + moves.size, sum);
    first.combine(sum, own);
    if (inclusive) moves.copy(own + moves.size, sum);
  }
}

}  // namespace

bool combine_all(Wait first, std::uint64_t count, std::uint64_t members, std::uint64_t stride) {
  if (first.kind() > Collective::exclusive_scan) return false;
  for (; count != 0; count -= members, first.value += members * stride) {
    members = std::min(members, count);
    if (first.size() == 4)
      combine_in_order(Moves<std::uint32_t>(), first, members, stride);
    else if (first.size() == 8)
      combine_in_order(Moves<std::uint64_t>(), first, members, stride);
    else
      combine_in_order(MovesBytes{first.size()}, first, members, stride);
  }
  return true;
}

void run_collective(Items items, Members members) {
  const Wait& first = items[members[0]];
  switch (first.kind()) {
    case Collective::reduce:
      return reduce(items, members, first.size());
    case Collective::inclusive_scan:
    case Collective::exclusive_scan:
      return scan(items, members, first.size(), first.kind() == Collective::inclusive_scan);
    case Collective::clustered_reduce:
      return reduce_clusters(items, members, first.size());
    case Collective::gather:
      return gather(items, members, first.size());
    case Collective::ballot:
      return ballot(items, members);
    case Collective::barrier:
      return;
  }
}

}  // namespace kiln::cpu
