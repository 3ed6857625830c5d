// SPDX-License-Identifier: MIT
// A driver in front of KILN_COUNTED, which appends a line to the file KILN_COUNTING for each module that is
// made: "spirv" or "native", and its answer. Where KILN_COUNTING_REFUSES is set, native code is refused.
// Where KILN_COUNTING_BINARIES is set, "binary" for each time that native code is asked for, too.
// Where KILN_COUNTING_HOLDS names a file, a module of SPIR-V is made when that file is there.
#include <dlfcn.h>
#include <fcntl.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

void* counted() {
  static void* const library = dlopen(std::getenv("KILN_COUNTED"), RTLD_NOW | RTLD_LOCAL);
  return library;
}

void write_line(const char* format, unsigned code) {
  char line[64];
  const int size = std::snprintf(line, sizeof line, "%s 0x%x\n", format, code);
  const int file = open(std::getenv("KILN_COUNTING"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line, static_cast<std::size_t>(size)) != size) std::abort();
  close(file);
}

decltype(&zeModuleCreate) create = nullptr;

ze_result_t count_module(ze_context_handle_t context, ze_device_handle_t device,
                         const ze_module_desc_t* description, ze_module_handle_t* module,
                         ze_module_build_log_handle_t* log) {
  const bool native = description->format == ZE_MODULE_FORMAT_NATIVE;
  if (native && std::getenv("KILN_COUNTING_REFUSES")) {
    write_line("native", ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  }
  if (const char* const held = std::getenv("KILN_COUNTING_HOLDS"); held && !native) {
    write_line("held", 0);
    while (access(held, F_OK) != 0) usleep(1000);
  }
  const ze_result_t code = create(context, device, description, module, log);
  write_line(native ? "native" : "spirv", code);
  return code;
}

decltype(&zeModuleGetNativeBinary) get_binary = nullptr;

ze_result_t count_binary(ze_module_handle_t module, size_t* size, uint8_t* binary) {
  const ze_result_t code = get_binary(module, size, binary);
  write_line("binary", code);
  return code;
}

template <class Table>
void adjust(Table*) {}
void adjust(ze_module_dditable_t* table) {
  create = table->pfnCreate;
  table->pfnCreate = count_module;
  if (!std::getenv("KILN_COUNTING_BINARIES")) return;
  get_binary = table->pfnGetNativeBinary;
  table->pfnGetNativeBinary = count_binary;
}

}  // namespace

#define KILN_TABLE(name, type)                                                          \
  extern "C" ze_result_t zeGet##name##ProcAddrTable(ze_api_version_t version,           \
                                                    ze_##type##_dditable_t* table) {    \
    const auto get = reinterpret_cast<decltype(&zeGet##name##ProcAddrTable)>(           \
        dlsym(counted(), "zeGet" #name "ProcAddrTable"));                               \
    const ze_result_t code = get ? get(version, table) : ZE_RESULT_ERROR_UNINITIALIZED; \
    if (code == ZE_RESULT_SUCCESS && table) adjust(table);                              \
    return code;                                                                        \
  }
KILN_TABLE(Global, global)
KILN_TABLE(Driver, driver)
KILN_TABLE(Device, device)
KILN_TABLE(Context, context)
KILN_TABLE(Mem, mem)
KILN_TABLE(CommandQueue, command_queue)
KILN_TABLE(CommandList, command_list)
KILN_TABLE(Fence, fence)
KILN_TABLE(EventPool, event_pool)
KILN_TABLE(Event, event)
KILN_TABLE(Image, image)
KILN_TABLE(Sampler, sampler)
KILN_TABLE(PhysicalMem, physical_mem)
KILN_TABLE(VirtualMem, virtual_mem)
KILN_TABLE(Module, module)
KILN_TABLE(ModuleBuildLog, module_build_log)
KILN_TABLE(Kernel, kernel)
