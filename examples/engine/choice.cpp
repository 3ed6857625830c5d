// SPDX-License-Identifier: MIT
// Lists devices and finds the one that is meant.
#include "choice.hpp"

#include <algorithm>
#include <cstdio>

#include "say.hpp"

namespace engine {
namespace {

using namespace kiln;

Result<void> add_devices(std::vector<Candidate>& all, DriverRef driver, DeviceKind kind) {
  KILN_TRY(const auto devices, driver.devices());
  for (const DeviceRef device : devices) {
    KILN_TRY(auto properties, device.properties());
    KILN_TRY(const auto identity, device.identity());
    all.push_back({{driver, device}, kind, std::move(properties), identity});
  }
  return {};
}

/// What the request means: for GPUs each driver that the loader finds, for other kinds the driver that Kiln
/// opens.
Result<void> add_requested(std::vector<Candidate>& all, const DeviceRequest& request) {
  if (request.kind == DeviceKind::gpu) {
    KILN_TRY(const Api* const table, load_loader());
    KILN_TRY(const auto found, drivers(*table));
    for (const DriverRef driver : found) KILN_TRY(add_devices(all, driver, DeviceKind::gpu));
    return {};
  }
  KILN_TRY(const auto opened, open_device(request));
  return add_devices(all, opened.driver, request.kind);
}

int rank(const Candidate& candidate) {
  if (candidate.properties.type != ZE_DEVICE_TYPE_GPU) return 2;
  return candidate.identity.integrated ? 1 : 0;
}

}  // namespace

Result<std::vector<Candidate>> candidates(const std::string& text) {
  std::vector<Candidate> all;
  if (!text.empty()) {
    KILN_TRY(const auto request, parse_device_request(text));
    KILN_TRY(add_requested(all, request));
  } else if (const auto gpus = add_requested(all, {}); !gpus) {
    say("no GPU, so the CPU device: %s", gpus.error().text().c_str());
    KILN_TRY(add_requested(all, {DeviceKind::cpu, ""}));
  }
  std::ranges::stable_sort(all, {}, rank);
  return all;
}

const char* type_of(const Candidate& candidate) {
  if (candidate.properties.type == ZE_DEVICE_TYPE_CPU) return "cpu";
  if (candidate.properties.type != ZE_DEVICE_TYPE_GPU) return "other";
  return candidate.identity.integrated ? "integrated" : "discrete";
}

std::string uuid_of(const Candidate& candidate) {
  std::string text;
  for (const std::uint8_t byte : candidate.identity.uuid) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::string pci_of(const Candidate& candidate) {
  if (!candidate.identity.pci) return "";
  const PciAddress& pci = *candidate.identity.pci;
  char text[48];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
  return text;
}

Result<Candidate> choose(const std::vector<Candidate>& all, const std::string& pick) {
  const auto colon = pick.find(':');
  const std::string what = pick.substr(0, colon), value = colon == pick.npos ? "" : pick.substr(colon + 1);
  const auto is_meant = [&](const Candidate& each) {
    if (pick.empty()) return true;
    if (what == "uuid") return uuid_of(each) == value;
    if (what == "pci") return !value.empty() && pci_of(each) == value;
    if (what == "type") return type_of(each) == value;
    return what == "name" && !value.empty() && each.properties.name.find(value) != std::string::npos;
  };
  if (const auto found = std::ranges::find_if(all, is_meant); found != all.end()) return *found;
  say("no device is '%s'; --list-devices shows what there is", pick.c_str());
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "choose"));
}

}  // namespace engine
