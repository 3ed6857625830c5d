// SPDX-License-Identifier: MIT
// Device requests, and the way from a request to an open device.
#include "kiln/open.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "level_zero/call.hpp"
#include "level_zero/discovery.hpp"
#include "level_zero/open/simulated.hpp"
#include "level_zero/source.hpp"
#include "product/profile.hpp"
#include "support/nearest.hpp"
#include "support/own_files.hpp"

namespace kiln {
namespace detail {

std::string layer_path() {
  if (const char* chosen = secure_getenv("KILN_LAYER"); chosen && *chosen) return chosen;
  return own_file(kOwnLayer).string();
}

std::string cpu_driver_path() {
  // Not for a process with more rights than its user: what is named here is loaded.
  if (const char* chosen = secure_getenv("KILN_CPU_DRIVER"); chosen && *chosen) return chosen;
  return own_file(kOwnCpuDriver).string();
}

}  // namespace detail
namespace {

/// Topologies that make Intel's driver answer without a GPU; seen with drivers 22.43 and 26.27.
struct CaptureProduct {
  std::string_view name;
  const char* topology;  // slices x sub-slices x EUs
};
constexpr std::array<CaptureProduct, 7> kCaptureProducts{{{"skl", "1x3x8"},
                                                          {"tgllp", "1x6x16"},
                                                          {"dg2", "8x4x16"},
                                                          {"pvc", "8x8x8"},
                                                          {"bmg", "5x4x8"},
                                                          {"lnl", "2x4x8"},
                                                          {"ptl", "3x4x8"}}};

/// Nothing stands for the driver's own choice.
bool known_to_cpu(std::string_view product) {
  return product.empty() ||
         std::ranges::find(product::kProfileNames, product) != product::kProfileNames.end();
}

Error bad_request(std::string_view text) {
  Diagnostic diagnostic{"K0307", "`" + std::string(text) + "` names no device", {}, {}};
  // A product alone is the CPU device's. The command knows `auto` too.
  std::vector<std::string> known{"gpu", "cpu", "auto"};
  for (const char* kind : {"cpu:", "capture:"})
    for (const std::string_view product : product::kProfileNames)
      known.push_back(kind + std::string(product));
  for (const std::string_view product : detail::kSimulated) known.push_back("sim:" + std::string(product));
  diagnostic.help = detail::did_you_mean(known_to_cpu(text) ? "cpu:" + std::string(text) : text, known);
  diagnostic.help.emplace_back(
      "use gpu, cpu, cpu:PRODUCT or capture:PRODUCT, where PRODUCT is one of tgllp, dg2, pvc, bmg, lnl, ptl");
  diagnostic.help.emplace_back("or sim:PRODUCT, where PRODUCT is one of tgllp, dg2, pvc");
  diagnostic.help.emplace_back("or driver:LIBRARY, where LIBRARY is a Level Zero driver");
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "open_device", std::move(diagnostic));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Error bad_profile(const std::string& product) {
  Diagnostic diagnostic{"K0307", "KILN_CPU_PROFILE names no product: `" + product + "`", {}, {}};
  diagnostic.help = detail::did_you_mean(product, product::kProfileNames);
  diagnostic.help.emplace_back("set it to one of tgllp, dg2, pvc, bmg, lnl, ptl, or unset it");
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "open_device", std::move(diagnostic));
}

/// What helps where the CPU driver does not start, whose path the user may not have chosen.
Error without_cpu_driver(const Error& error) {
  if (!error.diagnostic()) return error;
  Diagnostic diagnostic = *error.diagnostic();
  diagnostic.help = {
      environment("KILN_CPU_DRIVER").empty()
          ? "install the CPU device of this Kiln, or name it: KILN_CPU_DRIVER=libze_kiln_cpu.so"
          : "let KILN_CPU_DRIVER name the libze_kiln_cpu.so of this Kiln, or unset it"};
  return Error(error.code(), error.call(), std::move(diagnostic));
}

using detail::kIntelDriver;

/// What this process loaded its drivers for; both read that once. Bound to the thread that opens devices.
struct Loaded {
  std::optional<std::string> profile;  ///< of the CPU driver
  std::string capture;                 ///< "capture:dg2", what Intel's driver was told to be; empty: nothing
  bool changed_environment = false;    ///< for that
};
Loaded& loaded() {
  static Loaded state;
  return state;
}

Result<SelectedDevice> select_gpu() {
  // The loader would find the driver as it is, and that has no GPU.
  const bool is_intels = environment("ZE_ENABLE_ALT_DRIVERS").empty();
  if (loaded().changed_environment && is_intels && !detail::is_loaded_from(detail::kLoader))
    return tl::unexpected(detail::explain_taken_driver("gpu", loaded().capture));
  const auto api = load_loader();
  KILN_TRY(api);
  return first_device(ZE_DEVICE_TYPE_GPU, **api);
}

/// The first device of a driver that was named, of whatever type it says to be.
Result<SelectedDevice> only_device(const Api& api, const std::string& library) {
  auto all = drivers(api);
  KILN_TRY(all);
  for (const DriverRef driver : *all)
    if (const auto devices = driver.devices(); devices && !devices->empty())
      return SelectedDevice{driver, devices->front()};
  return tl::unexpected(detail::explain_empty_driver(library));
}

/// The driver reads KILN_CPU_PROFILE once.
Result<SelectedDevice> select_cpu(const std::string& product) {
  constexpr const char* kProfile = "KILN_CPU_PROFILE";
  if (!known_to_cpu(product)) return tl::unexpected(bad_request("cpu:" + product));
  const std::string of_user = environment(kProfile);
  std::string wanted = product.empty() ? of_user : product;
  if (wanted.empty()) wanted = product::kDefaultProfile;
  if (!known_to_cpu(wanted)) return tl::unexpected(bad_profile(wanted));
  auto& profile = loaded().profile;
  if (profile && *profile != wanted)
    return tl::unexpected(detail::explain_taken_driver("cpu:" + wanted, "cpu:" + *profile));
  setenv(kProfile, wanted.c_str(), 1);
  const auto api = load_driver(detail::cpu_driver_path());
  if (of_user.empty())
    unsetenv(kProfile);
  else
    setenv(kProfile, of_user.c_str(), 1);
  if (!api) return tl::unexpected(without_cpu_driver(api.error()));
  profile = wanted;
  return only_device(**api, detail::cpu_driver_path());  // with KILN_CPU_TYPE=gpu it says that it is one
}

}  // namespace

