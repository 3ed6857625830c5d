// SPDX-License-Identifier: MIT
// Asks the CPU driver for counters, reads their JSON, and puts defects into words.
#include "kiln/counters.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "support/json.hpp"

namespace kiln {
namespace {

using detail::Json;

constexpr const char* kName = "kilnKernelGetCounters";
constexpr std::string_view kAccessKinds[] = {"read", "write", "atomic", "barrier"};
constexpr std::string_view kMemories[] = {"none", "global", "constant", "slm", "generic", "private"};
constexpr std::string_view kDefects[] = {"slm_out_of_bounds", "global_out_of_bounds", "slm_race",
                                         "indirect_access", "slm_unwritten"};

/// Of another form than docs/counters.md says.
struct Unreadable {
  std::string what;
};

template <class Enum>
Enum value_of(std::span<const std::string_view> names, const std::string& name) {
  const auto found = std::ranges::find(names, std::string_view(name));
  if (found == names.end()) throw Unreadable{"`" + name + "` is not known"};
  return static_cast<Enum>(found - names.begin());
}

std::uint64_t count_of(const Json& json, const char* field) {
  const Json& value = json[field];
  return value.is_null() ? 0 : value.get<std::uint64_t>();
}

std::optional<std::uint32_t> argument_of(const Json& json) {
  const Json& value = json["argument"];
  return value.is_null() ? std::nullopt : std::optional(value.get<std::uint32_t>());
}

CodePlace place_of(const Json& json) {
  return {count_of(json, "id"), count_of(json, "line"),
          value_of<AccessKind>(kAccessKinds, json["kind"].get<std::string>())};
}

AccessExample example_of(const Json& json) {
  AccessExample example{count_of(json, "group"),
                        count_of(json, "sub_group"),
                        {},
                        count_of(json, "lines"),
                        count_of(json, "turns")};
  for (const Json& lane : json["lanes"])
    example.lanes.push_back({count_of(lane, "lane"), count_of(lane, "offset")});
  return example;
}

InstructionCount instruction_of(const Json& json) {
  InstructionCount count;
  count.at = place_of(json);
  count.memory = value_of<MemorySpace>(kMemories, json["memory"].get<std::string>());
  count.argument = argument_of(json);
  count.argument_name = json.value("argument_name", "");
  count.width = count_of(json, "width");
  count.accesses = count_of(json, "accesses");
  count.bytes = count_of(json, "bytes");
  count.sub_group_accesses = count_of(json, "sub_group_accesses");
  for (const auto& [name, times] : json["lines"].items()) {
    std::uint64_t lines = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), lines);
    if (error != std::errc() || end != name.data() + name.size()) throw Unreadable{"`" + name + "` lines"};
    count.lines[lines] = times.get<std::uint64_t>();
  }
  count.turns = count_of(json, "turns");
  count.conflict_turns = count_of(json, "conflict_turns");
  if (const Json* neighbours = json.find("neighbours")) {
    count.neighbours = count_of(*neighbours, "accesses");
    count.neighbour_bytes = count_of(*neighbours, "bytes");
  }
  if (const Json* example = json.find("example")) count.example = example_of(*example);
  return count;
}

/// Of "slm_reads" and the like.
MemoryTotal total_of(const std::string& name, const Json& json) {
  const auto at = name.rfind('_');
  if (at == name.npos || !name.ends_with('s')) throw Unreadable{"`" + name + "` is not known"};
  return {value_of<MemorySpace>(kMemories, name.substr(0, at)),
          value_of<AccessKind>(kAccessKinds, name.substr(at + 1, name.size() - at - 2)),
          count_of(json, "accesses"),
          count_of(json, "bytes"),
          count_of(json, "sub_group_accesses"),
          count_of(json, "lines"),
          count_of(json, "turns"),
          count_of(json, "conflict_turns")};
}

