// SPDX-License-Identifier: MIT
// Pages of several runs: the sizes of `--sweep`, and the two of `--against`.
#include <algorithm>
#include <cmath>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kTimesOfTheCpu =
    "<p class=\"note\">The times are those of the CPU device: of the product whose limits it has they say "
    "nothing.</p>\n";

std::string answer_of(const Json& swept) {
  if (!swept["right"].is_null())
    return swept["right"].get<bool>() ? "<b class=\"tag good\">right</b>" : "<b class=\"tag bad\">wrong</b>";
  if (swept["same"].is_null()) return "–";
  return swept["same"].get<bool>() ? "<b class=\"tag good\">the same</b>"
                                   : "<b class=\"tag warn\">differs</b>";
}

std::string time_cell(const Json& run, const char* field) {
  return run.contains(field) && run[field].is_number() ? number(run[field].get<double>()) + " ms" : "–";
}

/// "2.1 ×" of the first; nothing where one of them is none.
std::string ratio_cell(const Json& here, const Json& there) {
  if (!here.is_number() || !there.is_number() || here.get<double>() <= 0) return "–";
  return number(there.get<double>() / here.get<double>()) + " ×";
}

struct CountedPair {
  std::string what;
  Json here{}, there{};
  /// How far the two are apart, whichever is larger.
  [[nodiscard]] double distance() const {
    const double a = here.is_number() ? here.get<double>() : 0,
                 b = there.is_number() ? there.get<double>() : 0;
    return std::abs(std::log((a + 1) / (b + 1)));
  }
};

void add_totals(const Json& side, Json CountedPair::*to, std::vector<CountedPair>& pairs) {
  const auto add = [&](const std::string& what, const Json& value) {
    auto found = std::ranges::find(pairs, what, &CountedPair::what);
    if (found == pairs.end()) found = pairs.insert(found, CountedPair{what});
    (*found).*to = value;
  };
  for (const auto& [name, sums] : side["counters"]["totals"].items()) {
    const std::string shown = shown_total(name);
    if (!sums.is_object()) {
      add("arrivals at barriers", sums);
      continue;
    }
    for (const auto& [field, words] :
         {std::pair("accesses", ""), std::pair("lines", ": cache lines"), std::pair("turns", ": turns"),
          std::pair("conflict_turns", ": turns of conflicts")})
      if (sums.contains(field)) add(shown + words, sums[field]);
  }
}

std::string counted_section(const Json& here, const Json& there) {
  if (!here.contains("counters") || !there.contains("counters")) return {};
  std::vector<CountedPair> pairs;
  add_totals(here, &CountedPair::here, pairs);
  add_totals(there, &CountedPair::there, pairs);
  std::ranges::stable_sort(pairs, std::ranges::greater{}, &CountedPair::distance);
  std::vector<std::vector<std::string>> rows;
  const auto cell = [](const Json& value) {
    return value.is_number() ? number(value.get<std::uint64_t>()) : std::string("–");
  };
  for (const CountedPair& each : pairs)
    rows.push_back(
        {escaped(each.what), cell(each.here), cell(each.there), ratio_cell(each.here, each.there)});
  return "<section id=\"counted\"><h2>What was counted</h2>\n" +
         table("Totals, those that differ most first", {"What", "First", "Second", "Second to first"}, rows,
               1) +
         "</section>\n";
}

/// Each buffer that one of the two may have written, those that differ first.
std::string buffers_section(const Json& comparison) {
  if (!comparison.contains("buffers") || comparison["buffers"].empty()) return {};
  std::vector<const Json*> buffers;
  for (const Json& each : comparison["buffers"]) buffers.push_back(&each);
  std::ranges::stable_sort(buffers, std::ranges::greater{},
                           [](const Json* each) { return (*each)["differ"].get<std::uint64_t>(); });
  std::vector<std::vector<std::string>> rows;
  for (const Json* each : buffers) {
    const std::uint64_t differ = (*each)["differ"].get<std::uint64_t>();
    const auto where = [&](const char* field) {
      return differ ? code((*each)[field].get<std::string>()) : std::string("–");
    };
    rows.push_back({code((*each)["name"].get<std::string>()) +
                        (differ ? " <b class=\"tag bad\">differs</b>" : " <b class=\"tag good\">agrees</b>"),
                    where("here"), where("there"), number(differ),
                    number((*each)["numbers"].get<std::uint64_t>()),
                    differ ? number((*each)["index"].get<std::uint64_t>()) : "–",
                    (*each)["largest"].is_number() ? number((*each)["largest"].get<double>()) : "–"});
  }
  return "<section id=\"answers\"><h2>Answers</h2>\n" +
         table("Buffers that one of the two may have written",
               {"Buffer", "First", "Second", "Numbers that differ", "Of", "First at", "Largest distance"},
               rows, 3) +
         "</section>\n";
}

