// SPDX-License-Identifier: MIT
// `kiln run --all`: every sample once, as a table.
#include <algorithm>
#include <cstdio>

#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"
#include "tool/common/session.hpp"
#include "tool/common/table.hpp"
#include "tool/run/measure.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

/// The kernel files of one family after the other; samples of a family follow each other.
class Bundles {
 public:
  Bundles(const OpenDevice& device, Cache& cache, bool watched)
      : device_(device), cache_(cache), options_(watched ? counted_build() : BundleOptions()) {}
  Result<const CheckedKernel*> kernel(const samples::Sample& sample) {
    if (family_ != sample.family) {
      family_ = sample.family;
      bundle_ = find_kernel_files(kernel_folder(), family_).and_then([&](std::vector<KernelFile> files) {
        return Bundle::load(device_, std::move(files), options_, &cache_);
      });
    }
    if (!bundle_) return tl::unexpected(bundle_.error());
    return bundle_->kernel(sample.kernel);
  }

 private:
  const OpenDevice& device_;
  Cache& cache_;
  BundleOptions options_;
  std::string family_;
  Result<Bundle> bundle_ = tl::unexpected(Error(ZE_RESULT_ERROR_UNINITIALIZED, "kiln run"));
};

/// What was seen of one sample.
struct Seen {
  Outcome outcome;
  std::vector<samples::Predicted> predicted;
  std::optional<Counters> counters;  ///< nothing: not asked for

  /// What differs from the prediction, in words.
  [[nodiscard]] std::string difference() const {
    for (const samples::Predicted& p : predicted)
      if (const auto value = counters ? counted(*counters, p) : std::nullopt; value && *value != p.value)
        return std::string(p.what) + ": " + std::to_string(p.value) + " predicted, " +
               std::to_string(*value) + " counted";
    return {};
  }
  [[nodiscard]] std::size_t defects() const { return counters ? counters->defects.size() : 0; }
};

struct SampleRow {
  const samples::Sample& sample;
  Result<Seen> seen;

  [[nodiscard]] const char* answer() const {
    if (!seen) return "not run";
    if (!seen->outcome.executed) return "accepted";
    if (seen->outcome.mismatch) return "WRONG";
    if (seen->defects() > 0) return "DEFECT";
    return seen->difference().empty() ? "ok" : "MISCOUNT";
  }
};

Result<Seen> run_one(const OpenDevice& device, Bundles& bundles, const samples::Sample& sample,
                     const RunOptions& options) {
  const auto kernel = bundles.kernel(sample);
  if (!kernel) return tl::unexpected(kernel.error());
  const auto prepared = sample.prepare(device, {options.size, {}, {}, options.seed.value_or(1)});
  if (!prepared) return tl::unexpected(prepared.error());
  auto outcome = measure(device, *prepared, **kernel, options.repeat);
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  Seen seen{*std::move(outcome), prepared->predicted, std::nullopt};
  if (!options.counters && !options.check_memory) return seen;
  auto counters = read_counters(device, (*kernel)->kernel());
  if (!counters) return tl::unexpected(std::move(counters).error());
  seen.counters = *std::move(counters);
  return seen;
}

Json all_json(const OpenDevice& device, const std::vector<SampleRow>& rows, int status, bool counters) {
  Json list = Json::array();
  for (const SampleRow& row : rows) {
    Json json{{"kernel", row.sample.name}, {"device", device.properties.name}, {"ok", nullptr}};
    if (!row.seen) {
      json["ok"] = false;
      json["error"] = to_json(row.seen.error());
    } else {
      const Outcome& outcome = row.seen->outcome;
      if (outcome.executed) json["ok"] = !outcome.mismatch;
      json["host_ms"] = milliseconds(outcome.host);
      json["device_ms"] = outcome.executed ? Json(milliseconds(outcome.device)) : Json();
      if (row.seen->counters) {
        for (const samples::Predicted& p : row.seen->predicted)
          if (const auto value = counted(*row.seen->counters, p))
            json["counted"].push_back({{"what", p.what}, {"predicted", p.value}, {"counted", *value}});
        json["defects"] = defects_json(*row.seen->counters);
        if (counters) json["counters"] = to_json(*row.seen->counters);
      }
    }
    list.push_back(std::move(json));
  }
  const bool executed = device.kind != DeviceKind::capture;
  Json json{{"device", device.properties.name}, {"ok", status == kOk}, {"samples", std::move(list)}};
  if (!executed && status == kOk) json["ok"] = nullptr;  // all accepted, no answers
  return json;
}

