// SPDX-License-Identifier: MIT
// What tells a device from another, its tiles and its peers, and entry points that Kiln does not wrap.
#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "kiln/device.hpp"
#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/source.hpp"

namespace kiln {
namespace {

/// Those that a table has itself: an engine's own may have hooks in them.
void* find_in(const Api& api, std::string_view name) {
  if (name == "zeInit") return reinterpret_cast<void*>(api.zeInit);
#define KILN_REQUIRED(table, function) \
  if (name == "ze" #table #function) return reinterpret_cast<void*>(api.ze##table##function);
#define KILN_OPTIONAL(function, type) \
  if (name == #function) return reinterpret_cast<void*>(api.function);
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  return nullptr;
}

/// What the library exports.
void* find_exported(const std::string& library, const char* name) {
  void* const opened = library.empty() ? nullptr : dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!opened) return nullptr;
  void* const address = dlsym(opened, name);
  dlclose(opened);  // the table's own count stays
  return address;
}

/// A driver's own functions take its own handles, which are not those of a loader that wraps them.
bool is_wrapped(DriverRef driver) {
  void* behind = driver.raw();
  const auto translate = driver.api().zelLoaderTranslateHandle;
  return translate && translate(abi::kLoaderDriverHandle, driver.raw(), &behind) == ZE_RESULT_SUCCESS &&
         behind != driver.raw();
}

void* find_extension(DriverRef driver, const char* name) {
  void* address = nullptr;
  if (is_wrapped(driver)) return nullptr;
  const auto find = driver.api().zeDriverGetExtensionFunctionAddress;
  return find(driver.raw(), name, &address) == ZE_RESULT_SUCCESS ? address : nullptr;
}

Error no_such_entry_point(DriverRef driver, const char* name) {
  const detail::Source* source = detail::source_of(driver.api());
  Diagnostic diagnostic{"K0232", std::string("there is no entry point `") + name + "`", {}, {}};
  diagnostic.rows = {
      {"looked for in", source && !source->library.empty() ? source->library : "the engine's table"}};
  if (is_wrapped(driver))
    diagnostic.rows.push_back(
        {"not looked for in", "the driver, as the loader stands between with handles of its own"});
  diagnostic.help = {"see whether the name is right: those of Level Zero begin with ze, zes, zet or zer",
                     "or install a newer driver and a newer loader"};
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "entry_point", std::move(diagnostic));
}

}  // namespace

Result<DeviceIdentity> DeviceRef::identity() const {
  auto properties = make<ze_device_properties_t>();
  KILN_TRY(KILN_CALL(zeDeviceGetProperties, *this, &properties));
  DeviceIdentity identity;
  std::copy_n(properties.uuid.id, identity.uuid.size(), identity.uuid.begin());
  const auto has = [&](ze_device_property_flag_t flag) { return (properties.flags & flag) != 0; };
  identity.integrated = has(ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
  identity.sub_device = has(ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
  identity.error_correction = has(ZE_DEVICE_PROPERTY_FLAG_ECC);
  identity.on_demand_paging = has(ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING);
  if (identity.sub_device) identity.sub_device_id = properties.subdeviceId;

  auto pci = make<ze_pci_ext_properties_t>();
  const auto get_pci = api().zeDevicePciGetPropertiesExt;
  if (get_pci && get_pci(raw(), &pci) == ZE_RESULT_SUCCESS)
    identity.pci = {pci.address.domain, pci.address.bus, pci.address.device, pci.address.function};

  // A driver leaves alone what it does not know, and has no LUID where the system has none: zeros.
  auto again = make<ze_device_properties_t>();
  auto luid = make<ze_device_luid_ext_properties_t>();
  chain(again, luid);
  const auto is_set = [](std::uint8_t byte) { return byte != 0; };
  if (api().zeDeviceGetProperties(raw(), &again) == ZE_RESULT_SUCCESS &&
      std::ranges::any_of(luid.luid.id, is_set)) {
    std::ranges::copy(luid.luid.id, identity.luid.emplace().begin());
    identity.luid_nodes = luid.nodeMask;
  }
  return identity;
}

Result<std::vector<DeviceRef>> DeviceRef::sub_devices() const {
  std::uint32_t count = 0;
  KILN_TRY(KILN_CALL(zeDeviceGetSubDevices, *this, &count, nullptr));
  std::vector<ze_device_handle_t> handles(count);
  if (count) KILN_TRY(KILN_CALL(zeDeviceGetSubDevices, *this, &count, handles.data()));
  std::vector<DeviceRef> devices;
  for (std::uint32_t i = 0; i < count; ++i) devices.emplace_back(handles[i], api());
  return devices;
}

Result<bool> DeviceRef::can_access(DeviceRef peer) const {
  ze_bool_t can = 0;
  KILN_TRY(KILN_CALL(zeDeviceCanAccessPeer, *this, peer, &can));
  return can != 0;
}

Result<void*> DriverRef::entry_point(const char* name) const {
  if (!*this) return tl::unexpected(detail::empty_handle("entry_point"));
  if (!name) return tl::unexpected(detail::null_pointer("entry_point", "name"));
  // A library answers for those that it needs, too: printf is no entry point.
  if (!std::string_view(name).starts_with("ze")) return tl::unexpected(no_such_entry_point(*this, name));
  const detail::Source* source = detail::source_of(api());
  void* address = find_in(api(), name);
  if (!address && source) address = find_exported(source->library, name);
  if (!address) address = find_extension(*this, name);
  if (!address) return tl::unexpected(no_such_entry_point(*this, name));
  return address;
}

}  // namespace kiln
