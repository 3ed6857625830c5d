// SPDX-License-Identifier: MIT
// Checked launches with typed arguments: nothing is sent to the driver before everything was found to fit.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#include "kiln/check.hpp"
#include "kiln/command_list.hpp"

namespace kiln {

/// Where a kernel lives: asked when the driver refuses a launch. Both may be empty, then less is said.
struct KernelHome {
  DriverRef driver = {};
  DeviceRef device = {};
  std::uint64_t largest_buffer = UINT64_MAX;  ///< bytes, see largest_buffer()
};

/// A kernel with the facts and limits that its launches are checked against. Does not own the kernel handle.
/// One thread at a time, like the kernel.
class CheckedKernel {
 public:
  /// `facts` from the file, or as far as known; what the driver knows of the kernel is added. A kernel that
  /// may follow pointers found in memory is allowed all kinds of it (KernelRef::set_indirect_access).
  [[nodiscard]] static Result<CheckedKernel> create(KernelRef kernel, KernelFacts facts,
                                                    const ComputeProperties& device, KernelHome home = {});

  [[nodiscard]] KernelRef kernel() const { return kernel_; }
  [[nodiscard]] const KernelFacts& facts() const { return facts_; }
  [[nodiscard]] const LaunchLimits& limits() const { return limits_; }
  [[nodiscard]] const LaunchGate& gate() const { return gate_; }
  [[nodiscard]] const KernelHome& home() const { return home_; }

 private:
  KernelRef kernel_;
  KernelFacts facts_;
  LaunchLimits limits_;
  LaunchGate gate_;
  KernelHome home_;
};

struct Launch {
  Extent groups;      ///< work-groups by dimension
  Extent group_size;  ///< work-items of a group by dimension
  Sync sync = {};
};

namespace detail {

template <class T, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Others> || ...);

/// Objects of Level Zero that are pointers to C++, and that no kernel takes.
template <class T>
inline constexpr bool kIsForeignHandle =
    kIsOneOf<T, ze_driver_handle_t, ze_device_handle_t, ze_context_handle_t, ze_command_queue_handle_t,
             ze_command_list_handle_t, ze_fence_handle_t, ze_event_pool_handle_t, ze_event_handle_t,
             ze_module_handle_t, ze_kernel_handle_t>;

/// Maps a C++ argument to what the kernel receives. Values must be trivially copyable.
template <class T>
[[gnu::always_inline]] inline LaunchArgument launch_argument(const T& value) {
  if constexpr (std::is_same_v<T, LocalMemory>) {
    return {ArgumentKind::local_pointer, value.bytes, nullptr};
  } else if constexpr (std::is_same_v<T, ze_image_handle_t>) {
    return {ArgumentKind::image, sizeof value, &value};
  } else if constexpr (std::is_same_v<T, ze_sampler_handle_t>) {
    return {ArgumentKind::sampler, sizeof value, &value};
  } else if constexpr (std::is_pointer_v<T>) {
    static_assert(!std::is_function_v<std::remove_pointer_t<T>>, "a device cannot call a host function");
    static_assert(!kIsForeignHandle<T>, "of Level Zero's objects a kernel takes images and samplers alone");
    return {ArgumentKind::global_pointer, sizeof(void*), value ? &value : nullptr};  // as value_of()
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "a kernel argument must be trivially copyable");
    static_assert(
        !requires { typename T::Handle; }, "a kernel takes no handles but images and samplers");
    return {ArgumentKind::value, sizeof(T), &value};
  }
}

/// Bytes behind an argument, where they are known: those of a Buffer.
template <class T>
std::uint64_t buffer_size(const T& value) {
  if constexpr (std::is_base_of_v<Buffer, T>)
    return value.size();
  else
    return 0;
}

/// A Buffer passes its address; everything else passes itself.
template <class T>
decltype(auto) pass(const T& value) {
  if constexpr (std::is_base_of_v<Buffer, T>)
    return value.data();
  else if constexpr (std::is_null_pointer_v<T>)
    return static_cast<void*>(nullptr);
  else
    return (value);
}

