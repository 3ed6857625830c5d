// SPDX-License-Identifier: MIT
// Questions to the driver child and its lines, to and from JSON.
#include "tool/check/driver_question.hpp"

#include <algorithm>
#include <sstream>

namespace kiln::tool {
namespace {

template <class T>
T get(const Json& json, const char* key) {
  return json.at(key).get<T>();
}

Json to_json(const Extent& extent) { return {extent.x, extent.y, extent.z}; }

Extent to_extent(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(), json.at(2).get<std::uint32_t>()};
}

Json to_json(const KernelQuestion& kernel) {
  Json arguments = Json::array();
  for (const ArgumentQuestion& each : kernel.arguments)
    arguments.push_back(
        {{"index", each.index}, {"kind", static_cast<int>(each.kind)}, {"bytes", each.bytes}});
  return {{"name", kernel.name},
          {"launch", kernel.launch},
          {"group_size", to_json(kernel.group_size)},
          {"groups", to_json(kernel.groups)},
          {"arguments", arguments}};
}

KernelQuestion to_kernel(const Json& json) {
  KernelQuestion kernel{get<std::string>(json, "name"),
                        get<bool>(json, "launch"),
                        to_extent(json.at("group_size")),
                        to_extent(json.at("groups")),
                        {}};
  for (const Json& each : json.at("arguments"))
    kernel.arguments.push_back({get<std::uint32_t>(each, "index"),
                                static_cast<ArgumentKind>(get<int>(each, "kind")),
                                get<std::uint64_t>(each, "bytes")});
  return kernel;
}

}  // namespace

Json to_json(const DriverQuestion& question) {
  Json modules = Json::array();
  for (const ModuleQuestion& module : question.modules) {
    Json kernels = Json::array();
    for (const KernelQuestion& kernel : module.kernels) kernels.push_back(to_json(kernel));
    modules.push_back(
        {{"file", module.file}, {"spirv", module.spirv}, {"flags", module.flags}, {"kernels", kernels}});
  }
  return {{"product", question.product}, {"modules", modules}};
}

std::optional<DriverQuestion> parse_question(const std::string& text) try {
  const Json json = Json::parse(text).value_or(nullptr);
  DriverQuestion question{get<std::string>(json, "product"), {}};
  for (const Json& each : json.at("modules")) {
    question.modules.push_back(
        {get<std::string>(each, "file"), get<bool>(each, "spirv"), get<std::string>(each, "flags"), {}});
    for (const Json& kernel : each.at("kernels"))
      question.modules.back().kernels.push_back(to_kernel(kernel));
  }
  return question;
} catch (const Json::WrongType&) {
  return std::nullopt;
}

std::string to_line(const DriverLine& line) {
  Json json{{"module", line.module}, {"kernel", line.kernel}, {"call", line.call}};
  if (line.result) json["result"] = *line.result;
  if (!line.said.empty()) json["said"] = line.said;
  if (!line.code.empty()) json["code"] = line.code;
  return json.dump() + "\n";
}

std::optional<DriverLine> parse_line(const std::string& text) try {
  const Json json = Json::parse(text).value_or(nullptr);
  DriverLine line{
      get<int>(json, "module"), get<int>(json, "kernel"), get<std::string>(json, "call"), {}, {}, {}};
  if (json.contains("result")) line.result = get<std::string>(json, "result");
  line.said = json.value("said", "");
  line.code = json.value("code", "");
  return line;
} catch (const Json::WrongType&) {
  return std::nullopt;
}

std::string last_words(const std::string& printed) {
  std::istringstream lines(printed);
  std::string line, last, abort;
  while (std::getline(lines, line)) {
    std::ranges::replace_if(
        line, [](char c) { return c >= 0 && (c < ' ' || c == 127); }, '.');
    if (line.empty()) continue;
    // The file that the line number belongs to may follow in the next line.
    if (!abort.empty() && abort.ends_with(':')) abort += " " + line;
    if (line.starts_with("Abort was called")) abort = line;
    last = line;
  }
  return (abort.empty() ? last : abort).substr(0, 500);
}

}  // namespace kiln::tool
