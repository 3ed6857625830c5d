// SPDX-License-Identifier: MIT
// `kiln run FILE --against OTHER`: two kernels, files, option sets or devices side by side, and whether their
// answers agree.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "support/private_folder.hpp"
#include "support/process.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/kernel/npy.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/file_command.hpp"

namespace kiln::tool {
namespace {

/// The options of the other run. A path on the command line is meant from this folder.
RunOptions other_options(RunOptions options) {
  const std::string other = std::move(options.against);
  options.against.clear();
  if (other.starts_with("device=")) {
    options.device = other.substr(7);
  } else if (other.starts_with("options=")) {
    options.flags = other.substr(8);
  } else if (other.starts_with("group=")) {
    options.group_extent = other.substr(6);
  } else if (other.starts_with(":")) {
    options.kernel = parse_kernel_name(options.kernel).file + other;
  } else {
    const KernelName here = parse_kernel_name(options.kernel), there = parse_kernel_name(other);
    const std::string kernel = there.kernel.empty() ? here.kernel : there.kernel;
    options.kernel = std::filesystem::absolute(there.file).string() + (kernel.empty() ? "" : ":" + kernel);
  }
  return options;
}

std::vector<std::string> words_of(const RunOptions& options) {
  std::vector<std::string> words{"/proc/self/exe", "run",
                                 options.kernel,   "--json",
                                 "--repeat",       std::to_string(options.repeat),
                                 "--seed",         std::to_string(options.seed)};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + "=" + value);
  };
  add("--device", options.device);
  add("--groups", options.groups);
  add("--group", options.group_extent);
  add("--global", options.global);
  add("--options", options.flags);
  for (const std::string& each : options.arguments) add("--arg", each);
  for (const std::string& each : options.locals) add("--local", each);
  return words;
}

/// One buffer of the two runs.
struct ComparedBuffer {
  std::string name;
  std::uint64_t numbers = 0;
  Difference difference;
};

Error why_other_failed(const std::string& other, const ProcessResult& ended,
                       std::chrono::milliseconds limit) {
  const Json answer = Json::parse(ended.out).value_or(Json());
  std::string said;
  if (answer.contains("error") && answer["error"].contains("message"))
    said = answer["error"].value("code", "") + ": " + answer["error"]["message"].get<std::string>();
  return failed_other_run(other, ended.ended_by(limit), said);
}

void print_compared(const Json& here, const Json& there, const std::vector<ComparedBuffer>& buffers,
                    const std::string& other) {
  std::vector<std::vector<std::string>> table{{"", "DEVICE", "DEVICE ms", "HOST ms", "BUILD ms"}};
  const auto time = [](const Json& json) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", json.is_number() ? json.get<double>() : 0.0);
    return json.is_number() ? std::string(text) : std::string("-");
  };
  table.push_back({"this", here["device"].get<std::string>(), time(here["device_ms"]), time(here["host_ms"]),
                   time(here["build_ms"])});
  table.push_back({other, there["device"].get<std::string>(), time(there["device_ms"]),
                   time(there["host_ms"]), time(there["build_ms"])});
  print_table(std::move(table), 2);
  if (here["device_ms"].is_number() && there["device_ms"].is_number() &&
      here["device_ms"].get<double>() > 0 && there["device_ms"].get<double>() > 0) {
    const double times = there["device_ms"].get<double>() / here["device_ms"].get<double>();
    say("this is %.2f times as fast\n", times);
  }
  for (const ComparedBuffer& each : buffers) {
    say("%s: ", each.name.c_str());
    const bool agree = each.difference.count == 0;
    say_painted(agree ? Paint::good : Paint::bad, "%s", agree ? "agree" : "DIFFER");
    if (agree)
      say(", %llu numbers\n", static_cast<unsigned long long>(each.numbers));
    else
      say(", %llu of %llu numbers; number %llu is %s, there %s; largest distance %g\n",
          static_cast<unsigned long long>(each.difference.count),
          static_cast<unsigned long long>(each.numbers),
          static_cast<unsigned long long>(each.difference.first), each.difference.got.c_str(),
          each.difference.wanted.c_str(), each.difference.largest);
  }
}

}  // namespace