/// Inlined where it is looked at: what the compiler knows of an argument then never lies in memory.
template <class... Arguments>
[[gnu::always_inline]] inline std::array<LaunchArgument, sizeof...(Arguments)> launch_arguments(
    const Arguments&... passed) {
  return {launch_argument(passed)...};
}

/// The same without the data, for the check.
template <class... Arguments>
[[gnu::always_inline]] inline std::array<LaunchArgument, sizeof...(Arguments)> launch_sizes(
    const Arguments&... passed) {
  return {LaunchArgument{launch_argument(passed).kind, launch_argument(passed).size, nullptr}...};
}

/// What `data` points to, of a pointer or an object; null where there is no data.
[[nodiscard]] inline const void* pointer_of(const LaunchArgument& argument) {
  const void* pointer = nullptr;
  if (argument.data) std::memcpy(&pointer, argument.data, sizeof pointer);
  return pointer;
}
/// What zeKernelSetArgumentValue gets. Driver 22.43 refuses the address of a null pointer, and takes none in
/// its place; 26.27 takes both.
[[nodiscard]] inline const void* value_of(const LaunchArgument& argument) {
  return argument.kind == ArgumentKind::global_pointer && !pointer_of(argument) ? nullptr : argument.data;
}
/// K0121 for the first image or sampler without a handle, which drivers 22.43 and 26.27 follow.
[[nodiscard]] Result<void> refuse_null_objects(const CheckedKernel& kernel,
                                               std::span<const LaunchArgument> arguments);
/// The driver's answer: the first call that failed, in static storage, and its code. Small enough for two
/// registers, so that a good launch makes no Result on the way.
struct Sent {
  ze_result_t code = ZE_RESULT_SUCCESS;
  const char* call = nullptr;
};
inline constexpr const char* kSetArgument = "zeKernelSetArgumentValue";
inline constexpr const char* kSetGroupSize = "zeKernelSetGroupSize";
inline constexpr const char* kAppendLaunch = "zeCommandListAppendLaunchKernel";
template <std::size_t... I>
[[nodiscard, gnu::always_inline]] inline ze_result_t set_arguments(
    [[maybe_unused]] const Api& ze, [[maybe_unused]] ze_kernel_handle_t kernel,
    [[maybe_unused]] const std::array<LaunchArgument, sizeof...(I)>& arguments, std::index_sequence<I...>) {
  ze_result_t code = ZE_RESULT_SUCCESS;
  (void)((code = ze.zeKernelSetArgumentValue(kernel, I, arguments[I].size, arguments[I].data),
          code == ZE_RESULT_SUCCESS) &&
         ...);
  return code;
}
/// Sends what was admitted where the launch stands: the raw calls and nothing else, since kinds and sizes are
/// known there.
template <std::size_t N>
[[nodiscard, gnu::always_inline]] inline Sent send_launch(ze_command_list_handle_t list, KernelRef kernel,
                                                          const Launch& launch, FewWaits& waits,
                                                          const std::array<LaunchArgument, N>& arguments) {
  const Api& ze = *kernel.table();  // the list's, and a list that is not empty has one
  ze_result_t code = set_arguments(ze, kernel.raw(), arguments, std::make_index_sequence<N>());
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return {code, kSetArgument};
  const Extent &size = launch.group_size, &groups = launch.groups;
  code = ze.zeKernelSetGroupSize(kernel.raw(), size.x, size.y, size.z);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return {code, kSetGroupSize};
  const ze_group_count_t count{groups.x, groups.y, groups.z};
  return {ze.zeCommandListAppendLaunchKernel(list, kernel.raw(), &count, launch.sync.signal.raw(),
                                             count_of(launch.sync), waits),
          kAppendLaunch};
}
/// Says why it was not sent.
[[nodiscard]] Error explain_unsent(Sent sent, CommandListRef list, const CheckedKernel& kernel,
                                   const Launch& launch, std::span<const LaunchArgument> arguments);
/// Why the driver refused it. Without a group count: what max_cooperative_groups() asked.
[[nodiscard]] Error explain_refused(Sent sent, const CheckedKernel& kernel, const LaunchShape& shape,
                                    std::span<const LaunchArgument> arguments);
/// Sets arguments and group size.
[[nodiscard]] Sent set_up(KernelRef kernel, const Extent& group_size,
                          std::span<const LaunchArgument> arguments);
