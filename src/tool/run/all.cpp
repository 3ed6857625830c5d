// SPDX-License-Identifier: MIT
// `kiln run --all`: every sample once, as a table.
#include <algorithm>
#include <cstdio>

#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"
#include "tool/common/session.hpp"
#include "tool/common/table.hpp"
#include "tool/executed/executed.hpp"
#include "tool/run/measure.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

/// The kernel files of one family after the other; samples of a family follow each other.
class Bundles {
 public:
  Bundles(const OpenDevice& device, Cache& cache, BundleOptions options)
      : device_(device), cache_(cache), options_(std::move(options)) {}
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
  /// Of the last kernel.
  [[nodiscard]] const Bundle& bundle() const { return *bundle_; }

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
  std::optional<Counters> counters{};  ///< nothing: not asked for, or a simulated GPU
  Json native{};                       ///< what that executed; null: not asked for

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
  const bool native = is_executed_counted(device, options);
  if (native) KILN_TRY(begin_executed(device));
  auto outcome = measure(device, *prepared, **kernel, options.repeat);
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  Seen seen{.outcome = *std::move(outcome), .predicted = prepared->predicted};
  if (native) {
    KILN_TRY(const auto executed, read_executed(device, bundles.bundle(), sample.kernel));
    seen.native = executed_json(executed, Json());
    seen.native.erase("code");  // of all samples: thousands of lines
  }
  if (native || (!options.counters && !options.check_memory)) return seen;
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
      if (!row.seen->native.is_null()) json["native_counters"] = row.seen->native;
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

/// What a simulated GPU executed, in place of times, which mean nothing there.
void print_executed_rows(const std::vector<SampleRow>& rows) {
  std::vector<std::vector<std::string>> table{
      {"SAMPLE", "ANSWER", "INSTRUCTIONS", "LANES %", "MESSAGES", "LINES", "CONFLICTS", "SCRATCH B"}};
  for (const SampleRow& row : rows) {
    std::vector<std::string>& cells =
        table.emplace_back(std::vector<std::string>{row.sample.name, row.answer()});
    if (!row.seen) {
      cells.resize(table.front().size(), "-");
      continue;
    }
    const Json& native = row.seen->native;
    std::uint64_t messages = 0, lines = 0, conflicts = 0;
    for (const Json& each : native["messages"]) {
      messages += each["messages"].get<std::uint64_t>();
      lines += each.value("lines", std::uint64_t{0});
      conflicts += each.value("conflict_turns", std::uint64_t{0});
    }
    char share[32] = "-";
    if (native["simd_efficiency"].is_number())
      std::snprintf(share, sizeof share, "%.1f", 100 * native["simd_efficiency"].get<double>());
    for (const std::string& cell :
         {std::to_string(native["instructions"].get<std::uint64_t>()), std::string(share),
          std::to_string(messages), std::to_string(lines), std::to_string(conflicts),
          std::to_string(native["scratch"]["bytes"].get<std::uint64_t>())})
      cells.push_back(cell);
  }
  print_table(std::move(table), 2, 0, [](std::size_t column, std::string_view cell) {
    return column != 1 ? Paint::none : cell == "ok" ? Paint::good : Paint::bad;
  });
  const auto known = std::ranges::find_if(rows, [](const SampleRow& row) { return row.seen.has_value(); });
  if (known != rows.end()) say("%s\n", known->seen->native["note"].get<std::string>().c_str());
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
  const bool native = is_executed_counted(*device, options);
  const bool watched = (options.counters && !native) || options.check_memory;
  if (const auto can = can_count(*device); watched && !can) return fail(can.error());
  Cache cache = Cache::open(*settings);
  std::vector<SampleRow> rows;
  {
    BundleOptions build = watched ? counted_build() : BundleOptions();
    if (native) build.flags = kReadableCode;
    Bundles bundles(*device, cache, std::move(build));
    Progress progress(samples::all().size());
    for (const samples::Sample& sample : samples::all()) {
      progress.next(sample.name);
      rows.push_back({sample, run_one(*device, bundles, sample, options)});
    }
  }
  const int status = status_of(rows);
  if (options.json)
    print(all_json(*device, rows, status, options.counters));
  else if (native)
    print_executed_rows(rows);
  else
    print_text(*device, rows);
  print_failures(rows);
  return status;
}

}  // namespace kiln::tool
