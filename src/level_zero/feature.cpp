// SPDX-License-Identifier: MIT
// What the driver and the loader have, and what is said where they have it not.
#include "kiln/feature.hpp"

#include <algorithm>

#include "level_zero/discovery.hpp"
#include "level_zero/newer.hpp"
#include "level_zero/source.hpp"

namespace kiln {
namespace {

struct Words {
  const char* name;   // as in "the driver has no NAME"
  const char* needs;  // what brings it
  const char* help;   // what to do instead
};

Words words_of(Feature feature) {
  switch (feature) {
    case Feature::in_order_lists:
      return {"command lists in order", "Level Zero 1.7, or ZE_experimental_event_pool_counter_based",
              "put barriers or events between commands that need each other, or take a synchronous queue"};
    case Feature::copy_offload:
      return {"offload of copies", "Level Zero 1.14",
              "append the copies to a list of a queue group for copies"};
    case Feature::list_synchronize:
      return {"wait for an immediate list", "Level Zero 1.6",
              "append a barrier that signals an event, and wait for the event"};
    case Feature::counter_based_events:
      return {"counter-based events", "Level Zero 1.15, or ZEX_counter_based_event of Intel's driver",
              "take the event of a pool: EventPoolRef::event()"};
    case Feature::append_lists:
      return {"immediate lists that take closed ones",
              "ZE_experimental_immediate_command_list_append, since Level Zero 1.9",
              "execute the closed lists on a queue: CommandQueueRef::execute()"};
    case Feature::host_functions:
      return {"functions of the host in command lists", "Level Zero 1.17",
              "wait for an event on a thread of your own, which then calls the function"};
    case Feature::import_host:
      return {"import of the host's memory",
              "ZE_extension_external_memmap_sysmem, or zexDriverImportExternalPointer of Intel's driver",
              "copy through ContextRef::allocate_host()"};
  }
  return {"such feature", "a newer release", "ask DriverRef::has() first"};
}

bool is_at_least(DriverRef driver, std::uint32_t minor) {
  const auto version = driver.api_version();
  return version && static_cast<std::uint32_t>(*version) >= ZE_MAKE_VERSION(1, minor);
}

bool names_extension(DriverRef driver, std::string_view name) {
  const auto extensions = driver.extensions();
  return extensions && std::ranges::find(*extensions, name) != extensions->end();
}

/// A loader has entry points for drivers that may be older than itself.
template <class Function>
bool offers(DriverRef driver, Function Api::*function, const char* name, std::uint32_t minor) {
  if (!(driver.api().*function)) return false;
  const detail::Source* source = detail::source_of(driver.api());
  if (!source || source->library != detail::kLoader || is_at_least(driver, minor)) return true;
  void* address = nullptr;
  return driver.api().zeDriverGetExtensionFunctionAddress(driver.raw(), name, &address) ==
             ZE_RESULT_SUCCESS &&
         address;
}
#define KILN_OFFERS(name, minor) offers(*this, &Api::name, #name, minor)

/// The driver that shows that device; the first of its table where none does, as for sub-devices.
DriverRef driver_of(DeviceRef device) {
  const auto all = drivers(device.api());
  if (!all || all->empty()) return {};
  for (const DriverRef driver : *all)
    if (const auto devices = driver.devices();
        devices && std::ranges::find(*devices, device) != devices->end())
      return driver;
  return all->front();
}

}  // namespace

bool DriverRef::has(Feature feature) const {
  if (!*this) return false;
  switch (feature) {
    case Feature::in_order_lists:  // Intel's driver has had them for long before it called itself 1.7
      return is_at_least(*this, 7) || names_extension(*this, "ZE_experimental_event_pool_counter_based");
    case Feature::copy_offload:
      return is_at_least(*this, 14);
    case Feature::list_synchronize:
      return KILN_OFFERS(zeCommandListHostSynchronize, 6);
    case Feature::counter_based_events:
      return KILN_OFFERS(zeEventCounterBasedCreate, 15) || KILN_OFFERS(zexCounterBasedEventCreate2, 99);
    case Feature::append_lists:
      return KILN_OFFERS(zeCommandListImmediateAppendCommandListsExp, 9);
    case Feature::host_functions:
      return KILN_OFFERS(zeCommandListAppendHostFunction, 17);
    case Feature::import_host:
      return names_extension(*this, detail::kSystemMemoryExtension) ||
             entry_point(detail::kImportPointer).has_value();
  }
  return false;
}

Error detail::lacking(Feature feature, const char* call, std::optional<ze_result_t> answered) {
  const Words words = words_of(feature);
  Diagnostic diagnostic{"K0230", std::string("the driver or the loader has no ") + words.name, {}, {}};
  diagnostic.rows = {{"needs", words.needs}};
  diagnostic.help = {words.help, "or install a newer driver and a newer loader"};
  if (answered == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    diagnostic.answer = {AnsweredBy::driver};
  else if (answered)
    diagnostic.rows.push_back({"the call gave", result_text(*answered)});
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call, std::move(diagnostic));
}

Result<void> detail::require(Feature feature, DeviceRef device, const char* call) {
  if (!device) return tl::unexpected(empty_handle(call));
  if (driver_of(device).has(feature)) return {};
  return tl::unexpected(lacking(feature, call));
}

}  // namespace kiln
