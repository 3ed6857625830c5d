// SPDX-License-Identifier: MIT
// Runs the device tests on one device: `device_tests BACKEND [doctest options]`. Ends with 77 when it is not
// there.
//   cpu[:PRODUCT], gpu, capture:PRODUCT, sim:PRODUCT, driver:LIBRARY   as kiln::open_device takes them
//   loader-cpu                            the CPU driver through the Level Zero loader (ZE_ENABLE_ALT_DRIVERS
//   names it)
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "device_test.hpp"

namespace kiln::test {
namespace {

OpenDevice* opened = nullptr;
std::string asked_for;  // the device, as the command line names it
constexpr const char* kGiven = "KILN_TEST_GIVEN";

Result<OpenDevice> open_backend(const std::string& backend) {
  if (backend == "loader-cpu") {
    if (auto loaded = load_loader(); !loaded) return tl::unexpected(std::move(loaded).error());
    auto selected = first_device(ZE_DEVICE_TYPE_CPU);
    if (!selected) return tl::unexpected(std::move(selected).error());
    return open_device(*selected, DeviceKind::cpu);
  }
  auto request = parse_device_request(backend);
  if (!request) return tl::unexpected(std::move(request).error());
  return open_device(*request);
}

/// Only these may be missing without that being a failure.
bool may_be_missing(const std::string& backend, const Error& error) {
  const std::string code = error.diagnostic() ? error.diagnostic()->code : "";
  return backend != "cpu" && code.starts_with("K03") && code != "K0307";
}

}  // namespace

const OpenDevice& device() { return *opened; }
bool executes() { return opened->kind != DeviceKind::capture; }
bool is_kilns_own() {
  constexpr std::uint32_t kVendor = 0xffff;  // the PCI number that no vendor has
  return opened->properties.type == ZE_DEVICE_TYPE_CPU && opened->properties.vendor_id == kVendor;
}

KernelFile test_kernel(const char* name) {
  return need(read_kernel_file(std::filesystem::path(KILN_TEST_KERNELS) / name));
}
KernelFile sample_kernel(const char* name) {
  return need(read_kernel_file(std::filesystem::path(KILN_SAMPLE_KERNELS) / name));
}

ModuleBuild build(ModuleFormat format, std::span<const std::byte> bytes, const char* flags) {
  const ModuleInput input{format, bytes, flags, {}};
  return build_module(device().driver, context(), device().device, {&input, 1});
}

CommandList immediate_list() {
  const auto group = need(device().device.compute_queue_group());
  return need(CommandListRef::create_immediate(context(), device().device, {}, group));
}

void finish(CommandListRef list) {
  const EventPool pool = need(EventPoolRef::create(context(), 1));
  const Event event = need(pool.get().event(0));
  need(list.barrier({event.get(), {}}));
  need(event.get().wait());
}

int run_again(const char* test, std::span<const std::byte> given) {
  std::string digits, name = std::string("-tc=") + test, no_skip = "--no-skip", program = "device_tests";
  for (const std::byte each : given) {
    constexpr const char* kDigits = "0123456789abcdef";
    digits += kDigits[std::to_integer<unsigned>(each) >> 4];
    digits += kDigits[std::to_integer<unsigned>(each) & 15];
  }
  setenv(kGiven, digits.c_str(), 1);
  char* arguments[] = {program.data(), asked_for.data(), name.data(), no_skip.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ);
  unsetenv(kGiven);
  int status = -1;
  return failed || waitpid(child, &status, 0) != child ? -1 : status;
}

std::vector<std::byte> given_by_parent() {
  const char* const digits = std::getenv(kGiven);
  std::vector<std::byte> given;
  for (const char* each = digits; each && each[0] && each[1]; each += 2)
    given.push_back(static_cast<std::byte>(std::stoul(std::string(each, 2), nullptr, 16)));
  return given;
}

}  // namespace kiln::test

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: device_tests BACKEND [doctest options]\n");
    return 2;
  }
  auto opened = kiln::test::open_backend(argv[1]);
  if (!opened) {
    std::fprintf(stderr, "%s", opened.error().text().c_str());
    return kiln::test::may_be_missing(argv[1], opened.error()) ? 77 : 1;
  }
  kiln::test::opened = &*opened;
  kiln::test::asked_for = argv[1];
  doctest::Context context(argc - 1, argv + 1);
  return context.run();
}
