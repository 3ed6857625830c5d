// SPDX-License-Identifier: MIT
// Launches that run: typed arguments, required groups, timestamps, large buffers.
#include <chrono>

#include "device_test.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::test {
namespace {

struct Mixed {
  std::uint32_t a;
  float b;
  std::uint64_t c;
};

}  // namespace

TEST_CASE("values of all sizes arrive") {
  Bundle bundle = need(Bundle::load(device(), {test_kernel("limits.spv")}));
  HostBuffer out = need(context().allocate_shared(device().device, 16 * 8));
  const CommandList list = immediate_list();
  const std::int8_t a = -3;
  const std::uint16_t b = 1000;
  const std::int32_t c = 70'000;
  const std::uint64_t d = std::uint64_t{5} << 40;
  const std::array<float, 4> g{1, 2, 3, 4};
  const Mixed h{11, 12, std::uint64_t{13} << 50};
  need(launch(list.get(), *need(bundle.kernel("values")), {{2}, {8}}, out, a, b, c, d, 2.0f, g, h,
              std::uint32_t{99}));
  finish(list.get());
  if (!executes()) return;
  for (const std::uint64_t value : out.span<std::uint64_t>())
    CHECK(value == 70'997 + d + 12 + 11 + 12 + (std::uint64_t{13} << 50));
}

TEST_CASE("a raw device pointer and a buffer are the same argument; a value is not") {
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  const CheckedKernel& kernel = *need(bundle.kernel("saxpy"));
  HostBuffer x = need(context().allocate_shared(device().device, 64)),
             y = need(context().allocate_shared(device().device, 64));
  const CommandList list = immediate_list();
  std::ranges::fill(x.span<float>(), 2.0f);
  std::ranges::fill(y.span<float>(), 1.0f);
  const auto* pointer = static_cast<const float*>(x.data());
  need(launch(list.get(), kernel, {{1}, {16}}, 3.0f, pointer, y, 16u));
  finish(list.get());
  if (executes()) CHECK(y.span<float>()[15] == 7.0f);

  const auto kind = launch(list.get(), kernel, {{1}, {16}}, 3.0f, std::uint64_t{0}, y, 16u);
  REQUIRE(!kind);
  CHECK(kind.error().diagnostic()->code == "K0107");
  const auto size = launch(list.get(), kernel, {{1}, {16}}, 3.0, x, y, 16u);
  REQUIRE(!size);
  CHECK(size.error().diagnostic()->code == "K0108");
  const auto count = launch(list.get(), kernel, {{1}, {16}}, 3.0f, x, y);
  REQUIRE(!count);
  CHECK(count.error().diagnostic()->code == "K0106");
}

TEST_CASE("a cooperative launch has no more groups than run at the same time") {
  Bundle bundle = need(Bundle::load(device(), {test_kernel("limits.spv")}));
  const CheckedKernel& kernel = *need(bundle.kernel("both"));
  HostBuffer out = need(context().allocate_shared(device().device, 64 * 4));
  const auto group = need(device().device.compute_queue_group());
  const CommandList list = need(CommandListRef::create(context(), device().device, group));
  void* address = out.data();
  const std::uint32_t words = 4;
  std::array<LaunchArgument, 3> arguments{{{ArgumentKind::global_pointer, 8, &address},
                                           {ArgumentKind::local_pointer, 1024, nullptr},
                                           {ArgumentKind::value, 4, &words}}};
  const std::uint64_t most = need(max_cooperative_groups(kernel, {16}, arguments));
  CHECK(most > 0);
  need(launch_cooperative_with(list.get(), kernel, {{1}, {16}}, arguments));
  for (const Extent& groups : {Extent{static_cast<std::uint32_t>(most) + 1}, Extent{65536, 65536}}) {
    const auto refused = launch_cooperative_with(list.get(), kernel, {groups, {16}}, arguments);
    REQUIRE(!refused);
    CHECK(refused.error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(refused.error().diagnostic()->code == "K0120");
  }
  // The driver ends the process when it is asked about more SLM than there is.
  arguments[1].size = std::uint64_t{1} << 20;
  const auto refused = max_cooperative_groups(kernel, {16}, arguments);
  REQUIRE(!refused);
  CHECK(refused.error().diagnostic()->code == "K0101");
}

TEST_CASE("on a list with launches of the other kind the driver's refusal is explained") {
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  const CheckedKernel& kernel = *need(bundle.kernel("saxpy"));
  const HostBuffer buffer = need(context().allocate_shared(device().device, 64 * 4));
  const auto group = need(device().device.compute_queue_group());
  void* const address = buffer.data();
  const float factor = 1;
  const std::uint32_t n = 64;
  const LaunchArgument arguments[] = {{ArgumentKind::value, 4, &factor},
                                      {ArgumentKind::global_pointer, 8, &address},
                                      {ArgumentKind::global_pointer, 8, &address},
                                      {ArgumentKind::value, 4, &n}};
  const Launch shape{{1}, {64}};
  for (const bool cooperative_first : {false, true}) {
    const CommandList list = need(CommandListRef::create(context(), device().device, group));
    for (const bool second : {false, true}) {
      const auto answer = cooperative_first != second
                              ? launch_cooperative_with(list.get(), kernel, shape, arguments)
                              : launch_with(list.get(), kernel, shape, arguments);
      if (answer) continue;
      CHECK(second);  // driver 22.43
      REQUIRE(answer.error().diagnostic());
      CHECK(answer.error().diagnostic()->code == "K0122");
    }
  }
  const CommandList list = immediate_list();  // takes both
  need(launch_with(list.get(), kernel, shape, arguments));
  need(launch_cooperative_with(list.get(), kernel, {{2}, {32}}, arguments));
  need(launch_with(list.get(), kernel, shape, arguments));
  finish(list.get());
}

TEST_CASE("null pointers are taken, and pointers to other memory named") {
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  const CheckedKernel& kernel = *need(bundle.kernel("saxpy"));
  const CommandList list = immediate_list();
  const Launch shape{{1}, {64}};
  const float* null = nullptr;
  const Buffer empty;
  need(launch(list.get(), kernel, shape, 2.0f, nullptr, null, 0u));
  need(launch(list.get(), kernel, shape, 2.0f, empty, empty, 0u));
  void* const place = nullptr;
  const float factor = 1;
  const std::uint32_t n = 0;
  const LaunchArgument untyped[] = {{ArgumentKind::value, 4, &factor},
                                    {ArgumentKind::global_pointer, 8, &place},
                                    {ArgumentKind::global_pointer, 8, nullptr},
                                    {ArgumentKind::value, 4, &n}};
  need(launch_with(list.get(), kernel, shape, untyped));
  CHECK(need(max_cooperative_groups(kernel, {64}, untyped)) > 0);
  finish(list.get());

  void* freed = nullptr;
  {
    const Buffer buffer = need(context().allocate_device(device().device, 4096));
    freed = buffer.data();
  }
  std::array<float, 64> on_host{};
  for (void* const stray : {freed, static_cast<void*>(on_host.data())}) {
    const auto refused = launch(list.get(), kernel, shape, 2.0f, stray, stray, 0u);
    if (refused) continue;  // a driver that lets kernels use all memory of the host
    REQUIRE(refused.error().diagnostic());
    CHECK(refused.error().diagnostic()->code == "K0229");
    CHECK(refused.error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  }
  finish(list.get());
}

TEST_CASE("a required group is launched as required") {
  Bundle bundle = need(Bundle::load(device(), {test_kernel("limits.spv")}));
  HostBuffer out = need(context().allocate_shared(device().device, 2 * 3 * 64 * 4));
  const CommandList list = immediate_list();
  need(launch(list.get(), *need(bundle.kernel("fixed_group")), {{2, 3, 1}, {8, 4, 2}}, out));
  finish(list.get());
  if (!executes()) return;
  const auto words = out.span<std::uint32_t>();
  for (std::uint32_t z = 0; z < 2; ++z)
    for (std::uint32_t y = 0; y < 12; ++y)
      for (std::uint32_t x = 0; x < 16; ++x)
        REQUIRE(words[x + 16 * (y + 12 * z)] == x % 8 + 8 * (y % 4 + 4 * z));
}

TEST_CASE("timestamps are durations that the host's own clock contains") {
  if (!executes()) return;
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  const samples::Sample& sample = *samples::find("saxpy");
  const samples::Prepared prepared = need(sample.prepare(device(), {}));
  const EventPool pool = need(EventPoolRef::create(context(), 1, {.host_visible = true, .timestamps = true}));
  const Event event = need(pool->event(0));
  const CommandList list = immediate_list();
  for (int round = 0; round < 5; ++round) {
    prepared.reset();
    need(event->reset());
    const auto start = std::chrono::steady_clock::now();
    need(prepared.launch(list.get(), *need(bundle.kernel("saxpy")), {event.get(), {}}));
    need(event->wait());
    const auto host = std::chrono::steady_clock::now() - start;
    const auto on_device = need(event->kernel_duration(device().properties));
    CHECK(on_device.count() > 0);
    CHECK(on_device <= host);
  }
}

TEST_CASE("the largest tile that a refusal names runs, and the next one does not") {
  Bundle bundle = need(Bundle::load(device(), need(find_kernel_files(KILN_NATIVE_KERNELS, "matmul"))));
  const CheckedKernel& kernel = *need(bundle.kernel("tiled"));
  const samples::Sample& sample = *samples::find("matmul");
  const CommandList list = immediate_list();
  const auto launch_with_slm = [&](std::uint64_t slm) {
    const samples::Prepared prepared = need(sample.prepare(device(), {.size = 40, .slm = slm}));
    const auto launched = prepared.launch(list.get(), kernel, {});
    finish(list.get());  // before its buffers go
    return launched;
  };
  const auto refused = launch_with_slm(656384);  // the guide's failure
  REQUIRE(!refused);
  CHECK(refused.error().code() == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  std::uint64_t edge = 0;
  for (const DiagnosticRow& row : refused.error().diagnostic()->rows)
    if (row.label.starts_with("largest edge")) edge = row.value;
  REQUIRE(edge > 0);
  need(launch_with_slm(2 * edge * edge * 4));
  CHECK(!launch_with_slm(2 * (edge + 1) * (edge + 1) * 4));
}

TEST_CASE("a buffer above 4 GiB is for kernels that are built for it") {
  const HostBuffer small = need(context().allocate_shared(device().device, 4096));
  const bool bounded =
      device().kind != DeviceKind::cpu && device().properties.largest_allocation < std::uint64_t{1} << 32;
  for (const char* flags : {"", "-ze-opt-greater-than-4GB-buffer-required"}) {
    CAPTURE(flags);
    Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}, {flags}));
    const CheckedKernel& kernel = *need(bundle.kernel("saxpy"));
    // The few pages that the kernel touches under a size that nobody needs to have.
    Buffer large = Buffer::adopt(context(), small.data(), std::size_t{5} << 30, MemoryKind::shared);
    const CommandList list = immediate_list();
    const auto sent = launch(list, kernel, {{1}, {64}}, 2.0f, large, large, 64u);
    const auto raw = launch(list, kernel, {{1}, {64}}, 2.0f, large.data(), large.data(), 64u);
    (void)large.release();
    finish(list);
    CHECK(raw);
    REQUIRE(sent.has_value() == !(bounded && *flags == '\0'));
    if (!sent) CHECK(sent.error().diagnostic()->code == "K0112");
  }
}

}  // namespace kiln::test
