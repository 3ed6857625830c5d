// SPDX-License-Identifier: MIT
// What a kernel object checks: group sizes, arguments, shared local memory.
#include "drivers/cpu/objects/kernel.hpp"

#include <algorithm>
#include <cstring>

#include "drivers/cpu/memory/system_memory.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/group_size.hpp"
#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {

Kernel::Kernel(std::shared_ptr<const Program> program, const CompiledKernel& compiled)
    : Object(HandleKind::kernel), program(std::move(program)), compiled(&compiled) {
  const std::size_t count = facts().arguments.size();
  arguments.resize(count);
  states_.resize(count);
  unset_ = static_cast<std::uint32_t>(count);
  if (facts().required_group_size[0] != 0) group_size = facts().required_group_size;
  slm_ = slm_of_group(facts(), arguments);
}

// Intel's driver stores a size before it compares it with the required one and accepts the same wrong size
// when it is set again (22.53 to 26.31). Here a refused size is never stored.
ze_result_t Kernel::set_group_size(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  if (x == 0 || y == 0 || z == 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const std::uint64_t limit = device().profile->max_group_size;
  if (x > limit || y > limit || z > limit || std::uint64_t{x} * y * z > limit)
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  const std::array<std::uint32_t, 3> wanted{x, y, z};
  if (facts().required_group_size[0] != 0 && wanted != facts().required_group_size)
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  group_size = wanted;
  return ZE_RESULT_SUCCESS;
}

ze_result_t Kernel::set_argument(std::uint32_t index, std::size_t size, const void* value) {
  if (index >= arguments.size()) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  const ArgumentFacts& argument = facts().arguments[index];
  ArgumentValue& stored = arguments[index];
  switch (argument.kind) {
    case ArgumentKind::local_pointer:
      stored.local_bytes = size;  // any size, zero too, and any value: as Intel's driver
      slm_ = slm_of_group(facts(), arguments);
      break;
    case ArgumentKind::global_pointer:
      if (value && size < sizeof(void*)) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
      if (const auto result = set_global_pointer(index, value); result != ZE_RESULT_SUCCESS) return result;
      break;
    case ArgumentKind::value: {
      // As Intel's driver: what fits is taken, what is not given stays, zero at first, and null means zeros.
      stored.bytes.resize(argument.size);
      const std::size_t taken = std::min<std::size_t>(size, argument.size);
      if (value)
        std::memcpy(stored.bytes.data(), value, taken);
      else
        std::fill_n(stored.bytes.begin(), taken, std::byte{0});
      break;
    }
    case ArgumentKind::other:
    case ArgumentKind::image:
    case ArgumentKind::sampler:
      return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  }
  if (!states_[index].set) {
    states_[index].set = true;
    --unset_;
  }
  return ZE_RESULT_SUCCESS;
}

// Intel's driver reads a pointer whatever size is given (22.43 and 26.27). Here one that is given in fewer
// bytes than it has is refused, as reading it would go beyond what the caller has.
//
// A wild pointer would end the process in the middle of a kernel, so that only null and USM addresses pass,
// and those of other memory where the device was told to take it. An address that was found good is not
// looked up again until some memory was freed.
ze_result_t Kernel::set_global_pointer(std::uint32_t index, const void* value) {
  const void* pointer = nullptr;
  if (value) std::memcpy(&pointer, value, sizeof(pointer));
  ArgumentState& state = states_[index];
  const std::uint64_t generation = usm().generation();
  if (pointer && (pointer != state.pointer || generation != state.generation)) {
    if (!usm().find(pointer) && !find_system_memory(pointer)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    state.pointer = pointer;
    state.generation = generation;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(&pointer);
  arguments[index].bytes.assign(bytes, bytes + sizeof(pointer));
  return ZE_RESULT_SUCCESS;
}

ze_result_t Kernel::check_slm() const {
  const std::uint64_t available = device().profile->slm_per_group;
  if (slm_ <= available) return ZE_RESULT_SUCCESS;
  set_last_error(slm_too_large(slm_, available));
  return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

// Intel's driver launches kernels with arguments that were never set; here that would be a wild access of the
// host.
ze_result_t Kernel::check_launch() const {
  if (unset_ != 0) {
    std::size_t index = 0;
    while (states_[index].set) ++index;
    set_last_error("Argument " + std::to_string(index) + " of kernel " + facts().name + " was never set");
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  return check_slm();
}

// Each worker of the executor runs one work-group at a time.
std::uint32_t max_cooperative_groups() { return running_workers(); }

}  // namespace kiln::cpu
