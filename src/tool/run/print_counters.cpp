// SPDX-License-Identifier: MIT
// Counters as tables on a terminal.

#include "tool/run/print_counters.hpp"

#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

std::string cell(const Json& json, const char* field) {
  if (!json.contains(field) || json[field].is_null()) return "-";
  return json[field].is_string() ? json[field].get<std::string>() : json[field].dump();
}

/// "1: 4096, 2: 12": how many lines, how often.
std::string lines_text(const Json& instruction) {
  if (!instruction.contains("lines")) return "-";
  std::string text;
  for (const auto& [lines, times] : instruction["lines"].items())
    text += (text.empty() ? "" : ", ") + lines + ": " + times.dump();
  return text;
}

/// "line 25"; "%161" where the kernel has no lines.
std::string place(const Json& instruction) {
  if (instruction["line"].is_number()) return "line " + instruction["line"].dump();
  return instruction["id"].is_number() ? "%" + instruction["id"].dump() : "-";
}

std::string argument_text(const Json& instruction) {
  const std::string name = instruction.value("argument_name", std::string());
  return name.empty() ? cell(instruction, "argument") : name;
}

}  // namespace

void print_defects(const Json& counters) {
  for (const Json& defect : counters["defects"])
    say("%s", to_text(defect_diagnostic(counters, defect)).c_str());
  if (counters["defects"].empty()) say("  memory       no access out of bounds, no data race in SLM\n");
}

void print_findings(const std::vector<Finding>& found, const ReportFacts& facts) {
  if (found.empty()) return say("\n  nothing to change: %s\n", nothing_found(facts).c_str());
  say("\n");
  for (const Finding& each : found) say("%s", to_text(each.diagnostic).c_str());
}

void print_counters(const Json& counters) {
  std::vector<std::vector<std::string>> totals{
      {"MEMORY", "ACCESSES", "BYTES", "BY SUB-GROUPS", "CACHE LINES", "TURNS", "OF CONFLICTS"}};
  for (const auto& [name, sums] : counters["totals"].items()) {
    if (sums.is_number()) {
      totals.push_back({name, sums.dump(), "-", "-", "-", "-", "-"});
      continue;
    }
    std::string shown = name;
    shown[shown.find('_')] = ' ';
    totals.push_back({shown, cell(sums, "accesses"), cell(sums, "bytes"), cell(sums, "sub_group_accesses"),
                      cell(sums, "lines"), cell(sums, "turns"), cell(sums, "conflict_turns")});
  }
  say("\n");
  print_table(std::move(totals), 1, 2);
  std::vector<std::vector<std::string>> table{{"PLACE", "KIND", "MEMORY", "OF", "CACHE LINES: TIMES", "WIDTH",
                                               "ACCESSES", "TURNS", "OF CONFLICTS", "NEIGHBOURS"}};
  for (const Json& each : counters["instructions"]) {
    const bool joins = each.contains("neighbours") && each["neighbours"]["accesses"] != 1;
    table.push_back(
        {place(each), cell(each, "kind"), cell(each, "memory"), argument_text(each), lines_text(each),
         cell(each, "width"), cell(each, "accesses"), cell(each, "turns"), cell(each, "conflict_turns"),
         joins ? cell(each["neighbours"], "accesses") + " in " + cell(each["neighbours"], "bytes") + " B"
               : "-"});
  }
  say("\n");
  print_table(std::move(table), 5, 2);
  if (!counters.value("complete", true))
    say("  Some sub-groups made more accesses than are kept: their lines and turns are counted in parts.\n");
}

}  // namespace kiln::tool