/// K0112 for the first of the arguments that is too large; 0 bytes: no buffer.
[[nodiscard]] Error refuse_buffer(const CheckedKernel& kernel, std::span<const std::uint64_t> bytes);
}  // namespace detail

/// Checks the launch, sets arguments and group size, and appends it. On a refusal the driver has heard
/// nothing. No allocation unless it fails, or waits for more than 16 events. Errors: check_launch's with a
/// diagnostic (K0101 to K0108), K0121, or the driver's with what is known around it (K0219, K0220, K0229);
/// K0222 for an empty list or event, K0228. Thread rules of the command list and the kernel apply.
[[nodiscard]] Result<void> launch_with(CommandListRef list, const CheckedKernel& kernel, const Launch& launch,
                                       std::span<const LaunchArgument> arguments);

namespace detail {
// Out of line, so that where a launch stands there is its good way and little else.
template <class... Arguments>
[[gnu::cold, gnu::noinline]] Result<void> launch_by_list(CommandListRef list, const CheckedKernel& kernel,
                                                         const Launch& launch, const Arguments&... passed) {
  return launch_with(list, kernel, launch, launch_arguments(passed...));
}
template <class... Arguments>
[[gnu::cold, gnu::noinline]] Result<void> not_launched(Sent sent, CommandListRef list,
                                                       const CheckedKernel& kernel, const Launch& launch,
                                                       const Arguments&... passed) {
  return tl::unexpected(explain_unsent(sent, list, kernel, launch, launch_arguments(passed...)));
}

/// launch() of what pass() gives.
template <class... Arguments>
[[nodiscard, gnu::always_inline]] inline Result<void> launch_passed(CommandListRef list,
                                                                    const CheckedKernel& kernel,
                                                                    const Launch& launch,
                                                                    const Arguments&... passed) {
  FewWaits waits;
  if (list.table() != kernel.kernel().table() || !can_send(list, launch.sync, waits)) [[unlikely]]
    return launch_by_list(list, kernel, launch, passed...);
  if (!kernel.gate().admits(launch.groups, launch.group_size, launch_sizes(passed...))) [[unlikely]]
    return launch_by_list(list, kernel, launch, passed...);
  const Sent sent = send_launch(list.raw(), kernel.kernel(), launch, waits, launch_arguments(passed...));
  if (sent.code != ZE_RESULT_SUCCESS) [[unlikely]]
    return not_launched(sent, list, kernel, launch, passed...);
  return {};
}
}  // namespace detail

/// launch_with() for typed arguments: trivially copyable values, buffers, raw device pointers (null too),
/// LocalMemory{bytes}, and the handles of images and samplers, which must not be null (K0121). A Buffer of
/// more than 4 GiB for a kernel that is not built for it is refused (K0112: UNSUPPORTED_SIZE), since the
/// kernel would read and write the wrong places; of raw pointers the size is not known, so they pass.
template <class... Arguments>
[[nodiscard, gnu::always_inline]] inline Result<void> launch(CommandListRef list, const CheckedKernel& kernel,
                                                             const Launch& what,
                                                             const Arguments&... arguments) {
  if constexpr ((std::is_base_of_v<Buffer, Arguments> || ...)) {
    const std::uint64_t largest = kernel.home().largest_buffer;
    if (((detail::buffer_size(arguments) > largest) || ...)) [[unlikely]]
      return tl::unexpected(detail::refuse_buffer(
          kernel, std::array<std::uint64_t, sizeof...(Arguments)>{detail::buffer_size(arguments)...}));
  }
  return detail::launch_passed(list, kernel, what, detail::pass(arguments)...);
}

/// What would fit instead of such a launch, as values that an engine can go on with: after a refusal, or
/// before.
template <class... Arguments>
[[nodiscard]] LaunchFit what_fits(const CheckedKernel& kernel, const Launch& what,
                                  const Arguments&... arguments) {
  return [&](const auto&... passed) {
    const auto all = detail::launch_arguments(passed...);
    return what_fits(kernel.facts(), kernel.limits(), LaunchShape{what.groups, what.group_size}, all);
  }(detail::pass(arguments)...);
}

}  // namespace kiln
