// SPDX-License-Identifier: MIT
// Asks the simulated GPU of this process, and finds the kernel's code among what ran.
#include <dlfcn.h>

#include <algorithm>
#include <map>

#include "binary/native_sections.hpp"
#include "drivers/simulator/server.hpp"
#include "level_zero/open/simulated.hpp"
#include "tool/executed/executed.hpp"
#include "xe/disassembler.hpp"

namespace kiln::tool {
namespace {

// Drivers skip what loads arguments where hardware has them in registers already.
constexpr std::size_t kFurthestEntry = 1024, kStep = 8;

Error not_counted(std::string message, std::vector<DiagnosticRow> rows, std::string help) {
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "kiln_simulator_read_counts",
               {"K0409", std::move(message), std::move(rows), {std::move(help)}});
}

template <class Function>
Result<Function> find(const OpenDevice& device, const char* name) {
  if (device.kind != DeviceKind::simulated)
    return tl::unexpected(not_counted("this device does not count instructions", {},
                                      "use --device sim:dg2 or another product"));
  const std::string path = detail::simulator_path();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const function = library ? dlsym(library, name) : nullptr;
  if (!function)
    return tl::unexpected(not_counted("this simulated GPU does not count", {{"library", path}},
                                      "use the libkiln_simulator.so of the same release of Kiln"));
  return reinterpret_cast<Function>(function);
}

std::vector<ExecutedCode> codes_of(decltype(&kiln_simulator_read_counts) read) {
  std::vector<ExecutedCode> codes;
  const auto take = [](void* user, const kiln_simulator_counted* from) {
    ExecutedCode& to = static_cast<std::vector<ExecutedCode>*>(user)->emplace_back();
    const auto* const code = static_cast<const std::byte*>(from->code);
    to.target = from->target;
    to.code.assign(code, code + from->code_bytes);
    to.launches = from->launches, to.groups = from->groups, to.threads = from->threads;
    for (const kiln_simulator_count& each : std::span(from->counts, from->size))
      to.counts.push_back(
          {each.offset, each.executed, each.lanes, each.bytes, each.lines, each.turns, each.conflicts});
  };
  read(take, &codes);
  return codes;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.starts_with("L")) continue;  // labels
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

bool is_executed_counted(const OpenDevice& device, const RunOptions& options) {
  return device.kind == DeviceKind::simulated && (options.counters || !options.report.empty());
}

std::string simulated_product(const Executed& executed) {
  for (const std::string name : detail::kSimulated)
    if (executed.target.starts_with(name)) return name;
  return executed.target;
}

Result<void> begin_executed(const OpenDevice& device) {
  KILN_TRY(const auto begin,
           find<decltype(&kiln_simulator_begin_counts)>(device, "kiln_simulator_begin_counts"));
  begin();
  return {};
}

Result<Executed> read_executed(const OpenDevice& device, const Bundle& bundle, const std::string& kernel) {
  KILN_TRY(const auto read,
           find<decltype(&kiln_simulator_read_counts)>(device, "kiln_simulator_read_counts"));
  KILN_TRY(const auto binary, bundle.module().native_binary());
  const std::string section = ".text." + kernel;
  std::span<const std::byte> code;
  for (const auto& each : detail::native_sections(binary))
    if (each.name == section) code = each.content;
  if (code.empty())
    return tl::unexpected(not_counted("kernel `" + kernel + "` has no native code that can be read",
                                      {{"reason", "the driver gives none in the form of zebin"}},
                                      "give native code that `kiln bake` or ocloc made"));
  Executed executed;
  std::map<std::uint64_t, ExecutedCount> counts;
  for (const ExecutedCode& each : codes_of(read)) {
    const auto begin = place_in(code, each.code);
    if (!begin) continue;
    executed.target = each.target;
    executed.launches += each.launches, executed.groups += each.groups, executed.threads += each.threads;
    for (const ExecutedCount& from : each.counts) {
      ExecutedCount& to = counts[from.offset + *begin];
      to.offset = from.offset + *begin;
      to.executed += from.executed, to.lanes += from.lanes, to.bytes += from.bytes;
      to.lines += from.lines, to.turns += from.turns, to.conflicts += from.conflicts;
    }
  }
  if (counts.empty())
    return tl::unexpected(not_counted("nothing that ran is the code of kernel `" + kernel + "`", {},
                                      "launch it once before what was executed is read"));
  const Target* const target = find_target(executed.target);
  const auto refuse = [&](const xe::NoText& why) {
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "libiga64", why.diagnostic("kernel `" + kernel + "`")));
  };
  const auto library = xe::Disassembler::open();
  if (!library) return refuse(library.error());
  const auto text = library->text(code, target ? xe::instruction_set(*target) : 0);
  if (!text) return refuse(text.error());
  const auto instructions = xe::read_instructions(*text, code.size());
  if (!instructions) return refuse(instructions.error());
  const std::vector<std::string> texts = lines_of(*text);
  const xe::LineTables tables = xe::read_lines(binary);
  for (std::size_t i = 0; i < instructions->size(); ++i) {
    const auto found = counts.find((*instructions)[i].offset);
    if (found == counts.end()) continue;
    const xe::SourceLine* const line = tables.find(section, (*instructions)[i].offset);
    executed.instructions.push_back({found->second, (*instructions)[i],
                                     texts.size() == instructions->size() ? texts[i] : std::string(),
                                     line ? line->line : 0});
  }
  return executed;
}

std::optional<std::size_t> place_in(std::span<const std::byte> kernel, std::span<const std::byte> ran) {
  std::optional<std::size_t> best;
  constexpr std::size_t kShortest = 8;  // of the last instruction, which counts as one of 16 bytes
  std::size_t most = ran.size() - ran.size() / 10;  // equal bytes, from which on it is that kernel's
  for (std::size_t begin = 0; begin <= kFurthestEntry; begin += kStep) {
    if (begin + ran.size() > kernel.size() + kShortest) break;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < ran.size() && begin + i < kernel.size(); ++i)
      equal += kernel[begin + i] == ran[i];
    if (equal < most || equal == 0) continue;
    best = begin;
    most = equal + 1;
  }
  return best;
}

}  // namespace kiln::tool