std::string sides_section(const Json& comparison) {
  const Json &here = comparison["this"], &there = comparison["other"];
  std::vector<std::vector<std::string>> rows;
  const auto text = [&](const char* name, const char* field) {
    if (!here.contains(field) || !there.contains(field)) return;
    rows.push_back({name, code(here[field].get<std::string>()), code(there[field].get<std::string>())});
  };
  const auto time = [&](const char* name, const char* field) {
    if (!here.contains(field) || !there.contains(field)) return;
    rows.push_back(
        {name, time_cell(here, field),
         time_cell(there, field) + " <small>" + ratio_cell(here[field], there[field]) + "</small>"});
  };
  const auto extent = [&](const char* name, const char* field) {
    if (here.contains(field) && there.contains(field))
      rows.push_back({name, shown_extent(here[field]), shown_extent(there[field])});
  };
  time("Device time", "device_ms");
  time("Host time", "host_ms");
  time("Build", "build_ms");
  text("Kernel", "kernel");
  text("File", "file");
  text("Device", "device");
  extent("Work-groups", "groups");
  extent("Work-group", "group_size");
  return "<section id=\"sides\"><h2>Side by side</h2>\n" +
         table("The two runs", {"What", "First", "Second"}, rows, 3) + "</section>\n";
}

/// "the second is 2.1 times as fast on this device"; empty: nobody knows.
std::string faster_text(const Json& here, const Json& there) {
  if (!here["device_ms"].is_number() || !there["device_ms"].is_number()) return {};
  const double a = here["device_ms"].get<double>(), b = there["device_ms"].get<double>();
  if (a <= 0 || b <= 0) return {};
  return std::string(a <= b ? "the first is " : "the second is ") + number(std::max(a, b) / std::min(a, b)) +
         " times as fast on " +
         (here.contains("device") && there.contains("device") && here["device"] != there["device"]
              ? "its device"
              : "this device");
}

}  // namespace

