// SPDX-License-Identifier: MIT
// Refusals of a real driver, explained: the CPU driver with KILN_CPU_FAULT, one fault a process and test
// case.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "kiln/kiln.hpp"

namespace kiln::test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  Fixture() {
    auto opened = open_device({DeviceKind::cpu, ""});
    REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().text()));
    device = *std::move(opened);
  }
  [[nodiscard]] ContextRef context() const { return device.context.get(); }
  Result<Bundle> load() {
    auto file = read_kernel_file(std::filesystem::path(KILN_SAMPLE_KERNELS) / "saxpy.spv");
    REQUIRE(file);
    return Bundle::load(device, {*std::move(file)});
  }
  OpenDevice device;
};

template <class T>
void explained(const char* code, ze_result_t result, const Result<T>& answer) {
  REQUIRE_FALSE(answer);
  CHECK(result_name(answer.error().code()) == result_name(result));
  REQUIRE(answer.error().diagnostic());
  CHECK(answer.error().diagnostic()->code == code);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "allocation=2: the second allocation finds no memory") {
  CHECK(context().allocate_host(64));
  explained("K0214", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, context().allocate_device(device.device, 64));
  CHECK(context().allocate_device(device.device, 64));
}

TEST_CASE_FIXTURE(Fixture, "memory=1M: what does not fit is told from what is used up") {
  constexpr std::size_t kMiB = 1 << 20;
  CHECK(device.properties.largest_allocation == kMiB);
  explained("K0207", ZE_RESULT_ERROR_UNSUPPORTED_SIZE, context().allocate_device(device.device, kMiB + 1));
  explained("K0225", ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            context().allocate_device(device.device, kMiB + 1, {.relaxed_limits = true}));
  const auto most = context().allocate_device(device.device, kMiB - 64);
  REQUIRE(most);
  const auto more = context().allocate_shared(device.device, 4096);
  explained("K0214", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, more);
  // Where it went: to this process, whose Buffers are counted.
  const Diagnostic& why = *more.error().diagnostic();
  const auto row = std::ranges::find(why.rows, "Buffers of this process, device", &DiagnosticRow::label);
  REQUIRE(row != why.rows.end());
  CHECK(row->value == kMiB - 64);
  CHECK(why.message.find(": this process itself holds 1.0 MiB") != why.message.npos);
  explained("K0215", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, context().allocate_host(4096));
  explained("K0217", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, EventPoolRef::create(context(), 1 << 20));
}

TEST_CASE_FIXTURE(Fixture, "build: the log says why") {
  const auto bundle = load();
  explained("K0203", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, bundle);
  bool told = false;
  for (const DiagnosticRow& row : bundle.error().diagnostic()->rows)
    told |= row.text.find("KILN_CPU_FAULT") != std::string::npos;
  CHECK(told);
}

TEST_CASE_FIXTURE(Fixture, "lost=2: a launch on an immediate list is told from lack of memory") {
  auto bundle = load();
  REQUIRE(bundle);
  const auto kernel = bundle->kernel("saxpy");
  REQUIRE(kernel);
  const auto buffer = context().allocate_shared(device.device, 4096);
  const auto list = CommandListRef::create_immediate(context(), device.device);
  const auto queue = CommandQueueRef::create(context(), device.device);
  const auto pool = EventPoolRef::create(context(), 2);
  REQUIRE((buffer && list && queue && pool));
  const auto event = pool->get().event(0), before = pool->get().event(1);
  const auto fence = queue->get().create_fence();
  REQUIRE((event && before && fence));
  CHECK(before->get().signal());
  const auto send = [&] { return launch(list->get(), **kernel, {{1}, {64}}, 2.0f, *buffer, *buffer, 64u); };
  CHECK(send());
  CHECK(device.device.status() == ZE_RESULT_SUCCESS);
  explained("K0220", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, send());
  CHECK(device.device.status() == ZE_RESULT_ERROR_DEVICE_LOST);
  explained("K0220", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, list->get().barrier());
  for (const auto& answer :
       {event->get().wait(), fence->get().wait(), queue->get().synchronize(), list->get().synchronize()})
    explained("K0220", ZE_RESULT_ERROR_DEVICE_LOST, answer);
  explained("K0220", ZE_RESULT_ERROR_DEVICE_LOST, event->get().is_signalled());
  CHECK(event->get().signal());  // too late
  explained("K0220", ZE_RESULT_ERROR_DEVICE_LOST, event->get().wait());
  CHECK(before->get().wait());
}

TEST_CASE_FIXTURE(Fixture, "reset=1: a new context has the device back, and the old ones never again") {
  const auto lose = CommandListRef::create_immediate(context(), device.device);
  const auto queue = CommandQueueRef::create(context(), device.device);
  const auto pool = EventPoolRef::create(context(), 1);
  REQUIRE((lose && queue && pool));
  const auto event = pool->get().event(0);
  const auto fence = queue->get().create_fence();
  REQUIRE((event && fence));
  explained("K0220", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, lose->get().barrier());
  CHECK(device.device.status() == ZE_RESULT_ERROR_DEVICE_LOST);
  auto again = open_device({DeviceKind::cpu, ""});
  REQUIRE(again);
  CHECK(again->device.status() == ZE_RESULT_SUCCESS);
  auto list = CommandListRef::create_immediate(again->context.get(), again->device);
  REQUIRE(list);
  CHECK(list->get().barrier());
  CHECK_FALSE(lose->get().barrier());
  for (const auto& answer :
       {event->get().wait(), fence->get().wait(), queue->get().synchronize(), lose->get().synchronize()})
    explained("K0220", ZE_RESULT_ERROR_DEVICE_LOST, answer);
  // One that came and went, as Kiln's own do when it looks for a cause, has brought nothing back.
  list->reset();
  again->context.reset();
  CHECK(device.device.status() == ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_CASE_FIXTURE(Fixture, "event: a wait with a timeout ends") {
  const auto list = CommandListRef::create_immediate(context(), device.device);
  const auto pool = EventPoolRef::create(context(), 1);
  REQUIRE((list && pool));
  const auto event = pool->get().event(0);
  REQUIRE(event);
  REQUIRE(list->get().barrier({event->get(), {}}));
  const auto wait = event->get().wait(1ms);
  REQUIRE_FALSE(wait);
  CHECK(wait.error().code() == ZE_RESULT_NOT_READY);
  CHECK(event->get().signal());  // the host still can
  CHECK(event->get().wait());
}

TEST_CASE("nonsense: a fault that is not known starts nothing") {
  const auto opened = open_device({DeviceKind::cpu, ""});
  REQUIRE_FALSE(opened);
  CHECK(opened.error().diagnostic()->code == "K0306");
}

}  // namespace kiln::test
