// SPDX-License-Identifier: MIT
// Advice as JSON, and that JSON as a table.
#include "tool/common/output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "tool/advise/search.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

using detail::Json;

constexpr std::size_t kShownRefused = 3;  // for each reason; the JSON has all

Json change_json(const Alternative& what) {
  Json json = Json::object();
  const auto extent = [](const Extent& is) { return Json{is.x, is.y, is.z}; };
  if (what.group) json["group"] = extent(*what.group);
  if (what.global) json["global"] = extent(*what.global);
  for (const Macro& each : what.macros) json["macros"][each.name] = each.value;
  if (what.local_times != what.local_divided)
    json["local_factor"] = static_cast<double>(what.local_times) / static_cast<double>(what.local_divided);
  if (what.slm) json["slm"] = *what.slm;
  if (what.sub_group_size) json["sub_group_size"] = what.sub_group_size;
  if (what.large_registers) json["registers"] = 256u;
  if (what.barrier) json["without_barrier"] = *what.barrier;
  return json;
}

Json trial_json(const Trial& trial, double given) {
  Json json{{"words", words_of(trial.what)}, {"change", change_json(trial.what)}};
  json["refused"] = trial.refused.empty() ? Json() : Json(trial.refused);
  json["how"] = trial.how;
  if (!trial.refused.empty()) return json;
  const CountedCost& cost = trial.cost;
  json["cost"] = static_cast<std::uint64_t>(std::llround(cost.total()));
  json["percent"] = given > 0 ? std::round(cost.total() * 1000 / given) / 10 : 100.0;
  json["lines"] = cost.lines;
  json["turns"] = cost.turns;
  json["barriers"] = cost.barriers;
  json["spilled_lines"] = cost.spilled;
  if (cost.occupancy)
    json["occupancy"] = {{"percent", cost.threads_percent}, {"limit", to_string(cost.occupancy->limit)}};
  return json;
}

std::string percent_text(const Json& trial) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g%%", trial["percent"].get<double>());
  return text;
}

}  // namespace

Json advice_json(const Advice& advice) {
  const double given = advice.trials.empty() ? 0 : advice.trials.front().cost.total();
  Json json{{"product", advice.product.empty() ? Json() : Json(advice.product)},
            {"basis", advice.basis.empty() ? Json() : Json(advice.basis)},
            {"best", advice.best},
            {"cut", advice.is_cut}};
  json["tried"] = Json::array();
  for (const Trial& each : advice.trials) json["tried"].push_back(trial_json(each, given));
  json["not_tried"] = Json::array();
  for (const NotTried& each : advice.not_tried)
    json["not_tried"].push_back({{"what", each.what}, {"why", each.why}});
  return json;
}

void print_advice(const Json& advice) {
  say("\nadvice: what was tried, by what it costs on the counters' word; no time is meant\n");
  std::vector<std::vector<std::string>> table{{"TRIED", "ANSWER", "COST", "OF GIVEN", "CACHE LINES", "TURNS",
                                               "BARRIERS", "SPILLED", "THREADS", "LIMIT"}};
  std::map<std::string, std::vector<std::string>> refused;  // by the reason
  const auto number = [](const Json& each, const char* field) {
    return std::to_string(each[field].get<std::uint64_t>());
  };
  for (const std::size_t i : by_cost(advice)) {
    const Json& each = advice["tried"][i];
    const std::string words = each["words"].get<std::string>();
    if (!each["refused"].is_null()) {
      refused[each["refused"].get<std::string>()].push_back(words);
      continue;
    }
    const Json* occupancy = each.find("occupancy");
    table.push_back({words, i == 0 ? "given" : "same", number(each, "cost"), percent_text(each),
                     number(each, "lines"), number(each, "turns"), number(each, "barriers"),
                     number(each, "spilled_lines"),
                     occupancy ? std::to_string((*occupancy)["percent"].get<std::uint64_t>()) + "%" : "-",
                     occupancy ? (*occupancy)["limit"].get<std::string>() : "-"});
  }
  print_table(std::move(table), 2, 2);
  for (const auto& [why, all] : refused) {
    std::string some;
    for (std::size_t i = 0; i < std::min(all.size(), kShownRefused); ++i) some += (i ? "; " : "") + all[i];
    if (all.size() > kShownRefused) some += "; and " + std::to_string(all.size() - kShownRefused) + " more";
    say("  refused, %s: %s\n", why.c_str(), some.c_str());
  }
  if (advice["cut"].get<bool>()) say("  There was more to try: raise --tries.\n");
  if (!advice["product"].is_null())
    say("  THREADS: part of the hardware threads of a core of %s that have work, by %s\n",
        advice["product"].get<std::string>().c_str(), advice["basis"].get<std::string>().c_str());
  for (const Json& each : advice["not_tried"])
    say("  not tried: %s, as %s\n", each["what"].get<std::string>().c_str(),
        each["why"].get<std::string>().c_str());
}

std::vector<std::size_t> by_cost(const Json& advice) {
  const Json& tried = advice["tried"];
  std::vector<std::size_t> order(tried.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto cost = [&](std::size_t i) {
    return tried[i]["refused"].is_null() ? static_cast<double>(tried[i]["cost"].get<std::uint64_t>())
                                         : HUGE_VAL;
  };
  std::ranges::stable_sort(order, {}, cost);
  return order;
}

}  // namespace kiln::tool
