// SPDX-License-Identifier: MIT
// Calls of one kind through the tables of a driver library, for callgrind: layer_calls LIBRARY KIND CALLS
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

namespace {

ze_kernel_dditable_t kernels;
ze_command_list_dditable_t lists;
ze_kernel_handle_t kernel = nullptr;

template <class Table>
void take(void* library, const char* name, Table& table) {
  using Get = ze_result_t (*)(ze_api_version_t, Table*);
  const auto get = reinterpret_cast<Get>(dlsym(library, name));
  if (!get || get(ZE_API_VERSION_CURRENT, &table) != ZE_RESULT_SUCCESS) {
    std::fprintf(stderr, "%s: no table\n", name);
    std::exit(1);
  }
}

}  // namespace

// With a C name, for callgrind's --toggle-collect.
extern "C" [[gnu::noinline]] void measured_calls(std::string_view kind, long calls) {
  const auto list = reinterpret_cast<ze_command_list_handle_t>(0x40000);
  const ze_group_count_t groups{1, 1, 1};
  const void* pointer = &groups;
  if (kind == "argument")
    for (long i = 0; i < calls; ++i) kernels.pfnSetArgumentValue(kernel, 1, sizeof pointer, &pointer);
  else if (kind == "local")
    for (long i = 0; i < calls; ++i) kernels.pfnSetArgumentValue(kernel, 2, 1024, nullptr);
  else if (kind == "group_size")
    for (long i = 0; i < calls; ++i) kernels.pfnSetGroupSize(kernel, 16, 16, 1);
  else
    for (long i = 0; i < calls; ++i) lists.pfnAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  ze_module_dditable_t modules{};
  take(library, "zeGetModuleProcAddrTable", modules);
  take(library, "zeGetKernelProcAddrTable", kernels);
  take(library, "zeGetCommandListProcAddrTable", lists);
  std::ifstream file(KILN_BENCH_SPIRV, std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  ze_module_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  description.format = ZE_MODULE_FORMAT_IL_SPIRV;
  description.inputSize = code.size();
  description.pInputModule = reinterpret_cast<const std::uint8_t*>(code.data());
  ze_module_handle_t module = nullptr;
  const auto some = reinterpret_cast<ze_context_handle_t>(0x50000);
  modules.pfnCreate(some, reinterpret_cast<ze_device_handle_t>(0x60000), &description, &module, nullptr);
  const ze_kernel_desc_t kernel_description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "three"};
  kernels.pfnCreate(module, &kernel_description, &kernel);
  measured_calls(argv[2], std::atol(argv[3]));
  return 0;
}