Result<std::vector<std::pair<const char*, std::string>>> detail::capture_variables(const std::string& name) {
  const auto product = std::ranges::find(kCaptureProducts, name, &CaptureProduct::name);
  if (product == kCaptureProducts.end()) return tl::unexpected(bad_request("capture:" + name));
  std::vector<std::pair<const char*, std::string>> variables{
      {"NEOReadDebugKeys", "1"},       {"SetCommandStreamReceiver", "1"},
      {"ProductFamilyOverride", name}, {"UseAubStream", "0"},
      {"UseBindlessMode", "0"},        {"UseExternalAllocatorForSshAndDsh", "0"}};
  if (environment("HardwareInfoOverride").empty())
    variables.emplace_back("HardwareInfoOverride", product->topology);
  return variables;
}

namespace {

Result<SelectedDevice> select_capture(const std::string& name) {
  KILN_TRY(const auto variables, detail::capture_variables(name));
  const bool set_already = std::ranges::all_of(
      variables, [](const auto& variable) { return environment(variable.first) == variable.second; });
  Loaded& state = loaded();
  const std::string wanted = "capture:" + name;
  if (!state.capture.empty() && state.capture != wanted)
    return tl::unexpected(detail::explain_taken_driver(wanted, state.capture));
  if (state.capture.empty() && !set_already && dlopen(kIntelDriver, RTLD_LAZY | RTLD_NOLOAD))
    return tl::unexpected(detail::explain_taken_driver(wanted, "gpu"));
  for (const auto& [variable, value] : variables) setenv(variable, value.c_str(), 1);
  setenv("AUBDumpCaptureFileName", "/dev/null", 0);
  const auto api = load_driver(kIntelDriver);
  KILN_TRY(api);
  if (state.capture.empty()) state.changed_environment = !set_already;
  state.capture = wanted;
  auto selected = first_device(ZE_DEVICE_TYPE_GPU, **api);
  KILN_TRY(selected);
  // A driver that does not know the product shows a shell of a device, without any queue.
  if (!selected->device.compute_queue_group()) return tl::unexpected(detail::explain_unknown_product(name));
  return selected;
}

Result<SelectedDevice> select_simulated(const std::string& name) {
  const std::string wanted = "sim:" + name;
  if (std::ranges::find(detail::kSimulated, name) == std::end(detail::kSimulated))
    return tl::unexpected(bad_request(wanted));
  Loaded& state = loaded();
  if (!state.capture.empty() && state.capture != wanted)
    return tl::unexpected(detail::explain_taken_driver(wanted, state.capture));
  if (state.capture.empty()) {
    if (dlopen(kIntelDriver, RTLD_LAZY | RTLD_NOLOAD))
      return tl::unexpected(detail::explain_taken_driver(wanted, "gpu"));
    KILN_TRY(const std::uint16_t port, detail::start_simulator(name, detail::simulator_fault, nullptr));
    KILN_TRY(const auto topology, detail::capture_variables(name));
    for (const auto& [variable, value] : topology)
      if (std::string_view(variable) == "HardwareInfoOverride") setenv(variable, value.c_str(), 1);
    for (const auto& [variable, value] : detail::simulated_variables(name, port))
      setenv(variable, value.c_str(), 1);
    state.changed_environment = true;
    state.capture = wanted;
  }
  const auto driver = load_driver(kIntelDriver);
  if (!driver && driver.error().diagnostic() && driver.error().diagnostic()->code == "K0311")
    return tl::unexpected(driver.error());
  if (!driver)
    return tl::unexpected(detail::explain_mute_driver(
        kIntelDriver, driver.error().diagnostic() && !driver.error().diagnostic()->rows.empty()
                          ? driver.error().diagnostic()->rows.front().text
                          : "it does not start"));
  auto selected = first_device(ZE_DEVICE_TYPE_GPU, detail::watched_table(**driver));
  KILN_TRY(selected);
  if (!selected->device.compute_queue_group()) return tl::unexpected(detail::explain_unknown_product(name));
  return selected;
}

Result<SelectedDevice> select_driver(const std::string& library) {
  const auto api = load_driver(library);
  KILN_TRY(api);
  return only_device(**api, library);
}

Result<SelectedDevice> select(const DeviceRequest& request) {
  switch (request.kind) {
    case DeviceKind::gpu:
      return select_gpu();
    case DeviceKind::cpu:
      return select_cpu(request.product);
    case DeviceKind::capture:
      return select_capture(request.product);
    case DeviceKind::driver:
      return select_driver(request.product);
    case DeviceKind::simulated:
      return select_simulated(request.product);
  }
  return tl::unexpected(bad_request("?"));
}

}  // namespace

