// SPDX-License-Identifier: MIT
// `kiln run --all`: every sample once, as a table.
#include <algorithm>
#include <cstdio>

#include "cli/measure.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"

namespace kiln::cli {
namespace {

/// The kernel files of one family after the other; samples of a family follow each other.
class Bundles {
 public:
  Bundles(const OpenDevice& device, Cache& cache) : device_(device), cache_(cache) {}
  Result<const CheckedKernel*> kernel(const samples::Sample& sample) {
    if (family_ != sample.family) {
      family_ = sample.family;
      bundle_ = find_kernel_files(kernel_folder(), family_).and_then([&](std::vector<KernelFile> files) {
        return Bundle::load(device_, std::move(files), {}, &cache_);
      });
    }
    if (!bundle_) return tl::unexpected(bundle_.error());
    return bundle_->kernel(sample.kernel);
  }

 private:
  const OpenDevice& device_;
  Cache& cache_;
  std::string family_;
  Result<Bundle> bundle_ = tl::unexpected(Error(ZE_RESULT_ERROR_UNINITIALIZED, "kiln run"));
};

struct Row {
  const samples::Sample& sample;
  Result<Outcome> outcome;

  [[nodiscard]] const char* answer() const {
    if (!outcome) return "not run";
    if (!outcome->executed) return "accepted";
    return outcome->mismatch ? "WRONG" : "ok";
  }
};

Result<Outcome> run_one(const OpenDevice& device, Bundles& bundles, const samples::Sample& sample,
                        const RunOptions& options) {
  const auto kernel = bundles.kernel(sample);
  if (!kernel) return tl::unexpected(kernel.error());
  const auto prepared = sample.prepare(device, {options.size, {}, {}, options.seed});
  if (!prepared) return tl::unexpected(prepared.error());
  return measure(device, *prepared, **kernel, options.repeat);
}

ordered_json as_json(const OpenDevice& device, const std::vector<Row>& rows, int status) {
  ordered_json list = ordered_json::array();
  for (const Row& row : rows) {
    ordered_json json{{"kernel", row.sample.name}, {"device", device.properties.name}, {"ok", nullptr}};
    if (!row.outcome) {
      json["ok"] = false;
      json["error"] = to_json(row.outcome.error());
    } else {
      const bool executed = row.outcome->executed;
      if (executed) json["ok"] = !row.outcome->mismatch;
      json["host_ms"] = milliseconds(row.outcome->host);
      json["device_ms"] = executed ? ordered_json(milliseconds(row.outcome->device)) : ordered_json();
    }
    list.push_back(std::move(json));
  }
  const bool executed = device.kind != DeviceKind::capture;
  ordered_json json{{"device", device.properties.name}, {"ok", status == kOk}, {"samples", std::move(list)}};
  if (!executed && status == kOk) json["ok"] = nullptr;  // all accepted, no answers
  return json;
}

std::string decimal(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", milliseconds(time));
  return text;
}

void print_text(const OpenDevice& device, const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> table{{"SAMPLE", "DEVICE", "ANSWER", "HOST ms", "DEVICE ms"}};
  for (const Row& row : rows) {
    const bool executed = row.outcome && row.outcome->executed;
    table.push_back({row.sample.name, device.properties.name, row.answer(),
                     row.outcome ? decimal(row.outcome->host) : "-",
                     executed ? decimal(row.outcome->device) : "-"});
  }
  print_table(std::move(table), 3);
}

/// A cause that several samples in a row share, such as a file that is missing, is told once.
void print_failures(const std::vector<Row>& rows) {
  std::fflush(stdout);
  std::string last;
  for (const Row& row : rows) {
    std::string text;
    if (!row.outcome)
      text = row.outcome.error().text();
    else if (const auto& wrong = row.outcome->mismatch)
      text = wrong_text(*wrong) + "\n";
    if (!text.empty() && text != last) std::fprintf(stderr, "%s: %s", row.sample.name, text.c_str());
    last = std::move(text);
  }
}

/// 1 where an answer is wrong, else what the first sample that was not run ends with alone.
int status_of(const std::vector<Row>& rows) {
  int status = kOk;
  for (const Row& row : rows) {
    if (row.outcome && row.outcome->mismatch) return kWrongAnswer;
    if (!row.outcome && status == kOk) status = exit_code(row.outcome.error());
  }
  return status;
}

}  // namespace

int run_all(const RunOptions& options) {
  const auto fail = [&](const Error& error) {
    std::fputs(error.text().c_str(), stderr);
    if (options.json) print({{"ok", false}, {"error", to_json(error)}});
    return exit_code(error);
  };
  const auto settings = cache_options();
  if (!settings) return fail(settings.error());
  const auto device = open_chosen(options.device);
  if (!device) return fail(device.error());
  Cache cache = Cache::open(*settings);
  std::vector<Row> rows;
  {
    Bundles bundles(*device, cache);
    Progress progress(samples::all().size());
    for (const samples::Sample& sample : samples::all()) {
      progress.next(sample.name);
      rows.push_back({sample, run_one(*device, bundles, sample, options)});
    }
  }
  const int status = status_of(rows);
  if (options.json)
    print(as_json(*device, rows, status));
  else
    print_text(*device, rows);
  print_failures(rows);
  return status;
}

}  // namespace kiln::cli
