// SPDX-License-Identifier: MIT
// Writes the frame graph down once more, call by call.
#include "raw.hpp"

#include <cstdint>

namespace kiln::bench {
namespace {

using engine::Slot;
using engine::Ticks;

/// The calls, of which the first that fails is remembered.
class Raw {
 public:
  explicit Raw(const Subject& subject) : subject_(subject), ze_(subject.device.driver.api()) {}

  const char* failed = nullptr;

  void begin(int task) {
    list_ = subject_.frames.slots[0].lists[static_cast<std::size_t>(task)]->raw();
    check(ze_.zeCommandListReset(list_), "zeCommandListReset");
  }
  void end() { check(ze_.zeCommandListClose(list_), "zeCommandListClose"); }
  void clock(std::uint64_t* to, ze_event_handle_t signal, ze_event_handle_t wait) {
    check(
        ze_.zeCommandListAppendWriteGlobalTimestamp(list_, to, signal, wait ? 1 : 0, wait ? &wait : nullptr),
        "zeCommandListAppendWriteGlobalTimestamp");
    order();
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    check(ze_.zeCommandListAppendMemoryCopy(list_, to, from, bytes, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopy");
    order();
  }
  void zero(void* to, std::size_t bytes) {
    const std::uint32_t nothing = 0;
    check(ze_.zeCommandListAppendMemoryFill(list_, to, &nothing, sizeof nothing, bytes, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryFill");
    order();
  }
  void argument(ze_kernel_handle_t kernel, std::uint32_t index, std::size_t size, const void* value) {
    check(ze_.zeKernelSetArgumentValue(kernel, index, size, value), "zeKernelSetArgumentValue");
  }
  template <class T>
  void value(ze_kernel_handle_t kernel, std::uint32_t index, const T& value) {
    argument(kernel, index, sizeof value, &value);
  }
  void memory(ze_kernel_handle_t kernel, std::uint32_t index, const Buffer& buffer) {
    void* const data = buffer.data();
    argument(kernel, index, sizeof data, &data);
  }
  void launch(ze_kernel_handle_t kernel, std::uint32_t x, std::uint32_t y, std::uint32_t width,
              std::uint32_t height) {
    const ze_group_count_t groups{x, y, 1};
    check(ze_.zeKernelSetGroupSize(kernel, width, height, 1), "zeKernelSetGroupSize");
    check(ze_.zeCommandListAppendLaunchKernel(list_, kernel, &groups, nullptr, 0, nullptr),
          "zeCommandListAppendLaunchKernel");
    order();
  }
  void submit(const engine::Lane& lane, int first, std::uint32_t count) {
    ze_command_list_handle_t lists[engine::kTasks];
    for (std::uint32_t i = 0; i < count; ++i)
      lists[i] = subject_.frames.slots[0].lists[static_cast<std::size_t>(first) + i]->raw();
    if (lane.immediate())
      check(ze_.zeCommandListImmediateAppendCommandListsExp(lane.immediate().raw(), count, lists, nullptr, 0,
                                                            nullptr),
            "zeCommandListImmediateAppendCommandListsExp");
    else
      check(ze_.zeCommandQueueExecuteCommandLists(lane.queue().raw(), count, lists, nullptr),
            "zeCommandQueueExecuteCommandLists");
  }
  void wait(ze_event_handle_t event) {
    check(ze_.zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
  }
  void reset(ze_event_handle_t event) { check(ze_.zeEventHostReset(event), "zeEventHostReset"); }

 private:
  void order() {
    if (!subject_.ways.in_order)
      check(ze_.zeCommandListAppendBarrier(list_, nullptr, 0, nullptr), "zeCommandListAppendBarrier");
  }
  void check(ze_result_t code, const char* call) {
    if (code != ZE_RESULT_SUCCESS && !failed) failed = call;
  }

  const Subject& subject_;
  const Api& ze_;
  ze_command_list_handle_t list_ = nullptr;
};

constexpr std::size_t kLineBytes = 256 * sizeof(std::uint32_t);

void record_analysis(Raw& raw, const Subject& subject, const Slot& slot) {
  const ze_kernel_handle_t histogram = subject.kernels.histogram->kernel().raw(),
                           scan = subject.kernels.scan->kernel().raw();
  Ticks *const first = slot.ticks_of(engine::kHistogram), *const second = slot.ticks_of(engine::kScan);
  raw.begin(engine::kAnalysisTask);
  raw.clock(&first->start, nullptr, slot.uploaded->raw());
  raw.zero(subject.frames.bins.data(), subject.frames.bins.size());
  raw.memory(histogram, 0, slot.image);
  raw.memory(histogram, 1, subject.frames.bins);
  raw.value(histogram, 2, subject.frames.pixels());
  raw.value(histogram, 3, engine::kBlock);
  raw.launch(histogram, subject.frames.blocks(), 1, 256, 1);
  raw.clock(&first->end, nullptr, nullptr);
  raw.clock(&second->start, nullptr, nullptr);
  raw.memory(scan, 0, subject.frames.bins);
  raw.memory(scan, 1, slot.cumulative);
  raw.value(scan, 2, engine::kBins);
  raw.argument(scan, 3, kLineBytes, nullptr);
  raw.launch(scan, 1, 1, 256, 1);
  raw.clock(&second->end, slot.scanned->raw(), nullptr);
  raw.end();
}

void record_band(Raw& raw, std::uint32_t band, const Subject& subject, const Slot& slot) {
  const ze_kernel_handle_t multiply = subject.kernels.multiply->kernel().raw();
  const std::uint32_t size = subject.frames.size, tiles = (size + subject.tile - 1) / subject.tile;
  const std::uint32_t first = tiles * band / engine::kBands, end = tiles * (band + 1) / engine::kBands;
  const std::size_t bytes = std::size_t{subject.tile} * subject.tile * sizeof(float);
  raw.begin(engine::kFirstBandTask + static_cast<int>(band));
  if (band == 0) raw.clock(&slot.ticks_of(engine::kMultiply)->start, nullptr, slot.uploaded->raw());
  if (first != end) {
    raw.memory(multiply, 0, slot.image);
    raw.memory(multiply, 1, subject.frames.weights);
    raw.memory(multiply, 2, subject.frames.product);
    raw.value(multiply, 3, size);
    raw.value(multiply, 4, first * subject.tile);
    raw.value(multiply, 5, subject.tile);
    raw.argument(multiply, 6, bytes, nullptr);
    raw.argument(multiply, 7, bytes, nullptr);
    raw.launch(multiply, tiles, end - first, 16, 16);
  }
  if (band == engine::kBands - 1) raw.clock(&slot.ticks_of(engine::kMultiply)->end, nullptr, nullptr);
  raw.end();
}

void launch_reduce(Raw& raw, ze_kernel_handle_t reduce, const Buffer& from, const Buffer& to,
                   std::uint32_t count, std::uint32_t block, std::uint32_t groups) {
  raw.memory(reduce, 0, from);
  raw.memory(reduce, 1, to);
  raw.value(reduce, 2, count);
  raw.value(reduce, 3, block);
  raw.argument(reduce, 4, kLineBytes, nullptr);
  raw.launch(reduce, groups, 1, 256, 1);
}

void record_finish(Raw& raw, const Subject& subject, const Slot& slot) {
  const ze_kernel_handle_t convolve = subject.kernels.convolve->kernel().raw(),
                           reduce = subject.kernels.reduce->kernel().raw();
  const engine::Frames& frames = subject.frames;
  const std::uint32_t side = (frames.size + 15) / 16;
  Ticks *const first = slot.ticks_of(engine::kConvolve), *const second = slot.ticks_of(engine::kReduce);
  raw.begin(engine::kFinishTask);
  raw.clock(&first->start, nullptr, slot.scanned->raw());
  raw.memory(convolve, 0, frames.product);
  raw.memory(convolve, 1, slot.image);
  raw.memory(convolve, 2, slot.cumulative);
  raw.memory(convolve, 3, frames.taps);
  raw.memory(convolve, 4, slot.filtered);
  raw.value(convolve, 5, frames.size);
  raw.value(convolve, 6, engine::kRadius);
  raw.argument(convolve, 7, 18 * 18 * sizeof(float), nullptr);
  raw.launch(convolve, side, side, 16, 16);
  raw.clock(&first->end, nullptr, nullptr);
  raw.clock(&second->start, nullptr, nullptr);
  launch_reduce(raw, reduce, slot.filtered, frames.partials, frames.pixels(), engine::kBlock,
                frames.blocks());
  launch_reduce(raw, reduce, frames.partials, slot.total, frames.blocks(), frames.blocks(), 1);
  raw.clock(&second->end, slot.finished->raw(), nullptr);
  raw.end();
}

void record_copies(Raw& raw, const Slot& slot) {
  raw.begin(engine::kUploadTask);
  raw.clock(&slot.ticks_of(engine::kUpload)->start, nullptr, nullptr);
  raw.copy(slot.image.data(), slot.staging.data(), slot.image.size());
  raw.clock(&slot.ticks_of(engine::kUpload)->end, slot.uploaded->raw(), nullptr);
  raw.end();
  auto* const to = static_cast<std::byte*>(slot.results.data());
  raw.begin(engine::kReadbackTask);
  raw.clock(&slot.ticks_of(engine::kReadback)->start, nullptr, slot.finished->raw());
  raw.copy(to, slot.filtered.data(), slot.filtered.size());
  raw.copy(to + slot.filtered.size(), slot.cumulative.data(), slot.cumulative.size());
  raw.copy(to + slot.filtered.size() + slot.cumulative.size(), slot.total.data(), slot.total.size());
  raw.clock(&slot.ticks_of(engine::kReadback)->end, slot.read->raw(), nullptr);
  raw.end();
}

}  // namespace

const char* raw_record(const Subject& subject) {
  const Slot& slot = subject.frames.slots[0];
  Raw raw(subject);
  record_copies(raw, slot);
  record_analysis(raw, subject, slot);
  for (std::uint32_t band = 0; band < engine::kBands; ++band) record_band(raw, band, subject, slot);
  record_finish(raw, subject, slot);
  return raw.failed;
}

const char* raw_submit(const Subject& subject) {
  const Slot& slot = subject.frames.slots[0];
  Raw raw(subject);
  raw.submit(subject.lanes.copy, engine::kUploadTask, 1);
  raw.submit(subject.lanes.analysis, engine::kAnalysisTask, 1);
  raw.submit(subject.lanes.main, engine::kFirstBandTask, engine::kBands + 1);
  raw.submit(subject.lanes.copy, engine::kReadbackTask, 1);
  raw.wait(slot.read->raw());
  for (const auto* event : {&slot.uploaded, &slot.scanned, &slot.finished, &slot.read})
    raw.reset((*event)->raw());
  return raw.failed;
}

}  // namespace kiln::bench
