// SPDX-License-Identifier: MIT
// Counters as tables on a terminal.

#include "tool/run/print_counters.hpp"

#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

std::string number_or_dash(std::uint64_t number) { return number ? std::to_string(number) : "-"; }

/// "1: 4096, 2: 12": how many lines, how often.
std::string lines_text(const InstructionCount& instruction) {
  std::string text;
  for (const auto& [lines, times] : instruction.lines)
    text += (text.empty() ? "" : ", ") + std::to_string(lines) + ": " + std::to_string(times);
  return text.empty() ? "-" : text;
}

/// "line 25"; "%161" where the kernel has no lines.
std::string place(const CodePlace& at) {
  if (at.line) return "line " + std::to_string(at.line);
  return at.id ? "%" + std::to_string(at.id) : "-";
}

std::string argument_text(const InstructionCount& instruction) {
  if (!instruction.argument_name.empty()) return instruction.argument_name;
  return instruction.argument ? std::to_string(*instruction.argument) : "-";
}

/// Accesses of SLM, which take turns at its banks.
bool takes_turns(MemorySpace memory, std::uint64_t turns) { return memory == MemorySpace::slm || turns; }

}  // namespace

void print_defects(const Counters& counters) {
  for (const Defect& defect : counters.defects) say("%s", to_text(to_diagnostic(counters, defect)).c_str());
  if (counters.defects.empty())
    say("  memory       no access out of bounds, no data race in SLM, none of it read before it was "
        "written\n");
}

void print_findings(const std::vector<Finding>& found, const ReportFacts& facts) {
  if (found.empty()) return say("\n  nothing to change: %s\n", nothing_found(facts).c_str());
  say("\n");
  for (const Finding& each : found) say("%s", to_text(each.diagnostic).c_str());
}

void print_counters(const Counters& counters) {
  std::vector<std::vector<std::string>> totals{
      {"MEMORY", "ACCESSES", "BYTES", "BY SUB-GROUPS", "CACHE LINES", "TURNS", "OF CONFLICTS"}};
  for (const MemoryTotal& each : counters.totals) {
    const bool slm = takes_turns(each.memory, each.turns);
    totals.push_back({std::string(to_string(each.memory)) + " " + std::string(to_string(each.kind)) + "s",
                      std::to_string(each.accesses), std::to_string(each.bytes),
                      number_or_dash(each.sub_group_accesses), number_or_dash(each.lines),
                      number_or_dash(each.turns), slm ? std::to_string(each.conflict_turns) : "-"});
  }
  if (counters.barriers)
    totals.push_back({"barriers", std::to_string(counters.barriers), "-", "-", "-", "-", "-"});
  say("\n");
  print_table(std::move(totals), 1, 2);
  std::vector<std::vector<std::string>> table{{"PLACE", "KIND", "MEMORY", "OF", "CACHE LINES: TIMES", "WIDTH",
                                               "ACCESSES", "TURNS", "OF CONFLICTS", "NEIGHBOURS"}};
  for (const InstructionCount& each : counters.instructions) {
    const bool joins = each.neighbours > 1;
    table.push_back(
        {place(each.at), std::string(to_string(each.at.kind)), std::string(to_string(each.memory)),
         argument_text(each), lines_text(each), number_or_dash(each.width), std::to_string(each.accesses),
         number_or_dash(each.turns),
         takes_turns(each.memory, each.turns) ? std::to_string(each.conflict_turns) : "-",
         joins ? std::to_string(each.neighbours) + " in " + std::to_string(each.neighbour_bytes) + " B"
               : "-"});
  }
  say("\n");
  print_table(std::move(table), 5, 2);
  if (!counters.complete)
    say("  Some sub-groups made more accesses than are kept: their lines and turns are counted in parts.\n");
}

}  // namespace kiln::tool
