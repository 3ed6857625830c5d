// SPDX-License-Identifier: MIT
// Counts as tables: totals by memory, instructions, and source lines.
#include <map>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

// Lines of source around one that was counted.
constexpr std::size_t kAround = 2;

std::string cell(const Json& json, const char* field) {
  if (!json.contains(field) || !json[field].is_number_unsigned()) return "–";
  return number(json[field].get<std::uint64_t>());
}

std::string lines_cell(const Json& instruction) {
  if (!instruction.contains("lines")) return "–";
  std::string html;
  for (const auto& [lines, times] : instruction["lines"].items())
    html += (html.empty() ? "" : "<br>") + escaped(lines) + ": " + number(times.get<std::uint64_t>());
  return html;
}

std::string neighbours_cell(const Json& instruction) {
  if (!instruction.contains("neighbours") || instruction["neighbours"]["accesses"] == 1) return "–";
  return cell(instruction["neighbours"], "accesses") + " in " + cell(instruction["neighbours"], "bytes") +
         " B";
}

/// What the instructions of one line sum up to.
struct LineSum {
  std::uint64_t accesses = 0, most_lines = 0, conflict_turns = 0;
};

std::map<std::uint64_t, LineSum> sums_by_line(const Json& counters) {
  std::map<std::uint64_t, LineSum> sums;
  for (const Json& each : counters["instructions"]) {
    if (!each["line"].is_number_unsigned()) continue;
    LineSum& sum = sums[each["line"].get<std::uint64_t>()];
    sum.accesses += each["accesses"].get<std::uint64_t>();
    sum.conflict_turns += each.value("conflict_turns", std::uint64_t{0});
    sum.most_lines = std::max(sum.most_lines, most_lines(each));
  }
  return sums;
}

}  // namespace

std::string shown_total(const std::string& name) {
  const auto at = name.find('_');
  return at == name.npos ? name : shown_memory(name.substr(0, at)) + " " + name.substr(at + 1);
}

std::string source_section(const Json& counters, const ReportFacts& facts,
                           const std::vector<Finding>& found) {
  const auto sums = sums_by_line(counters);
  std::string html = "<section id=\"source\"><h2>Source</h2>\n";
  const auto missing = [&](const std::string& why) {
    return html + "<p class=\"missing\">" + why + "</p></section>\n";
  };
  if (sums.empty())
    return missing(
        "The kernel has no line numbers. Compile it with <code>-g</code>, and the tables name lines.");
  if (facts.source.empty()) return missing(escaped(facts.no_source));
  if (sums.rbegin()->first > facts.source.size())
    return missing(code(facts.source_file) +
                   " has fewer lines than the kernel says: they are of another file.");
  std::map<std::uint64_t, std::string> marks;
  for (const Finding& each : found)
    for (const std::size_t i : each.instructions)
      if (const Json& line = counters["instructions"][i]["line"]; line.is_number_unsigned()) {
        std::string& mark = marks[line.get<std::uint64_t>()];
        if (const std::string tag = " <b class=\"tag warn\">" + each.diagnostic.code + "</b>";
            mark.find(tag) == mark.npos)
          mark += tag;
      }
  std::uint64_t most = 1;
  for (const auto& [line, sum] : sums) most = std::max(most, sum.accesses);
  std::vector<std::vector<std::string>> rows;
  std::size_t last = 0;
  for (std::size_t line = 1; line <= facts.source.size(); ++line) {
    const auto next = sums.lower_bound(line > kAround ? line - kAround : 1);
    if (next == sums.end() || next->first > line + kAround) continue;
    if (line > last + 1) rows.push_back({"⋮", "", "", "", "", ""});
    last = line;
    const auto sum = sums.find(line);
    const std::string text = "<pre>" + code(facts.source[line - 1]) + "</pre>" + marks[line];
    if (sum == sums.end()) {
      rows.push_back({std::to_string(line), text, "", "", "", ""});
      continue;
    }
    const auto or_dash = [](std::uint64_t value) { return value ? number(value) : std::string("–"); };
    rows.push_back({std::to_string(line), text, number(sum->second.accesses),
                    bar(percent(static_cast<double>(sum->second.accesses), static_cast<double>(most))),
                    or_dash(sum->second.most_lines), or_dash(sum->second.conflict_turns)});
  }
  return html +
         table("Lines of " + escaped(facts.source_file) + " that were counted",
               {"Line", "Source", "Accesses", "Share", "Cache lines, at most", "Turns of conflicts"}, rows,
               2) +
         "</section>\n";
}

std::string counts_section(const Json& counters) {
  std::string html = "<section id=\"counts\"><h2>Counts</h2>\n";
  std::vector<std::vector<std::string>> totals;
  for (const auto& [name, sums] : counters["totals"].items()) {
    const std::string shown = shown_total(name);
    if (sums.is_number_unsigned())
      totals.push_back({escaped(shown), number(sums.get<std::uint64_t>()), "–", "–", "–", "–", "–"});
    else
      totals.push_back({escaped(shown), cell(sums, "accesses"), cell(sums, "bytes"),
                        cell(sums, "sub_group_accesses"), cell(sums, "lines"), cell(sums, "turns"),
                        cell(sums, "conflict_turns")});
  }
  html += table("Totals by memory",
                {"Memory", "Accesses", "Bytes", "By sub-groups", "Cache lines", "Turns", "Of conflicts"},
                totals, 1);
  std::vector<std::vector<std::string>> rows;
  for (const Json& each : counters["instructions"])
    rows.push_back({place_of(each), escaped(each["kind"].get<std::string>()),
                    each["kind"] == "barrier" ? "–" : owner_of(each), cell(each, "accesses"),
                    cell(each, "width"), lines_cell(each), cell(each, "turns"), cell(each, "conflict_turns"),
                    neighbours_cell(each)});
  html += table("Instructions, in the order of the kernel",
                {"Place", "Kind", "Of", "Accesses", "Bytes each", "Cache lines: times", "Turns",
                 "Of conflicts", "Neighbours"},
                rows, 3);
  if (!counters.value("complete", true))
    html +=
        "<p class=\"note\">Some sub-groups made more accesses than are kept: their lines and turns are "
        "counted in "
        "parts.</p>\n";
  return html + "</section>\n";
}

}  // namespace kiln::tool
