// SPDX-License-Identifier: MIT
// The report's page: what a run was, whether it is right, and its sections.
#include <algorithm>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"
#include "tool/report/style.hpp"

namespace kiln::tool {
namespace {

bool was_counted(const Json& run) { return run.contains("counters"); }

std::string extent_text(const Json& extent) {
  std::string text = number(extent[0].get<std::uint64_t>());
  for (std::size_t i = 1; i < extent.size(); ++i)
    if (extent[1] != 1 || extent[2] != 1) text += " × " + number(extent[i].get<std::uint64_t>());
  return text;
}

std::string answer_tag(const Json& run) {
  if (run["ok"].is_null()) return "<b class=\"tag warn\">not executed</b>";
  return run["ok"].get<bool>() ? "<b class=\"tag good\">right answer</b>"
                               : "<b class=\"tag bad\">wrong answer</b>";
}

/// Everything that a glance should take in.
std::string glance(const Json& run, const ReportFacts& facts) {
  std::string html = "<dl class=\"glance\">";
  const auto tile = [&](const char* name, const std::string& value, const std::string& more) {
    html +=
        "<div><dt>" + std::string(name) + "</dt><dd>" + value + "<small>" + more + "</small></dd></div>\n";
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

std::string wrong_answer(const Json& run) {
  if (!run.contains("first_wrong")) return {};
  const Json& wrong = run["first_wrong"];
  return "<p class=\"alarm\">Element " + number(wrong["index"].get<std::uint64_t>()) + " is " +
         number(wrong["got"].get<double>()) + ", should be " + number(wrong["wanted"].get<double>()) +
         ".</p>\n";
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
  fact("Launch", extent_text(run["groups"]) + " groups of " + extent_text(run["group_size"]) + " work-items");
  fact("Answer", run["ok"].is_null() ? "not executed: a capture device gives no answers"
                 : run["ok"].get<bool>()
                     ? count(run["elements"].get<std::uint64_t>(), "element", "elements") + " as on the host"
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
  else
    html +=
        "<p class=\"missing\">Accesses, bank conflicts and defects are missing: this device does not count. "
        "The "
        "CPU device does: <code>--device cpu</code>.</p>\n";
  return html + "</section>\n";
}

}  // namespace

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

std::string defects_section(const Json& run) {
  if (!was_counted(run) || run["defects"].empty()) return {};
  std::string html = "<section id=\"defects\"><h2>Defects</h2>\n";
  for (const Json& defect : run["defects"]) {
    html += "<article class=\"defect\"><h3><b class=\"tag bad\">" +
            escaped(defect["code"].get<std::string>()) + "</b> " +
            escaped(defect["message"].get<std::string>()) + "</h3><dl class=\"facts\">";
    for (const Json& row : defect["rows"])
      html += "<div><dt>" + escaped(row["label"].get<std::string>()) + "</dt><dd>" +
              (row.contains("text") ? escaped(row["text"].get<std::string>())
                                    : number(row["value"].get<std::uint64_t>()) + " " +
                                          escaped(row.value("unit", std::string()))) +
              "</dd></div>\n";
    html += "</dl>";
    for (const Json& help : defect["help"])
      html += "<p class=\"help\">" + escaped(help.get<std::string>()) + "</p>";
    html += "</article>\n";
  }
  return html + "</section>\n";
}

std::string report_page(const Json& run, const ReportFacts& facts) {
  const std::string kernel = escaped(run["kernel"].get<std::string>());
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
      kernel + " – Kiln</title>\n<style>" + kReportStyle + "</style>\n</head>\n<body>\n" + kReportPatterns +
      "<header><p class=\"over\">Kiln " KILN_VERSION "</p><h1>" + kernel + "</h1> " + answer_tag(run) +
      "<p class=\"summary\">" + escaped(facts.summary) + "</p></header>\n<main>\n" + wrong_answer(run) +
      glance(run, facts);
  html += defects_section(run) + predictions_section(run);
  if (was_counted(run)) html += access_section(run["counters"]);
  html += core_section(facts);
  if (was_counted(run)) html += source_section(run["counters"], facts) + counts_section(run["counters"]);
  return html + run_section(run) + "</main>\n</body>\n</html>\n";
}

}  // namespace kiln::tool
