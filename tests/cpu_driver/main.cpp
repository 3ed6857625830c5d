// SPDX-License-Identifier: MIT
// Runs the CPU driver's tests in one of its ways: straight, loader; or checks what needs processes of its
// own.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace {

struct Built {
  ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
  ze_module_handle_t module = nullptr;
};

Built build(const std::vector<std::uint8_t>& bytes, ze_module_format_t format) {
  Built built;
  std::uint32_t one = 1;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  const auto context_desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = format;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  if (api.Init(0) == ZE_RESULT_SUCCESS && api.DriverGet(&one, &driver) == ZE_RESULT_SUCCESS &&
      api.DeviceGet(driver, &one, &device) == ZE_RESULT_SUCCESS &&
      api.ContextCreate(driver, &context_desc, &context) == ZE_RESULT_SUCCESS)
    built.result = api.ModuleCreate(context, device, &desc, &built.module, nullptr);
  if (context) api.ContextDestroy(context);
  return built;
}

int refuse_unknown_profile(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  setenv("KILN_CPU_PROFILE", "voodoo2", 1);
  if (api.Init(0) != ZE_RESULT_ERROR_UNINITIALIZED) return 1;
  std::uint32_t count = 0;
  if (api.DriverGet(&count, nullptr) != ZE_RESULT_ERROR_UNINITIALIZED) return 1;
  setenv("KILN_CPU_PROFILE", "lnl", 1);
  return api.Init(0) == ZE_RESULT_SUCCESS ? 0 : 1;
}

// The native binary that another product's device makes; empty: none. The profile is the process's, so a
// child does it.
std::vector<std::uint8_t> native_of(const char* profile, const char* file) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    setenv("KILN_CPU_PROFILE", profile, 1);
    const Built built = build(read_file(file), ZE_MODULE_FORMAT_IL_SPIRV);
    std::size_t size = 0;
    if (built.result != ZE_RESULT_SUCCESS) _exit(1);
    api.ModuleGetNativeBinary(built.module, &size, nullptr);
    std::vector<std::uint8_t> bytes(size);
    api.ModuleGetNativeBinary(built.module, &size, bytes.data());
    for (std::size_t done = 0; done < size;) {
      const ssize_t step = write(ends[1], bytes.data() + done, size - done);
      if (step <= 0) _exit(1);
      done += static_cast<std::size_t>(step);
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<std::uint8_t> native;
  std::uint8_t part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof(part))) > 0;)
    native.insert(native.end(), part, part + got);
  int status = 1;
  close(ends[0]);
  waitpid(child, &status, 0);
  return status == 0 ? native : std::vector<std::uint8_t>();
}

// A native binary from a device with more local memory: refused with the code of Intel's driver 26.27.
int refuse_deep_native(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  const std::vector<std::uint8_t> native = native_of("bmg", "deep_static.spv");
  if (native.empty()) return 1;
  setenv("KILN_CPU_PROFILE", "tgllp", 1);
  const bool right = build(native, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE &&
                     build(read_file("deep_static.spv"), ZE_MODULE_FORMAT_IL_SPIRV).result ==
                         ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  return right ? 0 : 1;
}

// A native binary with sub-groups of 8 on a device that has 16 and 32.
int refuse_narrow_native(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  const std::vector<std::uint8_t> native = native_of("dg2", "../cpu_program/sub_group.spv");
  if (native.empty()) return 1;
  setenv("KILN_CPU_PROFILE", "bmg", 1);
  return build(native, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const char* driver = std::getenv("KILN_CPU_DRIVER");
  if (way == "unknown-profile" && driver) return refuse_unknown_profile(driver);
  if (way == "deep-native" && driver) return refuse_deep_native(driver);
  if (way == "narrow-native" && driver) return refuse_narrow_native(driver);
  std::string missing =
      "usage: straight|loader|unknown-profile|deep-native|narrow-native, with KILN_CPU_DRIVER naming the "
      "driver's library";
  if (way == "straight" && driver) missing = load_straight(driver);
  if (way == "loader") missing = load_through_loader();
  if (!missing.empty()) {
    std::fprintf(stderr, "%s\n", missing.c_str());
    return 2;
  }
  doctest::Context context(argc - 1, argv + 1);
  if (way == "loader") context.addFilter("test-case-exclude", "straight:*");
  return context.run();
}
