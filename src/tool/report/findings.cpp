// SPDX-License-Identifier: MIT
// Decides what of a counted run is worth a change, and what to change.
#include "tool/report/findings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tool/report/report.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

// A twentieth more than the bytes need is what edges cost.
constexpr std::uint64_t kWorthTelling = 20;
constexpr std::uint64_t kManyReads = 32;      // by a work-item: fewer are cheaper than a copy and a barrier
constexpr std::uint32_t kEnoughThreads = 75;  // percent at work: more is hard to reach with whole work-groups

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return text;
}

/// Source lines, each once, in their order; SPIR-V ids where there are none.
std::vector<std::string> places_of(const Json& all, const std::vector<std::size_t>& which) {
  std::set<std::uint64_t> lines, ids;
  for (const std::size_t i : which)
    if (all[i]["line"].is_number_unsigned())
      lines.insert(all[i]["line"].get<std::uint64_t>());
    else if (all[i]["id"].is_number_unsigned())
      ids.insert(all[i]["id"].get<std::uint64_t>());
  std::vector<std::string> places;
  for (const std::uint64_t line : lines) places.push_back(std::to_string(line));
  for (const std::uint64_t id : ids) places.push_back("%" + std::to_string(id));
  return places;
}

std::string owners_of(const Json& all, const std::vector<std::size_t>& which) {
  std::vector<std::string> owners;
  for (const std::size_t i : which) {
    const std::string name = all[i].value("argument_name", std::string());
    const std::string owner =
        name.empty() ? shown_memory(all[i]["memory"].get<std::string>()) + (is_slm(all[i]) ? "" : " memory")
                     : "`" + name + "`";
    if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
  }
  return list_text(owners);
}

/// "16", or "1.7".
std::string average(std::uint64_t sum, std::uint64_t of) {
  if (of == 0) return "0";
  const std::uint64_t tenths = (sum * 10 + of / 2) / of;
  return std::to_string(tenths / 10) + (tenths % 10 ? "." + std::to_string(tenths % 10) : "");
}

/// The line of the costliest as it is written, where the source is known, and all lines.
std::vector<DiagnosticRow> place_rows(const Json& all, const std::vector<std::size_t>& which,
                                      const ReportFacts& facts) {
  std::vector<DiagnosticRow> rows;
  const Json& line = all[which.front()]["line"];
  if (line.is_number_unsigned() && line.get<std::uint64_t>() - 1 < facts.source.size()) {
    std::string text = facts.source[line.get<std::uint64_t>() - 1];
    text.erase(0, text.find_first_not_of(" \t"));
    rows.push_back({"line " + line.dump(), std::move(text)});
  }
  const auto places = places_of(all, which);
  if (rows.empty() || places.size() > 1)
    rows.push_back({places.size() == 1 ? "line" : "lines", places.empty() ? "not known" : list_text(places)});
  return rows;
}

/// ", most of all in line 25"; nothing where the costliest has no line.
std::string where_text(const Json& all, const std::vector<std::size_t>& which) {
  const Json& line = all[which.front()]["line"];
  if (!line.is_number_unsigned()) return {};
  return (places_of(all, which).size() > 1 ? ", most of all in line " : ", in line ") + line.dump();
}

std::uint64_t lane_bytes(const Json& instruction) {
  std::uint64_t bytes =
      instruction["width"].is_number_unsigned() ? instruction["width"].get<std::uint64_t>() : 1;
  if (!is_slm(instruction) && instruction.contains("neighbours"))
    bytes = std::max(bytes, instruction["neighbours"].value("bytes", std::uint64_t{0}));
  return bytes;
}

/// Whether a work-item takes what lies between it and its neighbour bit by bit: all, or what edges leave of
/// it.
bool takes_all_between(const Json& run, const Json& each, const AccessPattern& pattern) {
  const std::uint64_t items = run["counters"].value("work_items", std::uint64_t{0});
  return pattern.kind == Pattern::apart && pattern.distance <= kLineBytes && items > 0 &&
         each["accesses"].get<std::uint64_t>() * lane_bytes(each) * 4 >= pattern.distance * items * 3;
}

