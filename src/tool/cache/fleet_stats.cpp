// SPDX-License-Identifier: MIT
// `kiln cache stats --fleet`: the stores of several machines, as text, JSON, or for Prometheus.
#include <algorithm>
#include <cstdio>

#include "support/digits.hpp"
#include "support/printable.hpp"
#include "tool/cache/fleet.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

struct StoreFigures {
  std::string name;
  std::string down;  ///< why it gave no answer; empty: it did
  double seconds = 0;
  std::optional<std::uint64_t> entries, memory, memory_limit, hits, misses, evicted;
};

std::optional<std::uint64_t> figure(const std::string& info, const std::string& name) {
  const auto at = ("\n" + info).find("\n" + name + ":");
  if (at == info.npos) return std::nullopt;
  const std::size_t start = at + name.size() + 1;
  return detail::parse_digits(
      std::string_view(info).substr(start, info.find_first_of("\r\n", start) - start));
}

StoreFigures ask_store(Fleet& fleet, std::size_t store) {
  StoreFigures figures;
  figures.name = fleet.stores()[store].name();
  const auto begin = std::chrono::steady_clock::now();
  // A key that nobody has: its answer says as much as any other.
  const Fleet::Held held = fleet.get(store, CacheKey{});
  figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!held.absent) figures.down = held.why;
  if (!fleet.stores()[store].is_redis() || !figures.down.empty()) return figures;
  if (const auto info = fleet.ask(cache::StoreVerb::figures, store)) {
    const std::string& text = info->answer.reason;
    figures.memory = figure(text, "used_memory");
    figures.memory_limit = figure(text, "maxmemory");
    figures.hits = figure(text, "keyspace_hits");
    figures.misses = figure(text, "keyspace_misses");
    figures.evicted = figure(text, "evicted_keys");
  }
  if (const auto keys = fleet.ask(cache::StoreVerb::list, store))
    figures.entries = static_cast<std::uint64_t>(std::ranges::count(keys->answer.reason, '\n'));
  return figures;
}

/// One metric with a value for each store that has it.
template <class Value>
void metric(const std::vector<StoreFigures>& all, const char* name, const char* type, const char* help,
            Value value) {
  if (std::ranges::none_of(all, [&](const StoreFigures& each) { return value(each).has_value(); })) return;
  say("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
  for (const StoreFigures& each : all)
    if (const std::optional<double> number = value(each))
      say("%s{store=\"%s\"} %.17g\n", name, each.name.c_str(), *number);
}

void print_prometheus(const CacheSize& folder, const std::vector<StoreFigures>& all) {
  say("# HELP kiln_cache_entries Entries in the folder of this machine.\n# TYPE kiln_cache_entries "
      "gauge\nkiln_cache_entries %llu\n",
      static_cast<unsigned long long>(folder.entries));
  say("# HELP kiln_cache_bytes Bytes of them.\n# TYPE kiln_cache_bytes gauge\nkiln_cache_bytes %llu\n",
      static_cast<unsigned long long>(folder.bytes));
  say("# HELP kiln_cache_damaged_entries Entries that were set aside.\n# TYPE kiln_cache_damaged_entries "
      "gauge\nkiln_cache_damaged_entries %llu\n",
      static_cast<unsigned long long>(folder.set_aside));
  using Number = std::optional<double>;
  const auto member = [](auto field) {
    return [field](const StoreFigures& each) {
      return each.*field ? Number(static_cast<double>(*(each.*field))) : Number();
    };
  };
  metric(all, "kiln_cache_store_up", "gauge", "Whether the store answers.",
         [](const StoreFigures& each) { return Number(each.down.empty() ? 1 : 0); });
  metric(all, "kiln_cache_store_answer_seconds", "gauge", "Time of one question.",
         [](const StoreFigures& each) { return each.down.empty() ? Number(each.seconds) : Number(); });
  metric(all, "kiln_cache_store_entries", "gauge", "Entries in the store.", member(&StoreFigures::entries));
  metric(all, "kiln_cache_store_memory_bytes", "gauge", "Memory that the store uses.",
         member(&StoreFigures::memory));
  metric(all, "kiln_cache_store_memory_limit_bytes", "gauge", "Memory that it may use, 0 without a limit.",
         member(&StoreFigures::memory_limit));
  metric(all, "kiln_cache_store_hits_total", "counter", "Keys of the store that were asked for and there.",
         member(&StoreFigures::hits));
  metric(all, "kiln_cache_store_misses_total", "counter", "Keys that were not there.",
         member(&StoreFigures::misses));
  metric(all, "kiln_cache_store_evicted_total", "counter", "Keys that went for want of room.",
         member(&StoreFigures::evicted));
}

Json to_json(const StoreFigures& figures) {
  Json json{{"store", figures.name}, {"up", figures.down.empty()}, {"answer_ms", figures.seconds * 1e3}};
  if (!figures.down.empty()) json["why"] = figures.down;
  const auto add = [&](const char* name, const std::optional<std::uint64_t>& value) {
    if (value) json[name] = *value;
  };
  add("entries", figures.entries);
  add("memory_bytes", figures.memory);
  add("memory_limit_bytes", figures.memory_limit);
  add("hits", figures.hits);
  add("misses", figures.misses);
  add("evicted", figures.evicted);
  return json;
}

void print_store(const StoreFigures& figures) {
  if (!figures.down.empty()) {
    say("%s  DOWN: %s\n", figures.name.c_str(), detail::printable(figures.down).c_str());
    return;
  }
  say("%s  answers in %.1f ms", figures.name.c_str(), figures.seconds * 1e3);
  if (figures.entries) say(", %llu entries", static_cast<unsigned long long>(*figures.entries));
  if (figures.memory) say(", %s", size_text(*figures.memory).c_str());
  if (figures.memory_limit && *figures.memory_limit) say(" of %s", size_text(*figures.memory_limit).c_str());
  if (figures.hits && figures.misses)
    say(", %llu hits, %llu misses", static_cast<unsigned long long>(*figures.hits),
        static_cast<unsigned long long>(*figures.misses));
  if (figures.evicted) say(", %llu evicted", static_cast<unsigned long long>(*figures.evicted));
  say("\n");
}

}  // namespace

int cache_fleet_stats(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  Fleet fleet(*options);
  if (fleet.stores().empty()) return fail(command, no_store());
  const auto folder = cache_size(*options);
  if (!folder) return fail(command, folder.error());
  std::vector<StoreFigures> all;
  for (std::size_t store = 0; store < fleet.stores().size(); ++store) all.push_back(ask_store(fleet, store));
  const bool up = std::ranges::all_of(all, [](const StoreFigures& each) { return each.down.empty(); });
  if (command.prometheus) {
    print_prometheus(*folder, all);
    return kOk;  // that one is down is among what is told
  }
  Json list = Json::array();
  for (const StoreFigures& each : all) list.push_back(to_json(each));
  if (command.json)
    print({{"stores", std::move(list)}});
  else
    for (const StoreFigures& each : all) print_store(each);
  return up ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
