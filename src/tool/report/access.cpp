// SPDX-License-Identifier: MIT
// Accesses by sub-group as pictures, those that look the same as one, and what the pictures mean.
#include <algorithm>
#include <map>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

// More than these make a page that nobody reads; the table of instructions has them all.
constexpr std::size_t kMostDrawings = 16;

/// What is seen: without the words that show where a pointer rests.
std::string seen(const std::string& svg) {
  std::string text;
  for (std::size_t at = 0;;) {
    const auto title = svg.find("<title>", at);
    text.append(svg, at, title - at);
    if (title == svg.npos) return text;
    at = svg.find("</title>", title) + 8;
  }
}

/// "1 line", or "1 to 2 lines", that an access took; of SLM turns on average.
std::string cost_text(const Json& each) {
  if (is_slm(each)) {
    const double turns = each["turns"].get<double>(), of = each["sub_group_accesses"].get<double>();
    return number(of > 0 ? turns / of : 0) + (turns == of ? " turn" : " turns");
  }
  if (each["lines"].empty()) return {};
  std::uint64_t least = UINT64_MAX;
  for (const auto& item : each["lines"].items())
    least = std::min<std::uint64_t>(least, std::strtoull(item.name.c_str(), nullptr, 10));
  const std::uint64_t most = most_lines(each);
  return (least == most ? "" : number(least) + " to ") + count(most, "cache line", "cache lines");
}

/// One that a picture is of: where, what, how often, and at what cost.
std::string member(const Json& each) {
  return "<li><span>" + place_of(each) + "</span><span>" + escaped(each["kind"].get<std::string>()) + " of " +
         owner_of(each) + "</span><span>" + number(each["sub_group_accesses"].get<std::uint64_t>()) + " × " +
         cost_text(each) + "</span></li>";
}

/// "read and write of `slm`", "read of 3 arguments".
std::string picture_title(const Json& all, const Picture& picture) {
  std::vector<std::string> kinds, owners;
  for (const std::size_t i : picture.instructions) {
    const std::string kind = escaped(all[i]["kind"].get<std::string>()), owner = owner_of(all[i]);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
  }
  std::string text = kinds.front();
  for (std::size_t i = 1; i < kinds.size(); ++i) text += (i + 1 < kinds.size() ? ", " : " and ") + kinds[i];
  text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
  text += " of " + owners.front();
  for (std::size_t i = 1; i < owners.size(); ++i)
    text += (i + 1 < owners.size() ? ", " : " and ") + owners[i];
  return text;
}

}  // namespace

std::vector<Picture> pictures_of(const Json& counters) {
  std::vector<Picture> pictures;
  std::map<std::string, std::size_t> known;
  const Json& all = counters["instructions"];
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string svg = lanes_svg(all[i]);
    if (svg.empty()) continue;
    const auto [found, is_new] = known.emplace(seen(svg), pictures.size());
    if (is_new) pictures.push_back({std::move(svg), {}, 0});
    Picture& picture = pictures[found->second];
    picture.instructions.push_back(i);
    picture.surplus += cost_of(all[i]).surplus();
  }
  std::ranges::stable_sort(pictures, std::ranges::greater{}, &Picture::surplus);
  return pictures;
}

const Picture* picture_of(const Finding& finding, const std::vector<Picture>& pictures) {
  if (finding.instructions.empty()) return nullptr;
  const auto found = std::ranges::find_if(pictures, [&](const Picture& picture) {
    return std::ranges::find(picture.instructions, finding.instructions.front()) !=
           picture.instructions.end();
  });
  return found == pictures.end() ? nullptr : &*found;
}