std::string sweep_page(const Json& sweep, bool is_cpu) {
  const std::string device = sweep["device"].get<std::string>();
  const Json *best = nullptr, *slowest = nullptr;
  for (const Json& each : sweep["sweep"]) {
    if (each.contains("refused") || !each["device_ms"].is_number() || each["right"] == Json(false)) continue;
    if (!slowest || each["device_ms"].get<double>() > (*slowest)["device_ms"].get<double>()) slowest = &each;
    if (each["group"] == sweep["best"]) best = &each;
  }
  const double most = slowest ? (*slowest)["device_ms"].get<double>() : 1;
  std::vector<std::vector<std::string>> rows;
  bool threads = false, arrivals = false, wrong = false;
  for (const Json& each : sweep["sweep"])
    threads |= each.contains("occupancy"), arrivals |= each.contains("barriers");
  for (const Json& each : sweep["sweep"]) {
    const std::string group = number(each["group"].get<std::uint64_t>());
    std::vector<std::string> row;
    if (each.contains("refused")) {
      row = {group, "<b class=\"tag many\">" + escaped(each["refused"].get<std::string>()) + "</b>",
             "",    "–",
             "–",   "–"};
    } else {
      wrong |= each["right"] == Json(false);
      const double time = each["device_ms"].is_number() ? each["device_ms"].get<double>() : 0;
      row = {group + (best == &each ? " <b class=\"tag good\">best</b>" : ""),
             answer_of(each),
             time > 0 ? bar(percent(time, most)) : "",
             time_cell(each, "device_ms"),
             time_cell(each, "host_ms"),
             shown_extent(each["groups"])};
    }
    if (threads) {
      const Json* is = each.find("occupancy");
      const double share = is ? static_cast<double>((*is)["percent"].get<std::uint64_t>()) : 0;
      row.push_back(is ? bar(share, share < 75 ? "limit" : "") : "");
      row.push_back(is ? number(std::uint64_t{(*is)["percent"].get<std::uint64_t>()}) + " % <small>" +
                             escaped((*is)["limit"].get<std::string>()) + "</small>"
                       : "–");
    }
    if (arrivals)
      row.push_back(each.contains("barriers") ? number(each["barriers"].get<std::uint64_t>()) : "–");
    rows.push_back(std::move(row));
  }
  std::vector<std::string> heads{"Work-group",  "Answer",    "Of the slowest",
                                 "Device time", "Host time", "Work-groups"};
  if (threads) heads.insert(heads.end(), {"In use", "Threads with work"});
  if (arrivals) heads.push_back("Arrivals at barriers");
  std::string glance = "<dl class=\"glance\">";
  if (best) {
    glance += glance_tile("Best", number((*best)["group"].get<std::uint64_t>()), "work-items a group");
    glance += glance_tile("Device time", time_cell(*best, "device_ms"), "of the best");
    glance += glance_tile("Faster", number(most / std::max((*best)["device_ms"].get<double>(), 1e-9)) + " ×",
                          "than groups of " + number((*slowest)["group"].get<std::uint64_t>()));
    if (const Json* is = best->find("occupancy"))
      glance += glance_tile("Threads with work", number((*is)["percent"].get<std::uint64_t>()) + " %",
                            "on " + escaped(sweep["occupancy_of"].get<std::string>()));
  }
  if (sweep.contains("barriers_a_group"))
    glance += glance_tile("Barriers", number(sweep["barriers_a_group"].get<std::uint64_t>()),
                          "that a work-group keeps in native code");
  glance += "</dl>\n";
  std::string main = (glance.find("<div>") != glance.npos ? glance : "") +
                     "<section id=\"sweep\"><h2>By the size of the work-group</h2>\n" +
                     table("Time, answer and occupancy", heads, rows, 2);
  if (is_cpu) main += kTimesOfTheCpu;
  if (threads)
    main += "<p class=\"note\">Threads with work: part of the hardware threads of a core of " +
            escaped(sweep["occupancy_of"].get<std::string>()) + ", and what allows no more.</p>\n";
  main += "</section>\n";
  return whole_page({sweep["kernel"].get<std::string>() + " by group size",
                     code(sweep["kernel"].get<std::string>()) + " on " + escaped(device),
                     wrong  ? "The answer is wrong in groups of some sizes"
                     : best ? "Groups of " + number((*best)["group"].get<std::uint64_t>()) +
                                  " are the fastest on this device"
                            : "No size can be named the fastest",
                     "", ""},
                    main);
}

std::string against_page(const Json& comparison, bool is_cpu) {
  const Json &here = comparison["this"], &there = comparison["other"];
  const Json* device = comparison.find("device");
  const bool compared = !comparison["ok"].is_null();
  // Of samples each is compared with its own host reference, and they may answer different questions.
  const Json& agree = comparison.contains("same_answer") ? comparison["same_answer"] : comparison["ok"];
  const std::string devices = escaped((device ? *device : here["device"]).get<std::string>());
  std::string names[] = {here["kernel"].get<std::string>(), there["kernel"].get<std::string>()};
  const std::string faster = faster_text(here, there), other = comparison.value("against", std::string());
  const std::string verdict = !compared                        ? "The answers were not compared"
                              : agree == Json(true)            ? "The answers agree"
                              : comparison["ok"] == Json(true) ? "Both answers are right, and not the same"
                                                               : "The answers differ";
  std::string main = "<dl class=\"glance\">" +
                     glance_tile("First", time_cell(here, "device_ms"), code(names[0])) +
                     glance_tile("Second", time_cell(there, "device_ms"), code(names[1]));
  main += "</dl>\n" + buffers_section(comparison) + sides_section(comparison) + counted_section(here, there);
  if (is_cpu) main += kTimesOfTheCpu;
  return whole_page({names[0] + " against " + names[1],
                     code(names[0]) + " against " + code(names[1]) + " on " + devices + " " +
                         (!compared                        ? "<b class=\"tag warn\">not compared</b>"
                          : agree == Json(true)            ? "<b class=\"tag good\">answers agree</b>"
                          : comparison["ok"] == Json(true) ? "<b class=\"tag many\">both are right</b>"
                                                           : "<b class=\"tag bad\">answers differ</b>"),
                     verdict + (faster.empty() ? "" : "; " + faster), "",
                     other.empty() ? "" : "The second: " + code(other)},
                    main);
}

}  // namespace kiln::tool
