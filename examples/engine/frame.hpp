// SPDX-License-Identifier: MIT
// What frames live in: memory, events and lists, twice where the device works on one frame while the host has
// another.
#pragma once

#include <array>
#include <chrono>
#include <kiln/kiln.hpp>
#include <string>

#include "lane.hpp"

namespace engine {

inline constexpr std::uint32_t kLargestSize = 1024;  ///< above, sums would leave the whole numbers of a float
inline constexpr std::uint32_t kBins = 256;
inline constexpr std::uint32_t kBlock = 4096;  ///< elements that a group of the histogram and the sum takes
inline constexpr std::uint32_t kBands = 4;     ///< of the matrix product
inline constexpr float kTaps[] = {1, 2, 1};
inline constexpr std::uint32_t kRadius = 1;

enum Pass { kUpload, kHistogram, kScan, kMultiply, kConvolve, kReduce, kReadback, kPasses };
[[nodiscard]] const char* name_of(Pass pass);

/// The lists of a frame, each recorded by one thread: tasks of the graph.
enum Task {
  kUploadTask,
  kAnalysisTask,
  kFirstBandTask,
  kFinishTask = kFirstBandTask + kBands,
  kReadbackTask,
  kTasks
};

/// The device's clock around a pass, in ticks.
struct Ticks {
  std::uint64_t start = 0, end = 0;
};

/// The three lanes that frames run on.
struct Lanes {
  Lane main, analysis, copy;

  [[nodiscard]] static kiln::Result<Lanes> create(const kiln::OpenDevice& device, Ways ways);
  [[nodiscard]] const Lane& of(int task) const;
  /// Until all that was submitted is done, or the time is over: before memory goes that it uses. The lanes
  /// know what reached the device, also where a frame was submitted in part. A lost device answers at once.
  void wait(std::chrono::seconds timeout) const;
};

/// What a frame in flight has for itself.
struct Slot {
  kiln::HostBuffer staging, results, ticks;
  kiln::Buffer image, cumulative, filtered, total;
  kiln::Event uploaded, scanned, finished, read;
  std::array<kiln::CommandList, kTasks> lists;  // go first: they name the rest
  std::uint64_t frame = 0;
  bool in_flight = false;

  [[nodiscard]] Ticks* ticks_of(Pass pass) const { return ticks.span<Ticks>().data() + pass; }
};

/// What all frames share, and the slots.
struct Frames {
  std::uint32_t size = 0;      ///< edge of the images
  kiln::HostBuffer constants;  ///< uploaded to the next two
  kiln::Buffer weights, taps, product, bins, partials;
  kiln::EventPool events;
  std::array<Slot, 2> slots;

  /// Fills empty ones. Errors: those of allocations and of the first upload, which then may still run.
  [[nodiscard]] kiln::Result<void> create(const kiln::OpenDevice& device, const Lanes& lanes,
                                          std::uint32_t edge, std::chrono::seconds timeout);
  /// The same with images of half the edge, and so on, where memory does not suffice.
  [[nodiscard]] kiln::Result<void> create_what_fits(const kiln::OpenDevice& device, const Lanes& lanes,
                                                    std::uint32_t edge, std::chrono::seconds timeout);
  [[nodiscard]] std::uint32_t pixels() const { return size * size; }
  [[nodiscard]] std::uint32_t blocks() const { return (pixels() + kBlock - 1) / kBlock; }
};

/// Error: NOT_READY when the time is over first, and a line that says so.
[[nodiscard]] kiln::Result<void> wait_in_time(kiln::EventRef event, std::chrono::seconds timeout,
                                              const std::string& what);

/// The results in host memory: `filtered`, then `cumulative`, then `total`.
struct Results {
  std::span<const std::uint32_t> filtered, cumulative;
  std::uint32_t total = 0;
};
[[nodiscard]] Results results_of(const Slot& slot, std::uint32_t size);

}  // namespace engine
