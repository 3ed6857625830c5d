// SPDX-License-Identifier: MIT
// Stands in for Intel's driver: the CPU driver, dressed as a GPU, whose zeKernelCreate ends the process, or
// hangs, for the kernels that FAKE_DRIVER names: "abort:strided,segv:one_each,hang:every_item".
#include <dlfcn.h>
#include <level_zero/ze_ddi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

decltype(&zeKernelCreate) real_kernel_create = nullptr;
decltype(&zeDeviceGetProperties) real_device_properties = nullptr;

ze_result_t ZE_APICALL kernel_create(ze_module_handle_t module, const ze_kernel_desc_t* description,
                                     ze_kernel_handle_t* kernel) {
  const char* faults = std::getenv("FAKE_DRIVER");
  const std::string all = std::string(",") + (faults ? faults : "") + ",", name = description->pKernelName;
  const auto is_to = [&](const char* fault) {
    return all.find("," + std::string(fault) + ":" + name + ",") != all.npos;
  };
  std::printf("{\"module\":0,\"kernel\":0,\"call\":\"noise\",\"result\":\"ZE_RESULT_SUCCESS\"}\n");
  if (is_to("abort")) {
    std::printf("Abort was called at 12 line in file:\nfake.cpp\n");
    std::abort();
  }
  if (is_to("segv")) {
    std::signal(SIGSEGV, SIG_DFL);  // past a sanitizer's own handler
    std::raise(SIGSEGV);
  }
  while (is_to("hang")) pause();
  return real_kernel_create(module, description, kernel);
}

ze_result_t ZE_APICALL device_properties(ze_device_handle_t device, ze_device_properties_t* properties) {
  const ze_result_t code = real_device_properties(device, properties);
  properties->type = ZE_DEVICE_TYPE_GPU;
  return code;
}

template <class Table>
ze_result_t real_table(const char* name, ze_api_version_t version, Table* table) {
  static void* driver = dlopen(std::getenv("KILN_CPU_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  using Get = ze_result_t (*)(ze_api_version_t, Table*);
  const auto get = driver ? reinterpret_cast<Get>(dlsym(driver, name)) : nullptr;
  return get ? get(version, table) : ZE_RESULT_ERROR_UNINITIALIZED;
}

}  // namespace

#define KILN_FORWARD(table, type)                                                                 \
  extern "C" __attribute__((visibility("default")))                                               \
  ze_result_t zeGet##table##ProcAddrTable(ze_api_version_t version, ze_##type##_dditable_t* to) { \
    return real_table("zeGet" #table "ProcAddrTable", version, to);                               \
  }
KILN_FORWARD(Global, global)
KILN_FORWARD(Driver, driver)
KILN_FORWARD(Context, context)
KILN_FORWARD(Mem, mem)
KILN_FORWARD(CommandQueue, command_queue)
KILN_FORWARD(Fence, fence)
KILN_FORWARD(EventPool, event_pool)
KILN_FORWARD(Event, event)
KILN_FORWARD(CommandList, command_list)
KILN_FORWARD(Module, module)
KILN_FORWARD(ModuleBuildLog, module_build_log)

extern "C" __attribute__((visibility("default"))) ze_result_t zeGetDeviceProcAddrTable(
    ze_api_version_t version, ze_device_dditable_t* table) {
  const ze_result_t code = real_table("zeGetDeviceProcAddrTable", version, table);
  real_device_properties = table->pfnGetProperties;
  table->pfnGetProperties = device_properties;
  return code;
}

extern "C" __attribute__((visibility("default"))) ze_result_t zeGetKernelProcAddrTable(
    ze_api_version_t version, ze_kernel_dditable_t* table) {
  const ze_result_t code = real_table("zeGetKernelProcAddrTable", version, table);
  real_kernel_create = table->pfnCreate;
  table->pfnCreate = kernel_create;
  return code;
}
