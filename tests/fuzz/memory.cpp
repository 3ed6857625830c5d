// SPDX-License-Identifier: MIT
// Fuzz target: the files of the kernel that tell of memory, each read by every reader, and what is made of
// their numbers.
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"
#include "memory/parse.hpp"

FUZZ_TARGET(memory) {
  using namespace kiln;
  if (size < 2) return 0;
  const std::uint8_t choice = *data;
  const std::string_view text = fuzz::text(data + 1, size - 1);

  MemoryAccount account;
  if (auto client = detail::parse_fdinfo(text)) {
    fuzz::claim(!client->driver.empty(), "a client has a driver");
    account.clients.push_back(*std::move(client));
  }
  detail::parse_meminfo(text, account.host);
  detail::parse_limits(text, account.limits);
  detail::parse_status(text, account.limits);
  MemoryGroup group;
  if (const auto place = detail::parse_cgroup(text)) {
    group.path = place->path;
    group.version = place->version;
    for (const std::uint32_t version : {1u, 2u})
      if (const auto mount = detail::parse_mountinfo(text, version, place->path))
        for (const std::string& below : detail::groups_up(*mount, place->path)) {
          fuzz::claim(below.empty() || below.starts_with('/'), "a group is below its mount");
          fuzz::claim(below.find("/..") == below.npos, "and not above it");
        }
  }
  for (const auto& [region, bytes] : detail::parse_regions(text))
    group.device_bounds.push_back({region, bytes, bytes / 2});
  group.limit = detail::parse_amount(text.substr(0, text.find('\n')));
  group.files = detail::parse_file_pages(text, group.version);
  group.used = account.host.total;
  if (group.limit) fuzz::claim(*group.left() <= *group.limit, "no more is left than the limit");
  account.groups.push_back(std::move(group));

  MemoryCard card;
  card.address = detail::parse_uevent(text, "PCI_SLOT_NAME");
  card.driver = detail::parse_uevent(text, "DRIVER");
  card.window = detail::parse_window(text);
  if (const auto memory = detail::parse_managed(text)) {
    fuzz::claim(memory->used <= memory->size, "no more is in use than there is");
    card.total = memory->size;
    card.free = memory->size - memory->used;
  }
  if (!account.clients.empty() && card.address.empty()) card.address = account.clients[0].card;
  if (card.driver.empty()) card.driver = choice & 1 ? "xe" : "i915";
  account.cards.push_back(std::move(card));
  account.process = choice & 2 ? 0 : 1;
  account.host.overcommit = choice >> 4 & 3;
  account.host.graphics_limit = account.host.swap_total;

  MemoryRequest request;
  request.kind = static_cast<MemoryKind>((choice >> 2 & 3) % 3);
  request.size = account.host.available;
  for (const Diagnostic& cause : memory_causes(account, request)) fuzz::claim_renders(cause);
  (void)memory_rows(account, request);
  fuzz::claim(!to_json(account).empty(), "an account has JSON");
  return 0;
}
