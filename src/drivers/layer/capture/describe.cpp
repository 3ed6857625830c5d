// SPDX-License-Identifier: MIT
#include "drivers/layer/capture/describe.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "drivers/layer/known.hpp"
#include "drivers/layer/real_driver.hpp"
#include "kiln/device.hpp"
#include "support/hex.hpp"

namespace kiln::layer::capture {
namespace {

using detail::Json;

Json module_json(const Source& source) {
  Json constants = Json::array();
  for (const SpecializationConstant& each : source.constants)
    constants.push_back({{"id", each.id}, {"value", each.value}});
  const char* const format = source.format == ZE_MODULE_FORMAT_IL_SPIRV ? "spirv"
                             : source.format == ZE_MODULE_FORMAT_NATIVE ? "native"
                                                                        : "opencl_c";
  return {{"file", ""}, {"format", format}, {"flags", source.flags}, {"constants", std::move(constants)}};
}

/// The allocation that `pointer` points into; nothing: none of Level Zero's.
std::optional<Memory> memory_at(ze_context_handle_t context, const void* pointer) {
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  Memory memory;
  void* begin = nullptr;
  if (next.zeMemGetAllocProperties(context, pointer, &properties, nullptr) != ZE_RESULT_SUCCESS ||
      properties.type == ZE_MEMORY_TYPE_UNKNOWN ||
      next.zeMemGetAddressRange(context, pointer, &begin, &memory.size) != ZE_RESULT_SUCCESS || !begin)
    return std::nullopt;
  memory.begin = static_cast<std::byte*>(begin);
  memory.type = properties.type;
  return memory;
}

Json extent_json(const Extent& extent) { return std::vector<Json>{extent.x, extent.y, extent.z}; }

/// One argument as JSON; the memory that it points to comes to the others. The error is why it cannot be.
tl::expected<Json, std::string> argument_json(Captured& captured, const Argument& argument,
                                              ArgumentKind kind) {
  if (!argument.set || (argument.value && argument.value->empty())) return Json::object();  // no bytes
  if (kind == ArgumentKind::image || kind == ArgumentKind::sampler)
    return tl::unexpected(std::string(kind == ArgumentKind::image ? "an image" : "a sampler"));
  if (kind == ArgumentKind::local_pointer) return Json{{"local", argument.size}};
  if (!argument.value) return Json{{"null", true}, {"size", argument.size}};
  const auto& value = *argument.value;
  const bool may_point =
      value.size() == sizeof(void*) && (kind == ArgumentKind::global_pointer || kind == ArgumentKind::other);
  if (!may_point) return Json{{"value", hex(value)}};
  const std::byte* pointer = nullptr;
  std::memcpy(&pointer, value.data(), sizeof pointer);
  if (!pointer) return Json{{"null", true}, {"size", sizeof(void*)}};
  auto memory = memory_at(captured.source->context, pointer);
  if (!memory) {
    if (kind == ArgumentKind::other) return Json{{"value", hex(value)}};
    return tl::unexpected<std::string>("a pointer to no allocation of Level Zero's");
  }
  const auto offset = static_cast<std::size_t>(pointer - memory->begin);
  auto known_one = std::ranges::find(captured.memories, memory->begin, &Memory::begin);
  const auto place = static_cast<std::size_t>(known_one - captured.memories.begin());
  if (known_one == captured.memories.end()) captured.memories.push_back(*std::move(memory));
  return Json{{"memory", place}, {"offset", offset}};
}

}  // namespace

Json start_entry(const char* what, const char* call, const Source& source) {
  Json entry{{"format", "kiln capture 1"}, {"what", what}, {"call", call}, {"result", 0}};
  entry["module"] = module_json(source);
  if (const Api* api = real_api())
    if (const auto device = DeviceRef(source.device, *api).properties()) entry["device"] = device->name;
  return entry;
}

const char* kind_text(ze_memory_type_t type) {
  return type == ZE_MEMORY_TYPE_DEVICE ? "device" : type == ZE_MEMORY_TYPE_HOST ? "host" : "shared";
}

std::string describe(Captured& captured, const Launch& launch, const CapturedKernel& kernel,
                     std::uint64_t of_kernel) {
  if (kernel.source->code.empty()) return "its module was made of several inputs";
  if (kernel.source->linked) return "its module is linked with others";
  const KnownKernel* const of_layer = known.kernels.find(launch.kernel);
  const KernelFacts* const facts =
      of_layer && of_layer->module ? of_layer->module->facts().find(kernel.name) : nullptr;
  if (!facts || !facts->arguments_known) return "nobody says which arguments it takes";
  Extent group_size = kernel.group_size;
  const auto& required = facts->required_group_size;
  if (group_size == Extent{0, 0, 0}) group_size = {required[0], required[1], required[2]};
  if (group_size == Extent{0, 0, 0}) return "its group size was never set";
  captured.source = kernel.source;
  captured.entry = start_entry("launch", launch.call, *kernel.source);
  Json& entry = captured.entry;
  entry["kernel"] = kernel.name;
  entry["launch"] = of_kernel;
  entry["groups"] =
      extent_json({launch.groups.groupCountX, launch.groups.groupCountY, launch.groups.groupCountZ});
  entry["group_size"] = extent_json(group_size);
  entry["offset"] = extent_json(kernel.offset);
  entry["cooperative"] = launch.cooperative;
  entry["indirect_access"] = kernel.indirect;
  Json arguments = Json::array();
  for (std::size_t i = 0; i < facts->arguments.size(); ++i) {
    tl::expected<Json, std::string> argument =
        i < kernel.arguments.size() ? argument_json(captured, kernel.arguments[i], facts->arguments[i].kind)
                                    : Json::object();
    if (!argument) return "argument " + std::to_string(i) + " is " + argument.error();
    arguments.push_back(*std::move(argument));
  }
  entry["arguments"] = std::move(arguments);
  return {};
}

}  // namespace kiln::layer::capture