std::vector<std::string> help_of_lines(const Json& run, const Json& worst, const AccessPattern& pattern) {
  const std::uint64_t wide = run["group_size"][0].get<std::uint64_t>(),
                      high = run["group_size"][1].get<std::uint64_t>(),
                      lanes = run["counters"].value("sub_group_size", std::uint64_t{16});
  if (pattern.kind == Pattern::adjacent)
    return {
        "let what a sub-group touches begin at a multiple of 64 B: pad rows to whole lines, or shift what "
        "each work-group takes",
        "what is read several times from shifted places: copy it to SLM once a work-group"};
  if (high > 1 && wide < lanes)
    return {"make the work-group " + std::to_string(lanes) + " wide in x instead of " + std::to_string(wide) +
            ": then a sub-group goes along a row"};
  if (pattern.kind == Pattern::scattered)
    return {"go through the data in the order of memory: sort what is looked up, or copy it to SLM first"};
  std::vector<std::string> help;
  if (takes_all_between(run, worst, pattern))
    help.push_back("let a work-item take its " + std::to_string(pattern.distance) +
                   " B at once: by vectors, such as vload4, or by indices that the compiler can see");
  help.push_back(
      "let neighbouring work-items touch neighbouring elements: exchange loops, or lay the data out the "
      "other "
      "way round");
  return help;
}

std::vector<std::string> help_of_turns(const AccessPattern& pattern, bool atomic) {
  if (atomic)
    return {"keep several copies of the array, such as one a sub-group, and add them up at the end",
            "or count in registers first, and make one atomic of many"};
  if (pattern.kind != Pattern::apart)
    return {
        "the addresses follow data: order the data so that neighbours want the same word, or keep copies of "
        "a "
        "small table"};
  const std::uint64_t words = pattern.distance / kBankBytes;
  return {"let neighbouring work-items touch neighbouring words",
          "or pad: at a distance of " + std::to_string(words + 1) + " words instead of " +
              std::to_string(words) + ", or any odd one, all 16 banks serve at once"};
}

/// Accesses of one kind of waste, found by how their lanes lie.
struct Waste {
  std::vector<std::size_t> which;
  AccessCost cost;
};

Finding waste_finding(const Json& run, const ReportFacts& facts, bool slm, bool atomic, Waste waste) {
  const Json& all = run["counters"]["instructions"];
  std::ranges::stable_sort(waste.which, std::ranges::greater{},
                           [&](std::size_t i) { return cost_of(all[i]).surplus(); });
  const Json& worst = all[waste.which.front()];
  const AccessCost cost = cost_of(worst);
  const AccessPattern pattern = pattern_of(worst, lane_bytes(worst));
  const std::uint64_t times = worst["sub_group_accesses"].get<std::uint64_t>();
  Finding finding;
  finding.cost = waste.cost.surplus();
  Diagnostic& diagnostic = finding.diagnostic;
  diagnostic.severity = Severity::warning;
  diagnostic.code = slm ? "K0805" : "K0806";
  diagnostic.message = std::string(atomic ? "atomics" : "accesses") + " of " + owners_of(all, waste.which) +
                       (slm ? " take " : " touch ") + average(cost.taken, times) +
                       (slm ? " turns each where " : " cache lines each where ") +
                       average(cost.least, times) + " would do" + where_text(all, waste.which);
  diagnostic.rows = place_rows(all, waste.which, facts);
  if (pattern.distance) diagnostic.rows.push_back({"between work-items", "", pattern.distance, "B"});
  diagnostic.rows.push_back({slm ? "turns" : "cache lines", "", waste.cost.taken, ""});
  diagnostic.rows.push_back({"of them too many", "", waste.cost.surplus(), ""});
  diagnostic.help = slm ? help_of_turns(pattern, atomic) : help_of_lines(run, worst, pattern);
  finding.instructions = std::move(waste.which);
  return finding;
}

