// SPDX-License-Identifier: MIT
// Records the passes.
#include "graph.hpp"

#include "say.hpp"

namespace engine {
namespace {

using namespace kiln;

constexpr Extent kSquare{16, 16};  // work-items of a group
constexpr Extent kLine{256};
constexpr LocalMemory kLineOfWords{256 * sizeof(std::uint32_t)};

std::uint32_t groups_for(std::uint32_t items, std::uint32_t each) { return (items + each - 1) / each; }

Result<void> upload(const Recording& list, const Slot& slot) {
  Ticks* const ticks = slot.ticks_of(kUpload);
  KILN_TRY(list.clock(&ticks->start));
  KILN_TRY(list.copy(slot.image.data(), slot.staging.data(), slot.image.size()));
  return list.clock(&ticks->end, {slot.uploaded, {}});
}

Result<void> analyse(const Recording& list, const Frames& frames, const Slot& slot, const Kernels& kernels) {
  Ticks *const histogram = slot.ticks_of(kHistogram), *const scan = slot.ticks_of(kScan);
  KILN_TRY(list.clock(&histogram->start, {{}, {slot.uploaded}}));
  KILN_TRY(list.zero(frames.bins.data(), frames.bins.size()));
  KILN_TRY(list.launch(kernels.histogram, {{frames.blocks()}, kLine}, slot.image, frames.bins,
                       frames.pixels(), kBlock));
  KILN_TRY(list.clock(&histogram->end));
  KILN_TRY(list.clock(&scan->start));
  KILN_TRY(list.launch(kernels.scan, {{1}, kLine}, frames.bins, slot.cumulative, kBins, kLineOfWords));
  return list.clock(&scan->end, {slot.scanned, {}});
}

/// Rows of tiles, shared out evenly: a small image leaves some bands without any.
Result<void> multiply(const Recording& list, std::uint32_t band, const Frames& frames, const Slot& slot,
                      const Kernels& kernels, std::uint32_t tile) {
  const std::uint32_t tiles = groups_for(frames.size, tile);
  const std::uint32_t first = tiles * band / kBands, end = tiles * (band + 1) / kBands;
  const LocalMemory bytes{std::uint64_t{tile} * tile * sizeof(float)};
  Ticks* const ticks = slot.ticks_of(kMultiply);
  if (band == 0) KILN_TRY(list.clock(&ticks->start, {{}, {slot.uploaded}}));
  if (first != end)
    KILN_TRY(list.launch(kernels.multiply, {{tiles, end - first}, kSquare}, slot.image, frames.weights,
                         frames.product, frames.size, first * tile, tile, bytes, bytes));
  if (band == kBands - 1) KILN_TRY(list.clock(&ticks->end));
  return {};
}

Result<void> finish(const Recording& list, const Frames& frames, const Slot& slot, const Kernels& kernels) {
  Ticks *const convolve = slot.ticks_of(kConvolve), *const reduce = slot.ticks_of(kReduce);
  const std::uint32_t side = groups_for(frames.size, kSquare.x), blocks = frames.blocks();
  constexpr std::uint32_t kEdge = kSquare.x + 2 * kRadius;
  KILN_TRY(list.clock(&convolve->start, {{}, {slot.scanned}}));
  KILN_TRY(list.launch(kernels.convolve, {{side, side}, kSquare}, frames.product, slot.image, slot.cumulative,
                       frames.taps, slot.filtered, frames.size, kRadius,
                       LocalMemory{kEdge * kEdge * sizeof(float)}));
  KILN_TRY(list.clock(&convolve->end));
  KILN_TRY(list.clock(&reduce->start));
  KILN_TRY(list.launch(kernels.reduce, {{blocks}, kLine}, slot.filtered, frames.partials, frames.pixels(),
                       kBlock, kLineOfWords));
  KILN_TRY(
      list.launch(kernels.reduce, {{1}, kLine}, frames.partials, slot.total, blocks, blocks, kLineOfWords));
  return list.clock(&reduce->end, {slot.finished, {}});
}

Result<void> read_back(const Recording& list, const Slot& slot) {
  Ticks* const ticks = slot.ticks_of(kReadback);
  auto* const to = static_cast<std::byte*>(slot.results.data());
  const std::size_t words = slot.filtered.size(), bins = slot.cumulative.size();
  KILN_TRY(list.clock(&ticks->start, {{}, {slot.finished}}));
  KILN_TRY(list.copy(to, slot.filtered.data(), words));
  KILN_TRY(list.copy(to + words, slot.cumulative.data(), bins));
  KILN_TRY(list.copy(to + words + bins, slot.total.data(), slot.total.size()));
  return list.clock(&ticks->end, {slot.read, {}});
}

Result<void> record_open(Task task, const Recording& list, const Frames& frames, const Slot& slot,
                         const Kernels& kernels, std::uint32_t tile) {
  switch (task) {
    case kUploadTask:
      return upload(list, slot);
    case kAnalysisTask:
      return analyse(list, frames, slot, kernels);
    case kFinishTask:
      return finish(list, frames, slot, kernels);
    case kReadbackTask:
      return read_back(list, slot);
    default:
      return multiply(list, static_cast<std::uint32_t>(task - kFirstBandTask), frames, slot, kernels, tile);
  }
}

}  // namespace

Result<void> record(Task task, const Frames& frames, const Slot& slot, const Lanes& lanes,
                    const Kernels& kernels, std::uint32_t tile) {
  const CommandListRef list = slot.lists[static_cast<std::size_t>(task)].get();
  KILN_TRY(const Recording open, lanes.of(task).begin(list));
  KILN_TRY(record_open(task, open, frames, slot, kernels, tile));
  return list.close();
}

std::uint32_t tile_that_fits(const CheckedKernel& kernel, std::uint32_t asked) {
  const LocalMemory bytes{std::uint64_t{asked} * asked * sizeof(float)};
  void* const any = nullptr;
  const LaunchFit fit = what_fits(kernel, {{1}, kSquare}, any, any, any, 0u, 0u, asked, bytes, bytes);
  if (fit.tile_edge == 0) return asked;
  say("two tiles of edge %u do not fit, so those of %u", asked, static_cast<unsigned>(fit.tile_edge));
  return static_cast<std::uint32_t>(fit.tile_edge);
}

}  // namespace engine
