// SPDX-License-Identifier: MIT
// A GPU is found whatever another part of the program asked zeInit for, where the loader has zeInitDrivers:
// start_test, with the fake loader in LD_LIBRARY_PATH.
#include <cstdio>

#include "kiln/device.hpp"

int main() {
  const auto loaded = kiln::load_loader();
  if (!loaded) {
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
  return drivers && drivers->size() == 1 && drivers->front() == found->driver ? 0 : 1;
}
