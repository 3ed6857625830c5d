// SPDX-License-Identifier: MIT
// Starts the engine, keeps frames in flight, and takes new kernels between two of them.
#include "engine.hpp"

#include "reference.hpp"
#include "say.hpp"

namespace engine {

using namespace kiln;

Result<std::unique_ptr<Engine>> Engine::start(const Options& options, Cache& cache) {
  std::unique_ptr<Engine> made(new Engine(options, cache));
  KILN_TRY(made->open());
  return made;
}

Result<void> Engine::open() {
  KILN_TRY(const auto all, candidates(options_.device));
  KILN_TRY(const auto chosen, choose(all, options_.pick));
  KILN_TRY(device_, open_device(chosen.selected, chosen.kind));
  say("%s (%s, %s)", chosen.properties.name.c_str(), type_of(chosen), uuid_of(chosen).c_str());
  KILN_TRY(ways_, ways_of(device_.driver, options_.submission));
  KILN_TRY(lanes_, Lanes::create(device_, ways_));
  const auto folder = options_.kernels.empty() ? kernel_folder() : options_.kernels;
  KILN_TRY(library_, Library::load(device_, folder, cache_));
  kernels_.resize(recorders_.count());
  KILN_TRY(recorders_.run([&](unsigned thread) -> Result<void> {
    KILN_TRY(kernels_[thread], library_.make());
    return {};
  }));
  tile_ = tile_that_fits(kernels_[0].multiply, options_.tile);
  return frames_.create_what_fits(device_, lanes_, options_.size, options_.timeout);
}

Engine::~Engine() { lanes_.wait(options_.timeout); }

Result<void> Engine::frame(std::uint64_t number, const Sink& sink) {
  if (watch_.changed()) KILN_TRY(reload(sink));
  Slot& slot = frames_.slots[number % frames_.slots.size()];
  KILN_TRY(take(slot, sink));
  slot.frame = number;
  write_image(slot.staging.span<std::uint8_t>(), frames_.size, number);

  KILN_TRY(recorders_.run([&](unsigned thread) -> Result<void> {
    for (unsigned task = thread; task < kTasks; task += recorders_.count())
      KILN_TRY(record(static_cast<Task>(task), frames_, slot, lanes_, kernels_[thread], tile_));
    return {};
  }));

  std::array<CommandListRef, kTasks> lists;
  for (std::size_t i = 0; i < lists.size(); ++i) lists[i] = slot.lists[i].get();
  const std::span all(lists);
  // Whatever a list waits for was submitted before it, so that one queue for all lanes would do. The next
  // upload goes before the last readback: behind it, it would wait for the frame that is read back.
  KILN_TRY(lanes_.copy.submit(all.subspan(kUploadTask, 1)));
  KILN_TRY(submit_readback());
  KILN_TRY(lanes_.analysis.submit(all.subspan(kAnalysisTask, 1)));
  slot.in_flight = true;
  unread_ = &slot;
  return lanes_.main.submit(all.subspan(kFirstBandTask, kBands + 1));
}

Result<void> Engine::submit_readback() {
  if (!unread_) return {};
  const CommandListRef list = unread_->lists[kReadbackTask].get();
  KILN_TRY(lanes_.copy.submit(std::span(&list, 1)));
  unread_ = nullptr;
  return {};
}

Result<void> Engine::take(Slot& slot, const Sink& sink) {
  if (!slot.in_flight) return {};
  KILN_TRY(wait_in_time(slot.read.get(), options_.timeout, "frame " + std::to_string(slot.frame)));
  for (const EventRef event : {slot.uploaded.get(), slot.scanned.get(), slot.finished.get(), slot.read.get()})
    KILN_TRY(event.reset());
  slot.in_flight = false;

  const Results results = results_of(slot, frames_.size);
  Outcome outcome;
  outcome.frame = slot.frame;
  outcome.size = frames_.size;
  outcome.total = results.total;
  if (options_.check) outcome.wrong = compare(results, frames_.size, slot.frame);
  for (int pass = 0; pass < kPasses; ++pass) {
    const Ticks ticks = *slot.ticks_of(static_cast<Pass>(pass));
    const DeviceProperties& device = device_.properties;
    outcome.times[static_cast<std::size_t>(pass)] =
        timestamp_duration(ticks.start, ticks.end, device.timestamp_bits, device.timer_ticks_per_second);
  }
  sink(outcome);
  return {};
}

Result<void> Engine::finish(const Sink& sink) {
  KILN_TRY(submit_readback());
  Slot &first = frames_.slots[0], &second = frames_.slots[1];
  const bool turned = second.in_flight && (!first.in_flight || second.frame < first.frame);
  KILN_TRY(take(turned ? second : first, sink));
  return take(turned ? first : second, sink);
}

Result<void> Engine::reload(const Sink& sink) {
  const auto stays = [&](const Error& error) -> Result<void> {
    if (device_.device.status() != ZE_RESULT_SUCCESS) return tl::unexpected(error);
    say("the kernel stays as it is: %s", error.text().c_str());
    return {};
  };
  auto compiled = Library::compile(device_, watch_.file(), cache_);
  if (!compiled) return stays(compiled.error());
  // All kernels of the new one before any of the old one goes: it may have no kernel `convolve`.
  std::vector<OwnKernel> fresh(recorders_.count());
  const auto made = recorders_.run([&](unsigned thread) -> Result<void> {
    KILN_TRY(fresh[thread], compiled->make_kernel("convolve"));
    return {};
  });
  if (!made) return stays(made.error());
  KILN_TRY(finish(sink));  // the device may be at work on the old one
  for (std::size_t i = 0; i < fresh.size(); ++i) kernels_[i].convolve = std::move(fresh[i]);
  library_.replace_convolve(*std::move(compiled));
  ++reloads_;
  say("the kernel is that of %s now", watch_.file().c_str());
  return {};
}

}  // namespace engine
