// SPDX-License-Identifier: MIT
// What an engine does with a device of its own: a context that is lent, a kernel for each thread, a device
// that is found again elsewhere, entry points that Kiln does not wrap.
#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "device_test.hpp"

namespace kiln::test {
namespace {

constexpr std::uint32_t kItems = 256;

/// One launch of SAXPY, y = 2x + y, with a kernel and a list of the thread's own; the wrong elements.
std::uint32_t run_saxpy(const Bundle& bundle, ContextRef context, std::uint32_t seed) {
  const OwnKernel kernel = need(bundle.make_kernel("saxpy"));
  const HostBuffer x = need(context.allocate_shared(device().device, kItems * sizeof(float))),
                   y = need(context.allocate_shared(device().device, kItems * sizeof(float)));
  for (std::uint32_t i = 0; i < kItems; ++i) {
    x.span<float>()[i] = static_cast<float>(i + seed);
    y.span<float>()[i] = static_cast<float>(seed);
  }
  const CommandList list = immediate_list();
  need(launch(list, kernel, {{kItems / 64}, {64}}, 2.0f, x, y, kItems));
  finish(list.get());
  if (!executes()) return 0;
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kItems; ++i)
    wrong += y.span<float>()[i] != static_cast<float>(2 * i + 3 * seed);
  return wrong;
}

}  // namespace

TEST_CASE("a bundle on a context that somebody else owns") {
  const Context own = need(ContextRef::create(device().driver));
  {
    const LentDevice lent = need(lend_device({device().driver, device().device}, own, device().kind));
    CHECK(lent->properties.name == device().properties.name);
    const Bundle bundle = need(Bundle::load(lent, {sample_kernel("saxpy.spv")}));
    CHECK(run_saxpy(bundle, own, 3) == 0);
    LentDevice other = need(lend_device({device().driver, device().device}, context(), device().kind));
    other = LentDevice();
  }
  CHECK(own->allocate_host(64));  // it is still there
  CHECK(context().allocate_host(64));
  CHECK(lend_device({device().driver, device().device}, ContextRef(), device().kind)
            .error()
            .diagnostic()
            ->code == "K0222");
}

TEST_CASE("several devices share a context, each with a bundle of its own") {
  const auto devices = need(device().driver.devices());
  const HostBuffer word = need(context().allocate_host(8));  // which all of them reach
  std::vector<LentDevice> lent;
  std::vector<Bundle> bundles;
  for (const DeviceRef each : devices) {
    lent.push_back(need(lend_device({device().driver, each}, context(), device().kind)));
    bundles.push_back(need(Bundle::load(lent.back(), {sample_kernel("saxpy.spv")})));
    CHECK(need(each.can_access(devices.front())));
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const OwnKernel kernel = need(bundles[i].make_kernel("saxpy"));
    const auto values = word.span<float>();
    values[0] = 3;
    values[1] = static_cast<float>(i);
    const CommandList list = need(
        CommandListRef::create_immediate(context(), devices[i], {}, need(devices[i].compute_queue_group())));
    need(launch(list, kernel, {{1}, {16}}, 2.0f, &values[0], &values[1], 1u));
    finish(list.get());
    if (executes()) CHECK(values[1] == 6 + static_cast<float>(i));
  }
}

TEST_CASE("each thread makes its own kernel of one bundle") {
  const Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  constexpr std::uint32_t kThreads = 8;
  std::array<std::uint32_t, kThreads> wrong{};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (std::uint32_t round = 0; round < 4; ++round)
        wrong[i] += run_saxpy(bundle, context(), i * 4 + round);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::uint32_t each : wrong) CHECK(each == 0);

  const auto none = bundle.make_kernel("none");
  REQUIRE(!none);
  CHECK(none.error().diagnostic()->code == "K0208");
  CHECK(Bundle().make_kernel("none").error().diagnostic()->code == "K0222");
}

TEST_CASE("a device is told from others") {
  const DeviceIdentity identity = need(device().device.identity());
  CHECK(std::ranges::any_of(identity.uuid, [](std::uint8_t byte) { return byte != 0; }));
  CHECK(identity.uuid == need(device().device.identity()).uuid);
  CHECK_FALSE(identity.sub_device);
  CHECK_FALSE(identity.luid.has_value());  // which Linux has not
  for (const DeviceRef tile : need(device().device.sub_devices())) {
    const DeviceIdentity of_tile = need(tile.identity());
    CHECK(of_tile.sub_device);
    if (executes()) CHECK(of_tile.uuid != identity.uuid);  // which is made up where there is no GPU
  }
  CHECK(need(device().device.can_access(device().device)));
}

TEST_CASE("tiles of a device take what a device takes") {
  const auto tiles = need(device().device.sub_devices());
  if (const char* wanted = std::getenv("CreateMultipleSubDevices"))  // of Intel's driver without a GPU
    REQUIRE(tiles.size() == static_cast<std::size_t>(std::atoi(wanted)));
  for (const DeviceRef tile : tiles) {
    const LentDevice lent = need(lend_device({device().driver, tile}, context(), device().kind));
    const Bundle bundle = need(Bundle::load(lent, {sample_kernel("saxpy.spv")}));
    const OwnKernel kernel = need(bundle.make_kernel("saxpy"));
    const Buffer x = need(context().allocate_device(tile, kItems * sizeof(float))),
                 y = need(context().allocate_device(device().device, kItems * sizeof(float)));
    const CommandList list =
        need(CommandListRef::create_immediate(context(), tile, {}, need(tile.compute_queue_group())));
    const float zero = 0;
    need(list->fill(x.data(), std::as_bytes(std::span(&zero, 1)), x.size()));
    need(list->fill(y.data(), std::as_bytes(std::span(&zero, 1)), y.size()));
    need(list->barrier());
    need(launch(list, kernel, {{kItems / 64}, {64}}, 2.0f, x, y, kItems));
    finish(list.get());
    CHECK(need(tile.can_access(tiles.front())));
    CHECK(tile.status() != ZE_RESULT_ERROR_DEVICE_LOST);
  }
}

TEST_CASE("entry points that Kiln does not wrap") {
  const auto get = need(
      device().driver.entry_point<decltype(&::zeDeviceGetImageProperties)>("zeDeviceGetImageProperties"));
  ze_device_image_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  CHECK(get(device().device.raw(), &properties) == ZE_RESULT_SUCCESS);
  CHECK(need(device().driver.entry_point("zeContextCreate")) ==
        reinterpret_cast<void*>(device().driver.api().zeContextCreate));
  for (const char* name : {"zeNoSuchThing", "printf", ""}) {
    CAPTURE(name);
    const auto missing = device().driver.entry_point(name);
    REQUIRE(!missing);
    CHECK(missing.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    CHECK(missing.error().diagnostic()->code == "K0232");
  }
}

}  // namespace kiln::test
