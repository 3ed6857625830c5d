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
#include "tool/report/report.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/file_command.hpp"

namespace kiln::tool {
namespace {

// Whoever waits ends it when it takes too long; the launch has no limit either.
constexpr std::chrono::hours kNoLimit{24 * 365};

/// The kernel that is run in another file: that of the same name where the file has one, else its only one.
std::string kernel_in(const std::string& file, const std::string& name, const OpenDevice& device,
                      const RunOptions& options) {
  return read_kernel({file, name}, device, options.flags, false) ? file + ":" + name : file;
}

/// The options of the run beside that of kernel `name`.
RunOptions other_options(RunOptions options, const std::string& name, const OpenDevice& device) {
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
    const KernelName there = parse_kernel_name(other);
    options.kernel = there.kernel.empty() ? kernel_in(there.file, name, device, options) : other;
  }
  // A file that has the name of a sample is none with a folder before it.
  options.kernel = std::filesystem::absolute(options.kernel).string();
  return options;
}

/// As many work-items as here, where another size of groups was asked for: the same work, as of --sweep.
void keep_work(const RunOptions& options, const LaunchShape& here, RunOptions& other) {
  if (options.groups.empty() || !options.against.starts_with("group=")) return;
  const std::uint64_t items[] = {std::uint64_t{here.groups.x} * here.group_size.x,
                                 std::uint64_t{here.groups.y} * here.group_size.y,
                                 std::uint64_t{here.groups.z} * here.group_size.z};
  other.groups.clear();
  other.global = std::to_string(items[0]) + "," + std::to_string(items[1]) + "," + std::to_string(items[2]);
}

/// Arguments that this kernel has not and the other has are for the other alone.
void leave_to_other(FileRequest& request, const Signature& here, const RunOptions& other,
                    const OpenDevice& device) {
  const auto unknown = [&](const Specification& given) { return !place_of_argument(given.argument, here); };
  if (std::ranges::none_of(request.given, unknown)) return;
  const auto there = read_kernel(parse_kernel_name(other.kernel), device, other.flags, false);
  if (!there) return;  // which the other run tells
  std::erase_if(request.given, [&](const Specification& given) {
    return unknown(given) && place_of_argument(given.argument, there->signature);
  });
}

/// NAME=SPEC with the place for the name: the other kernel may call it otherwise.
std::string by_place(const std::string& text, const Signature& signature) {
  const auto equals = text.find('=');
  const auto place = place_of_argument(text.substr(0, equals), signature);
  return place ? std::to_string(*place) + text.substr(equals) : text;
}

std::vector<std::string> words_of(const RunOptions& options, const Signature& signature) {
  std::vector<std::string> words{"/proc/self/exe", "run",      options.kernel,
                                 "--json",         "--repeat", std::to_string(options.repeat)};
  if (options.seed) words.insert(words.end(), {"--seed", std::to_string(*options.seed)});
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + "=" + value);
  };
  add("--device", options.device);
  add("--groups", options.groups);
  add("--group", options.group_extent);
  add("--global", options.global);
  add("--options", options.flags);
  for (const std::string& each : options.arguments) add("--arg", by_place(each, signature));
  for (const std::string& each : options.locals) add("--local", by_place(each, signature));
  return words;
}

/// May the other kernel have written the argument?
bool is_output_there(const Json& there, std::size_t place) {
  const Json& arguments = there["arguments"];
  return place < arguments.size() && arguments[place].contains("access") &&
         arguments[place]["access"].get<std::string>().find("written") != std::string::npos;
}

