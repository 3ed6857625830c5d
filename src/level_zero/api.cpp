// SPDX-License-Identifier: MIT
// Fills the dispatch table from the loader, from a driver's own tables, or from the caller.
#include "kiln/api.hpp"

#include <dlfcn.h>
#include <level_zero/ze_ddi.h>

#include <cstdlib>

#include "kiln/log.hpp"
#include "level_zero/call.hpp"
#include "level_zero/discovery.hpp"
#include "level_zero/load_moment.hpp"

namespace kiln {
namespace detail {
Api table;
bool tearing_down = false;
}  // namespace detail
namespace {

constexpr const char* kLoader = "libze_loader.so.1";

std::string& current_source() {
  static std::string source;
  return source;
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
  return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "dlopen", std::move(diagnostic));
}

Result<void> start(Api api, const std::string& source) {
  if (const ze_result_t code = api.zeInit(0); code != ZE_RESULT_SUCCESS)
    return tl::unexpected(source == kLoader ? detail::explain_missing_gpu(code, "zeInit")
                                            : broken_library(source, "zeInit gave " + result_name(code)));
  // Through the loader, a driver's own function must not be given the loader's handles.
  if (source != kLoader) find_extensions(api);
  // Registered behind the library's own exit handlers, so it runs before them.
  std::atexit([] { detail::tearing_down = true; });
  detail::table = api;
  current_source() = source;
  detail::use_moment(source);
  return {};
}

}  // namespace

Result<void> load_loader() {
  if (current_source() == kLoader) return {};
  detail::remember_moment(kLoader);
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
  return start(api, kLoader);
}

Result<void> load_driver(const std::string& path) {
  if (current_source() == path) return {};
  detail::remember_moment(path);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return tl::unexpected(broken_library(path, dlerror()));
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
  return start(api, path);
}

void load_table(const Api& table) {
  detail::table = table;
  current_source() = "(the caller's table)";
  detail::remember_moment(current_source());
  detail::use_moment(current_source());
}

}  // namespace kiln
