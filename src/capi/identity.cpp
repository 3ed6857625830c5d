// SPDX-License-Identifier: MIT
// Of the C interface: which device it is, its siblings and tiles, what it has, and contexts of an engine.
#include "capi/boundary.hpp"

namespace kiln_c {
namespace {

/// Another device of that driver in the context of `object`.
Result<std::shared_ptr<DeviceObject>> beside(std::shared_ptr<DeviceObject> object, DeviceRef device) {
  const OpenDevice& open = object->open;
  KILN_TRY(LentDevice lent, lend_device({open.driver, device}, open.context.get(), open.kind));
  auto made = std::make_shared<DeviceObject>(std::move(lent), std::move(object));
  KILN_TRY(made->queue_group, made->open.device.compute_queue_group());
  return made;
}

/// One of the devices that `all` gives.
kiln_result give_one(const char* call, kiln_device device, std::uint32_t index, const char* name,
                     kiln_device* out, kiln_error* error,
                     Result<std::vector<DeviceRef>> (*all)(const OpenDevice&)) {
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, name, out));
    KILN_TRY(std::shared_ptr<DeviceObject> object, hold<DeviceObject>(call, device));
    KILN_TRY(const std::vector<DeviceRef> devices, all(object->open));
    if (index >= devices.size()) return tl::unexpected(out_of_range(call, "index", index, devices.size()));
    KILN_TRY(std::shared_ptr<DeviceObject> made, beside(std::move(object), devices[index]));
    return give(call, std::move(made), out);
  });
}

kiln_result give_count(const char* call, kiln_device device, std::uint32_t* count, kiln_error* error,
                       Result<std::vector<DeviceRef>> (*all)(const OpenDevice&)) {
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    if (!count) return tl::unexpected(null_parameter(call, "count"));
    KILN_TRY(const std::vector<DeviceRef> devices, all(object->open));
    *count = static_cast<std::uint32_t>(devices.size());
    return {};
  });
}

Result<std::vector<DeviceRef>> siblings(const OpenDevice& open) { return open.driver.devices(); }
Result<std::vector<DeviceRef>> tiles(const OpenDevice& open) { return open.device.sub_devices(); }

/// What a device of the loader is: GPUs above all, and drivers that an engine has put beside them.
Result<DeviceKind> kind_of(DeviceRef device) {
  if (!device) return DeviceKind::gpu;  // lend_device() says what is wrong
  KILN_TRY(const DeviceProperties properties, device.properties());
  return properties.type == ZE_DEVICE_TYPE_GPU   ? DeviceKind::gpu
         : properties.type == ZE_DEVICE_TYPE_CPU ? DeviceKind::cpu
                                                 : DeviceKind::driver;
}

kiln_identity identity_of(const DeviceIdentity& known) {
  kiln_identity identity = KILN_INIT(kiln_identity);
  std::ranges::copy(known.uuid, identity.uuid);
  if (known.luid) std::ranges::copy(*known.luid, identity.luid);
  identity.luid_nodes = known.luid_nodes;
  const PciAddress pci = known.pci.value_or(PciAddress{});
  identity.pci_domain = pci.domain;
  identity.pci_bus = pci.bus;
  identity.pci_device = pci.device;
  identity.pci_function = pci.function;
  identity.sub_device_id = known.sub_device_id;
  const auto flag = [&](bool set, std::uint32_t bit) { identity.flags |= set ? bit : 0; };
  flag(known.integrated, KILN_IDENTITY_INTEGRATED);
  flag(known.sub_device, KILN_IDENTITY_SUB_DEVICE);
  flag(known.error_correction, KILN_IDENTITY_ERROR_CORRECTION);
  flag(known.on_demand_paging, KILN_IDENTITY_ON_DEMAND_PAGING);
  flag(known.pci.has_value(), KILN_IDENTITY_PCI);
  flag(known.luid.has_value(), KILN_IDENTITY_LUID);
  return identity;
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_device_count(kiln_device device, uint32_t* count, kiln_error* error) {
  return give_count(__func__, device, count, error, siblings);
}

kiln_result kiln_device_at(kiln_device device, uint32_t index, kiln_device* other, kiln_error* error) {
  return give_one(__func__, device, index, "other", other, error, siblings);
}

kiln_result kiln_device_sub_device_count(kiln_device device, uint32_t* count, kiln_error* error) {
  return give_count(__func__, device, count, error, tiles);
}

kiln_result kiln_device_sub_device(kiln_device device, uint32_t index, kiln_device* sub_device,
                                   kiln_error* error) {
  return give_one(__func__, device, index, "sub_device", sub_device, error, tiles);
}

kiln_result kiln_device_lend(kiln_device driver_of, const kiln_native_device* native, kiln_device* device,
                             kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "device", device));
    Input<kiln_native_device> input;
    KILN_TRY(Input<kiln_native_device>::read(call, "kiln_native_device", native, input));
    const Api* api = &default_api();
    DeviceKind kind = DeviceKind::gpu;
    if (driver_of) {
      KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, driver_of));
      api = &object->open.driver.api();
      kind = object->open.kind;
    } else {
      KILN_TRY(api, load_loader());
    }
    const SelectedDevice selected{DriverRef(static_cast<ze_driver_handle_t>(input->driver), *api),
                                  DeviceRef(static_cast<ze_device_handle_t>(input->device), *api)};
    if (!driver_of) {
      KILN_TRY(kind, kind_of(selected.device));
    }
    const ContextRef context(static_cast<ze_context_handle_t>(input->context), *api);
    KILN_TRY(LentDevice lent, lend_device(selected, context, kind));
    auto object = std::make_shared<DeviceObject>(std::move(lent), nullptr);
    KILN_TRY(object->queue_group, object->open.device.compute_queue_group());
    return give(call, std::move(object), device);
  });
}

