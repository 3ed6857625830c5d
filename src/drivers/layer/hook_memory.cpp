// SPDX-License-Identifier: MIT
// Memory and what is made of it: allocations, pools of events and images.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "drivers/layer/explain.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

/// Does the chain of a description ask for more than the device's largest allocation?
bool is_relaxed(const void* next) noexcept {
  struct Chained {
    ze_structure_type_t stype;
    const Chained* next;
  };
  constexpr auto kExtension = static_cast<ze_structure_type_t>(0x10016);  // the same in the core, since 1.9
  for (const auto* each = static_cast<const Chained*>(next); each; each = each->next)
    if (each->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC || each->stype == kExtension)
      return true;
  return false;
}

[[gnu::cold, gnu::noinline]] ze_result_t refused_memory(const Failed failed, ze_device_handle_t device,
                                                        MemoryKind kind, std::size_t size,
                                                        std::size_t alignment, const void* next) {
  tell([&] { return explain_allocation(failed, device, {kind, size, alignment, is_relaxed(next)}); });
  return failed.code;
}

/// One size of an image, and the most that the device has.
struct Side {
  const char* name;
  std::uint64_t asked;
  std::uint64_t most;
};

/// K0262 where the device has no such image. Nothing for buffers, of which it tells bytes, and other types.
std::optional<Error> misfit(ze_device_handle_t device, const ze_image_desc_t& image) {
  ze_device_image_properties_t most{};
  most.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  if (!real.zeDeviceGetImageProperties || real.zeDeviceGetImageProperties(device, &most) != ZE_RESULT_SUCCESS)
    return std::nullopt;
  const ze_image_type_t type = image.type;
  const bool is_3d = type == ZE_IMAGE_TYPE_3D;
  const bool is_2d = type == ZE_IMAGE_TYPE_2D || type == ZE_IMAGE_TYPE_2DARRAY;
  const bool is_array = type == ZE_IMAGE_TYPE_1DARRAY || type == ZE_IMAGE_TYPE_2DARRAY;
  if (!is_3d && !is_2d && type != ZE_IMAGE_TYPE_1D && type != ZE_IMAGE_TYPE_1DARRAY) return std::nullopt;
  // Intel's drivers have volumes as wide and high as 2D images, and give the depth alone as their limit.
  const std::uint32_t edge = is_2d || is_3d ? most.maxImageDims2D : most.maxImageDims1D;
  const std::array sides{Side{"width", image.width, edge},
                         Side{"height", is_2d || is_3d ? image.height : 1, edge},
                         Side{"depth", is_3d ? image.depth : 1, is_3d ? most.maxImageDims3D : 1},
                         Side{"array levels", is_array ? std::max(image.arraylevels, 1u) : 1,
                              is_array ? most.maxImageArraySlices : 1}};
  for (const auto& [name, asked, limit] : sides) {
    if (asked != 0 && asked <= limit) continue;
    Diagnostic diagnostic{"K0262", std::string("the device has no image of that ") + name, {}, {}};
    diagnostic.rows = {{"asked for", {}, asked}, {"most", {}, limit}};
    diagnostic.help = {limit == 0 ? "take a buffer: this device has no such images"
                                  : "take at least 1, and at most what zeDeviceGetImageProperties tells"};
    return Error(limit == 0 ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                 "zeImageCreate", std::move(diagnostic));
  }
  return std::nullopt;
}

/// As regions count: of a 1D array the levels may be on either axis. Nothing for buffers and other types.
std::optional<KnownImage> sides_of(const ze_image_desc_t& image) {
  const std::uint64_t levels = std::max(image.arraylevels, 1u);
  switch (image.type) {
    case ZE_IMAGE_TYPE_1D:
      return KnownImage{{image.width, 1, 1}};
    case ZE_IMAGE_TYPE_1DARRAY:
      return KnownImage{{image.width, levels, levels}};
    case ZE_IMAGE_TYPE_2D:
      return KnownImage{{image.width, image.height, 1}};
    case ZE_IMAGE_TYPE_2DARRAY:
      return KnownImage{{image.width, image.height, levels}};
    case ZE_IMAGE_TYPE_3D:
      return KnownImage{{image.width, image.height, image.depth}};
    default:
      return std::nullopt;
  }
}

/// Driver 22.43 ends the process over such an image.
ze_result_t guard_image(ze_context_handle_t context, ze_device_handle_t device,
                        const ze_image_desc_t* description, const void* place) noexcept {
  constexpr const char* kCall = "zeImageCreate";
  ze_result_t code = first_of(need_handles(kCall, context, device), need(kCall, "description", description),
                              need(kCall, "image", place));
  if (code != ZE_RESULT_SUCCESS) return code;
  quietly([&] {
    if (const auto error = misfit(device, *description)) code = refuse(*error);
  });
  return code;
}

}  // namespace

ze_result_t guard_region(const char* call, ze_image_handle_t image,
                         const ze_image_region_t* region) noexcept {
  const KnownImage* const of = region ? known.images.find(image) : nullptr;
  if (!of) return ZE_RESULT_SUCCESS;
  const std::array<std::uint64_t, 3> begin{region->originX, region->originY, region->originZ};
  const std::array<std::uint64_t, 3> size{region->width, region->height, region->depth};
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::uint64_t end = begin[i] + size[i];
    if (end <= of->sides[i]) continue;
    quietly([&] {
      Diagnostic diagnostic{"K0263", "the region lies outside of its image", {}, {}};
      diagnostic.rows = {{"axis", std::string(1, "xyz"[i])},
                         {"end of the region", {}, end, "pixels"},
                         {"size of the image", {}, of->sides[i], "pixels"}};
      diagnostic.help = {"let origin and size of the region together be at most the size of the image"};
      (void)refuse(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, std::move(diagnostic)));
    });
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL hook::zeDeviceGetImageProperties(ze_device_handle_t device,
                                                        ze_device_image_properties_t* properties) {
  return real.zeDeviceGetImageProperties(device, properties);  // stood before for `misfit` alone
}