std::string figure(const Json& counters, const Picture& picture) {
  const Json& all = counters["instructions"];
  const Json& first = all[picture.instructions.front()];
  const Json& example = first["example"];
  const bool slm = is_slm(first);
  const std::uint64_t drawn = example[slm ? "turns" : "lines"].get<std::uint64_t>(),
                      least = least_of_example(first);
  std::string html = "<figure><figcaption><h3>" + picture_title(all, picture) + "</h3> <b class=\"tag " +
                     (drawn > least ? "warn" : "good") + "\">" +
                     (slm ? count(drawn, "turn", "turns") : count(drawn, "cache line", "cache lines")) +
                     (drawn > least ? ", " + number(least) + " would do" : "") + "</b>";
  if (picture.instructions.size() > 1)
    html += " <b class=\"tag many\">" + number(std::uint64_t{picture.instructions.size()}) +
            " accesses look like this</b>";
  html += "<p class=\"where\">";
  if (first["width"].is_number_unsigned()) html += number(first["width"].get<std::uint64_t>()) + " B a lane";
  if (const AccessPattern pattern = pattern_of(first, 0); pattern.distance)
    html += ", " + number(pattern.distance) + " B from lane to lane";
  html += ". Drawn: work-group " + number(example["group"].get<std::uint64_t>()) + ", sub-group " +
          number(example["sub_group"].get<std::uint64_t>()) +
          (picture.instructions.size() > 1 ? ", at " + place_of(first) : "") + "</p></figcaption>\n" +
          picture.svg + "<ul class=\"often\">";
  for (const std::size_t i : picture.instructions) html += member(all[i]);
  return html + "</ul></figure>\n";
}

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

std::string access_section(const Json& counters, const std::vector<Finding>& found,
                           const std::vector<Picture>& pictures) {
  std::vector<const Picture*> others;
  for (const Picture& picture : pictures)
    if (std::ranges::none_of(found,
                             [&](const Finding& each) { return picture_of(each, pictures) == &picture; }))
      others.push_back(&picture);
  if (others.empty()) return {};
  std::string html =
      "<section id=\"accesses\"><h2>" +
      std::string(others.size() < pictures.size() ? "Other accesses by lane" : "Accesses by lane") +
      "</h2>\n<div class=\"figures\">\n";
  for (std::size_t i = 0; i < std::min(others.size(), kMostDrawings); ++i)
    html += figure(counters, *others[i]);
  html += "</div>\n";
  if (others.size() > kMostDrawings)
    html += "<p class=\"note\">" + number(std::uint64_t{others.size() - kMostDrawings}) +
            " more are in the table of instructions alone.</p>\n";
  return html + "</section>\n";
}

std::string legend_section(const Json& counters) {
  bool slm = false, global = false;
  for (const Json& each : counters["instructions"]) {
    slm |= is_slm(each);
    global |= each.contains("lines") && !is_slm(each) && !each["lines"].empty();
  }
  if (!slm && !global) return {};
  std::string html = "<section id=\"legend\"><h2>How to read the pictures</h2>\n<dl class=\"legend\">";
  const auto term = [&](const char* name, const std::string& text) {
    html += "<div><dt>" + std::string(name) + "</dt><dd>" + text + "</dd></div>\n";
  };
  term("A picture",
       "is one access of a sub-group: " + number(counters.value("sub_group_size", std::uint64_t{16})) +
           " work-items, its lanes, that run one instruction together. A number in a box is a lane; "
           "<code>16×</code> are sixteen lanes at one place.");
  if (global)
    term("A cache line",
         "is a row: 64 bytes of global or constant memory, which come and go as a whole. <span "
         "class=\"key\"><i "
         "class=\"hit\"></i> what a lane touches, <i class=\"free\"></i> what is moved all the same.</span> "
         "The fewer rows, and the fuller, the better.");
  if (slm) {
    term(
        "A bank",
        "is a column: shared local memory (SLM) has 16, and words of 4 bytes go through them in turn, word 0 "
        "in bank 0, word 16 in bank 0 again.");
    term("A turn",
         "is a row: each bank serves one word at a time, to all lanes that want this word. Lanes that want "
         "different words of one bank wait for the next turn: a <span class=\"key\"><i "
         "class=\"conflict\"></i> "
         "bank conflict.</span> An access takes as many turns as its fullest bank has words; atomics take "
         "one for "
         "each lane.");
  }
  return html + "</dl></section>\n";
}

}  // namespace kiln::tool
