// SPDX-License-Identifier: MIT
// The end of a program, by what its record has.
#include "record/explain.hpp"

#include <algorithm>
#include <set>

#include "kiln/explain.hpp"
#include "kiln/result.hpp"

namespace kiln::record {
namespace {

constexpr std::size_t kMostShown = 8;  // of a kind
constexpr std::uint32_t kLost = 0x70000001;

std::string extent(const std::array<std::uint32_t, 3>& of) {
  return std::to_string(of[0]) + " x " + std::to_string(of[1]) + " x " + std::to_string(of[2]);
}

/// What is asked for, behind the name of the call.
std::string details(const Entry& entry) {
  if (entry.is_launch() || entry.call == Call::kernel) {
    std::string text = entry.kernel.empty() ? "a kernel that is not known" : "`" + entry.kernel + "`";
    if (entry.call == Call::kernel) return text;
    text +=
        entry.call == Call::indirect ? ", groups as memory says" : ", " + extent(entry.groups) + " groups";
    if (entry.group_size[0]) text += " of " + extent(entry.group_size);
    return text;
  }
  if (entry.call == Call::build)
    return "module " + std::to_string(entry.module) + ", " + std::to_string(entry.bytes) + " B";
  if (entry.call >= Call::copy && entry.call <= Call::host_memory) return std::to_string(entry.bytes) + " B";
  return {};
}

std::string whole(const Entry& entry) {
  const std::string more = details(entry);
  return name_of(entry.call) + (more.empty() ? "" : ": " + more);
}

std::string of_work(const Entry& entry) {
  if (entry.is_launch()) return details(entry);
  if (entry.call == Call::submit) return "a list whose calls are not among those that are kept";
  if (entry.call >= Call::image_copy) return "copy of an image";
  return (entry.call == Call::copy ? "copy of " : "fill of ") + details(entry);
}

const char* label(State state) {
  switch (state) {
    case State::inside:
      return "inside the call";
    case State::under_way:
      return "may be under way";
    case State::recorded:
      return "not submitted yet";
    case State::refused:
      return "refused";
    case State::done:
      break;
  }
  return "done before";
}

/// The calls that the program was in, one a thread.
std::vector<const Entry*> inside(const Record& record) {
  std::vector<const Entry*> all;
  std::set<std::uint32_t> threads;
  for (auto each = record.entries.rbegin(); each != record.entries.rend(); ++each)
    if (threads.insert(each->thread).second && each->state == State::inside) all.push_back(&*each);
  return all;
}

void add_more(std::vector<DiagnosticRow>& rows, const char* label, std::size_t all) {
  if (all > kMostShown) rows.push_back({label, "and " + std::to_string(all - kMostShown) + " more"});
}

}  // namespace

std::vector<DiagnosticRow> rows_of_work(const Record& record) {
  std::vector<DiagnosticRow> rows;
  for (auto each = record.entries.rbegin(); each != record.entries.rend() && rows.size() < kMostShown; ++each)
    if ((each->is_work() && each->state != State::refused) || each->may_run())
      rows.push_back({label(each->state), of_work(*each)});
  return rows;
}

std::optional<Diagnostic> explain(const Record& record, Life life) {
  if (record.entries.empty()) return std::nullopt;
  const auto in = inside(record), work = record.under_way();
  std::vector<const Entry*> refused;
  for (auto each = record.entries.rbegin(); each != record.entries.rend(); ++each)
    if (each->state == State::refused) refused.push_back(&*each);
  const auto told = std::ranges::find(refused, kLost, &Entry::result);
  const bool lost = record.lost || told != refused.end();
  const bool runs = life == Life::runs;
  const bool ended_well = record.ended && !lost && in.empty() && work.empty() && refused.empty();
  if (ended_well) return std::nullopt;

  Diagnostic diagnostic{"K0530", {}, {}, {}};
  const std::string subject = runs ? "the program is" : "the program ended";
  if (lost)
    diagnostic.message = "the device was lost";
  else if (!in.empty())
    diagnostic.message = subject + " inside " + name_of(in.front()->call);
  else if (!work.empty())
    diagnostic.message =
        subject + (runs ? " running" : "") + " while work may have been under way on the device";
  else if (runs)
    diagnostic.message = "the program is running, and inside no call that is recorded";
  else if (record.has_lost())
    diagnostic.message = subject + ", and nothing under way is among the last " +
                         std::to_string(record.entries.size()) + " calls";
  else
    diagnostic.message = subject + ", and nothing that is recorded was under way on the device";
  if (!lost && (runs || (in.empty() && work.empty()))) diagnostic.severity = Severity::warning;
  diagnostic.rows.push_back({"program", "`" + record.program + "`, process " +
                                            std::to_string(record.process) +
                                            (runs           ? ", which still runs"
                                             : record.ended ? ", ended by exit()"
                                                            : ", ended by a signal, abort() or _exit()")});
  for (std::size_t i = 0; i < std::min(in.size(), kMostShown); ++i)
    diagnostic.rows.push_back({"inside", whole(*in[i]) + ", thread " + std::to_string(in[i]->thread)});
  add_more(diagnostic.rows, "inside", in.size());
  for (DiagnosticRow& row : rows_of_work(record)) diagnostic.rows.push_back(std::move(row));
  if (work.size() > kMostShown)
    diagnostic.rows.push_back(
        {"may be under way", std::to_string(work.size()) + " launches and copies in all"});
  for (std::size_t i = 0; i < std::min<std::size_t>(refused.size(), 3); ++i)
    diagnostic.rows.push_back(
        {i == 0 ? "refused last" : "before that",
         whole(*refused[i]) + " gave " + result_name(static_cast<ze_result_t>(refused[i]->result))});
  diagnostic.rows.push_back({"calls recorded", {}, record.calls});
  if (!runs && !in.empty())
    diagnostic.help.push_back(
        "see the driver's own messages, which it writes before it ends a process: NEOReadDebugKeys=1 "
        "PrintDebugMessages=1");
  if (lost || !work.empty())
    diagnostic.help.push_back(
        "look into the kernel log (dmesg) for a hang or a page fault of the GPU, and at what may be under "
        "way");
  if (!refused.empty())
    diagnostic.help.push_back("read what `kiln exec` told of the refused call: its cause");
  if (diagnostic.help.empty() && record.has_lost())
    diagnostic.help.push_back("what was under way may be older: look into the kernel log (dmesg)");
  else if (diagnostic.help.empty())
    diagnostic.help.push_back(
        "look for the reason in the program: what is recorded was done, and docs/exec.md has what is not");
  return diagnostic;
}

}  // namespace kiln::record
