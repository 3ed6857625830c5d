// SPDX-License-Identifier: MIT
// `engine_bench DEVICE [EDGE]`: a frame of the example engine, recorded by one thread, raw and through Kiln
// in turns, and kernels that are made on one thread and on several; the same again on a driver that does
// nothing, which is Kiln's own part. Ends with 77 when the device is not there.
// `engine_bench DEVICE --batches raw|kiln N`: N frames on a driver that does nothing, for callgrind.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "nothing.hpp"
#include "raw.hpp"
#include "reference.hpp"

namespace {

using namespace kiln;
using bench::Subject;
using Clock = std::chrono::steady_clock;

[[noreturn]] void stop(const char* why, int status = 1) {
  std::fprintf(stderr, "engine_bench: %s\n", why);
  std::exit(status);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

Result<std::unique_ptr<Subject>> open(const char* name, std::uint32_t size) {
  auto subject = std::make_unique<Subject>();
  KILN_TRY(const auto request, parse_device_request(name));
  KILN_TRY(subject->device, open_device(request));
  KILN_TRY(subject->ways, engine::ways_of(subject->device.driver, engine::Submission::automatic));
  KILN_TRY(subject->lanes, engine::Lanes::create(subject->device, subject->ways));
  CacheOptions options;
  options.mode = CacheMode::off;
  Cache none = Cache::open(options);
  KILN_TRY(subject->library, engine::Library::load(subject->device, kernel_folder(), none));
  KILN_TRY(subject->kernels, subject->library.make());
  subject->tile = engine::tile_that_fits(subject->kernels.multiply, 16);
  KILN_TRY(subject->frames.create(subject->device, subject->lanes, size, std::chrono::seconds(60)));
  engine::write_image(subject->frames.slots[0].staging.span<std::uint8_t>(), size, 0);
  return subject;
}

/// The engine's own recording.
Result<void> kiln_record(const Subject& subject) {
  for (int task = 0; task < engine::kTasks; ++task)
    KILN_TRY(engine::record(static_cast<engine::Task>(task), subject.frames, subject.frames.slots[0],
                            subject.lanes, subject.kernels, subject.tile));
  return {};
}

/// As raw_submit().
Result<void> kiln_submit(const Subject& subject) {
  const engine::Slot& slot = subject.frames.slots[0];
  std::array<CommandListRef, engine::kTasks> lists;
  for (std::size_t i = 0; i < lists.size(); ++i) lists[i] = slot.lists[i].get();
  const std::span<const CommandListRef> all(lists);
  KILN_TRY(subject.lanes.copy.submit(all.subspan(engine::kUploadTask, 1)));
  KILN_TRY(subject.lanes.analysis.submit(all.subspan(engine::kAnalysisTask, 1)));
  KILN_TRY(subject.lanes.main.submit(all.subspan(engine::kFirstBandTask, engine::kBands + 1)));
  KILN_TRY(subject.lanes.copy.submit(all.subspan(engine::kReadbackTask, 1)));
  KILN_TRY(slot.read->wait());
  for (const EventRef event : {slot.uploaded.get(), slot.scanned.get(), slot.finished.get(), slot.read.get()})
    KILN_TRY(event.reset());
  return {};
}

void need(const char* failed) {
  if (failed) stop(failed);
}
void need(const Result<void>& done) {
  if (!done) stop(done.error().text().c_str());
}

void record(const Subject& subject, bool raw) {
  raw ? need(bench::raw_record(subject)) : need(kiln_record(subject));
}
void submit(const Subject& subject, bool raw) {
  raw ? need(bench::raw_submit(subject)) : need(kiln_submit(subject));
}

constexpr int kBatch = 16;

/// Seconds of one recording, of a batch of them that nothing runs.
double time_recording(const Subject& subject, bool raw) {
  const auto start = Clock::now();
  for (int i = 0; i < kBatch; ++i) record(subject, raw);
  const std::chrono::duration<double> time = Clock::now() - start;
  return time.count() / kBatch;
}

/// Seconds of a frame, from its recording until the host has its results.
double time_frame(const Subject& subject, bool raw) {
  const auto start = Clock::now();
  record(subject, raw);
  submit(subject, raw);
  const std::chrono::duration<double> time = Clock::now() - start;
  return time.count();
}

void check(const Subject& subject, bool raw) {
  if (subject.device.kind == DeviceKind::capture) return;
  const engine::Slot& slot = subject.frames.slots[0];
  std::ranges::fill(slot.results.span<std::uint32_t>(), 0u);
  record(subject, raw);
  submit(subject, raw);
  const auto wrong = engine::compare(engine::results_of(slot, subject.frames.size), subject.frames.size, 0);
  if (!wrong.empty()) stop(wrong.c_str());
}

/// Seconds of many turns.
struct Turns {
  std::vector<double> raw, checked, ratio;

  void add(double raw_time, double checked_time) {
    raw.push_back(raw_time);
    checked.push_back(checked_time);
    ratio.push_back(checked_time / raw_time);
  }
  void print(const char* what) const {
    std::printf("%-16s %10.1f %10.1f %14.3f %14.3f\n", what, median(raw) * 1e6, median(checked) * 1e6,
                median(checked) / median(raw), median(ratio));
  }
};

/// Both ways in turns, for 401 turns or 15 seconds.
Turns take_turns(const Subject& subject, double (*time)(const Subject&, bool)) {
  Turns turns;
  const auto enough = Clock::now() + std::chrono::seconds(15);
  for (int turn = 0; turn < 401 && (turn < 21 || Clock::now() < enough); ++turn) {
    const bool first = turn % 2 == 0;
    const double one = time(subject, first), other = time(subject, !first);
    turns.add(first ? one : other, first ? other : one);
  }
  return turns;
}

void compare_frames(const Subject& subject, const char* name) {
  for (const bool raw : {true, false}) check(subject, raw);
  std::printf("%-16s %10s %10s %14s %14s\n", name, "raw us", "kiln us", "of medians", "of turns");
  take_turns(subject, time_recording).print("recording");
  take_turns(subject, time_frame).print("whole frame");
}

/// Kernels a second in the quickest of many rounds, in each of which so many threads begin together, make
/// kernels of their own and let them go. Other programs make rounds longer, so that the quickest one says
/// what the threads cost each other. Threads stay on cores of their own, as far as there are.
double kernels_a_second(const Subject& subject, unsigned threads) {
  constexpr unsigned kRounds = 300, kKernels = 200;
  std::atomic<unsigned> arrived = 0;
  std::atomic<bool> failed = false;
  std::vector<std::vector<std::pair<Clock::time_point, Clock::time_point>>> times(threads);
  std::vector<std::thread> all;
  for (auto& mine : times)
    all.emplace_back([&, core = all.size() % std::max(1u, std::thread::hardware_concurrency())] {
      cpu_set_t cores;
      CPU_ZERO(&cores);
      CPU_SET(core, &cores);
      (void)sched_setaffinity(0, sizeof cores, &cores);  // where that core may be used
      mine.reserve(kRounds);
      for (unsigned round = 1; round <= kRounds; ++round) {
        ++arrived;
        while (arrived < threads * round)
          if (threads > std::thread::hardware_concurrency()) std::this_thread::yield();
        const auto start = Clock::now();
        for (unsigned k = 0; k < kKernels; ++k)
          if (!subject.library.make_multiply()) failed = true;
        mine.emplace_back(start, Clock::now());
      }
    });
  for (std::thread& each : all) each.join();
  if (failed) stop("a kernel cannot be made");
  auto quickest = Clock::duration::max();
  for (unsigned round = 0; round < kRounds; ++round) {
    auto [start, end] = times[0][round];
    for (const auto& mine : times) {
      start = std::min(start, mine[round].first);
      end = std::max(end, mine[round].second);
    }
    quickest = std::min(quickest, end - start);
  }
  return threads * kKernels / std::chrono::duration<double>(quickest).count();
}

/// A thread a core, and eight.
void compare_threads(const Subject& subject, const char* name) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  double one = 0, all = 0, eight = 0;
  for (int turn = 0; turn < 5; ++turn) {
    one = std::max(one, kernels_a_second(subject, 1));
    all = std::max(all, kernels_a_second(subject, cores));
    eight = std::max(eight, kernels_a_second(subject, 8));
  }
  std::printf("%-16s %10s %10s %14s %14s %14s\n", "make_kernel on", "1 thread/s", "all/s", "cores", "times",
              "8 threads");
  std::printf("%-16s %10.0f %10.0f %14u %14.2f %14.2f\n", name, one, all, cores, all / one, eight / one);
}

}  // namespace

