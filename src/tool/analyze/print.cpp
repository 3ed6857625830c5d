// SPDX-License-Identifier: MIT
// Tables of an analysis, and the same as JSON.
#include "tool/analyze/print.hpp"

#include <algorithm>
#include <cstdio>

#include "tool/analyze/executed_counts.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kShownLines = 10;

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

/// "3 messages", "1 message"
std::string counted(std::uint64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

/// "0x1c0 of 0x230"
std::string place_text(const AnalyzedKernel& kernel, std::uint32_t offset) {
  return hexadecimal(offset) + " of " + hexadecimal(static_cast<std::uint32_t>(kernel.code.bytes));
}

std::string spill_text(const AnalyzedKernel& kernel) {
  using xe::Action, xe::Unit;
  const std::uint64_t stores = kernel.code.count(Unit::scratch, Action::store),
                      loads = kernel.code.count(Unit::scratch, Action::load);
  if (stores == 0 && loads == 0 && kernel.facts.spill_size == 0) return "none";
  const std::string messages =
      counted(stores, "store") + " to scratch, " + counted(loads, "load") + " from it";
  return kernel.facts.spill_size == 0  // 22.43 does not tell them
             ? messages + ": private arrays, or spilled registers"
             : counted(kernel.facts.spill_size, "byte") + " of spilled registers; " + messages;
}

std::string occupancy_text(const AnalyzedKernel& kernel) {
  const Occupancy& occupancy = kernel.occupancy;
  std::string text = std::to_string(occupancy.percent()) + "% of the hardware threads, with groups of " +
                     std::to_string(kernel.group) + " and " + std::to_string(kernel.slm) + " bytes of SLM";
  if (!kernel.slm_known) text += " (give --local for the rest)";
  return text + "; limited by " + to_string(occupancy.limit);
}

void add_heads(std::vector<std::vector<std::string>>& rows, std::initializer_list<const char*> heads) {
  rows.front().insert(rows.front().end(), heads.begin(), heads.end());
}

std::string execution_text(const KernelExecution& executed) {
  std::string text = counted(executed.instructions, "instruction") + " in " +
                     counted(executed.threads, "thread") + ", " + counted(executed.groups, "group") + ", " +
                     counted(executed.launches, "launch");
  if (executed.launches != 1) text += "es";
  if (executed.simd_efficiency.is_number()) {
    char share[32];
    std::snprintf(share, sizeof share, "%.1f", 100 * executed.simd_efficiency.get<double>());
    text += "; " + std::string(share) + " % of lanes active";
  }
  return text + "; scratch: " + counted(executed.scratch["messages"].get<std::uint64_t>(), "message") + ", " +
         counted(executed.scratch["bytes"].get<std::uint64_t>(), "byte") + "; no claim on time";
}

void print_mix(const AnalyzedKernel& kernel) {
  std::vector<std::vector<std::string>> rows{{"INSTRUCTIONS", "TYPE", "LANES", "COUNT"}};
  if (kernel.executed) add_heads(rows, {"EXECUTED", "ACTIVE LANES"});
  for (const xe::MixEntry& each : kernel.code.mix) {
    rows.push_back({std::string(to_string(each.kind)),
                    std::string(each.type == xe::Type::none ? "-" : to_string(each.type)),
                    std::to_string(each.lanes), std::to_string(each.count)});
    if (!kernel.executed) continue;
    const ExecutedCount count = executed_of(kernel, each);
    rows.back().push_back(std::to_string(count.executed));
    rows.back().push_back(std::to_string(count.lanes));
  }
  print_table(rows, 2, 4);
}

void print_messages(const AnalyzedKernel& kernel) {
  std::vector<std::vector<std::string>> rows{{"MESSAGES", "BYTES", "SENT", "RECEIVED", "COUNT"}};
  if (kernel.executed) add_heads(rows, {"EXECUTED", "BYTES MOVED", "CACHE LINES", "TURNS", "OF CONFLICTS"});
  for (const xe::MessageEntry& each : kernel.code.messages) {
    const xe::Message& message = each.message;
    rows.push_back({message.text(), message.bytes() ? std::to_string(message.bytes()) : "-",
                    std::to_string(message.sent), std::to_string(message.received),
                    std::to_string(each.count)});
    if (!kernel.executed) continue;
    const ExecutedCount count = executed_of(kernel, message);
    const bool slm = message.unit == xe::Unit::slm;
    rows.back().push_back(std::to_string(count.executed));
    rows.back().push_back(std::to_string(count.bytes));
    rows.back().push_back(slm ? "-" : std::to_string(count.lines));
    rows.back().push_back(slm ? std::to_string(count.turns) : "-");
    rows.back().push_back(slm ? std::to_string(count.conflicts) : "-");
  }
  print_table(rows, 1, 4);
}

void print_loops(const AnalyzedKernel& kernel) {
  if (!kernel.code.loops_known) say("    loops: not known, as there are more than are looked at\n");
  for (const xe::Loop& each : kernel.code.loops) {
    std::uint64_t messages = 0;
    for (const xe::MessageEntry& entry : each.messages) messages += entry.count;
    const std::string walked =
        kernel.executed ? "; " + counted(walks_of(kernel, each), "walk") + " of all threads" : std::string();
    say("    loop at %s: %s a walk, %s of them%s\n", place_text(kernel, each.begin).c_str(),
        counted(each.instructions, "instruction").c_str(), counted(messages, "message").c_str(),
        walked.c_str());
  }
}

void print_lines(const AnalyzedKernel& kernel) {
  if (kernel.lines.empty()) return;
  std::vector<LineCost> worst = kernel.lines;
  std::ranges::stable_sort(worst, std::ranges::greater{}, [&](const LineCost& each) {
    return kernel.executed ? each.executed.executed : each.instructions;
  });
  if (worst.size() > kShownLines) worst.resize(kShownLines);
  std::vector<std::vector<std::string>> rows{{"LINE", "INSTRUCTIONS", "MESSAGES"}};
  if (kernel.executed) add_heads(rows, {"EXECUTED", "BYTES MOVED", "CACHE LINES", "TURNS OF CONFLICTS"});
  for (const LineCost& each : worst) {
    rows.push_back({each.file + ":" + std::to_string(each.line), std::to_string(each.instructions),
                    std::to_string(each.messages)});
    if (!kernel.executed) continue;
    const ExecutedCount& count = each.executed;
    for (const std::uint64_t figure : {count.executed, count.bytes, count.lines, count.conflicts})
      rows.back().push_back(std::to_string(figure));
  }
  print_table(rows, 1, 4);
}

Json to_json(const xe::MessageEntry& entry) {
  const xe::Message& message = entry.message;
  return {{"unit", to_string(message.unit)},
          {"action", to_string(message.action)},
          {"bits", message.bits},
          {"elements", message.elements},
          {"block", message.block},
          {"lanes", message.lanes},
          {"bytes", message.bytes()},
          {"registers_sent", message.sent},
          {"registers_received", message.received},
          {"count", entry.count}};
}

}  // namespace

