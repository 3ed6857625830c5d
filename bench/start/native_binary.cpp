// SPDX-License-Identifier: MIT
// `native_binary DEVICE IN.spv OUT.bin`: builds a module on a device and writes its native binary.
#include <cstdio>

#include "kiln/kiln.hpp"

namespace {

int fail(const kiln::Error& error) {
  std::fputs(error.text().c_str(), stderr);
  return error.diagnostic() && error.diagnostic()->code.starts_with("K03") ? 77 : 1;  // 77: no such device
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: native_binary DEVICE IN.spv OUT.bin\n");
    return 2;
  }
  const auto request = kiln::parse_device_request(argv[1]);
  if (!request) return fail(request.error());
  const auto device = kiln::open_device(*request);
  if (!device) return fail(device.error());
  auto file = kiln::read_kernel_file(argv[2]);
  if (!file) return fail(file.error());
  const kiln::ModuleInput input{kiln::ModuleFormat::spirv, file->bytes};
  const auto build = kiln::build_module(device->driver, device->context.get(), device->device, {&input, 1});
  if (build.code() != ZE_RESULT_SUCCESS) return fail(kiln::Error(build.code(), "zeModuleCreate"));
  const auto binary = build.module->native_binary();
  if (!binary) return fail(binary.error());
  std::FILE* out = std::fopen(argv[3], "wb");
  const bool written = out && std::fwrite(binary->data(), 1, binary->size(), out) == binary->size();
  const bool closed = out && std::fclose(out) == 0;
  if (!written || !closed) {
    std::perror(argv[3]);
    return 1;
  }
  return 0;
}
