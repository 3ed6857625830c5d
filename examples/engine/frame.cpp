// SPDX-License-Identifier: MIT
// Allocates what frames need, in smaller frames where it does not fit.
#include "frame.hpp"

#include <algorithm>

#include "reference.hpp"
#include "say.hpp"

namespace engine {
namespace {

using namespace kiln;

Result<void> make_slot(Slot& slot, const OpenDevice& device, const Lanes& lanes, EventPoolRef events,
                       std::uint32_t first_event, std::size_t pixels) {
  const ContextRef context = device.context.get();
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  KILN_TRY(slot.staging, context.allocate_host(pixels));
  KILN_TRY(slot.results, context.allocate_host((pixels + kBins + 1) * kWord));
  KILN_TRY(slot.ticks, context.allocate_host(kPasses * sizeof(Ticks)));
  KILN_TRY(slot.image, context.allocate_device(device.device, pixels));
  KILN_TRY(slot.cumulative, context.allocate_device(device.device, kBins * kWord));
  KILN_TRY(slot.filtered, context.allocate_device(device.device, pixels * kWord));
  KILN_TRY(slot.total, context.allocate_device(device.device, kWord));
  // Other queues of the device see what was written behind these; the host alone what is behind the last.
  constexpr EventOptions kOnDevice{.signal = EventScope::device, .wait = EventScope::device};
  KILN_TRY(slot.uploaded, events.event(first_event, kOnDevice));
  KILN_TRY(slot.scanned, events.event(first_event + 1, kOnDevice));
  KILN_TRY(slot.finished, events.event(first_event + 2, kOnDevice));
  KILN_TRY(slot.read, events.event(first_event + 3, {.signal = EventScope::host, .wait = EventScope::host}));
  for (int task = 0; task < kTasks; ++task) {
    KILN_TRY(slot.lists[static_cast<std::size_t>(task)], lanes.of(task).new_list(device));
  }
  return {};
}

/// What stays the same for all frames is uploaded once, as frames are, and waited for.
Result<void> upload_constants(Frames& frames, const OpenDevice& device, const Lanes& lanes,
                              std::chrono::seconds timeout) {
  const std::size_t bytes = frames.weights.size();
  KILN_TRY(frames.constants, device.context->allocate_host(bytes + sizeof kTaps));
  const auto floats = frames.constants.span<float>();
  write_weights(floats, frames.size);
  std::ranges::copy(kTaps, floats.subspan(frames.pixels()).begin());
  const Slot& slot = frames.slots[0];  // no frame is in it yet
  const CommandListRef list = slot.lists[kUploadTask].get();
  KILN_TRY(const Recording open, lanes.copy.begin(list));
  KILN_TRY(open.copy(frames.weights.data(), floats.data(), bytes));
  KILN_TRY(open.copy(frames.taps.data(), floats.data() + frames.pixels(), sizeof kTaps, {slot.read, {}}));
  KILN_TRY(list.close());
  KILN_TRY(lanes.copy.submit(std::span(&list, 1)));
  KILN_TRY(wait_in_time(slot.read.get(), timeout, "the upload of what stays the same"));
  return slot.read->reset();
}

/// Whether fewer bytes may help. A device that is lost may call that lack of memory too.
bool is_lack_of_memory(const OpenDevice& device, const Error& error) {
  if (device.device.status() != ZE_RESULT_SUCCESS) return false;
  return error.code() == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY ||
         error.code() == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
         error.code() == ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
}

}  // namespace

Result<void> wait_in_time(EventRef event, std::chrono::seconds timeout, const std::string& what) {
  auto done = event.wait(timeout);
  if (!done && done.error().code() == ZE_RESULT_NOT_READY)
    say("%s is not done after %ld s", what.c_str(), static_cast<long>(timeout.count()));
  return done;
}

const char* name_of(Pass pass) {
  constexpr const char* kNames[] = {"upload",   "histogram", "scan",    "multiply",
                                    "convolve", "reduce",    "readback"};
  return kNames[pass];
}

Result<Lanes> Lanes::create(const OpenDevice& device, Ways ways) {
  Lanes lanes;
  KILN_TRY(lanes.main, Lane::create(device, ways, Lane::Kind::compute, 0));
  KILN_TRY(lanes.analysis, Lane::create(device, ways, Lane::Kind::compute, 1));
  KILN_TRY(lanes.copy, Lane::create(device, ways, Lane::Kind::copy));
  return lanes;
}

const Lane& Lanes::of(int task) const {
  if (task == kUploadTask || task == kReadbackTask) return copy;
  return task == kAnalysisTask ? analysis : main;
}

void Lanes::wait(std::chrono::seconds timeout) const {
  for (const Lane* lane : {&copy, &analysis, &main})
    if (const auto done = lane->wait(timeout); !done && done.error().code() == ZE_RESULT_NOT_READY)
      timeout = {};  // it is over
}

Result<void> Frames::create(const OpenDevice& device, const Lanes& lanes, std::uint32_t edge,
                            std::chrono::seconds timeout) {
  size = edge;
  const ContextRef context = device.context.get();
  KILN_TRY(weights, context.allocate_device(device.device, pixels() * sizeof(float)));
  KILN_TRY(taps, context.allocate_device(device.device, sizeof kTaps));
  KILN_TRY(product, context.allocate_device(device.device, pixels() * sizeof(float)));
  KILN_TRY(bins, context.allocate_device(device.device, kBins * sizeof(std::uint32_t)));
  KILN_TRY(partials, context.allocate_device(device.device, blocks() * sizeof(std::uint32_t)));
  KILN_TRY(events, EventPoolRef::create(context, 8));
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    KILN_TRY(make_slot(slots[i], device, lanes, events.get(), 4 * i, pixels()));
  return upload_constants(*this, device, lanes, timeout);
}

Result<void> Frames::create_what_fits(const OpenDevice& device, const Lanes& lanes, std::uint32_t edge,
                                      std::chrono::seconds timeout) {
  for (;; edge /= 2) {
    auto made = create(device, lanes, edge, timeout);
    if (made || edge == 1 || !is_lack_of_memory(device, made.error())) return made;
    say("images of %u x %u do not fit, so half the edge: %s", edge, edge, made.error().text().c_str());
    lanes.wait(timeout);
    *this = {};
  }
}

Results results_of(const Slot& slot, std::uint32_t size) {
  const std::span<const std::uint32_t> all = slot.results.span<std::uint32_t>();
  const std::size_t pixels = std::size_t{size} * size;
  return {all.first(pixels), all.subspan(pixels, kBins), all[pixels + kBins]};
}

}  // namespace engine