Result<DeviceRequest> parse_device_request(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string product(colon == text.npos ? "" : text.substr(colon + 1));
  const bool named = colon != text.npos;
  if (kind == "gpu" && !named) return DeviceRequest{DeviceKind::gpu, ""};
  if (kind == "cpu" && named == !product.empty() && known_to_cpu(product))
    return DeviceRequest{DeviceKind::cpu, product};
  if (kind == "capture" && !product.empty()) return DeviceRequest{DeviceKind::capture, product};
  if (kind == "sim" && std::ranges::find(detail::kSimulated, product) != std::end(detail::kSimulated))
    return DeviceRequest{DeviceKind::simulated, product};
  if (kind == "driver" && !product.empty()) return DeviceRequest{DeviceKind::driver, product};
  return tl::unexpected(bad_request(text));
}

Result<DeviceRequest> requested_device() {
  const char* text = secure_getenv("KILN_DEVICE");
  return text && *text ? parse_device_request(text) : DeviceRequest{};
}

Result<OpenDevice> open_device(const SelectedDevice& selected, DeviceKind kind) {
  auto context = ContextRef::create(selected.driver);
  KILN_TRY(context);
  auto properties = selected.device.properties();
  KILN_TRY(properties);
  auto compute = selected.device.compute_properties();
  KILN_TRY(compute);
  return OpenDevice{selected.driver,        selected.device,     *std::move(context),
                    *std::move(properties), *std::move(compute), kind};
}

Result<LentDevice> lend_device(const SelectedDevice& selected, ContextRef context, DeviceKind kind) {
  constexpr const char* kCall = "lend_device";
  if (!selected.driver || !selected.device || !context) return tl::unexpected(detail::empty_handle(kCall));
  const Api& api = context.api();
  if (&selected.driver.api() != &api || &selected.device.api() != &api)
    return tl::unexpected(detail::foreign_handle(kCall));
  KILN_TRY(auto properties, selected.device.properties());
  KILN_TRY(auto compute, selected.device.compute_properties());
  return LentDevice(OpenDevice{selected.driver, selected.device, Context::adopt(context.raw(), api),
                               std::move(properties), std::move(compute), kind});
}

Result<OpenDevice> open_device(const DeviceRequest& request) {
  auto selected = select(request);
  KILN_TRY(selected);
  return open_device(*selected, request.kind);
}

}  // namespace kiln
