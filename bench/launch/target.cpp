// SPDX-License-Identifier: MIT
// Opens the targets of the launch benchmark.
#include "target.hpp"

namespace kiln::bench {
namespace {

Result<void> open_stub(Target& target) {
  load_stub();
  auto file = read_kernel_file(KILN_BENCH_SPIRV);
  if (!file) return tl::unexpected(std::move(file).error());
  const auto facts = read_spirv(file->bytes);
  if (!facts) return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "read_spirv"));
  const ComputeProperties compute{65536, 1024, {1024, 1024, 1024}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, {}};
  auto kernel =
      CheckedKernel::create(reinterpret_cast<ze_kernel_handle_t>(0x1000), facts->kernels[0], compute);
  if (!kernel) return tl::unexpected(std::move(kernel).error());
  target.own_kernel = *std::move(kernel);
  target.kernel = &target.own_kernel;
  target.list = reinterpret_cast<ze_command_list_handle_t>(0x2000);
  target.data = reinterpret_cast<void*>(0x3000);
  return {};
}

/// Behind the name of a device: the list is in order.
constexpr std::string_view kInOrder = "+in-order";

Result<void> open_real(Target& target) {
  std::string_view name = target.name;
  const bool in_order = name.ends_with(kInOrder);
  if (in_order) name.remove_suffix(kInOrder.size());
  auto request = parse_device_request(name);
  if (!request) return tl::unexpected(std::move(request).error());
  auto device = open_device(*request);
  if (!device) return tl::unexpected(std::move(device).error());
  target.device = *std::move(device);
  const ContextRef context = target.device->context.get();
  auto file = read_kernel_file(KILN_BENCH_SPIRV);
  if (!file) return tl::unexpected(std::move(file).error());
  std::vector<KernelFile> files;
  files.push_back(*std::move(file));
  auto bundle = Bundle::load(*target.device, std::move(files));
  if (!bundle) return tl::unexpected(std::move(bundle).error());
  target.bundle = *std::move(bundle);
  auto kernel = target.bundle->kernel("three");
  if (!kernel) return tl::unexpected(std::move(kernel).error());
  target.kernel = *kernel;
  auto buffer = context.allocate_device(target.device->device, 1 << 20);
  if (!buffer) return tl::unexpected(std::move(buffer).error());
  target.buffer = *std::move(buffer);
  target.data = target.buffer->data();
  auto group = target.device->device.compute_queue_group();
  if (!group) return tl::unexpected(std::move(group).error());
  auto list = CommandListRef::create(context, target.device->device, *group, {.in_order = in_order});
  if (!list) return tl::unexpected(std::move(list).error());
  target.owned_list = *std::move(list);
  target.list = target.owned_list.get();
  const auto found =
      target.device->driver.entry_point<LaunchWithArguments>("zeCommandListAppendLaunchKernelWithArguments");
  if (found) target.with_arguments = *found;
  return {};
}

}  // namespace

Result<void> Target::reset() const { return list.reset(); }

Result<std::unique_ptr<Target>> open_target(const std::string& name) {
  auto target = std::make_unique<Target>();
  target->name = name;
  auto opened = name == "stub" ? open_stub(*target) : open_real(*target);
  if (!opened) return tl::unexpected(std::move(opened).error());
  return target;
}

}  // namespace kiln::bench
