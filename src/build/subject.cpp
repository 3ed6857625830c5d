// SPDX-License-Identifier: MIT
// What is compiled, and for which device.
#include <algorithm>
#include <cstdio>

#include "build/compiler_identity.hpp"
#include "support/hex.hpp"

namespace kiln::cache {
namespace {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// "3=0x10 7=0x1": by id, and of doubles the last, as drivers take them one after the other.
std::string constants_text(std::vector<std::pair<std::uint32_t, std::uint64_t>> constants) {
  std::ranges::stable_sort(constants, {}, &std::pair<std::uint32_t, std::uint64_t>::first);
  std::string text;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (i + 1 < constants.size() && constants[i + 1].first == constants[i].first) continue;
    text.append(text.empty() ? "" : " ") +=
        std::to_string(constants[i].first) + "=" + hex(constants[i].second);
  }
  return text;
}

/// "1.14.37020+3", with the hotfix that the number leaves out; empty where the driver does not offer it.
std::string version_text(DriverRef driver) {
  constexpr std::size_t kMost = 256;
  std::size_t size = 0;
  const auto ask = driver.api().zeIntelGetDriverVersionString;
  if (!ask || ask(driver.raw(), nullptr, &size) != ZE_RESULT_SUCCESS || size == 0 || size > kMost) return {};
  std::string text(size + 1, '\0');
  if (ask(driver.raw(), text.data(), &size) != ZE_RESULT_SUCCESS) return {};
  return text.c_str();
}

}  // namespace

Manifest device_fields(std::uint32_t driver_version, std::span<const std::uint8_t> native_format,
                       const DeviceProperties& properties) {
  Manifest fields;
  fields.set("driver.version", hex(driver_version));
  fields.set("device.type", std::to_string(properties.type));
  fields.set("device.vendor", hex(properties.vendor_id));
  fields.set("device.id", hex(properties.device_id));
  if (properties.ip_version) fields.set("device.ip", hex(*properties.ip_version));
  fields.set("device.native_format", kiln::hex(std::as_bytes(native_format)));
  return fields;
}

Manifest device_fields(DriverRef driver, DeviceRef device, const DeviceProperties& properties) {
  const auto version = driver.version();
  const auto module = device.module_properties();
  Manifest fields = device_fields(
      version ? *version : 0, module ? module->native_kernel_id : std::array<std::uint8_t, 16>{}, properties);
  if (std::string text = version_text(driver); !text.empty()) fields.set("driver.text", std::move(text));
  return fields;
}

Manifest input_fields(std::span<const InputFacts> inputs) {
  Manifest fields;
  fields.set("inputs", std::to_string(inputs.size()));
  fields.set("path", inputs.size() == 1 ? "build" : "link");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input." + std::to_string(i) + ".";
    fields.set(name + "digest", digest(inputs[i].code));
    fields.set(name + "format", std::string(inputs[i].format));
    fields.set(name + "flags", std::string(inputs[i].flags));
    if (!inputs[i].constants.empty()) fields.set(name + "constants", constants_text(inputs[i].constants));
  }
  return fields;
}

}  // namespace kiln::cache