/// Reads of global memory by all lanes at one place, again and again.
void add_shared_reads(const Json& run, const ReportFacts& facts, std::vector<Finding>& found) {
  const Json& all = run["counters"]["instructions"];
  const std::uint64_t items = run["counters"].value("work_items", std::uint64_t{0});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (items == 0 || all[i]["kind"] != "read" || all[i]["memory"] != "global" ||
        !all[i].contains("example") || all[i]["example"]["lanes"].size() < 2 ||
        pattern_of(all[i], 0).kind != Pattern::one)
      continue;
    const std::uint64_t reads = all[i]["accesses"].get<std::uint64_t>();
    if (reads / items < kManyReads) continue;
    Finding finding;
    finding.instructions = {i};
    finding.cost = all[i]["sub_group_accesses"].get<std::uint64_t>();
    finding.diagnostic = {
        "K0809",
        "each work-item reads " + owners_of(all, {i}) + " " + std::to_string(reads / items) +
            " times, where its neighbours read too" + where_text(all, {i}),
        place_rows(all, {i}, facts),
        {"let the work-group copy it to SLM once, a part by each work-item, and read it there",
         "or take it as `constant`, if the kernel does not write it"},
        Severity::warning};
    finding.diagnostic.rows.push_back({"reads", "", reads, ""});
    found.push_back(std::move(finding));
  }
}

void add_wastes(const Json& run, const ReportFacts& facts, std::vector<Finding>& found) {
  const Json& all = run["counters"]["instructions"];
  std::map<std::tuple<bool, bool, Pattern>, Waste> wastes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const AccessCost cost = cost_of(all[i]);
    if (cost.surplus() * kWorthTelling <= cost.least) continue;
    const bool slm = is_slm(all[i]), atomic = slm && all[i]["kind"] == "atomic";
    Waste& waste = wastes[{slm, atomic, pattern_of(all[i], lane_bytes(all[i])).kind}];
    waste.which.push_back(i);
    waste.cost.taken += cost.taken;
    waste.cost.least += cost.least;
  }
  const std::size_t before = found.size();
  for (auto& [key, waste] : wastes)
    found.push_back(waste_finding(run, facts, std::get<0>(key), std::get<1>(key), std::move(waste)));
  add_shared_reads(run, facts, found);
  std::uint64_t steps = 0;
  for (const Json& each : all) steps += cost_of(each).taken;
  for (auto each = found.begin() + static_cast<std::ptrdiff_t>(before); steps > 0 && each != found.end();
       ++each)
    each->diagnostic.rows.push_back({"would save", "", std::min<std::uint64_t>(each->cost * 100 / steps, 100),
                                     "% of all cache lines and turns"});
  std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                   [](const Finding& a, const Finding& b) { return a.cost > b.cost; });
}

/// Accesses of private memory, unless native code is known to need none.
void add_private(const Json& run, const ReportFacts& facts, std::vector<Finding>& found) {
  const Json& all = run["counters"]["instructions"];
  Finding finding;
  std::uint64_t accesses = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]["memory"] == "private") {
      finding.instructions.push_back(i);
      accesses += all[i]["accesses"].get<std::uint64_t>();
    }
  if (accesses == 0 || (facts.native_private && *facts.native_private == 0)) return;
  std::ranges::stable_sort(finding.instructions, std::ranges::greater{},
                           [&](std::size_t i) { return all[i]["accesses"].get<std::uint64_t>(); });
  finding.diagnostic = {
      "K0807",
      std::string(facts.native_private ? "an array of each work-item lies in memory"
                                       : "an array of each work-item may lie in memory") +
          " instead of registers" + where_text(all, finding.instructions),
      place_rows(all, finding.instructions, facts),
      {"use indices that are known when the loop is unrolled, or scalars: those stay in registers",
       "`kiln inspect` shows what native code keeps in private and scratch memory"},
      Severity::warning};
  finding.diagnostic.rows.push_back({"accesses", "", accesses, ""});
  if (facts.native_private)
    finding.diagnostic.rows.push_back({"private and scratch memory", "", *facts.native_private, "B"});
  else
    finding.diagnostic.rows.push_back({"known by", "an estimate: no native code for this product is here"});
  found.push_back(std::move(finding));
}

