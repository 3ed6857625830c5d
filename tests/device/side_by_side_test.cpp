// SPDX-License-Identifier: MIT
// Several devices of different drivers in one process: `side_by_side_tests DEVICE DEVICE...`, each as
// kiln::open_device takes it, or loader-cpu, the CPU driver through the Level Zero loader. Those that execute
// must give the right answer. Ends with 77 where one is missing.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"

namespace kiln::test {
namespace {

std::vector<OpenDevice> devices;
bool is_cpu_open = false;  // with the default limits

template <class T>
T need(Result<T> result) {
  INFO((result ? std::string() : result.error().text()));
  REQUIRE(result.has_value());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// saxpy on one device, with all that it needs.
struct Work {
  explicit Work(const OpenDevice& on) : device(on) {
    bundle = need(Bundle::load(on, need(find_kernel_files(KILN_SAMPLE_KERNELS, "saxpy"))));
    kernel = need(bundle->kernel("saxpy"));
    list = need(CommandListRef::create_immediate(on.context, on.device, {.synchronous = true},
                                                 need(on.device.compute_queue_group())));
    pool = need(EventPoolRef::create(on.context, 1));
    event = need(pool->event(0));
    x = need(on.context->allocate_shared(on.device, 1000 * sizeof(float)));
    y = need(on.context->allocate_shared(on.device, 1000 * sizeof(float)));
    if (!executes()) return;
    std::ranges::fill(x.span<float>(), 2.0f);
    std::ranges::fill(y.span<float>(), 1.0f);
  }
  [[nodiscard]] bool executes() const { return device.kind != DeviceKind::capture; }

  void run() {
    need(event->reset());
    need(launch(list, *kernel, {{4}, {256}, {event, {}}}, 3.0f, x, y, 1000u));
    need(event->wait());
    ++runs;
    if (executes()) CHECK(y.span<float>()[999] == 1.0f + 6.0f * static_cast<float>(runs));
  }

  const OpenDevice& device;
  std::optional<Bundle> bundle;
  CheckedKernel* kernel = nullptr;
  CommandList list;
  EventPool pool;
  Event event;
  HostBuffer x, y;
  int runs = 0;
};

Result<OpenDevice> open(const std::string& name) {
  if (name != "loader-cpu")
    return parse_device_request(name).and_then([](const auto& request) { return open_device(request); });
  const auto api = load_loader();
  if (!api) return tl::unexpected(api.error());
  return first_device(ZE_DEVICE_TYPE_CPU, **api).and_then([](const SelectedDevice& selected) {
    return open_device(selected, DeviceKind::cpu);
  });
}

}  // namespace

TEST_CASE("devices of different drivers work in turns, and their objects go in any order") {
  for (const bool backwards : {false, true}) {
    std::vector<std::unique_ptr<Work>> work;
    for (const OpenDevice& device : devices) work.push_back(std::make_unique<Work>(device));
    for (int round = 0; round < 3; ++round)
      for (const auto& each : work) each->run();
    if (backwards) std::ranges::reverse(work);
    for (auto& each : work) {
      each.reset();
      for (const auto& left : work)
        if (left) left->run();
    }
  }
}

TEST_CASE("each device is still what was asked for") {
  for (const OpenDevice& device : devices) {
    const DeviceProperties again = need(device.device.properties());
    CHECK(again.name == device.properties.name);
    CHECK(need(device.device.compute_properties()).slm_per_group == device.compute.slm_per_group);
    CHECK(device.device.status() != ZE_RESULT_ERROR_DEVICE_LOST);
  }
}

/// Of drivers that read their environment once; never a device with the limits of another.
TEST_CASE("what a driver cannot show any more is refused") {
  const auto refused = [](const char* name) {
    const auto answer = open(name);
    REQUIRE_FALSE(answer);
    REQUIRE(answer.error().diagnostic());
    CHECK(answer.error().diagnostic()->code == "K0309");
  };
  for (const OpenDevice& device : devices) {
    if (device.kind == DeviceKind::capture) refused("capture:pvc");
    if (device.kind == DeviceKind::capture && !std::getenv("ZE_ENABLE_ALT_DRIVERS")) refused("gpu");
  }
  if (!is_cpu_open) return;
  refused("cpu:pvc");
  CHECK(open("cpu"));
  CHECK(open("cpu:bmg"));  // what `cpu` is
  CHECK_FALSE(std::getenv("KILN_CPU_PROFILE"));
}

/// It would be given the driver's own handles, or another table's.
TEST_CASE("a driver that was opened past the loader is not asked for drivers of GPUs") {
  for (const OpenDevice& device : devices)
    if (&device.device.api() != &default_api()) CHECK((device.device.api().zeInitDrivers == nullptr));
}

}  // namespace kiln::test

int main(int argc, char** argv) {
  using namespace kiln;
  for (int i = 1; i < argc; ++i) {
    auto device = test::open(argv[i]);
    if (!device) {
      std::fprintf(stderr, "skipped: %s: %s", argv[i], device.error().text().c_str());
      const Diagnostic* why = device.error().diagnostic();
      return why && why->code.starts_with("K03") && why->code < "K0307" ? 77 : 1;
    }
    test::is_cpu_open |= std::string(argv[i]) == "cpu";
    test::devices.push_back(*std::move(device));
  }
  return doctest::Context().run();
}