void print_kernel(const AnalyzedKernel& kernel, bool disassemble) {
  const KernelFacts& facts = kernel.facts;
  say("%s for %s: kernel %s\n", kernel.file.c_str(), std::string(kernel.target->name).c_str(),
      facts.name.c_str());
  if (disassemble) {
    say("%s", kernel.text.c_str());
    return;
  }
  say("    %s, %s; SIMD %u, %u registers\n", counted(kernel.code.instructions, "instruction").c_str(),
      counted(kernel.code.bytes, "byte").c_str(), facts.simd_size, facts.grf_count);
  if (kernel.code.live.known)
    say("    live registers: %u at %s%s\n", kernel.code.live.peak,
        place_text(kernel, kernel.code.live.at).c_str(),
        kernel.code.live.indirect ? ", and those that are addressed indirectly" : "");
  else
    say("    live registers: not known, as the code branches more than is followed\n");
  say("    spills: %s\n", spill_text(kernel).c_str());
  say("    occupancy: %s\n", occupancy_text(kernel).c_str());
  if (kernel.executed) say("    executed: %s\n", execution_text(*kernel.executed).c_str());
  print_loops(kernel);
  print_messages(kernel);
  print_mix(kernel);
  print_lines(kernel);
  say("\n");
}

void print_comparison(const Comparison& comparison) {
  for (const std::string& each : comparison.unmatched) say("only on one side: %s\n", each.c_str());
  if (comparison.changes.empty()) {
    say("%s\n",
        comparison.matched == 0 ? "nothing to compare: no kernel is on both sides" : "nothing changed");
    return;
  }
  std::vector<std::vector<std::string>> rows{{"KERNEL", "TARGET", "WHAT", "VERDICT", "BEFORE", "NOW"}};
  for (const Change& each : comparison.changes)
    rows.push_back({each.kernel, each.target, words_of(each.measure), each.worse() ? "worse" : "better",
                    std::to_string(each.before), std::to_string(each.now)});
  print_table(rows, 4);
}

