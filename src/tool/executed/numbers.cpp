// SPDX-License-Identifier: MIT
// Sums up what was executed: by kind, by message, by memory and by source line.
#include <algorithm>
#include <map>
#include <tuple>

#include "tool/executed/executed.hpp"
#include "xe/analysis.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kClaim =
    "executed by a functional machine, which has no caches, clocks or queues: no claim on time";

void add(ExecutedCount& to, const ExecutedCount& from) {
  to.executed += from.executed;
  to.lanes += from.lanes;
  to.bytes += from.bytes;
  to.lines += from.lines;
  to.turns += from.turns;
  to.conflicts += from.conflicts;
}

/// Messages, and what they cost in their kind of memory.
Json memory_json(const ExecutedCount& count, bool slm) {
  Json json{{"messages", count.executed}, {"lanes", count.lanes}, {"bytes", count.bytes}};
  if (slm) {
    json["turns"] = count.turns;
    json["conflict_turns"] = count.conflicts;
  } else {
    json["lines"] = count.lines;
  }
  return json;
}

/// As the CPU device names totals: "slm_writes". Empty: no memory.
std::string total_name(const xe::Message& message) {
  using enum xe::Unit;
  if (message.unit == image || message.unit == barrier || message.unit == fence || message.unit == thread ||
      message.unit == other)
    return {};
  const char* const action = message.action == xe::Action::load     ? "reads"
                             : message.action == xe::Action::store  ? "writes"
                             : message.action == xe::Action::atomic ? "atomics"
                                                                    : nullptr;
  std::string unit(to_string(message.unit));
  std::ranges::transform(unit, unit.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return action ? unit + "_" + action : std::string();
}

struct LineSum {
  ExecutedCount all, messages;
};

}  // namespace

Json executed_json(const Executed& executed, const Json& cpu) {
  std::uint64_t all = 0, masked_lanes = 0, masked_places = 0;
  std::map<std::pair<xe::Kind, std::uint32_t>, ExecutedCount> kinds;
  std::map<xe::Message, ExecutedCount> messages;
  std::map<std::string, ExecutedCount> totals;
  std::map<std::uint32_t, LineSum> lines;
  ExecutedCount spill;
  Json code = Json::array();
  for (const auto& [count, instruction, text, line] : executed.instructions) {
    all += count.executed;
    add(kinds[{xe::kind_of(instruction), instruction.lanes}], count);
    // Those of one lane compute what all lanes share: they say nothing of lanes that are off.
    if (!instruction.all_lanes && instruction.lanes > 1) {
      masked_lanes += count.lanes;
      masked_places += count.executed * instruction.lanes;
    }
    if (line) add(lines[line].all, count);
    if (instruction.is_send()) {
      const xe::Message message = xe::message_of(instruction);
      add(messages[message], count);
      if (const std::string name = total_name(message); !name.empty()) add(totals[name], count);
      if (message.unit == xe::Unit::scratch) add(spill, count);
      if (line) add(lines[line].messages, count);
    }
    Json each{{"offset", count.offset},
              {"text", text},
              {"line", line ? Json(line) : Json()},
              {"executed", count.executed},
              {"lanes", count.lanes}};
    if (instruction.is_send()) {
      each["bytes"] = count.bytes;
      each["lines"] = count.lines;
      each["turns"] = count.turns;
      each["conflict_turns"] = count.conflicts;
    }
    code.push_back(std::move(each));
  }
  Json json{{"product", executed.target},    {"note", kClaim},
            {"launches", executed.launches}, {"groups", executed.groups},
            {"threads", executed.threads},   {"instructions", all}};
  json["simd_efficiency"] =
      masked_places ? Json(static_cast<double>(masked_lanes) / static_cast<double>(masked_places)) : Json();
  json["scratch"] = memory_json(spill, false);
  json["kinds"] = Json::array();
  for (const auto& [kind, count] : kinds)
    json["kinds"].push_back({{"kind", to_string(kind.first)},
                             {"lanes", kind.second},
                             {"executed", count.executed},
                             {"active_lanes", count.lanes}});
  json["messages"] = Json::array();
  for (const auto& [message, count] : messages) {
    Json each = memory_json(count, message.unit == xe::Unit::slm);
    each["message"] = message.text();
    each["unit"] = to_string(message.unit);
    each["action"] = to_string(message.action);
    json["messages"].push_back(std::move(each));
  }
  json["totals"] = Json::object();
  for (const auto& [name, count] : totals) json["totals"][name] = memory_json(count, name.starts_with("slm"));
  json["cpu_totals"] = cpu;
  json["lines"] = Json::array();
  for (const auto& [line, sum] : lines)
    json["lines"].push_back({{"line", line},
                             {"executed", sum.all.executed},
                             {"messages", sum.messages.executed},
                             {"bytes", sum.messages.bytes},
                             {"lines", sum.messages.lines},
                             {"conflict_turns", sum.messages.conflicts}});
  json["code"] = std::move(code);
  return json;
}

}  // namespace kiln::tool
