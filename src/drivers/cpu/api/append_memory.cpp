// SPDX-License-Identifier: MIT
// Append functions that move memory: copies, fills, hints.
#include <algorithm>
#include <bit>
#include <cstring>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/command_list.hpp"
#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {
namespace {

/// A box in a pitched 3-D buffer.
struct Box {
  std::byte* base;
  std::size_t pitch;
  std::size_t slice_pitch;
};

std::byte* offset_into(const void* base, const ze_copy_region_t& region, std::size_t pitch,
                       std::size_t slice) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + region.originX + region.originY * pitch +
         region.originZ * slice;
}

void copy_box(const Box& to, const Box& from, std::size_t width, std::size_t height, std::size_t depth) {
  for (std::size_t z = 0; z < depth; ++z)
    for (std::size_t y = 0; y < height; ++y)
      std::memmove(to.base + z * to.slice_pitch + y * to.pitch,
                   from.base + z * from.slice_pitch + y * from.pitch, width);
}

void fill(std::byte* to, std::size_t size, const std::vector<std::byte>& pattern) {
  if (pattern.size() == 1) {
    std::memset(to, std::to_integer<int>(pattern[0]), size);
    return;
  }
  // Doubles what is filled so far: few, long copies.
  std::size_t done = std::min(size, pattern.size());
  std::memcpy(to, pattern.data(), done);
  while (done < size) {
    const std::size_t step = std::min(done, size - done);
    std::memcpy(to + done, to, step);
    done += step;
  }
}

/// INVALID_ARGUMENT: what would be written to is a constant of a module.
ze_result_t may_write(const void* to) {
  if (usm().may_write(to)) return ZE_RESULT_SUCCESS;
  set_last_error("the memory to write to is a constant of a module, which can only be read");
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace

ze_result_t command_list_append_memory_copy(ze_command_list_handle_t list, void* to, const void* from,
                                            std::size_t size, ze_event_handle_t signal,
                                            std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(to);
  KILN_NEED_POINTER(from);
  if (const auto code = may_write(to); code != ZE_RESULT_SUCCESS) return code;
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    command.action = [to, from, size](Stream&) {
      std::memmove(to, from, size);
      return ZE_RESULT_SUCCESS;
    };
  });
}

ze_result_t command_list_append_memory_copy_from_context(ze_command_list_handle_t list, void* to,
                                                         ze_context_handle_t from_context, const void* from,
                                                         std::size_t size, ze_event_handle_t signal,
                                                         std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(from_context);
  return command_list_append_memory_copy(list, to, from, size, signal, wait_count, waits);
}

ze_result_t command_list_append_memory_copy_region(ze_command_list_handle_t list, void* to,
                                                   const ze_copy_region_t* to_region, std::uint32_t to_pitch,
                                                   std::uint32_t to_slice_pitch, const void* from,
                                                   const ze_copy_region_t* from_region,
                                                   std::uint32_t from_pitch, std::uint32_t from_slice_pitch,
                                                   ze_event_handle_t signal, std::uint32_t wait_count,
                                                   ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(to);
  KILN_NEED_POINTER(to_region);
  KILN_NEED_POINTER(from);
  KILN_NEED_POINTER(from_region);
  if (to_region->width != from_region->width || to_region->height != from_region->height ||
      to_region->depth != from_region->depth)
    return ZE_RESULT_ERROR_INVALID_SIZE;
  if (const auto code = may_write(to); code != ZE_RESULT_SUCCESS) return code;
  const Box target{offset_into(to, *to_region, to_pitch, to_slice_pitch), to_pitch, to_slice_pitch};
  const Box source{offset_into(from, *from_region, from_pitch, from_slice_pitch), from_pitch,
                   from_slice_pitch};
  const std::size_t width = to_region->width;
  // A two-dimensional region may say 0 or 1 for its depth.
  const std::size_t height = std::max(to_region->height, 1u);
  const std::size_t depth = std::max(to_region->depth, 1u);
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    command.action = [=](Stream&) {
      copy_box(target, source, width, height, depth);
      return ZE_RESULT_SUCCESS;
    };
  });
}

ze_result_t command_list_append_memory_fill(ze_command_list_handle_t list, void* to, const void* pattern,
                                            std::size_t pattern_size, std::size_t size,
                                            ze_event_handle_t signal, std::uint32_t wait_count,
                                            ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(to);
  KILN_NEED_POINTER(pattern);
  // The size need not be a multiple of the pattern's: Intel's drivers 22.43 and 26.27 cut the last one too.
  if (!std::has_single_bit(pattern_size)) return ZE_RESULT_ERROR_INVALID_SIZE;
  if (const auto code = may_write(to); code != ZE_RESULT_SUCCESS) return code;
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    const auto* bytes = static_cast<const std::byte*>(pattern);
    command.action = [to, size, copy = std::vector<std::byte>(bytes, bytes + pattern_size)](Stream&) {
      fill(static_cast<std::byte*>(to), size, copy);
      return ZE_RESULT_SUCCESS;
    };
  });
}

ze_result_t command_list_append_memory_copy_with_parameters(ze_command_list_handle_t list, void* to,
                                                            const void* from, std::size_t size, const void*,
                                                            ze_event_handle_t signal,
                                                            std::uint32_t wait_count,
                                                            ze_event_handle_t* waits) {
  return command_list_append_memory_copy(list, to, from, size, signal, wait_count, waits);
}

ze_result_t command_list_append_memory_fill_with_parameters(
    ze_command_list_handle_t list, void* to, const void* pattern, std::size_t pattern_size, std::size_t size,
    const void*, ze_event_handle_t signal, std::uint32_t wait_count, ze_event_handle_t* waits) {
  return command_list_append_memory_fill(list, to, pattern, pattern_size, size, signal, wait_count, waits);
}

ze_result_t command_list_append_memory_prefetch(ze_command_list_handle_t list, const void* pointer,
                                                std::size_t) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(pointer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_mem_advise(ze_command_list_handle_t list, ze_device_handle_t device,
                                           const void* pointer, std::size_t, ze_memory_advice_t advice) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(pointer);
  constexpr std::uint32_t kLastAdvice = 11;  // CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION, specification 1.7
  if (static_cast<std::uint32_t>(advice) > kLastAdvice) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