Json to_json(const AnalyzedKernel& kernel, bool disassemble) {
  using xe::Action, xe::Unit, xe::Liveness;
  const KernelFacts& facts = kernel.facts;
  const xe::CodeAnalysis& code = kernel.code;
  Json json{{"file", kernel.file},          {"target", kernel.target->name},
            {"kernel", facts.name},         {"instructions", code.instructions},
            {"bytes", code.bytes},          {"simd_size", facts.simd_size},
            {"registers", facts.grf_count}, {"slm_bytes", kernel.slm}};
  const Liveness& live = code.live;
  json["live_registers"] = {{"peak", live.known ? Json(live.peak) : Json()},
                            {"offset", live.known ? Json(live.at) : Json()},
                            {"indirect", live.indirect}};
  json["spills"] = {{"bytes", facts.spill_size},
                    {"scratch_stores", code.count(Unit::scratch, Action::store)},
                    {"scratch_loads", code.count(Unit::scratch, Action::load)}};
  const Occupancy& occupancy = kernel.occupancy;
  json["occupancy"] = {{"percent", occupancy.percent()},
                       {"group", kernel.group},
                       {"slm_known", kernel.slm_known},
                       {"groups_per_core", occupancy.groups_per_core},
                       {"threads_per_group", occupancy.threads_per_group},
                       {"threads_per_core", occupancy.threads_per_core},
                       {"limited_by", to_string(occupancy.limit)}};
  json["mix"] = Json::array();
  for (const xe::MixEntry& each : code.mix)
    json["mix"].push_back({{"kind", to_string(each.kind)},
                           {"type", each.type == xe::Type::none ? Json() : Json(to_string(each.type))},
                           {"lanes", each.lanes},
                           {"count", each.count}});
  if (kernel.executed)
    for (std::size_t i = 0; i < code.mix.size(); ++i) {
      const ExecutedCount count = executed_of(kernel, code.mix[i]);
      json["mix"][i]["executed"] = count.executed;
      json["mix"][i]["active_lanes"] = count.lanes;
    }
  json["messages"] = Json::array();
  for (const xe::MessageEntry& each : code.messages) {
    Json message = to_json(each);
    if (kernel.executed)
      message["executed"] = cost_json(executed_of(kernel, each.message), each.message.unit == Unit::slm);
    json["messages"].push_back(std::move(message));
  }
  json["loops"] = code.loops_known ? Json::array() : Json();
  for (const xe::Loop& each : code.loops) {
    Json loop{
        {"begin", each.begin}, {"end", each.end}, {"depth", each.depth}, {"instructions", each.instructions}};
    if (kernel.executed) loop["walks"] = walks_of(kernel, each);
    loop["messages"] = Json::array();
    for (const xe::MessageEntry& entry : each.messages) loop["messages"].push_back(to_json(entry));
    json["loops"].push_back(std::move(loop));
  }
  json["lines"] = Json::array();
  for (const LineCost& each : kernel.lines) {
    Json line{{"file", each.file},
              {"line", each.line},
              {"instructions", each.instructions},
              {"messages", each.messages}};
    if (kernel.executed) {
      line["executed"] = each.executed.executed;
      line["bytes"] = each.executed.bytes;
      line["lines"] = each.executed.lines;
      line["conflict_turns"] = each.executed.conflicts;
    }
    json["lines"].push_back(std::move(line));
  }
  if (const auto& executed = kernel.executed)
    json["executed"] = {{"product", executed->product},
                        {"launches", executed->launches},
                        {"groups", executed->groups},
                        {"threads", executed->threads},
                        {"instructions", executed->instructions},
                        {"simd_efficiency", executed->simd_efficiency},
                        {"scratch", executed->scratch},
                        {"note", "executed by a functional machine: no claim on time"}};
  if (disassemble) json["disassembly"] = kernel.text;
  return json;
}

Json to_json(const Change& change) {
  return {{"kernel", change.kernel}, {"target", change.target}, {"what", name_of(change.measure)},
          {"before", change.before}, {"now", change.now},       {"worse", change.worse()}};
}

}  // namespace kiln::tool
