// SPDX-License-Identifier: MIT
// `kiln replay`: each launch of a file again, and whether the answers are those of the program.
#include <algorithm>

#include "support/process.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"
#include "tool/replay/replay.hpp"
#include "tool/report/findings.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/measure.hpp"

namespace kiln::tool {
namespace {

std::string what_text(const CaptureEntry& entry) {
  if (!entry.is_launch)
    return entry.kernel.empty() ? "a module that was refused" : "`" + entry.kernel + "`, which was refused";
  return "launch " + std::to_string(entry.launch) + " of `" + entry.kernel + "`, " +
         extent_text(entry.groups) + " groups of " + extent_text(entry.group_size) + " work-items";
}

Json difference_json(const ReplayDifference& each) {
  Json json{{"name", each.label.empty() ? "memory " + std::to_string(each.memory) : each.label},
            {"memory", each.memory},
            {"count", each.difference.count},
            {"of", each.numbers},
            {"index", each.difference.first}};
  json["got"] = each.difference.got;
  json["wanted"] = each.difference.wanted;
  json["largest"] = each.difference.largest <= 1e300 ? Json(each.difference.largest) : Json();
  return json;
}

/// K0435, with what helps here.
Diagnostic difference_text(const Json& json) {
  Diagnostic diagnostic = difference_diagnostic(json);
  diagnostic.help = {"allow for rounding: --tolerance 1e-5",
                     "write it as a program with its files, and look there: --emit-c FOLDER"};
  return diagnostic;
}

Json entry_json(const CaptureEntry& entry) {
  Json json{{"entry", entry.number},  {"what", entry.is_launch ? "launch" : "build"},
            {"kernel", entry.kernel}, {"captured_on", entry.device},
            {"call", entry.call},     {"result", result_name(entry.result)}};
  if (!entry.is_launch) return json;
  json["launch"] = entry.launch;
  json["groups"] = {entry.groups.x, entry.groups.y, entry.groups.z};
  json["group_size"] = {entry.group_size.x, entry.group_size.y, entry.group_size.z};
  std::uint64_t bytes = 0;
  for (const CapturedMemory& each : entry.memory) bytes += each.size;
  json["memory_bytes"] = bytes;
  return json;
}

Json replayed_json(const CaptureEntry& entry, const Replayed& replayed) {
  Json json = entry_json(entry);
  json["same"] = replayed.same;
  json["executed"] = replayed.executed;
  json["answer"] = result_name(replayed.refused ? replayed.refused->code() : ZE_RESULT_SUCCESS);
  json["build_ms"] = milliseconds(replayed.build);
  json["host_ms"] = replayed.executed ? Json(milliseconds(replayed.host)) : Json();
  json["device_ms"] = replayed.executed ? Json(milliseconds(replayed.on_device)) : Json();
  Json differences = Json::array();
  for (const ReplayDifference& each : replayed.differences) differences.push_back(difference_json(each));
  json["differences"] = std::move(differences);
  if (replayed.refused) json["error"] = to_json(*replayed.refused);
  return json;
}

void print_head(const CaptureEntry& entry) {
  say("%llu  %s\n", static_cast<unsigned long long>(entry.number), what_text(entry).c_str());
  say("  captured     %s: %s\n", entry.device.c_str(),
      entry.result == ZE_RESULT_SUCCESS ? "executed"
                                        : (entry.call + " gave " + result_name(entry.result)).c_str());
}

const char* outcome_text(const CaptureEntry& entry, const Replayed& replayed) {
  using End = CaptureEntry::End;
  if (!entry.is_launch || entry.end == End::refused) return "nothing is refused here";
  if (!replayed.executed) return "accepted, not executed: a capture device gives no answers";
  if (entry.end == End::lost) return "it ends here";
  return replayed.same ? "memory as captured" : "memory is not as captured";
}

void print_replayed(const OpenDevice& device, const CaptureEntry& entry, const Replayed& replayed,
                    const Json& json) {
  say("  replayed     %s", device.properties.name.c_str());
  if (replayed.executed)
    say(": host %.3f ms, device %.3f ms", milliseconds(replayed.host), milliseconds(replayed.on_device));
  say("\n");
  if (entry.indirect_access)
    say("  note         it may follow addresses that lie in memory, and those are of the captured program\n");
  say("  ");
  say_painted(replayed.same ? Paint::good : Paint::bad, "%-13s", replayed.same ? "same" : "DIFFERENT");
  say("%s\n",
      replayed.refused ? result_name(replayed.refused->code()).c_str() : outcome_text(entry, replayed));
  for (const Json& each : json["differences"]) say("%s", to_text(difference_text(each)).c_str());
  if (replayed.refused) say("%s", replayed.refused->text().c_str());
}

Result<std::vector<CaptureEntry>> chosen(const CaptureFile& capture, const ReplayOptions& options) {
  if (!options.entry) return capture.entries;
  const auto found = std::ranges::find(capture.entries, *options.entry, &CaptureEntry::number);
  if (found == capture.entries.end())
    return tl::unexpected(
        usage_error("there is no entry " + std::to_string(*options.entry) + " in `" + capture.file.name + "`",
                    {"`kiln replay " + capture.file.name + " --list` says what there is"}));
  return std::vector{*found};
}

Result<int> emit(const std::vector<CaptureEntry>& entries, const ReplayOptions& options) {
  if (entries.size() > 1)
    return tl::unexpected(usage_error(
        "--emit-c writes one entry, and `" + options.file + "` has " + std::to_string(entries.size()),
        {"choose: --entry " + std::to_string(entries.front().number)}));
  KILN_TRY(emit_c(entries.front(), options.emit_c));
  if (options.json)
    print({{"ok", true}, {"folder", options.emit_c}});
  else
    say("written      %s/replay.c and its files\n", options.emit_c.c_str());
  return kOk;
}

int list_entries(const std::vector<CaptureEntry>& entries, const CaptureFile& capture,
                 const ReplayOptions& options) {
  Json list = Json::array();
  for (const CaptureEntry& each : entries) {
    if (!options.json) print_head(each);
    list.push_back(entry_json(each));
  }
  if (options.json) print({{"file", options.file}, {"cut", capture.is_cut}, {"entries", std::move(list)}});
  return kOk;
}

Result<int> replay_one(const CaptureEntry& entry, const ReplayOptions& options) {
  KILN_TRY(const auto device, open_chosen(options.device));
  if (!options.json) print_head(entry);
  std::fflush(stdout);  // should a kernel end the process
  const FaultGuard guard(device, entry.kernel, options.json);
  const Replayed replayed =
      replay_entry(device, entry, options.repeat, Tolerance{options.tolerance.value_or(0)});
  const Json json = replayed_json(entry, replayed);
  if (options.json)
    print({{"file", options.file},
           {"device", device.properties.name},
           {"ok", replayed.same},
           {"entries", std::vector<Json>{json}}});
  else
    print_replayed(device, entry, replayed, json);
  return replayed.same ? kOk : kWrongAnswer;
}

ProcessResult run_alone(const CaptureEntry& entry, const ReplayOptions& options) {
  ProcessOptions how;
  how.arguments = {"/proc/self/exe",
                   "replay",
                   options.file,
                   "--entry",
                   std::to_string(entry.number),
                   "--repeat",
                   std::to_string(options.repeat)};
  const auto add = [&](const char* option, const std::string& value) {
    how.arguments.insert(how.arguments.end(), {option, value});
  };
  if (!options.device.empty()) add("--device", options.device);
  char tolerance[32];
  std::snprintf(tolerance, sizeof tolerance, "%.17g", options.tolerance.value_or(0));
  if (options.tolerance) add("--tolerance", tolerance);
  if (options.json) how.arguments.emplace_back("--json");
  how.time_limit = std::chrono::hours(24);
  how.output_limit = std::size_t{16} << 20;
  return run_process(how);
}

/// Each in a process of its own, so that none ends the others.
int replay_several(const std::vector<CaptureEntry>& entries, const CaptureFile& capture,
                   const ReplayOptions& options) {
  const InterruptGuard interrupts;
  Progress progress(entries.size());
  Json list = Json::array(), device;
  int status = kOk;
  for (const CaptureEntry& each : entries) {
    if (InterruptGuard::interrupted()) break;
    progress.next(each.kernel.c_str());
    const ProcessResult done = run_alone(each, options);
    if (!done.succeeded() && status < kUsage)
      status = done.end == ProcessResult::End::exited ? done.number : kWrongAnswer;
    if (!options.json) {
      clear_progress();
      say("%s", done.out.c_str());
      complain("%s", done.err.c_str());
      continue;
    }
    const Json answer = Json::parse(done.out).value_or(Json());
    if (answer.contains("device")) device = answer["device"];
    if (answer["entries"].size() == 1) {
      list.push_back(answer["entries"][0]);
      continue;
    }
    Json failed = entry_json(each);
    failed["same"] = false;
    failed["error"] = answer.contains("error") ? answer["error"] : Json{{"message", done.ended_by({})}};
    list.push_back(std::move(failed));
  }
  if (options.json)
    print({{"file", options.file},
           {"device", device},
           {"cut", capture.is_cut},
           {"ok", status == kOk},
           {"entries", std::move(list)}});
  return status;
}

Result<int> replay_all(const ReplayOptions& options) {
  KILN_TRY(const auto capture, read_capture(options.file));
  if (capture.is_cut && !options.entry)
    complain("kiln: warning: `%s` is cut off: what came last is left out\n", options.file.c_str());
  KILN_TRY(const auto entries, chosen(capture, options));
  if (!options.emit_c.empty()) return emit(entries, options);
  if (options.list) return list_entries(entries, capture, options);
  if (entries.size() == 1) return replay_one(entries.front(), options);
  return replay_several(entries, capture, options);
}

}  // namespace

int replay(const ReplayOptions& options) {
  const auto status = replay_all(options);
  if (status) return *status;
  complain("%s", status.error().text().c_str());
  if (options.json) print({{"file", options.file}, {"ok", false}, {"error", to_json(status.error())}});
  return exit_code(status.error());
}

}  // namespace kiln::tool
