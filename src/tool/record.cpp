// SPDX-License-Identifier: MIT
// Shows a record of calls, and whether its program still runs.
#include "tool/record.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "record/explain.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

/// By the start of the process with its number: another may have that number now.
record::Life life_of(const record::Record& record) {
  std::ifstream file("/proc/" + std::to_string(record.process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  if (record.process == 0 || name_end == text.npos) return record::Life::gone;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field, state;
  fields >> state;
  for (int number = 4; number <= 22; ++number) fields >> field;
  const bool same = std::strtoull(field.c_str(), nullptr, 10) == record.since;
  return same && state != "Z" && state != "X" ? record::Life::runs : record::Life::gone;
}

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

const char* to_string(record::State state) {
  switch (state) {
    case record::State::inside:
      return "inside";
    case record::State::refused:
      return "refused";
    case record::State::recorded:
      return "recorded";
    case record::State::under_way:
      return "under way";
    case record::State::done:
      break;
  }
  return "done";
}

template <std::size_t N>
Json numbers(const std::array<std::uint32_t, N>& all) {
  return std::vector<std::uint32_t>(all.begin(), all.end());
}

Json to_json(const record::Entry& entry) {
  Json json{{"number", entry.number},
            {"call", record::name_of(entry.call)},
            {"state", to_string(entry.state)},
            {"thread", entry.thread},
            {"object", hex(entry.object)}};
  if (entry.state != record::State::inside)
    json["result"] = result_name(static_cast<ze_result_t>(entry.result));
  if (!entry.kernel.empty()) json["kernel"] = entry.kernel;
  if (entry.is_launch() && entry.call != record::Call::indirect) json["groups"] = numbers(entry.groups);
  if (entry.is_launch() && entry.group_size[0]) json["group_size"] = numbers(entry.group_size);
  if (entry.is_work() && entry.other) json["signals"] = hex(entry.other);
  if (entry.call == record::Call::submit) json["queue"] = hex(entry.other);
  if (entry.bytes) json["bytes"] = entry.bytes;
  if (entry.module) json["module"] = entry.module;
  return json;
}

Json to_json(const record::Record& record, record::Life life) {
  Json json{{"program", record.program},          {"process", record.process}, {"started", record.started},
            {"runs", life == record::Life::runs}, {"exited", record.ended},    {"calls", record.calls}};
  std::vector<Json> entries;
  for (const record::Entry& entry : record.entries) entries.push_back(to_json(entry));
  json["last"] = std::move(entries);
  return json;
}

Error damaged(const char* path) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "read",
               {"K0456",
                std::string("`") + path + "` is no whole record of calls, or one of another release of Kiln",
                {},
                {"read it with the `kiln` whose `kiln exec --record` made it"}});
}

}  // namespace

bool is_record(std::FILE* file) {
  std::byte begin[sizeof record::kMagic];
  const std::size_t got = std::fread(begin, 1, sizeof begin, file);
  std::rewind(file);
  return record::is_record({begin, got});
}

int explain_record(std::FILE* file, const char* path, bool as_json) {
  std::vector<std::byte> bytes(sizeof(record::Image) + 1);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  const auto record = record::read(bytes);
  if (!record) {
    const Error error = damaged(path);
    if (as_json) print({{"error", tool::to_json(error)}});
    complain("%s", error.text().c_str());
    return exit_code(error);
  }
  const record::Life life = life_of(*record);
  const auto finding = record::explain(*record, life);
  if (as_json)
    print({{"record", to_json(*record, life)},
           {"finding", finding ? Json::parse(kiln::to_json(*finding)).value() : Json()}});
  else if (finding)
    say("%s", to_text(*finding).c_str());
  else if (record->process == 0)
    say("no program has opened a Level Zero driver for this record\n"
        "  help: see whether the program uses Level Zero, through the loader: docs/exec.md, limits\n");
  else if (record->entries.empty())
    say("no call was recorded: the program opened the driver, and no more\n");
  else
    say("the program ended by exit(), and nothing was refused or under way in the last %zu calls\n",
        record->entries.size());
  return finding ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
