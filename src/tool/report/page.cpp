// SPDX-License-Identifier: MIT
// The report's page: what a run was, whether it is right, and its sections.
#include <algorithm>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

bool was_counted(const Json& run) { return run.contains("counters"); }

/// A kernel of the user's ran, and nobody said what it should give.
bool is_open(const Json& run) { return run["ok"].is_null() && run.value("executed", false); }

std::string answer_tag(const Json& run) {
  if (is_open(run)) return "<b class=\"tag many\">answer not compared</b>";
  if (run["ok"].is_null()) return "<b class=\"tag warn\">not executed</b>";
  return run["ok"].get<bool>() ? "<b class=\"tag good\">right answer</b>"
                               : "<b class=\"tag bad\">wrong answer</b>";
}

/// Everything that a glance should take in.
std::string glance(const Json& run, const ReportFacts& facts) {
  std::string html = "<dl class=\"glance\">";
  const auto tile = [&](const char* name, const std::string& value, const std::string& more) {
    html += glance_tile(name, value, more);
  };
  if (run["device_ms"].is_number())
    tile("Device time", number(run["device_ms"].get<double>()) + " ms",
         was_counted(run) ? "while counting" : "by the device's own timestamps");
  if (was_counted(run)) {
    std::uint64_t lines = 0, turns = 0, conflicts = 0;
    for (const Json& each : run["counters"]["instructions"]) {
      conflicts += each.value("conflict_turns", std::uint64_t{0});
      if (each.contains("example")) turns = std::max(turns, each["example"].value("turns", std::uint64_t{0}));
      lines = std::max(lines, most_lines(each));
    }
    if (lines) tile("Cache lines", number(lines), "of one access, at most");
    if (turns)
      tile("SLM turns", number(turns),
           conflicts ? count(conflicts, "turn", "turns") + " of conflicts in all" : "no bank conflicts");
    tile("Defects", number(std::uint64_t{run["defects"].size()}), "out of bounds, data races in SLM");
  }
  tile("SLM", number(percent(static_cast<double>(facts.slm), static_cast<double>(facts.slm_limit))) + " %",
       "of the device's limit for a work-group");
  if (facts.core && facts.core->occupancy.threads_per_core)
    tile("Occupancy", number(std::uint64_t{facts.core->occupancy.percent()}) + " %",
         std::string("limited by ") + to_string(facts.core->occupancy.limit));
  return html + "</dl>\n";
}

std::string headline(const Json& run, const std::vector<Finding>& found) {
  if (!found.empty()) return shown_text(as_sentence(found.front().diagnostic.message));
  if (run.contains("native_counters"))
    return number(run["native_counters"]["instructions"].get<std::uint64_t>()) +
           " native instructions were executed";
  if (!was_counted(run)) return "Accesses were not counted";
  return "Nothing to change was found";
}

/// What goes with the headline: the first advice of the first finding.
std::string advice(const Json& run, const ReportFacts& facts, const std::vector<Finding>& found) {
  if (!found.empty()) {
    const auto& help = found.front().diagnostic.help;
    return help.empty() ? std::string()
                        : "<p class=\"help lead\">" + shown_text(as_sentence(help.front())) + "</p>";
  }
  if (run.contains("native_counters"))
    return "<p class=\"lead\">" + escaped(as_sentence(run["native_counters"]["note"].get<std::string>())) +
           ".</p>";
  if (!was_counted(run))
    return "<p class=\"help lead\">This device does not count: use <code>--device cpu</code></p>";
  return "<p class=\"lead\">" + escaped(as_sentence(nothing_found(facts))) + ".</p>";
}

