// SPDX-License-Identifier: MIT
// The smallest engine: runs a kernel of kernels/numbers.ar beside it, and prints what it computed.
#include <cstdio>
#include <kiln/kiln.hpp>

static_assert(KILN_VERSION_NUMBER >= KILN_MAKE_VERSION(0, 1, 0));

static kiln::Result<int> scaled(int number) {
  auto request = kiln::requested_device();
  KILN_TRY(request);
  auto device = kiln::open_device(*request);
  KILN_TRY(device);
  auto files = kiln::find_kernel_files(kiln::kernel_folder(), "numbers");
  KILN_TRY(files);
  auto bundle = kiln::Bundle::load(*device, *std::move(files));
  KILN_TRY(bundle);
  auto kernel = bundle->kernel("scale");
  KILN_TRY(kernel);
  auto data = device->context.get().allocate_shared(device->device, sizeof(int));
  KILN_TRY(data);
  auto list =
      kiln::CommandListRef::create_immediate(device->context.get(), device->device, {.synchronous = true});
  KILN_TRY(list);
  data->span<int>()[0] = number;
  auto done = kiln::launch(list->get(), **kernel, {{1}, {1}}, *data);
  KILN_TRY(done);
  return data->span<int>()[0];
}

static void print(void*, kiln::LogLevel level, std::string_view text) {
  if (level >= kiln::LogLevel::warning)
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

int main() {
  kiln::set_log_sink(print, nullptr);
  const auto answer = scaled(14);
  answer ? std::printf("%d\n", *answer) : std::fprintf(stderr, "%s", answer.error().text().c_str());
  return answer ? 0 : 1;
}
