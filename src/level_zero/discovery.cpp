// SPDX-License-Identifier: MIT
// Finds a device, and where there is none looks for the reason.
#include "level_zero/discovery.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kiln/device.hpp"
#include "level_zero/call.hpp"

namespace kiln {
namespace detail {
namespace {

constexpr const char* kUseCpu = "or run on Kiln's CPU device: --device cpu, or KILN_DEVICE=cpu";

}  // namespace

std::vector<RenderNode> device_nodes(const std::string& path, std::string_view prefix) {
  std::vector<RenderNode> nodes;
  DIR* folder = opendir(path.c_str());
  if (!folder) return nodes;
  while (const dirent* entry = readdir(folder)) {
    if (!std::string_view(entry->d_name).starts_with(prefix)) continue;
    RenderNode node{path + "/" + entry->d_name};
    const int file = open(node.path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
      node.error = errno;
    else
      close(file);
    nodes.push_back(std::move(node));
  }
  closedir(folder);
  std::ranges::sort(nodes, {}, &RenderNode::path);
  return nodes;
}

Error explain_missing_loader(const char* reason) {
  Diagnostic diagnostic{
      "K0301", "the Level Zero loader is not installed", {{"reason", reason ? reason : "unknown"}}, {}};
  diagnostic.help = {"install it: `apt install libze1` on Debian and Ubuntu, package `level-zero` elsewhere",
                     kUseCpu};
  return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "dlopen", std::move(diagnostic));
}

Error explain_missing_gpu(ze_result_t code, const char* call) {
  GpuSurvey survey;
  if (const char* alternative = std::getenv("ZE_ENABLE_ALT_DRIVERS")) survey.alternative = alternative;
  if (!dlopen(kIntelDriver, RTLD_LAZY | RTLD_LOCAL)) {
    const char* reason = dlerror();
    survey.driver_error = reason ? reason : "unknown";
  }
  survey.nodes = device_nodes("/dev/dri", "renderD");
  return explain_missing_gpu(code, call, survey);
}

Error explain_missing_gpu(ze_result_t code, const char* call, const GpuSurvey& survey) {
  Diagnostic diagnostic;
  diagnostic.answer = {AnsweredBy::driver};
  if (!survey.alternative.empty()) diagnostic.rows.push_back({"ZE_ENABLE_ALT_DRIVERS", survey.alternative});
  if (survey.driver_error && survey.alternative.empty()) {
    diagnostic.code = "K0302";
    diagnostic.message = "the Level Zero loader is installed, but no driver for an Intel GPU";
    diagnostic.rows.push_back({"reason", *survey.driver_error});
    diagnostic.help = {kInstallIntelDriver, kUseCpu};
    return Error(code, call, std::move(diagnostic));
  }
  const auto& nodes = survey.nodes;
  const auto locked = std::ranges::find_if(nodes, [](const RenderNode& node) { return node.error != 0; });
  for (const RenderNode& node : nodes)
    diagnostic.rows.push_back({node.path, node.error ? std::strerror(node.error) : "opens"});
  if (nodes.empty()) {
    diagnostic.code = "K0303";
    diagnostic.message = "a Level Zero driver is installed, but this machine shows no GPU";
    diagnostic.rows.push_back({"/dev/dri", "no renderD* node"});
    diagnostic.help = {
        "load the kernel driver of the GPU (`modprobe i915` or `modprobe xe`), or pass /dev/dri into the "
        "container (`--device /dev/dri`)",
        kUseCpu};
  } else if (locked != nodes.end() && (locked->error == EACCES || locked->error == EPERM)) {
    diagnostic.code = "K0304";
    diagnostic.message = "this user may not open the GPU";
    diagnostic.help = {
        "join the group that owns the node: `sudo usermod -aG render $USER`, then log in again", kUseCpu};
  } else {
    diagnostic.code = "K0305";
    diagnostic.message = "a driver and a GPU node are there, but Level Zero shows no GPU";
    diagnostic.help = {
        "look for variables that hide devices: ZE_AFFINITY_MASK, ONEAPI_DEVICE_SELECTOR",
        "see whether the driver is new enough for this GPU, and its messages: NEOReadDebugKeys=1 "
        "PrintDebugMessages=1",
        kUseCpu};
  }
  return Error(code, call, std::move(diagnostic));
}

Error explain_unknown_product(const std::string& product) {
  Diagnostic diagnostic{
      "K0308", "the installed Intel driver does not know the product `" + product + "`", {}, {}};
  diagnostic.help = {
      "install a newer driver, or for an old product an older one",
      "driver 22.43 knows skl, tgllp, dg2 and pvc; 26.27 knows tgllp, dg2, pvc, bmg, lnl and ptl"};
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "open_device", std::move(diagnostic));
}

Error explain_taken_driver(const std::string& wanted, const std::string& loaded) {
  return Error(ZE_RESULT_ERROR_NOT_AVAILABLE, "open_device",
               {"K0309",
                "`" + wanted + "` cannot be opened in this process any more",
                {{"its driver was loaded for", loaded}},
                {"a driver reads once in a process which device it is to show: open `" + wanted +
                 "` in a process of its own"}});
}

Error explain_empty_driver(const std::string& library) {
  return Error(ZE_RESULT_ERROR_UNINITIALIZED, "zeDeviceGet",
               {"K0310",
                "the driver starts, but shows no device",
                {{"driver", library}},
                {"look for variables that hide devices: ZE_AFFINITY_MASK",
                 "see whether this user may open the device's node, as in /dev/dri"}});
}

}  // namespace detail

Result<SelectedDevice> first_device(ze_device_type_t type, const Api& api) {
  auto all = drivers(api);
  KILN_TRY(all);
  for (const DriverRef driver : *all) {
    const auto devices = driver.devices();
    if (!devices) continue;
    for (const DeviceRef device : *devices) {
      const auto properties = device.properties();
      if (properties && properties->type == type) return SelectedDevice{driver, device};
    }
  }
  return tl::unexpected(detail::explain_missing_gpu(ZE_RESULT_ERROR_UNINITIALIZED, "zeDeviceGet"));
}

}  // namespace kiln