kiln_result kiln_device_can_access(kiln_device device, kiln_device peer, uint32_t* can, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    KILN_TRY(const DeviceObject* other, get<DeviceObject>(call, peer));
    if (!can) return tl::unexpected(null_parameter(call, "can"));
    // A driver takes no handle of another.
    if (&object->open.device.api() != &other->open.device.api()) {
      *can = 0;
      return {};
    }
    KILN_TRY(*can, object->open.device.can_access(other->open.device));
    return {};
  });
}

kiln_result kiln_device_get_identity(kiln_device device, kiln_identity* identity, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    KILN_TRY(check_struct(call, "kiln_identity", identity));
    KILN_TRY(const DeviceIdentity known, object->open.device.identity());
    return write(call, "kiln_identity", identity_of(known), identity);
  });
}

kiln_result kiln_device_has(kiln_device device, uint32_t feature, uint32_t* has, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    static_assert(KILN_FEATURE_IN_ORDER_LISTS == static_cast<int>(Feature::in_order_lists) &&
                  KILN_FEATURE_COPY_OFFLOAD == static_cast<int>(Feature::copy_offload) &&
                  KILN_FEATURE_LIST_SYNCHRONIZE == static_cast<int>(Feature::list_synchronize) &&
                  KILN_FEATURE_COUNTER_BASED_EVENTS == static_cast<int>(Feature::counter_based_events) &&
                  KILN_FEATURE_APPEND_LISTS == static_cast<int>(Feature::append_lists) &&
                  KILN_FEATURE_HOST_FUNCTIONS == static_cast<int>(Feature::host_functions) &&
                  KILN_FEATURE_IMPORT_HOST == static_cast<int>(Feature::import_host));
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    if (feature > KILN_FEATURE_IMPORT_HOST) return tl::unexpected(unknown_bits(call, "feature", feature));
    if (!has) return tl::unexpected(null_parameter(call, "has"));
    *has = object->open.driver.has(static_cast<Feature>(feature));
    return {};
  });
}

kiln_result kiln_device_queue_group_count(kiln_device device, uint32_t* count, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    if (!count) return tl::unexpected(null_parameter(call, "count"));
    KILN_TRY(const std::vector<QueueGroup> groups, object->open.device.queue_groups());
    *count = static_cast<std::uint32_t>(groups.size());
    return {};
  });
}

kiln_result kiln_device_get_queue_group(kiln_device device, uint32_t index, kiln_queue_group* group,
                                        kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    constexpr std::uint32_t kKnown =
        KILN_QUEUE_GROUP_COMPUTE | KILN_QUEUE_GROUP_COPY | KILN_QUEUE_GROUP_COOPERATIVE;
    static_assert(static_cast<int>(KILN_QUEUE_GROUP_COMPUTE) ==
                      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE &&
                  static_cast<int>(KILN_QUEUE_GROUP_COPY) == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY &&
                  static_cast<int>(KILN_QUEUE_GROUP_COOPERATIVE) ==
                      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS);
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    KILN_TRY(check_struct(call, "kiln_queue_group", group));
    KILN_TRY(const std::vector<QueueGroup> groups, object->open.device.queue_groups());
    if (index >= groups.size()) return tl::unexpected(out_of_range(call, "index", index, groups.size()));
    kiln_queue_group known = KILN_INIT(kiln_queue_group);
    known.max_fill_pattern = groups[index].max_fill_pattern;
    known.flags = groups[index].flags & kKnown;
    known.queues = groups[index].queues;
    return write(call, "kiln_queue_group", known, group);
  });
}

kiln_result kiln_device_entry_point(kiln_device device, const char* name, void** address, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    KILN_TRY(const std::string wanted, text(call, "name", name));
    if (!address) return tl::unexpected(null_parameter(call, "address"));
    KILN_TRY(*address, object->open.driver.entry_point(wanted.c_str()));
    return {};
  });
}
