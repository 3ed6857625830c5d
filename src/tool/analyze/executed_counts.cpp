// SPDX-License-Identifier: MIT
// Finds the kernel that a run was of by its instructions, and sums its counts up as the analysis has them.
#include "tool/analyze/executed_counts.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace kiln::tool {
namespace {

std::string place_text(std::uint64_t offset) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(offset));
  return text;
}

/// Without the spaces that only set columns apart.
std::string words_of_line(std::string_view line) {
  std::string text;
  for (const char c : line)
    if (c != ' ' && c != '\t' && c != '\r')
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

/// The text of each instruction, by its offset.
std::map<std::uint64_t, std::string> texts_of(const AnalyzedKernel& kernel) {
  std::map<std::uint64_t, std::string> texts;
  std::size_t index = 0;
  for (std::size_t at = 0; at < kernel.text.size() && index < kernel.instructions.size();) {
    const std::size_t end = std::min(kernel.text.find('\n', at), kernel.text.size());
    const std::string line = words_of_line(std::string_view(kernel.text).substr(at, end - at));
    at = end + 1;
    if (line.empty() || (line.starts_with('L') && line.ends_with(':'))) continue;
    texts[kernel.instructions[index++].offset] = line;
  }
  return texts;
}

ExecutedCount count_of(const Json& each) {
  const auto figure = [&](const char* name) { return each.value(name, std::uint64_t{0}); };
  return {each["offset"].get<std::uint64_t>(),
          each["executed"].get<std::uint64_t>(),
          each["lanes"].get<std::uint64_t>(),
          figure("bytes"),
          figure("lines"),
          figure("turns"),
          figure("conflict_turns")};
}

/// Where the code is another than what ran; nothing: it is that code.
std::vector<DiagnosticRow> difference(const AnalyzedKernel& kernel, const Json& code) {
  const auto texts = texts_of(kernel);
  for (const Json& each : code) {
    const auto offset = each["offset"].get<std::uint64_t>();
    const std::string ran = words_of_line(each["text"].get<std::string>());
    const auto found = texts.find(offset);
    if (found != texts.end() && found->second == ran) continue;
    return {{"at " + place_text(offset) + " ran", ran},
            {"kernel `" + kernel.facts.name + "` has there",
             found == texts.end() ? "no instruction" : found->second}};
  }
  return {};
}

void add(ExecutedCount& to, const ExecutedCount& from) {
  to.executed += from.executed, to.lanes += from.lanes, to.bytes += from.bytes;
  to.lines += from.lines, to.turns += from.turns, to.conflicts += from.conflicts;
}

/// All instructions that `is_meant`.
template <class Meant>
ExecutedCount sum(const AnalyzedKernel& kernel, Meant is_meant) {
  ExecutedCount total;
  if (!kernel.executed) return total;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    if (!is_meant(i)) continue;
    add(total, kernel.executed->counts[i]);
  }
  return total;
}

void add_lines(AnalyzedKernel& kernel) {
  std::map<std::pair<std::string, std::uint32_t>, ExecutedCount> counts;
  for (std::size_t i = 0; i < kernel.places.size(); ++i)
    if (kernel.places[i].line)
      add(counts[{kernel.places[i].file, kernel.places[i].line}], kernel.executed->counts[i]);
  for (LineCost& each : kernel.lines) each.executed = counts[{each.file, each.line}];
}

Result<void> unusable(Diagnostic diagnostic) {
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln", std::move(diagnostic)));
}

Result<void> take(const Json& run, const std::string& file, std::vector<AnalyzedKernel>& kernels) {
  const Json* const native = run.find("native_counters");
  if (!native || !native->is_object() || !native->contains("product"))
    return unusable(unusable_counts(file, "it is no JSON of `kiln run … --device sim:PRODUCT --counters`"));
  const Json* const code = native->find("code");
  if (!code || code->empty())
    return unusable(unusable_counts(file, "it has no counts by instruction, as that of `kiln run --all`"));
  const auto product = (*native)["product"].get<std::string>();
  // Of several kernels with this code the one that the run names, as samples do behind a point.
  const std::string name = run.value("kernel", "");
  AnalyzedKernel* found = nullptr;
  std::vector<DiagnosticRow> rows;
  for (AnalyzedKernel& each : kernels) {
    if (each.target->name != product) continue;
    auto other = difference(each, *code);
    const bool is_named = name == each.facts.name || name.ends_with("." + each.facts.name);
    if (other.empty() && (!found || is_named)) found = &each;
    if (!other.empty() && (rows.empty() || is_named)) rows = std::move(other);
  }
  if (!found)
    return unusable(unusable_counts(
        file, "the files have no kernel for " + product + " with the code that ran", std::move(rows)));
  KernelExecution& executed = found->executed.emplace();
  executed.product = product;
  executed.launches = (*native)["launches"].get<std::uint64_t>();
  executed.groups = (*native)["groups"].get<std::uint64_t>();
  executed.threads = (*native)["threads"].get<std::uint64_t>();
  executed.instructions = (*native)["instructions"].get<std::uint64_t>();
  executed.simd_efficiency = (*native)["simd_efficiency"];
  executed.scratch = (*native)["scratch"];
  executed.counts.resize(found->instructions.size());
  std::map<std::uint64_t, ExecutedCount> counts;
  for (const Json& each : *code) counts[each["offset"].get<std::uint64_t>()] = count_of(each);
  for (std::size_t i = 0; i < found->instructions.size(); ++i)
    if (const auto at = counts.find(found->instructions[i].offset); at != counts.end())
      executed.counts[i] = at->second;
  add_lines(*found);
  return {};
}

}  // namespace

Result<void> add_executed(const Json& run, const std::string& file, std::vector<AnalyzedKernel>& kernels) {
  try {
    return take(run, file, kernels);
  } catch (const Json::WrongType&) {  // members that no run writes so
    return unusable(unusable_counts(file, "its members have other types than `kiln run` writes"));
  }
}

Diagnostic unusable_counts(const std::string& file, const std::string& reason,
                           std::vector<DiagnosticRow> rows) {
  rows.insert(rows.begin(), {"reason", reason});
  return {"K0445",
          "counts of `" + file + "` cannot be used",
          std::move(rows),
          {"run and analyze the same native file: `kiln bake` it, then `kiln run FILE.ar:KERNEL … --device "
           "sim:PRODUCT --counters --json`"}};
}

ExecutedCount executed_of(const AnalyzedKernel& kernel, const xe::MixEntry& entry) {
  return sum(kernel, [&](std::size_t i) {
    const xe::Instruction& each = kernel.instructions[i];
    const xe::Kind kind = xe::kind_of(each);
    return kind == entry.kind && each.lanes == entry.lanes && xe::mix_type_of(each) == entry.type;
  });
}

ExecutedCount executed_of(const AnalyzedKernel& kernel, const xe::Message& message) {
  return sum(kernel, [&](std::size_t i) {
    return kernel.instructions[i].is_send() && xe::message_of(kernel.instructions[i]) == message;
  });
}

std::uint64_t walks_of(const AnalyzedKernel& kernel, const xe::Loop& loop) {
  return sum(kernel, [&](std::size_t i) { return kernel.instructions[i].offset == loop.begin; }).executed;
}

Json cost_json(const ExecutedCount& count, bool slm) {
  Json json{{"messages", count.executed}, {"lanes", count.lanes}, {"bytes", count.bytes}};
  if (slm) {
    json["turns"] = count.turns;
    json["conflict_turns"] = count.conflicts;
  } else {
    json["lines"] = count.lines;
  }
  return json;
}

}  // namespace kiln::tool
