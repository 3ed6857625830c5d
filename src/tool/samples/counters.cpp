// SPDX-License-Identifier: MIT
// Asks the CPU driver for counters, and looks up in them what samples predict.
#include "tool/samples/counters.hpp"

#include <algorithm>
#include <sstream>

namespace kiln::tool {
namespace {

std::uint64_t sum_of(const Json& counters, const char* field, const auto& wanted) {
  std::uint64_t sum = 0;
  for (const Json& instruction : counters["instructions"])
    if (wanted(instruction)) sum += instruction.value(field, std::uint64_t{0});
  return sum;
}

/// The most that one access of a sub-group took, by its example.
std::uint64_t most_of(const Json& counters, const char* field, const auto& wanted) {
  std::uint64_t most = 0;
  for (const Json& instruction : counters["instructions"])
    if (wanted(instruction) && instruction.contains("example"))
      most = std::max(most, instruction["example"].value(field, std::uint64_t{0}));
  return most;
}

Diagnostic not_counted(std::string message, std::string help) {
  return {"K0409", std::move(message), {}, {std::move(help)}};
}

}  // namespace

Result<void> can_count(const OpenDevice& device) {
  if (device.kind == DeviceKind::cpu) return {};
  return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "kiln run",
                              not_counted("this device does not count accesses", "use --device cpu")));
}

Result<Json> read_counters(const OpenDevice& device, KernelRef kernel) {
  constexpr const char* kName = "kilnKernelGetCounters";
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
  std::optional<Json> json = Json::parse(text.c_str());
  if (!json || !json->is_object()) return tl::unexpected(Error(ZE_RESULT_ERROR_UNKNOWN, kName));
  return *std::move(json);
}

std::optional<std::uint64_t> counted(const Json& counters, const samples::Predicted& predicted) {
  using samples::Counter;
  const std::uint64_t launches = std::max(counters.value("launches", std::uint64_t{1}), std::uint64_t{1});
  const auto is = [](const Json& instruction, const char* kind, const char* memory) {
    return instruction["kind"] == kind && instruction["memory"] == memory;
  };
  const auto reads_argument = [&](const Json& instruction) {
    return instruction["kind"] == "read" && instruction.contains("argument") &&
           instruction["argument"] == predicted.argument;
  };
  switch (predicted.count) {
    case Counter::none:
      return std::nullopt;
    case Counter::reads:
      return sum_of(counters, "accesses", reads_argument) / launches;
    case Counter::lines:
      return most_of(counters, "lines", reads_argument);
    case Counter::slm_turns:
      return most_of(counters, "turns", [&](const Json& each) { return is(each, "read", "slm"); });
    case Counter::global_atomics:
      return sum_of(counters, "accesses", [&](const Json& each) { return is(each, "atomic", "global"); }) /
             launches;
  }
  return std::nullopt;
}

namespace {

std::string place_text(const Json& place) {
  if (place["line"].is_number()) return "line " + std::to_string(place["line"].get<std::uint64_t>());
  if (place["id"].is_number()) return "SPIR-V id %" + std::to_string(place["id"].get<std::uint64_t>());
  return "not known";
}

DiagnosticRow number_row(const char* label, const Json& value, const char* unit = "") {
  if (value.is_number_unsigned()) return {label, "", value.get<std::uint64_t>(), unit};
  return {label, value.dump() + (*unit ? std::string(" ") + unit : "")};
}

std::string hex_address(std::uint64_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

}  // namespace

Diagnostic defect_diagnostic(const Json& counters, const Json& defect) {
  const std::string what = defect["defect"].get<std::string>();
  const std::string kernel = "kernel `" + counters["kernel"].get<std::string>() + "`";
  const Json& group = defect["group"];
  Diagnostic diagnostic;
  diagnostic.rows = {
      {"instruction", defect["at"]["kind"].get<std::string>() + ", " + place_text(defect["at"])},
      {"work-group", "(" + group[0].dump() + ", " + group[1].dump() + ", " + group[2].dump() + ")"},
      number_row("work-item", defect["work_item"])};
  if (what == "slm_race") {
    diagnostic.code = "K0803";
    diagnostic.message = kernel + " has a data race on SLM";
    diagnostic.rows.push_back({"other instruction", defect["other"]["kind"].get<std::string>() + ", " +
                                                        place_text(defect["other"])});
    diagnostic.rows.push_back(number_row("other work-item", defect["other_work_item"]));
    diagnostic.help = {"let a barrier of the work-group stand between the two, or make both atomic"};
    diagnostic.rows.push_back(number_row("offset", defect["offset"], "B"));
  } else if (what == "indirect_access") {
    const std::string memory = defect["memory"].get<std::string>();
    diagnostic.code = "K0804";
    diagnostic.message = kernel + " reaches " + memory + " memory that it was not given";
    diagnostic.rows.push_back(number_row("size", defect["bytes"], "B"));
    diagnostic.rows.push_back({"address", hex_address(defect["address"].get<std::uint64_t>())});
    diagnostic.rows.push_back(number_row("offset", defect["offset"], "B"));
    std::string flag = memory;
    for (char& letter : flag) letter = static_cast<char>(letter - 'a' + 'A');
    diagnostic.help = {"call zeKernelSetIndirectAccess with ZE_KERNEL_INDIRECT_ACCESS_FLAG_" + flag +
                           ": on a GPU the access may fault without it",
                       "or give the kernel a pointer into that allocation as an argument"};
  } else if (what == "global_out_of_bounds" && defect["available"] == 0) {
    diagnostic.code = "K0802";
    diagnostic.message = kernel + " uses an address that is in no allocation";
    diagnostic.rows.push_back(number_row("size", defect["bytes"], "B"));
    diagnostic.rows.push_back({"address", hex_address(defect["address"].get<std::uint64_t>())});
    diagnostic.help = {
        "see where the kernel has the pointer from, and whether its memory was freed before the launch"};
  } else {
    const bool slm = what == "slm_out_of_bounds";
    diagnostic.code = slm ? "K0801" : "K0802";
    diagnostic.message = kernel + (slm ? " goes beyond its SLM" : " goes beyond an allocation");
    if (!slm && defect["argument"].is_number())
      diagnostic.rows.push_back(number_row("argument", defect["argument"]));
    diagnostic.rows.push_back(number_row("size", defect["bytes"], "B"));
    diagnostic.rows.push_back(number_row("available", defect["available"], "B"));
    diagnostic.help = {slm ? "compare the index with the length of the array, or ask for more SLM"
                           : "compare the index with the number of elements, also of the surplus work-items"};
    diagnostic.rows.push_back(number_row("offset", defect["offset"], "B"));
  }
  diagnostic.rows.push_back(number_row("times", defect["times"]));
  return diagnostic;
}

Json defects_json(const Json& counters) {
  Json list = Json::array();
  for (const Json& defect : counters["defects"])
    list.push_back(Json::parse(to_json(defect_diagnostic(counters, defect))).value());
  return list;
}

}  // namespace kiln::tool