/// The most SLM with which all hardware threads of a core have work; 0: none does.
std::uint64_t slm_for_all_threads(const CoreUse& core) {
  const Occupancy& is = core.occupancy;
  const std::uint64_t groups = is.threads_per_group ? is.threads_per_core / is.threads_per_group : 0;
  if (groups == 0) return 0;
  for (const ResourceUse& use : core.uses)
    if (use.resource == Resource::slm)
      for (std::uint64_t bytes = use.of_core / groups / 1024 * 1024; bytes > 0; bytes -= 1024)
        if (allocated_slm(core.generation, bytes) * groups <= use.of_core) return bytes;
  return 0;
}

void add_occupancy(const ReportFacts& facts, std::vector<Finding>& found) {
  if (!facts.core || facts.core->occupancy.groups_per_core == 0) return;
  const Occupancy& is = facts.core->occupancy;
  if (is.percent() >= kEnoughThreads) return;
  std::vector<std::string> help;
  if (is.limit == Resource::slm) {
    if (const std::uint64_t bytes = slm_for_all_threads(*facts.core))
      help = {"ask for at most " + std::to_string(bytes) + " bytes of SLM a work-group, alignment included"};
    else
      help = {"ask for less SLM a work-group, or let more work-items share it"};
  } else if (is.limit == Resource::barriers) {
    help = {"make work-groups larger: fewer of them share the barriers of a core"};
  } else {
    help = {"choose a work-group whose hardware threads divide " + std::to_string(is.threads_per_core)};
  }
  found.push_back(
      {{"K0808",
        "only " + std::to_string(is.percent()) + " % of a core's hardware threads have work: " +
            (is.limit == Resource::threads ? std::string("the rest is too few for a work-group")
                                           : std::string("more work-groups lack ") + to_string(is.limit)),
        {{"product", facts.core->product},
         {"work-groups on a core", "", is.groups_per_core, ""},
         {"hardware threads a work-group", "", is.threads_per_group, ""},
         {"SLM a work-group", "", is.slm_per_group, "B"},
         {"known by", facts.core->basis}},
        std::move(help),
        Severity::warning}});
}

/// The best of what was tried, where it is worth a change.
void add_tried(const Json& run, std::vector<Finding>& found) {
  const Json* advice = run.find("advice");
  if (!advice || (*advice)["tried"].empty()) return;
  const Json& given = (*advice)["tried"][0];
  const Json& best = (*advice)["tried"][(*advice)["best"].get<std::size_t>()];
  if (!given["refused"].is_null()) return;
  const std::uint64_t was = given["cost"].get<std::uint64_t>(), is = best["cost"].get<std::uint64_t>();
  if (is >= was || (was - is) * kWorthTelling < was) return;
  Finding finding;
  finding.cost = was - is;
  finding.diagnostic = {"K0811",
                        best["words"].get<std::string>() + " would cost " +
                            std::to_string((was - is) * 100 / was) + " % less by what is counted",
                        {{"cost as given", "", was, ""}, {"cost then", "", is, ""}},
                        {},
                        Severity::warning};
  const auto changed = [&](const char* field, const char* label) {
    const auto before = given[field].get<std::uint64_t>(), then = best[field].get<std::uint64_t>();
    if (before != then)
      finding.diagnostic.rows.push_back({label, std::to_string(before) + " to " + std::to_string(then)});
  };
  changed("lines", "cache lines");
  changed("turns", "turns of SLM");
  changed("barriers", "barriers of hardware threads");
  changed("spilled_lines", "cache lines of spilled registers");
  if (given.contains("occupancy") && best.contains("occupancy") && given["occupancy"] != best["occupancy"])
    finding.diagnostic.rows.push_back(
        {"hardware threads with work",
         given["occupancy"]["percent"].dump() + " % to " + best["occupancy"]["percent"].dump() + " %"});
  for (const Json& each : best["how"]) {
    const std::string how = each.get<std::string>();
    finding.diagnostic.help.push_back(how.starts_with("--") ? "`" + how + "`" : how);
  }
  finding.diagnostic.help.push_back("measure it on a GPU: what is counted here is no time");
  found.push_back(std::move(finding));
}

}  // namespace

