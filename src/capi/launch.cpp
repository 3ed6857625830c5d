// SPDX-License-Identifier: MIT
// Of the C interface: checked launches.
#include <optional>
#include <type_traits>

#include "capi/facts.hpp"
#include "capi/sync.hpp"
#include "kiln/cooperative.hpp"

namespace kiln_c {
namespace {

constexpr std::uint32_t kMostArguments = 1 << 16;

/// The arguments of a launch, without an allocation where they are few.
class Arguments {
 public:
  [[nodiscard]] Result<void> read(const char* call, const CheckedKernel& kernel, const kiln_argument* given,
                                  std::uint32_t count) {
    if (count != 0 && !given) return tl::unexpected(null_parameter(call, "arguments"));
    if (count > kMostArguments)
      return tl::unexpected(out_of_range(call, "argument_count", count, kMostArguments));
    count_ = count;
    if (count > kFew) {
      many_.resize(count);
      many_addresses_.resize(count);
    }
    LaunchArgument* const into = many_.empty() ? few() : many_.data();
    void** const addresses = many_.empty() ? few_addresses_.data() : many_addresses_.data();
    for (std::uint32_t i = 0; i < count; ++i) {
      const kiln_argument& each = given[i];
      if (each.reserved != 0) [[unlikely]]
        return tl::unexpected(wrong(call, i, ZE_RESULT_ERROR_INVALID_ENUMERATION,
                                    "has a `reserved` of " + std::to_string(each.reserved) + ", not 0"));
      const bool has_data = each.kind != KILN_ARGUMENT_LOCAL;
      if (has_data && !each.data) [[unlikely]]
        return tl::unexpected(wrong(call, i, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "has no data"));
      switch (each.kind) {
        case KILN_ARGUMENT_VALUE:
          into[i] = {ArgumentKind::value, each.size, each.data};
          break;
        case KILN_ARGUMENT_LOCAL:
          into[i] = {ArgumentKind::local_pointer, each.size, nullptr};
          break;
        case KILN_ARGUMENT_POINTER:
          // As a null pointer is told to the driver.
          into[i] = {ArgumentKind::global_pointer, sizeof(void*), each.data};
          into[i].data = kiln::detail::value_of(into[i]);
          break;
        case KILN_ARGUMENT_IMAGE:
          into[i] = {ArgumentKind::image, sizeof(void*), each.data};
          break;
        case KILN_ARGUMENT_SAMPLER:
          into[i] = {ArgumentKind::sampler, sizeof(void*), each.data};
          break;
        case KILN_ARGUMENT_BUFFER: {
          kiln_buffer handle = nullptr;
          std::memcpy(&handle, each.data, sizeof handle);
          const auto* const buffer = find<BufferObject>(handle);
          if (!buffer) [[unlikely]]
            return tl::unexpected(bad_handle(call, BufferObject::kName, handle));
          if (buffer->buffer.size() > kernel.home().largest_buffer) [[unlikely]]
            return tl::unexpected(too_large(kernel, i, buffer->buffer.size()));
          addresses[i] = buffer->buffer.data();
          into[i] = {ArgumentKind::global_pointer, sizeof(void*), &addresses[i]};
          break;
        }
        default:
          return tl::unexpected(wrong(call, i, ZE_RESULT_ERROR_INVALID_ENUMERATION,
                                      "has the kind " + std::to_string(each.kind) + ", which is none"));
      }
    }
    return {};
  }
  [[nodiscard]] std::span<const LaunchArgument> get() const {
    return {many_.empty() ? few() : many_.data(), count_};
  }

 private:
  static constexpr std::uint32_t kFew = 32;

  static Error wrong(const char* call, std::uint32_t index, ze_result_t code, const std::string& message) {
    return bad_parameter(code, call, ("arguments[" + std::to_string(index) + "]").c_str(), message,
                         {"kiln_value(), kiln_buffer_argument() and the like fill in what belongs there"});
  }
  static Error too_large(const CheckedKernel& kernel, std::uint32_t index, std::uint64_t size) {
    std::vector<std::uint64_t> sizes(index + 1);
    sizes[index] = size;
    return kiln::detail::refuse_buffer(kernel, sizes);
  }

