// SPDX-License-Identifier: MIT
// `launch_bench TARGET`: nanoseconds a launch, raw and through Kiln, in turns within one run.
// Where the driver has it, the five raw calls as one (zeCommandListAppendLaunchKernelWithArguments) too.
// `launch_bench TARGET --batches raw|kiln|one_call N`: N batches of one kind and nothing else, for callgrind.
// TARGET: stub, cpu[:PRODUCT] or capture:PRODUCT; the latter two with +in-order for a list in order. Ends
// with 77 when the target is not there.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "target.hpp"

namespace {

using kiln::bench::Batch;
using kiln::bench::kBatch;
using kiln::bench::Target;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "launch_bench: %s\n", why);
  std::exit(1);
}

/// Seconds of one batch; the list is emptied outside the measured time.
double time_batch(const Target& target, Batch batch) {
  const auto start = std::chrono::steady_clock::now();
  const int failed = batch(target);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (failed) stop("a launch failed");
  if (!target.reset()) stop("the list cannot be reset");
  return time.count();
}

double median(std::vector<double>& values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// One iteration is a raw batch and a Kiln batch, so that both see the same machine.
void compare(benchmark::State& state, const Target& target) {
  std::vector<double> raw, checked, extra, one_call;
  bool raw_first = false;
  std::size_t turn = 0;
  for (auto _ : state) {
    const kiln::bench::Batches& at = kiln::bench::kBatches[turn++ / 2 % kiln::bench::kPlaces];
    raw_first = !raw_first;
    const double before = raw_first ? time_batch(target, at.raw) : 0;
    checked.push_back(time_batch(target, at.kiln));
    raw.push_back(raw_first ? before : time_batch(target, at.raw));
    extra.push_back(checked.back() - raw.back());
    if (target.with_arguments) one_call.push_back(time_batch(target, at.one_call));
    state.SetIterationTime(raw.back() + checked.back());
  }
  constexpr double kToNanoseconds = 1e9 / kBatch;
  state.counters["raw_ns"] = median(raw) * kToNanoseconds;
  state.counters["kiln_ns"] = median(checked) * kToNanoseconds;
  state.counters["extra_ns"] = median(extra) * kToNanoseconds;
  state.counters["ratio"] = median(checked) / median(raw);
  if (one_call.empty()) return;
  state.counters["one_call_ns"] = median(one_call) * kToNanoseconds;
  state.counters["one_call_ratio"] = median(one_call) / median(raw);
}

/// A plain table of medians over the repetitions.
class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    std::printf("%-16s %10s %10s %10s %8s %12s %8s\n", "launch on", "raw ns", "kiln ns", "extra ns", "ratio",
                "one call ns", "ratio");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Aggregate || run.aggregate_name != "median") continue;
      const auto value = [&](const char* name) { return run.counters.at(name).value; };
      std::printf("%-16s %10.1f %10.1f %10.1f %8.3f", run.run_name.function_name.c_str(), value("raw_ns"),
                  value("kiln_ns"), value("extra_ns"), value("ratio"));
      if (run.counters.contains("one_call_ns"))
        std::printf(" %12.1f %8.3f\n", value("one_call_ns"), value("one_call_ratio"));
      else
        std::printf(" %12s %8s\n", "not there", "");
    }
  }
};

int run_batches(const Target& target, const char* kind, long count) {
  const bool one_call = std::strcmp(kind, "one_call") == 0;
  if (one_call && !target.with_arguments) {
    std::fputs("skipped: neither driver nor loader launches with arguments\n", stderr);
    return 77;
  }
  const Batch batch = one_call                        ? kiln::bench::kBatches[0].one_call
                      : std::strcmp(kind, "raw") == 0 ? kiln::bench::measured_raw_batch
                                                      : kiln::bench::measured_kiln_batch;
  for (long i = 0; i < count; ++i) (void)time_batch(target, batch);
  std::printf("%ld launches\n", count * kBatch);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) stop("name a target: stub, cpu[:PRODUCT] or capture:PRODUCT, or these two with +in-order");
  const auto target = kiln::bench::open_target(argv[1]);
  if (!target) {
    std::fputs(target.error().text().c_str(), stderr);
    return 77;
  }
  if (argc == 5 && std::strcmp(argv[2], "--batches") == 0)
    return run_batches(**target, argv[3], std::atol(argv[4]));

  benchmark::RegisterBenchmark(argv[1], [&](benchmark::State& state) { compare(state, **target); })
      ->UseManualTime()
      ->Repetitions(9)
      ->MinTime(0.1)
      ->ReportAggregatesOnly();
  Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
  return 0;
}
