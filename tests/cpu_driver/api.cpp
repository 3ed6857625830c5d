// SPDX-License-Identifier: MIT
// Finds the functions: members of the driver's tables, or symbols of the loader.
#include "api.hpp"

#include <dlfcn.h>
#include <level_zero/ze_ddi.h>

Api api;

namespace {

struct Tables {
  ze_global_dditable_t Global{};
  ze_driver_dditable_t Driver{};
  ze_device_dditable_t Device{};
  ze_context_dditable_t Context{};
  ze_command_queue_dditable_t CommandQueue{};
  ze_command_list_dditable_t CommandList{};
  ze_image_dditable_t Image{};
  ze_sampler_dditable_t Sampler{};
  ze_mem_dditable_t Mem{};
  ze_fence_dditable_t Fence{};
  ze_event_pool_dditable_t EventPool{};
  ze_event_dditable_t Event{};
  ze_module_dditable_t Module{};
  ze_module_build_log_dditable_t ModuleBuildLog{};
  ze_virtual_mem_dditable_t VirtualMem{};
  ze_physical_mem_dditable_t PhysicalMem{};
  ze_kernel_dditable_t Kernel{};
};

template <class Table>
bool fetch(const char* name, Table& table) {
  using Get = ze_result_t (*)(ze_api_version_t, Table*);
  const auto get = reinterpret_cast<Get>(dlsym(api.library, name));
  return get && get(ZE_API_VERSION_CURRENT, &table) == ZE_RESULT_SUCCESS;
}

}  // namespace

std::string load_straight(const char* driver_path) {
  api.library = dlopen(driver_path, RTLD_NOW | RTLD_LOCAL);
  if (!api.library) return dlerror();
  api.straight = true;
  Tables tables;
#define KILN_FETCH(name) \
  if (!fetch("zeGet" #name "ProcAddrTable", tables.name)) return "no table " #name;
  KILN_FETCH(Global)
  KILN_FETCH(Driver)
  KILN_FETCH(Device)
  KILN_FETCH(Context)
  KILN_FETCH(CommandQueue)
  KILN_FETCH(CommandList)
  KILN_FETCH(Image)
  KILN_FETCH(Sampler)
  KILN_FETCH(Mem)
  KILN_FETCH(Fence)
  KILN_FETCH(EventPool)
  KILN_FETCH(Event)
  KILN_FETCH(Module)
  KILN_FETCH(ModuleBuildLog)
  KILN_FETCH(VirtualMem)
  KILN_FETCH(PhysicalMem)
  KILN_FETCH(Kernel)
#undef KILN_FETCH
  api.Init = tables.Global.pfnInit;
#define KILN_COPY(table, name) api.table##name = tables.table.pfn##name;
  KILN_TEST_FUNCTIONS(KILN_COPY)
#undef KILN_COPY
  return {};
}

std::string load_through_loader() {
  api.library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!api.library) return dlerror();
  api.Init = reinterpret_cast<decltype(api.Init)>(dlsym(api.library, "zeInit"));
  std::string missing = api.Init ? "" : "zeInit ";
#define KILN_FIND(table, name)                                                                          \
  api.table##name = reinterpret_cast<decltype(api.table##name)>(dlsym(api.library, "ze" #table #name)); \
  if (!api.table##name) missing += "ze" #table #name " ";
  KILN_TEST_FUNCTIONS(KILN_FIND)
#undef KILN_FIND
  return missing;
}