Defect defect_of(const Json& json) {
  Defect defect;
  defect.kind = value_of<DefectKind>(kDefects, json["defect"].get<std::string>());
  defect.text = json.value("text", "");
  defect.at = place_of(json["at"]);
  for (std::size_t i = 0; i < defect.group.size(); ++i)
    defect.group[i] = json["group"].at(i).get<std::uint64_t>();
  defect.work_item = count_of(json, "work_item");
  defect.offset = json["offset"].get<std::int64_t>();
  defect.bytes = count_of(json, "bytes");
  defect.available = count_of(json, "available");
  defect.times = count_of(json, "times");
  if (const Json* other = json.find("other")) defect.other = place_of(*other);
  defect.other_work_item = count_of(json, "other_work_item");
  defect.address = count_of(json, "address");
  defect.argument = argument_of(json);
  defect.allocation = json.value("memory", "");
  return defect;
}

Counters counters_of(const Json& json) {
  Counters counters{json["kernel"].get<std::string>(), count_of(json, "sub_group_size"),
                    count_of(json, "launches"),        count_of(json, "groups"),
                    count_of(json, "work_items"),      json.value("complete", true)};
  for (const auto& [name, sums] : json["totals"].items())
    if (name == "barriers")
      counters.barriers = sums.get<std::uint64_t>();
    else
      counters.totals.push_back(total_of(name, sums));
  for (const Json& each : json["instructions"]) counters.instructions.push_back(instruction_of(each));
  for (const Json& each : json["defects"]) counters.defects.push_back(defect_of(each));
  return counters;
}

Error not_counted(ze_result_t code, std::string message, std::vector<DiagnosticRow> rows, std::string help) {
  return Error(code, kName, {"K0409", std::move(message), std::move(rows), {std::move(help)}});
}

Error unreadable(std::string why) {
  return not_counted(ZE_RESULT_ERROR_UNKNOWN, "what was counted is not in the form that is known here",
                     {{"reason", std::move(why)}}, "use the CPU driver of the same release of Kiln");
}

std::string place_text(const CodePlace& place) {
  if (place.line) return "line " + std::to_string(place.line);
  return place.id ? "SPIR-V id %" + std::to_string(place.id) : "not known";
}

std::string instruction_text(const CodePlace& place) {
  return std::string(to_string(place.kind)) + ", " + place_text(place);
}

DiagnosticRow offset_row(std::int64_t offset) {
  if (offset >= 0) return {"offset", "", static_cast<std::uint64_t>(offset), "B"};
  return {"offset", std::to_string(offset) + " B"};
}

std::string hex_address(std::uint64_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

}  // namespace