std::string run_section(const Json& run) {
  std::string html = "<section id=\"run\"><h2>The run</h2>\n";
  html += "<dl class=\"facts\">";
  const auto fact = [&](const char* name, const std::string& value) {
    html += "<div><dt>" + std::string(name) + "</dt><dd>" + value + "</dd></div>\n";
  };
  const auto timed = [&](const char* name, const char* field, const char* unit) {
    if (run.contains(field) && run[field].is_number())
      fact(name, number(run[field].get<double>()) + " " + unit);
  };
  fact("Device", escaped(run["device"].get<std::string>()));
  fact("Launch",
       shown_extent(run["groups"]) + " groups of " + shown_extent(run["group_size"]) + " work-items");
  fact("Answer", is_open(run)          ? "not compared: nothing says what is expected"
                 : run["ok"].is_null() ? "not executed: a capture device gives no answers"
                 : run["ok"].get<bool>()
                     ? count(run["elements"].get<std::uint64_t>(), "element", "elements") +
                           (run.contains("executed") ? " as expected" : " as on the host")
                 : run.contains("executed") ? "differs from what is expected"
                                            : "differs from the host's");
  fact("Binary",
       escaped(run["binary"].get<std::string>()) + ", from " + code(run["file"].get<std::string>()));
  timed("Build", "build_ms", "ms");
  timed("Host time", "host_ms", "ms");
  timed("Device time", "device_ms", "ms");
  timed("Throughput", "gb_per_s", "GB/s");
  timed("Arithmetic", "gflop_per_s", "GFLOP/s");
  html += "</dl>\n";
  if (was_counted(run))
    html +=
        "<p class=\"note\">A counted kernel runs many times slower: the times and what follows from them are "
        "no "
        "measure of the kernel.</p>\n";
  else if (run.contains("native_counters"))
    html +=
        "<p class=\"note\">Times are those of a simulator that counts. Defects are looked for by the CPU "
        "device "
        "alone: <code>--device cpu</code>.</p>\n";
  else
    html +=
        "<p class=\"missing\">Accesses, bank conflicts and defects are missing: this device does not count. "
        "The "
        "CPU device does: <code>--device cpu</code>.</p>\n";
  return html + "</section>\n";
}

}  // namespace

std::string shown_extent(const Json& extent) {
  std::string text = number(extent[0].get<std::uint64_t>());
  for (std::size_t i = 1; i < extent.size(); ++i)
    if (extent[1] != 1 || extent[2] != 1) text += " × " + number(extent[i].get<std::uint64_t>());
  return text;
}

std::string predictions_section(const Json& run) {
  if (!run.contains("predicted")) return {};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [what, value] : run["predicted"].items()) {
    std::string seen = "–", verdict = "not counted";
    if (run.contains("counted") && run["counted"].contains(what)) {
      const Json& counted = run["counted"][what];
      seen = number(counted.get<std::uint64_t>());
      verdict = counted == value ? "<b class=\"tag good\">equal</b>" : "<b class=\"tag bad\">differs</b>";
    }
    rows.push_back({escaped(what), verdict, number(value.get<std::uint64_t>()), seen});
  }
  return "<section id=\"predictions\"><h2>Predictions</h2>\n" +
         table("What the kernel costs by construction, and what was counted",
               {"What", "Verdict", "Predicted", "Counted"}, rows, 2) +
         "</section>\n";
}

std::string findings_section(const Json& run, const std::vector<Finding>& found,
                             const std::vector<Picture>& pictures) {
  if (found.empty()) return {};
  std::string html =
      "<section id=\"findings\"><h2>" +
      (found.size() == 1 ? std::string("What was found, and what to change")
                         : count(found.size(), "finding", "findings") + ", and what to change") +
      "</h2>\n";
  std::vector<const Picture*> shown;
  for (const Finding& finding : found) {
    const Picture* picture = picture_of(finding, pictures);
    const bool is_new = picture && std::ranges::find(shown, picture) == shown.end();
    html += finding_article(finding.diagnostic, is_new ? figure(run["counters"], *picture) : "");
    if (is_new) shown.push_back(picture);
  }
  return html + "</section>\n";
}

std::string report_page(const Json& run, const ReportFacts& facts) {
  const std::string kernel = run["kernel"].get<std::string>();
  const std::vector<Finding> found = findings_of(run, facts);
  const std::vector<Picture> pictures =
      was_counted(run) ? pictures_of(run["counters"]) : std::vector<Picture>();
  std::string html = glance(run, facts);
  html += findings_section(run, found, pictures);
  html += advice_section(run);
  if (was_counted(run)) html += legend_section(run["counters"]);
  if (was_counted(run)) html += source_section(run["counters"], facts, found);
  if (was_counted(run)) html += access_section(run["counters"], found, pictures);
  html += facts.executed + predictions_section(run) + core_section(facts);
  if (was_counted(run)) html += counts_section(run["counters"]);
  return whole_page(
      {kernel, code(kernel) + " on " + escaped(run["device"].get<std::string>()) + " " + answer_tag(run),
       headline(run, found), advice(run, facts, found), code(kernel) + ": " + escaped(facts.summary)},
      html + run_section(run));
}

}  // namespace kiln::tool