// With C names, for callgrind's --toggle-collect.
extern "C" [[gnu::noinline]] void measured_raw_batch(const Subject& subject) {
  record(subject, true);
  submit(subject, true);
}
extern "C" [[gnu::noinline]] void measured_kiln_batch(const Subject& subject) {
  record(subject, false);
  submit(subject, false);
}

int main(int count, char** words) {
  if (count < 2) stop("name a device: cpu[:PRODUCT], capture:PRODUCT, gpu or driver:LIBRARY");
  const bool frames = count == 5 && std::strcmp(words[2], "--batches") == 0;
  const long size = count > 2 && !frames ? std::atol(words[2]) : 64;
  if (size < 1 || size > engine::kLargestSize) stop("the edge of the images is a number from 1 to 1024");
  const auto subject = open(words[1], static_cast<std::uint32_t>(size));
  if (!subject) stop(subject.error().text().c_str(), 77);
  if (!frames) {
    compare_frames(**subject, words[1]);
    compare_threads(**subject, words[1]);
  }
  const bench::Nothing nothing((*subject)->device.driver.api());
  if (frames) {
    const auto frame = std::strcmp(words[3], "raw") == 0 ? measured_raw_batch : measured_kiln_batch;
    for (long i = std::atol(words[4]); i > 0; --i) frame(**subject);
    return 0;
  }
  std::printf("%-16s %10s %10s %14s %14s\n", "nothing", "raw us", "kiln us", "of medians", "of turns");
  take_turns(**subject, time_frame).print("whole frame");
  compare_threads(**subject, "nothing");
  return 0;
}