ze_result_t ZE_APICALL hook::zeImageCreate(ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_image_desc_t* description, ze_image_handle_t* image) {
  KILN_GUARD(guard_image(context, device, description, image));
  const ze_result_t code = real.zeImageCreate(context, device, description, image);
  if (code != ZE_RESULT_SUCCESS)
    tell([&] {
      const Failed failed{code, "zeImageCreate"};
      const auto error = description ? misfit(device, *description) : std::nullopt;
      return error ? answered(*error->diagnostic(), AnsweredBy::driver, code, failed.call)
                   : explain_code_alone(failed);
    });
  else if (const auto sides = guarding ? sides_of(*description) : std::nullopt)
    quietly([&] { known.images.add(*image, [&](KnownImage& made) { made = *sides; }); });
  return code;
}

ze_result_t ZE_APICALL hook::zeImageDestroy(ze_image_handle_t image) {
  KILN_GUARD(need_handles("zeImageDestroy", image));
  if (guarding) known.images.remove(image, [](KnownImage&) {});
  const ze_result_t code = real.zeImageDestroy(image);
  if (code != ZE_RESULT_SUCCESS) tell([&] { return explain_code_alone({code, "zeImageDestroy"}); });
  return code;
}

ze_result_t ZE_APICALL hook::zeMemAllocShared(ze_context_handle_t context,
                                              const ze_device_mem_alloc_desc_t* on_device,
                                              const ze_host_mem_alloc_desc_t* on_host, std::size_t size,
                                              std::size_t alignment, ze_device_handle_t device, void** data) {
  KILN_GUARD(first_of(
      need("zeMemAllocShared", "host description", on_host),
      guard_allocation("zeMemAllocShared", context,
                       {MemoryKind::shared, size, alignment, on_device && is_relaxed(on_device->pNext)},
                       on_device, data)));
  const Recording recording(record::Call::shared_memory, nullptr);
  recording.set_bytes(size);
  recording.begin();
  const ze_result_t code = real.zeMemAllocShared(context, on_device, on_host, size, alignment, device, data);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *data : nullptr);
  if (code == ZE_RESULT_SUCCESS) return code;
  return refused_memory({code, "zeMemAllocShared"}, device, MemoryKind::shared, size, alignment,
                        on_device ? on_device->pNext : nullptr);
}

ze_result_t ZE_APICALL hook::zeMemAllocDevice(ze_context_handle_t context,
                                              const ze_device_mem_alloc_desc_t* description, std::size_t size,
                                              std::size_t alignment, ze_device_handle_t device, void** data) {
  KILN_GUARD(first_of(
      need_handles("zeMemAllocDevice", device),
      guard_allocation("zeMemAllocDevice", context,
                       {MemoryKind::device, size, alignment, description && is_relaxed(description->pNext)},
                       description, data)));
  const Recording recording(record::Call::device_memory, nullptr);
  recording.set_bytes(size);
  recording.begin();
  const ze_result_t code = real.zeMemAllocDevice(context, description, size, alignment, device, data);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *data : nullptr);
  if (code == ZE_RESULT_SUCCESS) return code;
  return refused_memory({code, "zeMemAllocDevice"}, device, MemoryKind::device, size, alignment,
                        description ? description->pNext : nullptr);
}

ze_result_t ZE_APICALL hook::zeMemAllocHost(ze_context_handle_t context,
                                            const ze_host_mem_alloc_desc_t* description, std::size_t size,
                                            std::size_t alignment, void** data) {
  KILN_GUARD(guard_allocation(
      "zeMemAllocHost", context,
      {MemoryKind::host, size, alignment, description && is_relaxed(description->pNext)}, description, data));
  const Recording recording(record::Call::host_memory, nullptr);
  recording.set_bytes(size);
  recording.begin();
  const ze_result_t code = real.zeMemAllocHost(context, description, size, alignment, data);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *data : nullptr);
  if (code == ZE_RESULT_SUCCESS) return code;
  return refused_memory({code, "zeMemAllocHost"}, nullptr, MemoryKind::host, size, alignment,
                        description ? description->pNext : nullptr);
}

ze_result_t ZE_APICALL hook::zeMemFree(ze_context_handle_t context, void* data) {
  KILN_GUARD(first_of(need_handles("zeMemFree", context), need("zeMemFree", "address", data)));
  const Recording recording(record::Call::free, data);
  recording.begin();
  const ze_result_t code = real.zeMemFree(context, data);
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS) tell([&] { return explain_code_alone({code, "zeMemFree"}); });
  return code;
}

ze_result_t ZE_APICALL hook::zeEventPoolCreate(ze_context_handle_t context,
                                               const ze_event_pool_desc_t* description, std::uint32_t count,
                                               ze_device_handle_t* devices, ze_event_pool_handle_t* pool) {
  KILN_GUARD(guard_event_pool(context, description, pool));
  const ze_result_t code = real.zeEventPoolCreate(context, description, count, devices, pool);
  if (code != ZE_RESULT_SUCCESS)
    tell([&] {
      return explain_event_pool({code, "zeEventPoolCreate"}, description ? description->count : 0);
    });
  return code;
}

}  // namespace kiln::layer