AccessPattern pattern_of(const Json& instruction, std::uint64_t width) {
  if (!instruction.contains("example")) return {};
  const Json& lanes = instruction["example"]["lanes"];
  if (lanes.size() < 2) return {};
  const auto offset = [&](std::size_t i) { return lanes[i].value("offset", std::uint64_t{0}); };
  const std::uint64_t step = offset(1) - offset(0);  // may be negative: modulo 2^64
  for (std::size_t i = 2; i < lanes.size(); ++i)
    if (offset(i) - offset(i - 1) != step) return {Pattern::scattered, 0};
  const std::uint64_t distance = std::min(step, 0 - step);
  if (distance == 0) return {Pattern::one, 0};
  return {distance <= width ? Pattern::adjacent : Pattern::apart, distance};
}

AccessCost cost_of(const Json& instruction) {
  if (is_slm(instruction)) {
    const std::uint64_t turns = instruction.value("turns", std::uint64_t{0});
    return {turns, turns - std::min(turns, instruction.value("conflict_turns", std::uint64_t{0}))};
  }
  AccessCost cost;
  if (!instruction.contains("lines") || !instruction.contains("example")) return cost;
  const std::uint64_t least = least_of_example(instruction);
  for (const auto& [lines, times] : instruction["lines"].items()) {
    const std::uint64_t taken = std::strtoull(lines.c_str(), nullptr, 10), often = times.get<std::uint64_t>();
    cost.taken += taken * often;
    cost.least += std::min(taken, least) * often;
  }
  return cost;
}

std::string nothing_found(const ReportFacts& facts) {
  return std::string(
             "looked for, and not found: accesses out of bounds, data races in SLM, SLM not written, bank "
             "conflicts, cache "
             "lines beyond what the bytes need, arrays in private memory") +
         (facts.core ? ", hardware threads without work" : "");
}

Diagnostic difference_diagnostic(const Json& difference) {
  const Json& largest = difference["largest"];
  return {"K0435",
          "buffer `" + difference["name"].get<std::string>() + "` is not as expected: " +
              difference["count"].dump() + " of " + difference["of"].dump() + " numbers differ",
          {{"first, at", "", difference["index"].get<std::uint64_t>(), ""},
           {"is", difference["got"].get<std::string>()},
           {"should be", difference["wanted"].get<std::string>()},
           {"largest distance", largest.is_number() ? largest.dump() : "not a number"}},
          {"find the smallest launch that goes wrong, and run it with --check-memory",
           "or allow for rounding: --tolerance 1e-5"}};
}

std::vector<Finding> findings_of(const Json& run, const ReportFacts& facts) {
  std::vector<Finding> found;
  if (run.contains("first_wrong")) {
    const Json& wrong = run["first_wrong"];
    found.push_back(
        {{"K0413",
          "the answer differs from the host's",
          {{"first wrong element", "", wrong["index"].get<std::uint64_t>(), ""},
           {"is", wrong["got"].dump()},
           {"should be", wrong["wanted"].dump()}},
          {"compare the kernel with the comment above it, which says what it computes",
           "find the smallest --size that goes wrong: one below, at and above the work-group's"}}});
  }
  if (run.contains("differences"))
    for (const Json& each : run["differences"]) found.push_back({difference_diagnostic(each)});
  if (!run.contains("counters")) return found;
  const auto counters = parse_counters(run["counters"].dump());
  if (!counters) found.push_back({*counters.error().diagnostic()});  // else its defects would be none
  if (counters)
    for (const Defect& defect : counters->defects) found.push_back({to_diagnostic(*counters, defect)});
  if (run.contains("counted"))
    for (const auto& [what, value] : run["counted"].items())
      if (run["predicted"][what] != value)
        found.push_back(
            {{"K0414",
              "what was counted is not what the sample predicts: " + what,
              {{"predicted", "", run["predicted"][what].get<std::uint64_t>(), ""},
               {"counted", "", value.get<std::uint64_t>(), ""}},
              {"predictions are those of the shipped kernel: if it was changed, see whether it still "
               "does what its comment says"},
              Severity::warning}});
  add_tried(run, found);
  add_wastes(run, facts, found);
  add_private(run, facts, found);
  add_occupancy(facts, found);
  return found;
}

}  // namespace kiln::tool
