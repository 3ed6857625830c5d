// SPDX-License-Identifier: MIT
// `cpu_device`: kernels on the CPU device, on PoCL and as plain loops, in turns within one process.
// `cpu_device --counters [CASE]`: the CPU device with counters beside itself without.
// `cpu_device --first kiln|pocl CASE`: one small launch in a fresh process, from opening the device to the
// right answer.
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.hpp"

namespace {

using namespace kiln::bench;

constexpr int kTurns = 21, kCountedTurns = 5;
constexpr int kCores = 2;  // that processor time is shared out to beside the plain loop's one thread

/// Of each turn: milliseconds on the clock, and of processor time of all threads, which other work on the
/// machine changes less.
struct Times {
  std::vector<double> clock, processor;

  bool measure(const std::function<bool()>& work) {
    const auto start = std::chrono::steady_clock::now();
    const double before = processor_ms();
    const bool well = work();
    processor.push_back(processor_ms() - before);
    clock.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    return well;
  }

 private:
  static double processor_ms() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
  }
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return median(std::move(ratios));
}

Bytes plain_answer(const Case& what) {
  std::vector<Bytes> buffers = what.buffers;
  what.plain(buffers);
  return buffers[what.answer];
}

// By the largest of all, as what nearly cancels has no more digits.
bool close(const Bytes& answer, const Bytes& exact, float tolerance) {
  if (tolerance == 0 || answer.size() != exact.size()) return answer == exact;
  std::vector<float> a(answer.size() / sizeof(float)), b(a.size());
  std::memcpy(a.data(), answer.data(), answer.size());
  std::memcpy(b.data(), exact.data(), exact.size());
  float largest = 0, error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    if (!(std::abs(a[i] - b[i]) <= error)) error = std::abs(a[i] - b[i]);
  }
  return error <= tolerance * largest;
}

bool answers(Runner& runner, const Case& what) {
  if (!runner.run()) return false;
  const auto answer = runner.read(what.answer);
  return answer && close(*answer, plain_answer(what), what.tolerance);
}

// The first run of each, which must give the right answer, makes what it makes once and does not count.
int compare(const Case& what) {
  std::string kiln_problem, pocl_problem;
  const auto kiln = run_with_kiln(what, kiln_problem), pocl = run_with_opencl(what, pocl_problem);
  if (kiln == nullptr) return std::fprintf(stderr, "%s: %s\n", what.name.c_str(), kiln_problem.c_str()), 1;
  if (!answers(*kiln, what)) return std::fprintf(stderr, "%s: wrong answer of Kiln\n", what.name.c_str()), 1;
  if (pocl != nullptr && !answers(*pocl, what))
    return std::fprintf(stderr, "%s: wrong answer of PoCL\n", what.name.c_str()), 1;
  std::vector<Bytes> buffers = what.buffers;
  Times kiln_times, pocl_times, plain_times;
  const std::array<std::function<bool()>, 3> turns = {
      [&] { return kiln_times.measure([&] { return kiln->run(); }); },
      [&] { return pocl == nullptr || pocl_times.measure([&] { return pocl->run(); }); },
      [&] { return plain_times.measure([&] { return what.plain(buffers), true; }); }};
  for (std::size_t turn = 0; turn < std::size_t{kTurns}; ++turn)
    for (std::size_t i = 0; i < turns.size(); ++i)  // each is first in turn
      if (!turns[(turn + i) % turns.size()]())
        return std::fprintf(stderr, "%s: a run failed\n", what.name.c_str()), 1;
  std::printf("%-24s %9.3f", what.name.c_str(), median(kiln_times.clock));
  const double plain = median(plain_times.clock),
               plain_ratio = median_ratio(plain_times.clock, kiln_times.clock),
               shared_ratio = kCores * median_ratio(plain_times.processor, kiln_times.processor);
  if (pocl != nullptr)
    std::printf(" %9.3f %9.3f %12.2f %17.2f %13.2f %16.2f   PoCL from %s\n", median(pocl_times.clock), plain,
                median_ratio(pocl_times.clock, kiln_times.clock),
                median_ratio(pocl_times.processor, kiln_times.processor), plain_ratio, shared_ratio,
                pocl->from().c_str());
  else
    std::printf(" %9s %9.3f %12s %17s %13.2f %16.2f   %s\n", "-", plain, "-", "-", plain_ratio, shared_ratio,
                pocl_problem.substr(0, pocl_problem.find(':')).c_str());
  return 0;
}

int count(const Case& what) {
  std::string problem;
  const auto plain = run_with_kiln(what, problem), counted = run_with_kiln(what, problem, "-kiln-counters");
  if (plain == nullptr || counted == nullptr)
    return std::fprintf(stderr, "%s: %s\n", what.name.c_str(), problem.c_str()), 1;
  if (!answers(*plain, what) || !answers(*counted, what))
    return std::fprintf(stderr, "%s: wrong answer\n", what.name.c_str()), 1;
  Times plain_times, counted_times;
  for (int turn = 0; turn < kCountedTurns; ++turn)
    if (!plain_times.measure([&] { return plain->run(); }) ||
        !counted_times.measure([&] { return counted->run(); }))
      return std::fprintf(stderr, "%s: a run failed\n", what.name.c_str()), 1;
  std::printf("%-24s %9.3f %12.3f %9.1f\n", what.name.c_str(), median(plain_times.processor),
              median(counted_times.processor), median_ratio(counted_times.processor, plain_times.processor));
  return 0;
}

int first(const std::string& with, const std::string& name) {
  const auto what = make_case(name, true);
  if (!what || (with != "kiln" && with != "pocl")) return 2;
  std::string why;
  const auto runner = with == "kiln" ? run_with_kiln(*what, why) : run_with_opencl(*what, why);
  if (runner == nullptr) return std::fprintf(stderr, "%s\n", why.c_str()), 77;
  if (!answers(*runner, *what)) return std::fprintf(stderr, "wrong answer\n"), 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--first") return first(argv[2], argv[3]);
  if (argc >= 2 && std::string_view(argv[1]) == "--counters") {
    std::printf("%-24s %9s %12s %9s   (processor time, medians of %d turns)\n", "kernel", "kiln ms",
                "counting ms", "slowdown", kCountedTurns);
    int failed = 0;
    for (const std::string& name : case_names())
      if (argc < 3 || name == argv[2]) failed |= count(*make_case(name, false));
    return failed;
  }
  std::printf("%-24s %9s %9s %9s %12s %17s %13s %16s   (medians of %d turns)\n", "kernel", "kiln ms",
              "pocl ms", "plain ms", "pocl / kiln", "in processor time", "plain / kiln", "on 2 idle cores",
              kTurns);
  int failed = 0;
  for (const std::string& name : case_names())
    if (argc < 2 || name == argv[1]) failed |= compare(*make_case(name, false));
  return failed;
}
