// SPDX-License-Identifier: MIT
// The README's example: one kernel, from its files to its answer.
#include <algorithm>
#include <cstdio>
#include <kiln/kiln.hpp>

using namespace kiln;

static Result<float> saxpy(const char* kernels) {
  KILN_TRY(const auto request, requested_device());  // a GPU, or what KILN_DEVICE asks for
  KILN_TRY(const auto device, open_device(request));
  KILN_TRY(auto bundle, Bundle::load(device, kernels));  // native where a file fits, else from SPIR-V
  KILN_TRY(const auto kernel, bundle.kernel("saxpy"));
  const ContextRef context = device.context.get();
  KILN_TRY(auto x, context.allocate_shared(device.device, 1000 * sizeof(float)));
  KILN_TRY(auto y, context.allocate_shared(device.device, 1000 * sizeof(float)));
  KILN_TRY(auto list, CommandListRef::create_immediate(context, device.device, {.synchronous = true}));
  std::ranges::fill(x.span<float>(), 2.0f);
  std::ranges::fill(y.span<float>(), 1.0f);
  // Four groups of 256 work-items; what does not fit the kernel or the device never reaches the driver.
  KILN_TRY(launch(list.get(), *kernel, {{4}, {256}}, 3.0f, x, y, 1000u));
  return y.span<float>()[999];
}

int main(int, char** argv) {
  const auto answer = saxpy(argv[1] ? argv[1] : "kernels/saxpy");
  answer ? std::printf("%g\n", *answer) : std::fprintf(stderr, "%s", answer.error().text().c_str());
  return answer ? 0 : 1;
}
