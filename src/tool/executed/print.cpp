// SPDX-License-Identifier: MIT
// What was executed as tables, on a terminal and on a page.
#include <cstdio>

#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/executed/executed.hpp"
#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// A table's heads and rows, with numbers as values: terminals and pages show them each in their way.
struct Table {
  const char* caption;
  std::vector<std::string> heads;
  std::size_t names;
  std::vector<std::vector<Json>> rows{};
};

Json member(const Json& json, const char* name) { return json.contains(name) ? json[name] : Json(); }

std::string word(const Json& cell) { return cell.get<std::string>(); }

std::vector<Table> tables_of(const Json& native) {
  Table kinds{"Executed instructions by kind", {"Kind", "Lanes", "Executed", "Active lanes, mean"}, 1};
  for (const Json& each : native["kinds"]) {
    char mean[32];
    std::snprintf(mean, sizeof mean, "%.1f",
                  each["active_lanes"].get<double>() / each["executed"].get<double>());
    kinds.rows.push_back({each["kind"], each["lanes"], each["executed"], mean});
  }
  Table messages{"Messages, by what they ask for",
                 {"Message", "Sent", "Bytes", "Cache lines", "Turns", "Of conflicts"},
                 1};
  for (const Json& each : native["messages"])
    messages.rows.push_back({each["message"], each["messages"], each["bytes"], member(each, "lines"),
                             member(each, "turns"), member(each, "conflict_turns")});
  // Side by side: the same launches, as the CPU device counts accesses of the SPIR-V.
  Table both{"Native messages beside what the CPU device counts of the SPIR-V",
             {"Memory", "Messages", "Accesses, CPU", "Bytes", "Bytes, CPU", "Lines or turns",
              "Lines or turns, CPU", "Of conflicts", "Of conflicts, CPU"},
             1};
  const auto cost = [](const Json& of) { return of.contains("lines") ? of["lines"] : member(of, "turns"); };
  const Json& cpu = native["cpu_totals"];
  for (const auto& [name, of] : native["totals"].items()) {
    const Json other = cpu.is_object() ? member(cpu, name.c_str()) : Json();
    const bool known = other.is_object();
    both.rows.push_back({shown_total(name), of["messages"],
                         known ? member(other, "sub_group_accesses") : Json(), of["bytes"],
                         known ? member(other, "bytes") : Json(), cost(of), known ? cost(other) : Json(),
                         member(of, "conflict_turns"), known ? member(other, "conflict_turns") : Json()});
  }
  Table lines{
      "By source line", {"Line", "Executed", "Messages", "Bytes", "Cache lines", "Turns of conflicts"}, 1};
  for (const Json& each : native["lines"])
    lines.rows.push_back({std::to_string(each["line"].get<std::uint64_t>()), each["executed"],
                          each["messages"], each["bytes"], each["lines"], each["conflict_turns"]});
  std::vector<Table> all{std::move(kinds), std::move(messages), std::move(both)};
  if (!lines.rows.empty()) all.push_back(std::move(lines));
  return all;
}

std::string efficiency(const Json& native) {
  const Json& share = native["simd_efficiency"];
  if (!share.is_number()) return "no instruction of several lanes";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share.get<double>());
  return text;
}

}  // namespace

void print_executed(const Json& native) {
  const auto figure = [&](const char* name) { return native[name].get<unsigned long long>(); };
  say("\n  native code  for %s: %llu instructions in %llu threads, %llu groups, %llu launches\n",
      word(native["product"]).c_str(), figure("instructions"), figure("threads"), figure("groups"),
      figure("launches"));
  say("  lanes        %s of those of masked instructions were active\n", efficiency(native).c_str());
  say("  scratch      %llu messages, %llu B\n", native["scratch"]["messages"].get<unsigned long long>(),
      native["scratch"]["bytes"].get<unsigned long long>());
  say("  note         %s\n", word(native["note"]).c_str());
  for (const Table& table : tables_of(native)) {
    Rows rows{table.heads};
    for (const auto& row : table.rows) {
      auto& cells = rows.emplace_back();
      for (const Json& cell : row)
        cells.push_back(cell.is_null()     ? "-"
                        : cell.is_string() ? word(cell)
                                           : std::to_string(cell.get<std::uint64_t>()));
    }
    say("\n  %s\n", table.caption);
    print_table(std::move(rows), table.names, 2);
  }
  if (native["cpu_totals"].is_null()) say("  The CPU device counted nothing to compare with.\n");
}

std::string executed_section(const Json& native) {
  std::string html = "<section id=\"executed\"><h2>Executed native code</h2>\n<dl class=\"facts\">";
  const auto fact = [&](const char* name, const std::string& value) {
    html += "<div><dt>" + std::string(name) + "</dt><dd>" + value + "</dd></div>\n";
  };
  const auto figure = [&](const char* name) { return number(native[name].get<std::uint64_t>()); };
  fact("Product", escaped(word(native["product"])));
  fact("Instructions", figure("instructions"));
  fact("Threads", figure("threads"));
  fact("Launches", figure("launches"));
  fact("Active lanes", efficiency(native));
  fact("Scratch, spilled registers among it",
       number(native["scratch"]["messages"].get<std::uint64_t>()) + " messages, " +
           number(native["scratch"]["bytes"].get<std::uint64_t>()) + " B");
  html += "</dl>\n<p class=\"note\">" + escaped(as_sentence(word(native["note"]))) + ".</p>\n";
  for (const Table& each : tables_of(native)) {
    Rows rows;
    for (const auto& row : each.rows) {
      auto& cells = rows.emplace_back();
      for (const Json& cell : row)
        cells.push_back(cell.is_null()     ? "–"
                        : cell.is_string() ? escaped(word(cell))
                                           : number(cell.get<std::uint64_t>()));
    }
    html += table(each.caption, each.heads, rows, each.names);
  }
  return html + "</section>\n";
}

}  // namespace kiln::tool