Result<int> run_against(const RunOptions& options) {
  KILN_TRY(const auto request, parse_file_request(options));
  KILN_TRY(const auto device, open_chosen(options.device));
  KILN_TRY(const auto run, FileRun::create(device, request, false));
  const FaultGuard fault(device, run->code().facts.name, options.json);
  KILN_TRY(const auto outcome, measure(device, run->prepare(run->shape()), run->kernel(), options.repeat));
  if (auto overrun = run->overrun()) return tl::unexpected(*std::move(overrun));
  std::vector<BufferResult> results = run->results();
  std::erase_if(results, [](const BufferResult& each) { return !each.is_output; });
  const auto scratch = detail::PrivateFolder::make();  // for what the other run writes
  if (!scratch)
    return tl::unexpected(unwritable_data(options.against, "the temporary folder",
                                          "TMPDIR names no folder, or one without room"));
  ProcessOptions how;
  RunOptions other = other_options(options);
  how.arguments = words_of(other);
  how.folder = options.folder;
  how.output_limit = std::size_t{16} << 20;
  for (std::size_t i = 0; i < results.size(); ++i)
    how.arguments.push_back("--save=" + results[i].label + "=" +
                            (scratch->path() / (std::to_string(i) + ".npy")).string());
  const InterruptGuard guard;
  const ProcessResult ended = run_process(how);
  const auto there = Json::parse(ended.out);
  if (!ended.succeeded() || !there)
    return tl::unexpected(why_other_failed(options.against, ended, how.time_limit));
  std::vector<ComparedBuffer> buffers;
  bool agree = true;
  for (std::size_t i = 0; i < results.size() && (*there)["executed"].get<bool>(); ++i) {
    KILN_TRY(const auto file, read_kernel_file(scratch->path() / (std::to_string(i) + ".npy")));
    KILN_TRY(auto array, read_npy(file.bytes, results[i].label));
    array.type.lanes = results[i].data.type.lanes;
    ComparedBuffer buffer{results[i].label, results[i].data.numbers(), {}};
    if (array.bytes.size() != results[i].data.bytes.size() || !same_scalar(array.type, results[i].data.type))
      return tl::unexpected(wrong_arguments("`" + buffer.name + "` has another type or size in the other run",
                                            {"give it as TYPE:COUNT, so that both have the same"},
                                            run->code().signature));
    buffer.difference = compare_arrays(results[i].data, array, request.tolerance);
    agree = agree && buffer.difference.count == 0;
    buffers.push_back(std::move(buffer));
  }
  Json here{
      {"kernel", run->code().facts.name}, {"file", run->code().path}, {"device", device.properties.name}};
  here["build_ms"] = milliseconds(run->bundle().build_time());
  here["host_ms"] = milliseconds(outcome.host);
  here["device_ms"] = outcome.executed ? Json(milliseconds(outcome.device)) : Json();
  // Where one of the two did not execute, there is nothing to compare.
  const bool compared = outcome.executed && (*there)["executed"].get<bool>();
  if (options.json) {
    Json list = Json::array();
    for (const ComparedBuffer& each : buffers)
      list.push_back({{"name", each.name},
                      {"numbers", each.numbers},
                      {"differ", each.difference.count},
                      {"index", each.difference.count ? Json(each.difference.first) : Json()},
                      {"here", each.difference.got},
                      {"there", each.difference.wanted}});
    print({{"this", here},
           {"other", *there},
           {"buffers", std::move(list)},
           {"ok", compared ? Json(agree) : Json()}});
  } else {
    print_compared(here, *there, buffers, options.against);
    if (!compared) say("answers were not compared: a capture device gives none\n");
  }
  return agree ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
