// SPDX-License-Identifier: MIT
// The README's example: one kernel, from its files to its answer.
#include <algorithm>
#include <cstdio>
#include <kiln/kiln.hpp>

using namespace kiln;

// Every step can fail; the first error ends the chain.
static Result<float> saxpy(const char* folder) {
  auto device = requested_device().and_then([](const DeviceRequest& r) { return open_device(r); });  // a GPU
  if (!device) return tl::unexpected(device.error());
  auto files = find_kernel_files(folder, "saxpy");  // saxpy.spv, saxpy.pvc.bin and so on
  if (!files) return tl::unexpected(files.error());
  auto bundle = Bundle::load(*device, *std::move(files));  // native where one fits, else SPIR-V
  if (!bundle) return tl::unexpected(bundle.error());
  auto kernel = bundle->kernel("saxpy");
  if (!kernel) return tl::unexpected(kernel.error());
  auto x = device->context.get().allocate_shared(device->device, 1000 * sizeof(float));
  auto y = device->context.get().allocate_shared(device->device, 1000 * sizeof(float));
  auto list = CommandListRef::create_immediate(device->context.get(), device->device, {.synchronous = true});
  if (!x || !y || !list) return tl::unexpected(Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "saxpy"));
  std::ranges::fill(x->span<float>(), 2.0f);
  std::ranges::fill(y->span<float>(), 1.0f);
  // Four groups of 256 work-items; what does not fit the kernel or the device never reaches the driver.
  return launch(list->get(), **kernel, {{4}, {256}}, 3.0f, *x, *y, 1000u).map([&] {
    return y->span<float>()[999];
  });
}

int main(int, char** argv) {
  const auto answer = saxpy(argv[1] ? argv[1] : "kernels");
  answer ? std::printf("%g\n", *answer) : std::fprintf(stderr, "%s", answer.error().text().c_str());
  return answer ? 0 : 1;
}
