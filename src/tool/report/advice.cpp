// SPDX-License-Identifier: MIT
// What `--advise` tried, by cost.
#include <algorithm>

#include "tool/advise/search.hpp"
#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

std::string threads_cell(const Json& trial) {
  const Json* occupancy = trial.find("occupancy");
  if (!occupancy) return "–";
  return number((*occupancy)["percent"].get<std::uint64_t>()) + " % <small>" +
         escaped((*occupancy)["limit"].get<std::string>()) + "</small>";
}

}  // namespace

std::string advice_section(const Json& run) {
  const Json* advice = run.find("advice");
  if (!advice) return {};
  const Json& tried = (*advice)["tried"];
  std::string html = "<section id=\"advice\"><h2>What was tried</h2>\n";
  std::uint64_t most = 1;
  for (const Json& each : tried)
    if (each["refused"].is_null()) most = std::max(most, each["cost"].get<std::uint64_t>());
  std::vector<std::vector<std::string>> rows, refused;
  for (const std::size_t i : by_cost(*advice)) {
    const Json& each = tried[i];
    const std::string words = shown_text(each["words"].get<std::string>());
    if (!each["refused"].is_null()) {
      refused.push_back({words, escaped(each["refused"].get<std::string>())});
      continue;
    }
    const std::string tag = i == (*advice)["best"].get<std::size_t>() ? " <b class=\"tag good\">best</b>"
                            : i == 0                                  ? " <b class=\"tag many\">given</b>"
                                                                      : "";
    const auto amount = [&](const char* field) { return number(each[field].get<std::uint64_t>()); };
    rows.push_back(
        {words + tag,
         bar(percent(static_cast<double>(each["cost"].get<std::uint64_t>()), static_cast<double>(most)),
             i == 0 ? "limit" : ""),
         amount("cost"), number(each["percent"].get<double>()) + " %", amount("lines"), amount("turns"),
         amount("barriers"), amount("spilled_lines"), threads_cell(each)});
  }
  if (!rows.empty())
    html +=
        "<p class=\"note\">Each was run while counting, and gave the answer that was given before. The cost "
        "is "
        "what was counted, in steps of 64 bytes: cache lines, turns of SLM, barriers and spilled registers, "
        "more where hardware threads have no work. No time was measured.</p>\n" +
        table("Alternatives by cost",
              {"Tried", "Cost", "", "Of what was given", "Cache lines", "Turns", "Barriers", "Spilled lines",
               "Threads with work"},
              rows, 2);
  if (!refused.empty())
    html += "<details><summary>" + count(refused.size(), "alternative", "alternatives") +
            " refused</summary>" + table("Refused, and why", {"Tried", "Why"}, refused, 2) + "</details>\n";
  for (const Json& each : (*advice)["not_tried"])
    html += "<p class=\"note\">Not tried: " + shown_text(each["what"].get<std::string>()) + ", as " +
            shown_text(each["why"].get<std::string>()) + ".</p>\n";
  if ((*advice)["cut"].get<bool>())
    html += "<p class=\"note\">There was more to try: <code>--tries</code> allows it.</p>\n";
  if (!(*advice)["basis"].is_null())
    html += "<p class=\"note\">Threads with work and spills are known by " +
            escaped((*advice)["basis"].get<std::string>()) + ".</p>\n";
  return html + "</section>\n";
}

}  // namespace kiln::tool
