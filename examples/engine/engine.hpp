// SPDX-License-Identifier: MIT
// The engine: a device, its kernels and frames, and the loop that keeps two frames in flight.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "choice.hpp"
#include "graph.hpp"
#include "recorders.hpp"

namespace engine {

/// What became of a frame.
struct Outcome {
  std::uint64_t frame = 0;
  std::uint32_t size = 0;
  std::uint32_t total = 0;
  std::string wrong;  ///< with Options::check: what differs from the host's; empty: nothing
  std::array<std::chrono::nanoseconds, kPasses> times{};
};
using Sink = std::function<void(const Outcome&)>;

/// All that belongs to one opening of a device: when that is lost, this goes, and another one is started.
class Engine {
 public:
  /// `cache` must outlive it.
  [[nodiscard]] static kiln::Result<std::unique_ptr<Engine>> start(const Options& options,
                                                                   kiln::Cache& cache);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Submits a frame. What became of the one before the last goes to `sink`.
  [[nodiscard]] kiln::Result<void> frame(std::uint64_t number, const Sink& sink);
  /// Waits for all frames.
  [[nodiscard]] kiln::Result<void> finish(const Sink& sink);

  [[nodiscard]] const kiln::OpenDevice& device() const { return device_; }
  [[nodiscard]] const Ways& ways() const { return ways_; }
  [[nodiscard]] std::uint32_t size() const { return frames_.size; }
  [[nodiscard]] std::uint32_t tile() const { return tile_; }
  [[nodiscard]] unsigned reloads() const { return reloads_; }

 private:
  Engine(const Options& options, kiln::Cache& cache)
      : options_(options), cache_(cache), watch_(options.watch), recorders_(options.threads) {}
  [[nodiscard]] kiln::Result<void> open();
  [[nodiscard]] kiln::Result<void> reload(const Sink& sink);
  [[nodiscard]] kiln::Result<void> submit_readback();
  [[nodiscard]] kiln::Result<void> take(Slot& slot, const Sink& sink);

  const Options& options_;
  kiln::Cache& cache_;
  Watch watch_;
  kiln::OpenDevice device_;
  Ways ways_;
  Library library_;
  std::vector<Kernels> kernels_;  // one set a thread
  Frames frames_;
  Lanes lanes_;
  Slot* unread_ = nullptr;  // computed, its readback not yet submitted
  std::uint32_t tile_ = 0;
  unsigned reloads_ = 0;
  Recorders recorders_;
};

}  // namespace engine