  [[nodiscard]] LaunchArgument* few() { return reinterpret_cast<LaunchArgument*>(few_.data()); }
  [[nodiscard]] const LaunchArgument* few() const {
    return reinterpret_cast<const LaunchArgument*>(few_.data());
  }

  // As bytes, which nobody clears: a launch has a few arguments, and sets those alone.
  static_assert(std::is_trivially_copyable_v<LaunchArgument>);
  alignas(LaunchArgument) std::array<std::byte, kFew * sizeof(LaunchArgument)> few_;
  std::array<void*, kFew> few_addresses_;
  std::vector<LaunchArgument> many_;
  std::vector<void*> many_addresses_;
  std::uint32_t count_ = 0;
};

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_launch(kiln_list list, kiln_kernel kernel, const kiln_launch_info* launch,
                        kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* commands, get<ListObject>(call, list));
    KILN_TRY(const KernelObject* object, get<KernelObject>(call, kernel));
    Input<kiln_launch_info> input;
    KILN_TRY(Input<kiln_launch_info>::read(call, "kiln_launch_info", launch, input));
    if (input->flags & ~std::uint32_t{KILN_LAUNCH_COOPERATIVE}) [[unlikely]]
      return tl::unexpected(unknown_bits(call, "flags", input->flags));
    const CheckedKernel& checked = object->kernel;
    Arguments arguments;
    KILN_TRY(arguments.read(call, checked, input->arguments, input->argument_count));
    std::optional<Events> events;  // most launches have none
    Launch what;
    what.groups = extent_of(input->groups);
    what.group_size = extent_of(input->group_size);
    if (input->signal || input->wait_count) {
      KILN_TRY(what.sync, sync_of(call, input->signal, input->wait, input->wait_count, events.emplace()));
    }
    if (input->flags & KILN_LAUNCH_COOPERATIVE)
      return launch_cooperative_with(commands->list.get(), checked, what, arguments.get());
    return launch_with(commands->list.get(), checked, what, arguments.get());
  });
}

kiln_result kiln_max_cooperative_groups(kiln_kernel kernel, const kiln_launch_info* launch, uint64_t* groups,
                                        kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const KernelObject* object, get<KernelObject>(call, kernel));
    if (!groups) return tl::unexpected(null_parameter(call, "groups"));
    Input<kiln_launch_info> input;
    KILN_TRY(Input<kiln_launch_info>::read(call, "kiln_launch_info", launch, input));
    Arguments arguments;
    KILN_TRY(arguments.read(call, object->kernel, input->arguments, input->argument_count));
    KILN_TRY(*groups, max_cooperative_groups(object->kernel, extent_of(input->group_size), arguments.get()));
    return {};
  });
}

kiln_result kiln_kernel_what_fits(kiln_kernel kernel, const kiln_launch_info* launch, kiln_room* room,
                                  kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const KernelObject* object, get<KernelObject>(call, kernel));
    Input<kiln_launch_info> input;
    KILN_TRY(Input<kiln_launch_info>::read(call, "kiln_launch_info", launch, input));
    const CheckedKernel& checked = object->kernel;
    Arguments arguments;
    KILN_TRY(arguments.read(call, checked, input->arguments, input->argument_count));
    const LaunchLimits& limits = checked.limits();
    kiln_room known = room_of(what_fits(
        checked.facts(), limits, {extent_of(input->groups), extent_of(input->group_size)}, arguments.get()));
    known.slm_per_group = limits.slm_per_group;
    known.static_slm = checked.facts().static_slm;
    known.asked_slm = total_slm(checked.facts(), arguments.get());
    known.max_group_size = static_cast<std::uint32_t>(limits.max_group_size);
    return write(call, "kiln_room", known, room);
  });
}