void print_text(const OpenDevice& device, const std::vector<SampleRow>& rows) {
  std::vector<std::vector<std::string>> table{{"SAMPLE", "DEVICE", "ANSWER", "HOST ms", "DEVICE ms"}};
  for (const SampleRow& row : rows) {
    const bool executed = row.seen && row.seen->outcome.executed;
    table.push_back({row.sample.name, device.properties.name, row.answer(),
                     row.seen ? milliseconds_text(row.seen->outcome.host) : "-",
                     executed ? milliseconds_text(row.seen->outcome.device) : "-"});
  }
  print_table(std::move(table), 3, 0, [](std::size_t column, std::string_view cell) {
    return column != 2 ? Paint::none : cell == "ok" || cell == "accepted" ? Paint::good : Paint::bad;
  });
}

/// A cause that several samples in a row share, such as a file that is missing, is told once.
void print_failures(const std::vector<SampleRow>& rows) {
  std::fflush(stdout);
  std::string last;
  for (const SampleRow& row : rows) {
    std::string text;
    if (!row.seen)
      text = row.seen.error().text();
    else if (const auto& wrong = row.seen->outcome.mismatch)
      text = wrong_text(*wrong) + "\n";
    else if (row.seen->defects() == 0 && !row.seen->difference().empty())
      text = row.seen->difference() + "\n";
    if (row.seen && row.seen->defects() > 0)
      text += to_text(to_diagnostic(*row.seen->counters, row.seen->counters->defects[0]));
    if (!text.empty() && text != last) complain("%s: %s", row.sample.name, text.c_str());
    last = std::move(text);
  }
}

/// 1 where an answer is wrong, a defect was found, or the counters differ from the prediction; else what the
/// first sample that was not run ends with alone.
int status_of(const std::vector<SampleRow>& rows) {
  int status = kOk;
  for (const SampleRow& row : rows) {
    if (row.seen &&
        (row.seen->outcome.mismatch || row.seen->defects() > 0 || !row.seen->difference().empty()))
      return kWrongAnswer;
    if (!row.seen && status == kOk) status = exit_code(row.seen.error());
  }
  return status;
}

}  // namespace

int run_all(const RunOptions& options) {
  const auto fail = [&](const Error& error) {
    complain("%s", error.text().c_str());
    if (options.json) print({{"ok", false}, {"error", to_json(error)}});
    return exit_code(error);
  };
  const auto settings = cache_options();
  if (!settings) return fail(settings.error());
  const auto device = open_chosen(options.device);
  if (!device) return fail(device.error());
  const bool watched = options.counters || options.check_memory;
  if (const auto can = can_count(*device); watched && !can) return fail(can.error());
  Cache cache = Cache::open(*settings);
  std::vector<SampleRow> rows;
  {
    Bundles bundles(*device, cache, watched);
    Progress progress(samples::all().size());
    for (const samples::Sample& sample : samples::all()) {
      progress.next(sample.name);
      rows.push_back({sample, run_one(*device, bundles, sample, options)});
    }
  }
  const int status = status_of(rows);
  if (options.json)
    print(all_json(*device, rows, status, options.counters));
  else
    print_text(*device, rows);
  print_failures(rows);
  return status;
}

}  // namespace kiln::tool
