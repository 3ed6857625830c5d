// SPDX-License-Identifier: MIT
// An engine on Level Zero: a graph of five kernels over frames in flight, on three lanes, recorded by several
// threads.
#include <algorithm>
#include <cstdio>
#include <map>

#include "engine.hpp"
#include "say.hpp"

namespace {

using namespace engine;
using namespace std::chrono;

double microseconds(nanoseconds time) { return duration<double, std::micro>(time).count(); }

/// What is told of a run, line by line or as JSON at its end.
class Report {
 public:
  explicit Report(const Options& options) : options_(options) {}

  void add(const Outcome& outcome) {
    outcomes_[outcome.frame] = outcome;
    if (!outcome.wrong.empty()) say("frame %lu is wrong: %s", outcome.frame, outcome.wrong.c_str());
    if (!options_.json) print_line(outcome);
  }
  [[nodiscard]] std::uint64_t frames() const { return outcomes_.size(); }
  [[nodiscard]] bool right() const {
    return std::ranges::none_of(outcomes_, [](const auto& each) { return !each.second.wrong.empty(); });
  }
  unsigned losses = 0, reloads = 0;

  void print_json(const Engine* last, const std::string& error) const {
    std::printf("{\n  \"frames\": [\n");
    for (const auto& [number, outcome] : outcomes_)
      std::printf(
          "    {\"frame\": %lu, \"size\": %u, \"total\": %u, \"wrong\": %s, \"microseconds\": {%s}}%s\n",
          number, outcome.size, outcome.total, json_text(outcome.wrong).c_str(), times(outcome).c_str(),
          number == outcomes_.rbegin()->first ? "" : ",");
    std::printf("  ],\n");
    if (last)
      std::printf("  \"device\": %s, \"in_order\": %s, \"append\": %s, \"tile\": %u,\n",
                  json_text(last->device().properties.name).c_str(), last->ways().in_order ? "true" : "false",
                  last->ways().append ? "true" : "false", last->tile());
    std::printf("  \"threads\": %u, \"losses\": %u, \"reloads\": %u, \"checked\": %s, \"error\": %s\n}\n",
                options_.threads, losses, reloads, options_.check ? "true" : "false",
                json_text(error).c_str());
  }

 private:
  [[nodiscard]] static std::string times(const Outcome& outcome) {
    std::string text;
    for (int pass = 0; pass < kPasses; ++pass) {
      char part[64];
      std::snprintf(part, sizeof part, "%s\"%s\": %.1f", pass ? ", " : "", name_of(static_cast<Pass>(pass)),
                    microseconds(outcome.times[static_cast<std::size_t>(pass)]));
      text += part;
    }
    return text;
  }
  void print_line(const Outcome& outcome) const {
    std::printf("frame %lu: total %u%s, microseconds:", outcome.frame, outcome.total,
                !options_.check         ? ""
                : outcome.wrong.empty() ? ", right"
                                        : ", wrong");
    for (int pass = 0; pass < kPasses; ++pass)
      std::printf(" %s %.1f", name_of(static_cast<Pass>(pass)),
                  microseconds(outcome.times[static_cast<std::size_t>(pass)]));
    std::printf("\n");
    std::fflush(stdout);
  }

  const Options& options_;
  std::map<std::uint64_t, Outcome> outcomes_;
};

/// The frames that are left, on one opening of the device.
kiln::Result<void> run(Engine& engine, const Options& options, Report& report) {
  const auto sink = [&](const Outcome& outcome) { report.add(outcome); };
  for (std::uint64_t number = report.frames(); number < options.frames; ++number) {
    if (options.step) {
      // All that was submitted is told first, so that who steps sees each frame.
      KILN_TRY(engine.finish(sink));
      for (int c = 0; c != '\n' && c != EOF;) c = std::getchar();
    }
    KILN_TRY(engine.frame(number, sink));
  }
  return engine.finish(sink);
}

/// As Kiln tells it, also where the driver calls it lack of memory.
bool is_lost(const kiln::Error& error) {
  return error.code() == ZE_RESULT_ERROR_DEVICE_LOST ||
         (error.diagnostic() && error.diagnostic()->code == "K0220");
}

/// Opens the device as often as it is lost, as long as frames come out in between.
kiln::Result<void> run_through_losses(const Options& options, kiln::Cache& cache, Report& report,
                                      std::unique_ptr<Engine>& engine) {
  for (std::uint64_t before = 0;; ++report.losses) {
    engine.reset();  // what was made on the old device goes before the new one is opened
    auto started = Engine::start(options, cache);
    if (started) engine = *std::move(started);
    const kiln::Result<void> done =
        engine ? run(*engine, options, report) : kiln::Result<void>(tl::unexpected(started.error()));
    if (engine) report.reloads += engine->reloads();
    if (done || !is_lost(done.error())) return done;
    if (report.losses > 0 && report.frames() == before) return done;
    before = report.frames();
    say("the device is lost; it is opened again: %s", done.error().text().c_str());
  }
}

int list_devices(const Options& options) {
  const auto all = candidates(options.device);
  if (!all) return say("%s", all.error().text().c_str()), 4;
  for (const Candidate& each : *all)
    std::printf("%s: uuid:%s%s%s type:%s\n", each.properties.name.c_str(), uuid_of(each).c_str(),
                each.identity.pci ? " pci:" : "", pci_of(each).c_str(), type_of(each));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const auto parsed = parse(count, words);
  if (!parsed.options) return parsed.status;
  Options options = *parsed.options;
  if (const char* const asked = std::getenv("KILN_DEVICE"); options.device.empty() && asked)
    options.device = asked;
  if (const auto request = kiln::parse_device_request(options.device); !options.device.empty() && !request)
    return say("%s", request.error().text().c_str()), 2;
  if (options.list_devices) return list_devices(options);
  kiln::set_log_sink(
      [](void*, kiln::LogLevel level, std::string_view line) {
        if (level != kiln::LogLevel::debug) say("%.*s", static_cast<int>(line.size()), line.data());
      },
      nullptr);

  const auto settings = kiln::cache_options();
  if (!settings) return say("%s", settings.error().text().c_str()), 2;
  kiln::Cache cache = kiln::Cache::open(*settings);
  Report report(options);
  std::unique_ptr<Engine> engine;
  const auto done = run_through_losses(options, cache, report, engine);
  const std::string error = done ? "" : done.error().text();
  if (!done) say("%s", error.c_str());
  if (options.json) report.print_json(engine.get(), error);
  if (!done && !engine && report.losses == 0) return 4;
  return done && report.right() ? 0 : 1;
}