/// Two arrays of one size and kind are compared by the type that says more: SPIR-V alone does not know the
/// signs of integers, and what a kernel calls them is no difference in what it wrote.
bool settle_signs(ElementType& here, ElementType& there) {
  if (is_floating(here.scalar) || is_floating(there.scalar)) return here.scalar == there.scalar;
  if (size_of(here.scalar) != size_of(there.scalar)) return false;
  (here.sign_known ? there : here).scalar = here.sign_known ? here.scalar : there.scalar;
  return true;
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

Result<int> run_against(const RunOptions& options, FileRequest request) {
  KILN_TRY(const auto device, open_chosen(options.device));
  KILN_TRY(const KernelCode code, read_kernel(request.name, device, request.flags, false));
  request.code = &code;
  RunOptions other = other_options(options, code.facts.name, device);
  leave_to_other(request, code.signature, other, device);
  KILN_TRY(const auto run, FileRun::create(device, request, false));
  keep_work(options, run->shape(), other);
  const FaultGuard fault(device, run->code().facts.name, options.json);
  KILN_TRY(const auto outcome, measure(device, run->prepare(run->shape()), run->kernel(), options.repeat));
  if (auto overrun = run->overrun()) return tl::unexpected(*std::move(overrun));
  std::vector<BufferResult> results = run->results();
  const auto scratch = detail::PrivateFolder::make();  // for what the other run writes
  if (!scratch)
    return tl::unexpected(unwritable_data(options.against, "the temporary folder",
                                          "TMPDIR names no folder, or one without room"));
  ProcessOptions how;
  how.arguments = words_of(other, code.signature);
  how.time_limit = kNoLimit;
  how.output_limit = std::size_t{16} << 20;
  const auto file_of = [&](const BufferResult& each) {
    return (scratch->path() / (std::to_string(each.place) + ".npy")).string();
  };
  for (const BufferResult& each : results)
    how.arguments.push_back("--save=" + std::to_string(each.place) + "=" + file_of(each));
  const InterruptGuard guard;
  const ProcessResult ended = run_process(how);
  const auto there = Json::parse(ended.out);
  if (!ended.succeeded() || !there)
    return tl::unexpected(why_other_failed(options.against, ended, how.time_limit));
  std::vector<ComparedBuffer> buffers;
  bool agree = true;
  for (BufferResult& each : results) {
    if (!(*there)["executed"].get<bool>()) break;
    if (!each.is_output && !is_output_there(*there, each.place)) continue;
    KILN_TRY(const auto file, read_kernel_file(file_of(each)));
    KILN_TRY(auto array, read_npy(file.bytes, each.label));
    array.type.lanes = each.data.type.lanes;
    ComparedBuffer buffer{each.label, each.data.meant_numbers(), {}};
    if (array.bytes.size() != each.data.bytes.size() || !settle_signs(each.data.type, array.type))
      return tl::unexpected(wrong_arguments("`" + buffer.name + "` has another type or size in the other run",
                                            {"give it as TYPE:COUNT, so that both have the same"},
                                            run->code().signature));
    buffer.difference = compare_arrays(each.data, array, request.tolerance);
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
  const auto comparison = [&] {
    Json list = Json::array();
    for (const ComparedBuffer& each : buffers)
      list.push_back({{"name", each.name},
                      {"numbers", each.numbers},
                      {"differ", each.difference.count},
                      {"index", each.difference.count ? Json(each.difference.first) : Json()},
                      {"largest", each.difference.largest <= 1e300 ? Json(each.difference.largest) : Json()},
                      {"here", each.difference.got},
                      {"there", each.difference.wanted}});
    return Json{{"this", here},
                {"other", *there},
                {"against", options.against},
                {"buffers", std::move(list)},
                {"ok", compared ? Json(agree) : Json()}};
  };
  if (!options.report.empty()) {
    KILN_TRY(write_report(options.report, against_page(comparison(), device.kind == DeviceKind::cpu)));
  }
  if (options.json) {
    print(comparison());
  } else {
    print_compared(here, *there, buffers, options.against);
    if (!compared) say("answers were not compared: a capture device gives none\n");
    if (!options.report.empty()) say("  report       %s\n", options.report.c_str());
  }
  return agree ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
