// SPDX-License-Identifier: MIT
// Sums of a memory account, and the rows that a refusal shows of them.
#include "memory/view.hpp"

#include <algorithm>
#include <cstdio>

#include "support/printable.hpp"

namespace kiln {
namespace {

const MemoryCard* card_of(const MemoryAccount& account, const std::string& address) {
  if (address.empty()) return account.cards.size() == 1 ? account.cards.data() : nullptr;
  const auto found = std::ranges::find(account.cards, address, &MemoryCard::address);
  return found == account.cards.end() ? nullptr : &*found;
}

template <class Counts>
std::uint64_t sum_of(const MemoryClient& client, const Counts& counts) {
  std::uint64_t sum = 0;
  for (const MemoryRegion& region : client.regions)
    if (counts(region)) sum += region.resident;
  return sum;
}

/// Does the device have all of the card? A tile has a part, which its clients do not tell from the others.
bool may_be_tile(const MemoryAccount& account, const MemoryCard& card, std::optional<std::uint64_t> total) {
  if (!total) return false;
  if (card.total) return *total < *card.total / 4 * 3;  // of what the driver shows a little is the firmware's
  return std::ranges::any_of(account.clients, [&](const MemoryClient& client) {
    return client.card == card.address && std::ranges::count_if(client.regions, [](const MemoryRegion& each) {
                                            return each.is_device_memory();
                                          }) > 1;
  });
}

/// What clients hold together, at least: what each shares may be the same in all of them.
class Held {
 public:
  void add(const MemoryClient& client) {
    const std::uint64_t all = client.device_memory(), shared = sum_of_shared(client);
    private_ += all - shared;
    shared_ = std::max(shared_, shared);
  }
  [[nodiscard]] std::uint64_t bytes() const { return private_ + shared_; }

 private:
  static std::uint64_t sum_of_shared(const MemoryClient& client) {
    std::uint64_t sum = 0;
    for (const MemoryRegion& region : client.regions)
      if (region.is_device_memory()) sum += std::min(region.shared, region.resident);
    return sum;
  }
  std::uint64_t private_ = 0, shared_ = 0;
};

void add_bytes(std::vector<DiagnosticRow>& rows, std::string label, std::uint64_t bytes) {
  rows.push_back({std::move(label), {}, bytes, "B"});
}

}  // namespace

std::uint64_t MemoryClient::device_memory() const {
  return sum_of(*this, [](const MemoryRegion& region) { return region.is_device_memory(); });
}

std::uint64_t MemoryClient::host_memory() const {
  return sum_of(*this, [](const MemoryRegion& region) {
    return !region.is_device_memory() && !region.name.starts_with("stolen");
  });
}

std::optional<std::uint64_t> MemoryGroup::left() const {
  if (!limit) return std::nullopt;
  const std::uint64_t kept = used - std::min(used, files);
  return *limit - std::min(*limit, kept);
}

std::string memory_size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

namespace detail {

std::string holder_text(const Holder& holder) {
  const std::string process = "process " + std::to_string(holder.process);
  return holder.program.empty() ? process : "`" + printable(holder.program) + "` (" + process + ")";
}

bool has_host_behind(const MemoryCard& card) { return card.driver == "xe"; }

MemoryView::MemoryView(const MemoryAccount& of, const MemoryRequest& asked)
    : account(of), request(asked), card(card_of(of, asked.card)), total(asked.total), free(asked.free) {
  if (card) is_tile = may_be_tile(account, *card, total);
  if (card && !total) total = card->total;
  if (card && !free && !is_tile) free = card->free;
  is_told = free.has_value();
  Held all, mine, theirs;
  for (const MemoryClient& client : account.clients) {
    if (!card || client.card != card->address) continue;
    const std::uint64_t bytes = client.device_memory();
    all.add(client);
    if (client.process == account.process) {
      mine.add(client);
      continue;
    }
    theirs.add(client);
    if (bytes == 0) continue;
    const auto known = std::ranges::find(others, client.process, &Holder::process);
    if (known == others.end())
      others.push_back({client.process, client.program, bytes});
    else
      known->bytes += bytes;
  }
  std::ranges::stable_sort(others, std::ranges::greater{}, &Holder::bytes);
  own = mine.bytes();
  others_sum = theirs.bytes();
  std::uint64_t held = all.bytes();
  // A device that is no card, such as the CPU device: what its Buffers have.
  if (!card && total) held = own = account.own.device.bytes + account.own.shared.bytes;
  // An upper bound: the kernel and processes of other users may hold more.
  if (total && !free && !is_tile) free = *total - std::min(*total, held);
}

bool MemoryView::needs_host() const {
  if (request.kind == MemoryKind::host) return true;
  if (!card) return request.kind == MemoryKind::shared;
  return is_integrated() || request.kind == MemoryKind::shared || has_host_behind(*card);
}

}  // namespace detail

std::vector<DiagnosticRow> memory_rows(const MemoryAccount& account, const MemoryRequest& request) {
  const detail::MemoryView view(account, request);
  std::vector<DiagnosticRow> rows;
  const auto add_own = [&](const char* kind, const OwnMemory::Kind& own) {
    if (own.bytes) add_bytes(rows, std::string("Buffers of this process, ") + kind, own.bytes);
  };
  add_own("device", account.own.device);
  add_own("host", account.own.host);
  add_own("shared", account.own.shared);
  if (view.card && view.own) add_bytes(rows, "this process holds of the card", view.own);
  if (!view.others.empty()) {
    add_bytes(rows, "other processes hold of the card", view.others_sum);
    rows.push_back({"most of it", detail::holder_text(view.others.front()) + ": " +
                                      memory_size_text(view.others.front().bytes)});
  }
  // Of a device that is no card of the account, such as the CPU device, only where the host is the matter.
  if (!view.card && request.kind != MemoryKind::host) return rows;
  if (account.host.total) {
    add_bytes(rows, "host memory available", account.host.available);
    add_bytes(rows, "swap free", account.host.swap_free);
  }
  std::optional<std::uint64_t> left;
  for (const MemoryGroup& group : account.groups)
    if (const auto here = group.left()) left = std::min(left.value_or(*here), *here);
  if (left) add_bytes(rows, "left in the control group", *left);
  return rows;
}

}  // namespace kiln
