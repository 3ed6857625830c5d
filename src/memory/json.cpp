// SPDX-License-Identifier: MIT
// A memory account as JSON.
#include "support/json.hpp"

#include "kiln/memory_account.hpp"

namespace kiln {
namespace {

using detail::Json;

Json optional_json(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(); }

Json card_json(const MemoryCard& card) {
  return {{"address", card.address},
          {"driver", card.driver},
          {"device_id", card.device},
          {"window", card.window},
          {"total", optional_json(card.total)},
          {"free", optional_json(card.free)}};
}

Json client_json(const MemoryClient& client) {
  Json regions = Json::array();
  for (const MemoryRegion& region : client.regions)
    regions.push_back({{"name", region.name},
                       {"total", region.total},
                       {"shared", region.shared},
                       {"resident", region.resident},
                       {"purgeable", region.purgeable},
                       {"active", region.active}});
  return {{"process", client.process},
          {"program", client.program},
          {"card", client.card},
          {"driver", client.driver},
          {"id", client.id},
          {"device_memory", client.device_memory()},
          {"host_memory", client.host_memory()},
          {"regions", regions}};
}

Json group_json(const MemoryGroup& group) {
  Json bounds = Json::array();
  for (const MemoryGroup::DeviceBound& bound : group.device_bounds)
    bounds.push_back({{"region", bound.region}, {"limit", bound.limit}, {"used", bound.used}});
  return {{"path", group.path},
          {"version", group.version},
          {"limit", optional_json(group.limit)},
          {"used", group.used},
          {"files", group.files},
          {"left", optional_json(group.left())},
          {"swap_limit", optional_json(group.swap_limit)},
          {"swap_used", group.swap_used},
          {"device_bounds", bounds}};
}

Json own_json(const OwnMemory::Kind& own) { return {{"bytes", own.bytes}, {"allocations", own.allocations}}; }

template <class T, class Make>
Json list_json(const std::vector<T>& list, const Make& make) {
  Json array = Json::array();
  for (const T& each : list) array.push_back(make(each));
  return array;
}

}  // namespace

std::string to_json(const MemoryAccount& account) {
  const HostMemory& host = account.host;
  const ProcessLimits& limits = account.limits;
  const Json json{{"process", account.process},
                  {"program", account.program},
                  {"cards", list_json(account.cards, card_json)},
                  {"clients", list_json(account.clients, client_json)},
                  {"groups", list_json(account.groups, group_json)},
                  {"host",
                   {{"total", host.total},
                    {"available", host.available},
                    {"swap_total", host.swap_total},
                    {"swap_free", host.swap_free},
                    {"commit_limit", host.commit_limit},
                    {"committed", host.committed},
                    {"overcommit", host.overcommit},
                    {"graphics_limit", optional_json(host.graphics_limit)},
                    {"graphics_pool", optional_json(host.graphics_pool)}}},
                  {"limits",
                   {{"locked", optional_json(limits.locked)},
                    {"locked_used", limits.locked_used},
                    {"address_space", optional_json(limits.address_space)},
                    {"addresses_used", limits.addresses_used},
                    {"data", optional_json(limits.data)}}},
                  {"own",
                   {{"device", own_json(account.own.device)},
                    {"host", own_json(account.own.host)},
                    {"shared", own_json(account.own.shared)}}},
                  {"unread_processes", account.unread_processes},
                  {"hides_processes", account.hides_processes}};
  return json.dump();
}

}  // namespace kiln
