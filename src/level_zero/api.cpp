// SPDX-License-Identifier: MIT
// Fills dispatch tables from the loader, from a driver's own tables, or from the caller.
#include "kiln/api.hpp"

#include <dlfcn.h>
#include <level_zero/ze_ddi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/discovery.hpp"
#include "level_zero/drivers.hpp"
#include "level_zero/open/simulated.hpp"
#include "level_zero/source.hpp"

namespace kiln {
namespace {

/// Stands where an entry point is missing.
template <class Function>
struct NotLoaded;
template <class... Parameters>
struct NotLoaded<ze_result_t(ZE_APICALL*)(Parameters...)> {
  static ze_result_t ZE_APICALL call(Parameters...) { return ZE_RESULT_ERROR_UNINITIALIZED; }
};

/// The same table with NotLoaded where a REQUIRED entry point is missing.
constexpr Api complete(Api api) {
  if (!api.zeInit) api.zeInit = NotLoaded<decltype(api.zeInit)>::call;
#define KILN_REQUIRED(table, name) \
  if (!api.ze##table##name) api.ze##table##name = NotLoaded<decltype(api.ze##table##name)>::call;
#define KILN_OPTIONAL(name, type)
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  return api;
}

}  // namespace

bool detail::tearing_down = false;

namespace {

using detail::kLoader;

constinit const Api no_driver_table = complete({});
constinit std::atomic<const Api*> default_table = &no_driver_table;

/// A table that was given out: it stays as it is until the process ends.
struct Table {
  Api api;
  detail::Source source;
  const Table* next = nullptr;
};
std::atomic<const Table*> newest_table = nullptr;
std::mutex loading;  // one at a time: the order of the list, and zeInit

template <class Is>
const Table* find_table(Is is) {
  for (const Table* table = newest_table.load(std::memory_order_acquire); table; table = table->next)
    if (is(*table)) return table;
  return nullptr;
}
const Table* find_library(const std::string& library) {
  return find_table([&](const Table& table) { return table.source.library == library; });
}

const Api& keep(const Api& api, std::string library, detail::EnvironmentSnapshot snapshot) {
  const auto* table =
      new Table{api, {std::move(library), std::move(snapshot)}, newest_table.load(std::memory_order_relaxed)};
  newest_table.store(table, std::memory_order_release);
  return table->api;
}

/// The driver's tables, each member named as in the list of entry points.
struct DriverTables {
  ze_global_dditable_t Global;
  ze_driver_dditable_t Driver;
  ze_device_dditable_t Device;
  ze_context_dditable_t Context;
  ze_mem_dditable_t Mem;
  ze_command_queue_dditable_t CommandQueue;
  ze_fence_dditable_t Fence;
  ze_event_pool_dditable_t EventPool;
  ze_event_dditable_t Event;
  ze_command_list_dditable_t CommandList;
  ze_module_dditable_t Module;
  ze_module_build_log_dditable_t ModuleBuildLog;
  ze_kernel_dditable_t Kernel;
};

template <class Table>
bool get_table(void* library, const char* name, Table& table) {
  using Get = ze_result_t(ZE_APICALL*)(ze_api_version_t, Table*);
  const auto get = reinterpret_cast<Get>(dlsym(library, name));
  return get && get(ZE_API_VERSION_CURRENT, &table) == ZE_RESULT_SUCCESS;
}

/// Null when complete, else the first entry point that is missing.
const char* first_missing(const Api& api) {
  if (!api.zeInit) return "zeInit";
#define KILN_REQUIRED(table, name) \
  if (!api.ze##table##name) return "ze" #table #name;
#define KILN_OPTIONAL(name, type)
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  return nullptr;
}

void find_optional(Api& api, void* library) {
#define KILN_REQUIRED(table, name)
#define KILN_OPTIONAL(name, type) api.name = reinterpret_cast<type>(dlsym(library, #name));
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
}

/// What a library does not export may still be offered by the driver as an extension function.
void find_extensions(Api& api) {
  std::uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  if (api.zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS || !driver) return;
  void* address = nullptr;
#define KILN_REQUIRED(table, name)
#define KILN_OPTIONAL(name, type)                                                                         \
  if (!api.name && api.zeDriverGetExtensionFunctionAddress(driver, #name, &address) == ZE_RESULT_SUCCESS) \
    api.name = reinterpret_cast<type>(address);
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
}

Error broken_library(const std::string& library, std::string why) {
  Diagnostic diagnostic{"K0306", "`" + library + "` cannot be used as a Level Zero driver", {}, {}};
  diagnostic.rows.push_back({"reason", std::move(why)});
  diagnostic.help = {"check the path and that the file is a Level Zero driver for this machine"};
  if (library == detail::kIntelDriver) diagnostic.help = {detail::kInstallIntelDriver};
  return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "dlopen", std::move(diagnostic));
}

/// Makes a loader's drivers ready, and leaves zeInitDrivers in the table only where drivers() is to ask it.
ze_result_t initialize(Api& loader) {
  const ze_result_t code = loader.zeInit(0);
  if (!loader.zeInitDrivers) return code;
  if (code == ZE_RESULT_SUCCESS) {
    const auto shown = detail::drivers_by_init(loader);
    if (shown && detail::has_gpu(*shown)) {
      loader.zeInitDrivers = nullptr;
      return code;
    }
  }
  if (const auto more = detail::drivers_by_type(loader); more && !more->empty()) return ZE_RESULT_SUCCESS;
  loader.zeInitDrivers = nullptr;
  return code;
}

Result<const Api*> start(Api api, const std::string& library, detail::EnvironmentSnapshot snapshot) {
  if (library == kLoader) {
    if (const ze_result_t code = initialize(api); code != ZE_RESULT_SUCCESS)
      return tl::unexpected(detail::explain_missing_gpu(code, "zeInit"));
  } else {
    if (const ze_result_t code = api.zeInit(0); code != ZE_RESULT_SUCCESS)
      return tl::unexpected(broken_library(library, "zeInit gave " + result_name(code)));
    // Not through the loader: a driver's own function must not be given the loader's handles.
    find_extensions(api);
    api.zeInitDrivers = nullptr;  // a driver by itself is nobody's but the caller's
  }
  // Registered behind the library's own exit handlers, so it runs before them.
  std::atexit([] { detail::tearing_down = true; });
  // The same library by another name: its handles go together.
  if (const Table* same = find_table([&](const Table& each) { return each.api == api; })) return &same->api;
  return &keep(api, library, std::move(snapshot));
}

Result<const Api*> open_loader() {
  auto snapshot = detail::snapshot_of_loading(kLoader);
  void* library = dlopen(kLoader, RTLD_NOW | RTLD_LOCAL);  // never closed: handles call into it until exit
  if (!library) return tl::unexpected(detail::explain_missing_loader(dlerror()));
  Api api;
  api.zeInit = reinterpret_cast<decltype(api.zeInit)>(dlsym(library, "zeInit"));
#define KILN_REQUIRED(table, name) \
  api.ze##table##name = reinterpret_cast<decltype(api.ze##table##name)>(dlsym(library, "ze" #table #name));
#define KILN_OPTIONAL(name, type)
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  find_optional(api, library);
  if (const char* missing = first_missing(api))
    return tl::unexpected(broken_library(kLoader, std::string(missing) + " is missing"));
  return start(api, kLoader, std::move(snapshot));
}

Result<const Api*> open_driver(const std::string& path) {
  auto snapshot = detail::snapshot_of_loading(path.c_str());
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return tl::unexpected(broken_library(path, dlerror()));
  const char* const receiver = std::getenv("SetCommandStreamReceiver");
  if (path == detail::kIntelDriver && receiver && std::string_view(receiver) == "2")
    KILN_TRY(detail::need_talking_driver(path.c_str(), library));
  DriverTables tables{};
#define KILN_TABLE(table)                                                \
  if (!get_table(library, "zeGet" #table "ProcAddrTable", tables.table)) \
    return tl::unexpected(broken_library(path, "zeGet" #table "ProcAddrTable is missing or refuses"));
  KILN_TABLE(Global)
  KILN_TABLE(Driver)
  KILN_TABLE(Device)
  KILN_TABLE(Context)
  KILN_TABLE(Mem)
  KILN_TABLE(CommandQueue)
  KILN_TABLE(Fence)
  KILN_TABLE(EventPool)
  KILN_TABLE(Event)
  KILN_TABLE(CommandList)
  KILN_TABLE(Module)
  KILN_TABLE(ModuleBuildLog)
  KILN_TABLE(Kernel)
#undef KILN_TABLE
  Api api;
  api.zeInit = tables.Global.pfnInit;
#define KILN_REQUIRED(table, name) api.ze##table##name = tables.table.pfn##name;
#define KILN_OPTIONAL(name, type)
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  find_optional(api, library);
  if (const char* missing = first_missing(api))
    return tl::unexpected(broken_library(path, std::string(missing) + " is missing"));
  return start(api, path, std::move(snapshot));
}

}  // namespace

const Api& detail::no_driver() { return no_driver_table; }

const Api& default_api() { return *default_table.load(std::memory_order_acquire); }

Result<const Api*> load_loader() {
  const std::lock_guard lock(loading);
  if (const Table* table = find_library(kLoader)) return &table->api;
  auto api = open_loader();
  if (api) default_table.store(*api, std::memory_order_release);
  return api;
}

Result<const Api*> load_driver(const std::string& path) {
  const std::lock_guard lock(loading);
  if (const Table* table = find_library(path)) return &table->api;
  return open_driver(path);
}

const Api& detail::load_table(const Api& given, std::size_t size) {
  Api known_part;
  std::memcpy(&known_part, &given, std::min(size, sizeof known_part));
  const Api whole = complete(known_part);
  const std::lock_guard lock(loading);
  const Table* known = find_table([&](const Table& each) { return each.api == whole; });
  const Api* api = known ? &known->api : &keep(whole, {}, detail::snapshot_of_loading(nullptr));
  default_table.store(api, std::memory_order_release);
  return *api;
}

[[gnu::hot]] const detail::Source* detail::source_of(const Api& api) {
  const Table* table = find_table([&](const Table& each) { return &each.api == &api; });
  return table ? &table->source : nullptr;
}

const Api& detail::keep_beside(const Api& table, const Api& driver) {
  const std::lock_guard lock(loading);
  const Source* source = source_of(driver);
  return keep(table, source ? source->library : "", source ? source->snapshot : EnvironmentSnapshot{});
}

bool detail::is_loaded_from(const std::string& library) { return find_library(library) != nullptr; }

Result<const Api*> detail::load_source(const std::string& library) {
  return library == kLoader ? load_loader() : load_driver(library);
}

}  // namespace kiln
