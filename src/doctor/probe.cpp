// SPDX-License-Identifier: MIT
// The child writes a line of JSON after each step, so that a crash shows how far it came.
#include "doctor/probe.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "doctor/child.hpp"
#include "doctor/names.hpp"
#include "kiln/kiln.hpp"
#include "support/json.hpp"

namespace kiln::doctor {
namespace {

using detail::Json;

constexpr const char* kLoader = "libze_loader.so.1";
constexpr std::uint32_t kIntelVersion =
    0x01030000;  // ze_driver_properties_t.driverVersion: this and the build

void tell(int result, const Json& step) {
  const std::string line = step.dump() + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = write(result, line.data() + done, line.size() - done);
    if (count <= 0) _exit(1);
    done += static_cast<std::size_t>(count);
  }
}

/// Opens it; null after telling why not.
void* open_library(int result, const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    tell(result, {{"error", reason ? reason : "unknown"}});
    return nullptr;
  }
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map)
    tell(result, {{"path", std::filesystem::path(map->l_name).lexically_normal().string()}});
  return handle;
}

// zelLoaderGetVersions' element, in the loader since 1.6; own names, since its header may be missing.
struct ComponentVersion {
  char name[64];
  std::uint32_t specification;
  struct {
    int major, minor, patch;
  } library;
};
using GetVersions = ze_result_t (*)(std::size_t*, ComponentVersion*);

void tell_loader_version(int result, void* handle) {
  const auto get = reinterpret_cast<GetVersions>(dlsym(handle, "zelLoaderGetVersions"));
  std::size_t count = 0;
  if (!get || get(&count, nullptr) != ZE_RESULT_SUCCESS || count == 0 || count > 64) return;
  std::vector<ComponentVersion> versions(count);
  if (get(&count, versions.data()) != ZE_RESULT_SUCCESS) return;
  for (const ComponentVersion& each : versions)
    if (std::string_view(each.name, strnlen(each.name, sizeof each.name)) == "loader")
      tell(result,
           {{"version", std::to_string(each.library.major) + "." + std::to_string(each.library.minor) + "." +
                            std::to_string(each.library.patch)}});
}

const char* kind_text(ze_device_type_t type) {
  switch (type) {
    case ZE_DEVICE_TYPE_GPU:
      return "gpu";
    case ZE_DEVICE_TYPE_CPU:
      return "cpu";
    case ZE_DEVICE_TYPE_VPU:
      return "npu";
    default:
      return "other";
  }
}

void tell_devices(int result, const Api& api) {
  const auto all = drivers(api);
  if (!all) return tell(result, {{"answer", static_cast<std::uint32_t>(all.error().code())}});
  Json devices = Json::array();
  for (const DriverRef driver : *all) {
    if (const auto version = driver.version(); version && *version >> 16 == kIntelVersion >> 16)
      tell(result, {{"build", *version - kIntelVersion}});
    const auto list = driver.devices();
    if (!list) continue;
    for (const DeviceRef device : *list)
      if (const auto properties = device.properties())
        devices.push_back({{"name", properties->name},
                           {"kind", kind_text(properties->type)},
                           {"vendor", properties->vendor_id},
                           {"device", properties->device_id}});
  }
  tell(result, {{"devices", devices}});
}

void start(int result, const Result<const Api*>& loaded) {
  if (loaded) {
    tell(result, {{"answer", 0}});
    return tell_devices(result, **loaded);
  }
  Json step{{"answer", static_cast<std::uint32_t>(loaded.error().code())}};
  if (const Diagnostic* why = loaded.error().diagnostic())
    step["refusal"] = Json::parse(to_json(*why)).value();
  tell(result, step);
}

std::string text(const Json& step, const char* key) {
  const Json* found = step.find(key);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::uint32_t> number(const Json& step, const char* key) {
  const Json* found = step.find(key);
  if (!found || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint32_t>();
}

Diagnostic read_diagnostic(const Json& from) {
  Diagnostic diagnostic{text(from, "code"), text(from, "message"), {}, {}};
  for (const Json& row : from.value("rows", Json::array()))
    diagnostic.rows.push_back({text(row, "label"), text(row, "text")});
  for (const Json& help : from.value("help", Json::array()))
    if (help.is_string()) diagnostic.help.push_back(help.get<std::string>());
  return diagnostic;
}

void read_steps(const std::string& lines, Start& start) {
  std::size_t begin = 0;
  for (auto end = lines.find('\n'); end != lines.npos; begin = end + 1, end = lines.find('\n', begin)) {
    const Json step = Json::parse(std::string_view(lines).substr(begin, end - begin)).value_or(nullptr);
    if (!step.is_object()) continue;
    for (auto [key, field] :
         {std::pair{"path", &start.path}, {"error", &start.error}, {"version", &start.version}})
      if (step.contains(key)) *field = text(step, key);
    for (auto [key, field] : {std::pair{"answer", &start.answer}, {"build", &start.build}})
      if (step.contains(key)) *field = number(step, key);
    if (step.contains("refusal") && step["refusal"].is_object())
      start.refusal = read_diagnostic(step["refusal"]);
    for (const Json& device : step.value("devices", Json::array()))
      start.devices.push_back({text(device, "name"), text(device, "kind"),
                               number(device, "vendor").value_or(0), number(device, "device").value_or(0)});
  }
}

Start probe(const std::string& library, int seconds, const std::function<void(int, void*)>& work) {
  const auto once = [&](bool masked) {
    const ChildOutput output = in_child(
        [&](int result) {
          if (!masked) unsetenv("ZE_AFFINITY_MASK");
          setenv("AUBDumpCaptureFileName", "/dev/null", 0);  // a simulated device writes captures, gigabytes
          work(result, open_library(result, library));
        },
        seconds);
    Start start;
    start.library = library;
    start.end = output.end;
    read_steps(output.result, start);
    return start;
  };
  Start start = once(true);
  const char* mask = std::getenv("ZE_AFFINITY_MASK");
  if (mask && *mask && !start.path.empty() && start.devices.empty()) {
    const Start without = once(false);
    if (without.end.kind == ChildEnd::Kind::exited) start.without_mask = without.devices.size();
  }
  if (start.version.empty()) start.version = version_of_file(start.path);
  return start;
}

}  // namespace

Start probe_loader(int seconds) {
  return probe(kLoader, seconds, [](int result, void* handle) {
    if (!handle) return;
    start(result, load_loader());
    tell_loader_version(result, handle);
  });
}

Start probe_driver(const std::string& library, int seconds) {
  Start driver = probe(library, seconds, [&](int result, void*) { start(result, load_driver(library)); });
  // Without a device the driver does not tell its version; the file's name ends with the build.
  if (const auto dot = driver.version.rfind('.');
      !driver.build && driver.library.find("libze_intel_gpu") != std::string::npos &&
      dot != std::string::npos) {
    const unsigned long build = std::strtoul(driver.version.c_str() + dot + 1, nullptr, 10);
    if (build > 10'000 && build < 1'000'000) driver.build = static_cast<std::uint32_t>(build);
  }
  return driver;
}

}  // namespace kiln::doctor
