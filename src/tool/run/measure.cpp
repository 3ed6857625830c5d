// SPDX-License-Identifier: MIT
// Launches a sample, takes both times, and compares the answer.
#include "tool/run/measure.hpp"

#include <cstdio>

namespace kiln::tool {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

std::string milliseconds_text(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", milliseconds(time));
  return text;
}

std::string extent_text(const Extent& extent) {
  std::string text = std::to_string(extent.x);
  if (extent.y > 1 || extent.z > 1) text += " x " + std::to_string(extent.y);
  if (extent.z > 1) text += " x " + std::to_string(extent.z);
  return text;
}

std::string wrong_text(const samples::Mismatch& wrong) {
  char text[96];
  std::snprintf(text, sizeof text, "element %llu is %.9g, should be %.9g",
                static_cast<unsigned long long>(wrong.index), wrong.got, wrong.wanted);
  return text;
}

Result<Outcome> measure(const OpenDevice& device, const samples::Prepared& prepared,
                        const CheckedKernel& kernel, std::uint32_t repeat) {
  auto group = device.device.compute_queue_group();
  if (!group) return tl::unexpected(std::move(group).error());
  // One launch at a time, so that its order does not matter: but in order is what drivers are quickest with.
  const ListOptions options{.in_order = device.driver.has(Feature::in_order_lists), .copy_offload = true};
  auto list = CommandListRef::create_immediate(device.context.get(), device.device, {}, *group, options);
  if (!list) return tl::unexpected(std::move(list).error());
  auto pool = EventPoolRef::create(device.context.get(), 1, {.host_visible = true, .timestamps = true});
  if (!pool) return tl::unexpected(std::move(pool).error());
  auto event = pool->get().event(0);
  if (!event) return tl::unexpected(std::move(event).error());

  Outcome outcome;
  outcome.host = nanoseconds::max();
  outcome.executed = device.kind != DeviceKind::capture;
  // Without a GPU, Intel's driver keeps shared memory from the host once it was submitted: one run, no second
  // look.
  if (!outcome.executed) repeat = 1;
  for (std::uint32_t i = 0; i < repeat; ++i) {
    prepared.reset();
    if (auto result = event->get().reset(); !result) return tl::unexpected(std::move(result).error());
    const auto start = Clock::now();
    if (auto result = prepared.launch(list->get(), kernel, Sync{event->get(), {}}); !result)
      return tl::unexpected(std::move(result).error());
    if (auto result = event->get().wait(); !result) return tl::unexpected(std::move(result).error());
    const nanoseconds host = Clock::now() - start;
    nanoseconds on_device{};
    if (outcome.executed) {
      auto duration = event->get().kernel_duration(device.properties);
      if (!duration) return tl::unexpected(std::move(duration).error());
      on_device = *duration;
    }
    if (host < outcome.host) outcome.host = host, outcome.device = on_device;
  }
  if (outcome.executed) outcome.mismatch = prepared.verify();
  return outcome;
}

}  // namespace kiln::tool
