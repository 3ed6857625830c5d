// SPDX-License-Identifier: MIT
// A GPU is found whatever another part of the program asked zeInit for, and beside drivers of another age:
// start_test DRIVERS [own], with the fake loader in LD_LIBRARY_PATH; own: by a table of an engine's.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kiln/device.hpp"

namespace {

/// As an engine fills it that asks the loader for each name.
bool load_own_table() {
  namespace abi = kiln::abi;
  void* const loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader) return false;
  kiln::Api api;
  api.zeInit = reinterpret_cast<decltype(api.zeInit)>(dlsym(loader, "zeInit"));
#define KILN_REQUIRED(table, name) \
  api.ze##table##name = reinterpret_cast<decltype(api.ze##table##name)>(dlsym(loader, "ze" #table #name));
#define KILN_OPTIONAL(name, type) api.name = reinterpret_cast<type>(dlsym(loader, #name));
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
  if (api.zeInit(0) != ZE_RESULT_SUCCESS) return false;
  kiln::load_table(api);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 2 && std::string_view(arguments[2]) == "own") {
    if (!load_own_table()) return 1;
  } else if (const auto loaded = kiln::load_loader(); !loaded) {
    std::fprintf(stderr, "%s", loaded.error().text().c_str());
    return 1;
  }
  const auto found = kiln::first_device(ZE_DEVICE_TYPE_GPU);
  if (!found) {
    std::fprintf(stderr, "%s", found.error().text().c_str());
    return 1;
  }
  const auto drivers = kiln::drivers();
  std::printf("%zu drivers\n", drivers ? drivers->size() : 0);
  const std::size_t expected = std::strtoul(arguments[1], nullptr, 10);
  return drivers && drivers->size() == expected &&
                 std::ranges::find(*drivers, found->driver) != drivers->end()
             ? 0
             : 1;
}
