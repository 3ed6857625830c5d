// SPDX-License-Identifier: MIT
// `kiln devices`: what can run kernels here, and why a kind is missing.
#include <cstdio>

#include "tool/common/output.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

constexpr double kMebibyte = 1 << 20;

const char* kind_text(DeviceKind kind) {
  constexpr const char* kNames[] = {"gpu", "cpu", "capture", "driver", "sim"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string id_text(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", value);
  return text;
}

}  // namespace

Json device_json(const OpenDevice& open) {
  const DeviceProperties& p = open.properties;
  const ComputeProperties& c = open.compute;
  Json json{{"kind", kind_text(open.kind)}, {"name", p.name}};
  json["vendor_id"] = id_text(p.vendor_id);
  json["device_id"] = id_text(p.device_id);
  json["ip_version"] = p.ip_version ? Json(ip_version_text(*p.ip_version)) : Json();
  if (const auto version = open.driver.version()) json["driver_version"] = *version;
  if (const auto api_version = open.driver.api_version())
    json["api_version"] =
        std::to_string(ZE_MAJOR_VERSION(*api_version)) + "." + std::to_string(ZE_MINOR_VERSION(*api_version));
  json["slm_per_group"] = c.slm_per_group;
  json["max_group_size"] = c.max_total_group_size;
  json["max_group_extent"] = c.max_group_size;
  json["sub_group_sizes"] = c.sub_group_sizes;
  json["threads"] = p.threads();
  json["slices"] = p.slices;
  json["sub_slices_per_slice"] = p.sub_slices_per_slice;
  json["eus_per_sub_slice"] = p.eus_per_sub_slice;
  json["threads_per_eu"] = p.threads_per_eu;
  std::uint64_t total = 0;
  if (const auto memories = open.device.memory_properties())
    for (const MemoryProperties& memory : *memories) total += memory.total;
  json["memory"] = total;
  json["usable_memory"] = p.usable_memory ? Json(*p.usable_memory) : Json();
  json["largest_allocation"] = p.largest_allocation;
  json["timer_ticks_per_second"] = p.timer_ticks_per_second;
  return json;
}

namespace {

void print_text(const Json& d) {
  const auto number = [&](const char* key) { return d[key].get<std::uint64_t>(); };
  say("%s: %s\n", d["kind"].get<std::string>().c_str(), d["name"].get<std::string>().c_str());
  say("  SLM            %llu B a work-group\n", static_cast<unsigned long long>(number("slm_per_group")));
  say("  groups         at most %llu work-items, sub-groups of %s\n",
      static_cast<unsigned long long>(number("max_group_size")), d["sub_group_sizes"].dump().c_str());
  say("  threads        %llu\n", static_cast<unsigned long long>(number("threads")));
  say("  memory         %.0f MiB, largest allocation %.0f MiB\n", number("memory") / kMebibyte,
      number("largest_allocation") / kMebibyte);
  say("  device         %s, IP version %s\n", d["device_id"].get<std::string>().c_str(),
      d["ip_version"].is_null() ? "not offered" : d["ip_version"].get<std::string>().c_str());
  if (d.contains("driver_version") && d.contains("api_version"))
    say("  driver         %llu, Level Zero %s\n", static_cast<unsigned long long>(number("driver_version")),
        d["api_version"].get<std::string>().c_str());
}

}  // namespace

int devices(const DevicesOptions& options) {
  Json list = Json::array(), missing = Json::array();
  int code = kNoDevice;
  const auto take = [&](Result<OpenDevice> opened, const char* kind) {
    if (opened) {
      list.push_back(device_json(*opened));
      if (!options.json) print_text(list.back());
      code = kOk;
      return;
    }
    Json reason = to_json(opened.error());
    reason["kind"] = kind;
    missing.push_back(reason);
    if (code == kNoDevice && exit_code(opened.error()) != kNoDevice) code = exit_code(opened.error());
    if (!options.json) complain("%s: none\n%s", kind, opened.error().text().c_str());
  };
  if (!options.device.empty() && options.device != "auto") {
    take(open_chosen(options.device), options.device.c_str());
  } else {
    take(open_device({DeviceKind::gpu, ""}), "gpu");
    take(open_device({DeviceKind::cpu, ""}), "cpu");
  }
  if (options.json) print({{"devices", list}, {"missing", missing}});
  return code;
}

}  // namespace kiln::tool