std::string_view to_string(AccessKind kind) { return kAccessKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(MemorySpace memory) { return kMemories[static_cast<std::size_t>(memory)]; }
std::string_view to_string(DefectKind kind) { return kDefects[static_cast<std::size_t>(kind)]; }

Result<void> can_count(const OpenDevice& device) {
  if (device.kind == DeviceKind::cpu) return {};
  return tl::unexpected(not_counted(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                                    "this device does not count accesses", {}, "use --device cpu"));
}

Result<Counters> read_counters(const OpenDevice& device, KernelRef kernel) {
  KILN_TRY(can_count(device));
  using Get = ze_result_t (*)(ze_kernel_handle_t, std::size_t*, char*);
  void* address = nullptr;
  const ze_result_t found =
      device.driver.api().zeDriverGetExtensionFunctionAddress(device.driver.raw(), kName, &address);
  if (found != ZE_RESULT_SUCCESS) return tl::unexpected(Error(found, kName));
  const Get get = reinterpret_cast<Get>(address);
  std::size_t size = 0;
  ze_result_t result = get(kernel.raw(), &size, nullptr);
  std::string text(size, '\0');
  if (result == ZE_RESULT_SUCCESS) result = get(kernel.raw(), &size, text.data());
  if (result != ZE_RESULT_SUCCESS) return tl::unexpected(Error(result, kName));
  text.resize(std::min(text.find('\0'), text.size()));
  return parse_counters(text);
}

Result<Counters> parse_counters(std::string_view json) {
  try {
    const std::optional<Json> parsed = Json::parse(json);
    if (!parsed) return tl::unexpected(unreadable("it is no JSON"));
    Counters counters = counters_of(*parsed);
    counters.json = json;
    return counters;
  } catch (const Unreadable& wrong) {
    return tl::unexpected(unreadable(wrong.what));
  } catch (const Json::WrongType& wrong) {
    return tl::unexpected(unreadable(wrong.what()));
  }
}

Diagnostic to_diagnostic(const Counters& counters, const Defect& defect) {
  const std::string kernel = "kernel `" + counters.kernel + "`";
  Diagnostic diagnostic;
  const auto& group = defect.group;
  diagnostic.rows = {{"instruction", instruction_text(defect.at)},
                     {"work-group", "(" + std::to_string(group[0]) + ", " + std::to_string(group[1]) + ", " +
                                        std::to_string(group[2]) + ")"},
                     {"work-item", "", defect.work_item, ""}};
  switch (defect.kind) {
    case DefectKind::slm_race:
      diagnostic.code = "K0803";
      diagnostic.message = kernel + " has a data race on SLM";
      diagnostic.rows.push_back({"other instruction", instruction_text(defect.other)});
      diagnostic.rows.push_back({"other work-item", "", defect.other_work_item, ""});
      diagnostic.help = {"let a barrier of the work-group stand between the two, or make both atomic"};
      break;
    case DefectKind::slm_unwritten:
      diagnostic.code = "K0810";
      diagnostic.message = kernel + " reads SLM that nobody in the work-group has written";
      diagnostic.rows.push_back({"size", "", defect.bytes, "B"});
      diagnostic.help = {
          "write it first, such as zeros by all work-items side by side, with a barrier behind",
          "SLM holds anything as a work-group begins: neither zeros nor what another one left"};
      break;
    case DefectKind::indirect_access: {
      diagnostic.code = "K0804";
      diagnostic.message = kernel + " reaches " + defect.allocation + " memory that it was not given";
      diagnostic.rows.push_back({"size", "", defect.bytes, "B"});
      diagnostic.rows.push_back({"address", hex_address(defect.address)});
      std::string flag = defect.allocation;
      for (char& letter : flag)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
      diagnostic.help = {"call zeKernelSetIndirectAccess with ZE_KERNEL_INDIRECT_ACCESS_FLAG_" + flag +
                             ": on a GPU the access may fault without it",
                         "or give the kernel a pointer into that allocation as an argument"};
      break;
    }
    case DefectKind::global_out_of_bounds:
      diagnostic.code = "K0802";
      if (defect.available == 0) {
        diagnostic.message = kernel + " uses an address that is in no allocation";
        diagnostic.rows.push_back({"size", "", defect.bytes, "B"});
        diagnostic.rows.push_back({"address", hex_address(defect.address)});
        diagnostic.help = {
            "see where the kernel has the pointer from, and whether its memory was freed before the launch"};
        break;
      }
      diagnostic.message = kernel + " goes beyond an allocation";
      if (defect.argument) diagnostic.rows.push_back({"argument", "", *defect.argument, ""});
      diagnostic.rows.push_back({"size", "", defect.bytes, "B"});
      diagnostic.rows.push_back({"available", "", defect.available, "B"});
      diagnostic.help = {"compare the index with the number of elements, also of the surplus work-items"};
      break;
    case DefectKind::slm_out_of_bounds:
      diagnostic.code = "K0801";
      diagnostic.message = kernel + " goes beyond its SLM";
      diagnostic.rows.push_back({"size", "", defect.bytes, "B"});
      diagnostic.rows.push_back({"available", "", defect.available, "B"});
      diagnostic.help = {"compare the index with the length of the array, or ask for more SLM"};
      break;
  }
  if (defect.kind != DefectKind::global_out_of_bounds || defect.available != 0)
    diagnostic.rows.push_back(offset_row(defect.offset));
  diagnostic.rows.push_back({"times", "", defect.times, ""});
  return diagnostic;
}

}  // namespace kiln
