// SPDX-License-Identifier: MIT
// Accesses by sub-group as drawings, the most costly first.
#include <algorithm>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

// More than these make a page that nobody reads; the table of instructions has them all.
constexpr std::size_t kMostDrawings = 16;

/// An access that is drawn, and what it costs beyond the least: lines, or turns.
struct Access {
  const Json* instruction;
  std::uint64_t least = 0, surplus = 0;
};

std::vector<Access> accesses_of(const Json& counters) {
  std::vector<Access> accesses;
  for (const Json& each : counters["instructions"]) {
    if (!each.contains("example") || each["example"]["lanes"].empty()) continue;
    Access access{&each, least_of_example(each), each.value("conflict_turns", std::uint64_t{0})};
    if (!is_slm(each) && each.contains("lines"))
      for (const auto& [lines, times] : each["lines"].items()) {
        const std::uint64_t taken = std::strtoull(lines.c_str(), nullptr, 10);
        if (taken > access.least) access.surplus += (taken - access.least) * times.get<std::uint64_t>();
      }
    accesses.push_back(access);
  }
  std::ranges::stable_sort(accesses, std::ranges::greater{}, &Access::surplus);
  return accesses;
}

/// How many lines how often, as bars.
std::string how_often(const Json& instruction) {
  const std::uint64_t all = instruction["sub_group_accesses"].get<std::uint64_t>();
  std::string html;
  const auto add = [&](const std::string& what, std::uint64_t times, const char* kind) {
    html += "<li><span>" + what + "</span>" +
            bar(percent(static_cast<double>(times), static_cast<double>(all)), kind) + "<span>" +
            number(times) + " times</span></li>";
  };
  if (instruction.contains("lines"))
    for (const auto& [lines, times] : instruction["lines"].items())
      add(escaped(lines) + (lines == "1" ? " line" : " lines"), times.get<std::uint64_t>(), "");
  return "<ul class=\"often\">" + html + "</ul>";
}

std::string slm_cost(const Json& instruction) {
  const double turns = instruction["turns"].get<double>(),
               of = instruction["sub_group_accesses"].get<double>();
  return "<p class=\"often\">" + count(instruction["turns"].get<std::uint64_t>(), "turn", "turns") + " for " +
         count(instruction["sub_group_accesses"].get<std::uint64_t>(), "access", "accesses") + ", " +
         number(of > 0 ? turns / of : 0) + " on average; " +
         number(instruction["conflict_turns"].get<std::uint64_t>()) + " of them by conflicts.</p>";
}

std::string drawing(const Access& access, std::size_t index) {
  const Json& each = *access.instruction;
  const Json& example = each["example"];
  const bool slm = is_slm(each);
  const std::uint64_t drawn = example[slm ? "turns" : "lines"].get<std::uint64_t>();
  const std::uint64_t most = std::max(drawn, most_lines(each));
  std::string html = "<figure><figcaption><h3>" + escaped(each["kind"].get<std::string>()) + " of " +
                     owner_of(each) + "</h3> <b class=\"tag " + (most > access.least ? "warn" : "good") +
                     "\">" + (most > drawn ? "up to " : "") +
                     (slm ? count(most, "turn", "turns") : count(most, "line", "lines")) + "</b>";
  html += "<p class=\"where\">" + place_of(each);
  if (each["width"].is_number_unsigned())
    html += ", " + number(each["width"].get<std::uint64_t>()) + " B a lane";
  if (most > access.least) html += "; " + number(access.least) + " would do";
  html += "; work-group " + number(example["group"].get<std::uint64_t>()) + ", sub-group " +
          number(example["sub_group"].get<std::uint64_t>()) + "</p></figcaption>\n";
  html += lanes_svg(each, "lanes-" + std::to_string(index));
  return html + (slm ? slm_cost(each) : how_often(each)) + "</figure>\n";
}

}  // namespace

bool is_slm(const Json& instruction) {
  return instruction.contains("example") && instruction["example"].contains("turns");
}

std::uint64_t most_lines(const Json& instruction) {
  std::uint64_t most = 0;
  if (instruction.contains("lines"))
    for (const auto& item : instruction["lines"].items())
      most = std::max<std::uint64_t>(most, std::strtoull(item.name.c_str(), nullptr, 10));
  return most;
}

std::string shown_memory(const std::string& memory) { return memory == "slm" ? "SLM" : memory; }

std::string place_of(const Json& at) {
  if (at["line"].is_number_unsigned()) return "line " + number(at["line"].get<std::uint64_t>());
  if (at["id"].is_number_unsigned()) return code("%" + at["id"].dump());
  return "not known";
}

std::string owner_of(const Json& instruction) {
  const std::string memory = escaped(shown_memory(instruction["memory"].get<std::string>())) +
                             (instruction["memory"] == "slm" ? "" : " memory");
  if (const std::string name = instruction.value("argument_name", std::string()); !name.empty())
    return code(name) + " <small>" + memory + "</small>";
  if (instruction.contains("argument") && instruction["argument"].is_number())
    return "argument " + instruction["argument"].dump() + " <small>" + memory + "</small>";
  return memory;
}

std::string access_section(const Json& counters) {
  const std::vector<Access> accesses = accesses_of(counters);
  if (accesses.empty()) return {};
  std::string html =
      "<section id=\"accesses\"><h2>Accesses by lane</h2>\n"
      "<p>One access of a sub-group each, those that cost most beyond what their bytes need first. Numbers "
      "in the "
      "boxes are lanes, <code>16×</code> are sixteen lanes at one place. "
      "<span class=\"key\"><i class=\"hit\"></i> touched <i class=\"free\"></i> not used "
      "<i class=\"conflict\"></i> bank conflict</span></p>\n<div class=\"figures\">\n";
  for (std::size_t i = 0; i < std::min(accesses.size(), kMostDrawings); ++i)
    html += drawing(accesses[i], i + 1);
  html += "</div>\n";
  if (accesses.size() > kMostDrawings)
    html += "<p class=\"note\">" + number(std::uint64_t{accesses.size() - kMostDrawings}) +
            " more are in the table of instructions alone.</p>\n";
  return html + "</section>\n";
}

}  // namespace kiln::tool
