// SPDX-License-Identifier: MIT
// Device choice and error reports of the command.
#include "tool/common/session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "diagnose/error_json.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {

int exit_code(const Error& error) {
  const std::string code = error.diagnostic() ? error.diagnostic()->code : "";
  if (code.starts_with("K01") || code == "K0443") return kRefused;
  if (code == "K0434" || code == "K0435" || code == "K0438") return kWrongAnswer;
  // A source that cannot be compiled, a file that cannot be read or replayed, an output that cannot be
  // written.
  for (const char* failed : {"K0402", "K0405", "K0406", "K0408", "K0410", "K0421", "K0422", "K0436", "K0437",
                             "K0440", "K0441", "K0442", "K0444", "K0445", "K0453", "K0455"})
    if (code == failed) return kDriverError;
  // K070: settings of the cache that cannot be meant.
  if (code == "K0307" || code.starts_with("K04") || code.starts_with("K070")) return kUsage;
  if (code.starts_with("K03")) return kNoDevice;
  return kDriverError;
}

bool is_refusal(const Error& error) {
  if (!error.diagnostic() || error.code() == ZE_RESULT_ERROR_DEVICE_LOST ||
      error.code() == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
    return false;
  // Beside those of the check: modules and kernels that are not built, launches that the driver refuses,
  // choices of a sample, code that ocloc does not take, and numbers of work-items.
  constexpr std::string_view kRefusals[] = {"K0203", "K0210", "K0211", "K0212", "K0213", "K0219",
                                            "K0227", "K0401", "K0406", "K0430", "K0431"};
  const std::string_view code = error.diagnostic()->code;
  return code.starts_with("K01") || std::ranges::find(kRefusals, code) != std::end(kRefusals);
}

Diagnostic in_options(Diagnostic diagnostic) {
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"`time_limit`", "--timeout SECONDS"}, {"`flags`", "--options"}, {"`cpu`", "--cpu"}};
  for (std::string& help : diagnostic.help)
    for (const auto& [member, option] : kOptions)
      if (const auto at = help.find(member); at != help.npos) help.replace(at, member.size(), option);
  if (diagnostic.message == "bundle and depfile would be the same file")
    diagnostic.message = "-o and --depfile name the same file";
  return diagnostic;
}

Json to_json(const Error& error) { return Json::parse(detail::error_json(error)).value(); }

Result<OpenDevice> open_chosen(const std::string& name) {
  std::string wanted = name;
  if (const char* variable = wanted.empty() ? secure_getenv("KILN_DEVICE") : nullptr) wanted = variable;
  if (!wanted.empty() && wanted != "auto") {
    const auto request = parse_device_request(wanted);
    if (!request) {
      Diagnostic diagnostic = *request.error().diagnostic();
      if (name.empty()) diagnostic.rows.push_back({"asked for by", "KILN_DEVICE"});
      return tl::unexpected(Error(request.error().code(), "--device", std::move(diagnostic)));
    }
    return open_device(*request);
  }
  auto gpu = open_device({DeviceKind::gpu, ""});
  if (gpu) return gpu;
  auto cpu = open_device({DeviceKind::cpu, ""});
  if (!cpu) return gpu;  // the reason that there is no GPU is the one to tell
  const Diagnostic* why = gpu.error().diagnostic();
  complain("kiln: no GPU (%s), using the CPU device\n",
           why ? (why->message + ", " + why->code).c_str() : result_name(gpu.error().code()).c_str());
  return cpu;
}

void print(const Json& json, std::FILE* to) {
  // In ASCII: what would do something on a terminal is escaped, and means the same.
  say_exactly(to, json.dump_lines() + "\n");
}

}  // namespace kiln::tool
