// SPDX-License-Identifier: MIT
// A program with a kernel cache, for the tests of `kiln cache`: loads one file or links several on a device,
// with specialization constants, and prints where the binary came from.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kiln/kiln.hpp"

namespace {

template <class T>
T need(kiln::Result<T> result) {
  if (result) return *std::move(result);
  std::fputs(result.error().text().c_str(), stderr);
  std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return std::fputs("cache_user load|link DEVICE (ID=VALUE | FILE)...\n", stderr), 2;
  kiln::BundleOptions build;
  std::vector<kiln::KernelFile> files;
  for (int i = 3; i < count; ++i) {
    unsigned id = 0;
    unsigned long long value = 0;
    if (std::sscanf(arguments[i], "%u=%llu", &id, &value) == 2) {
      build.constants.push_back({id, value});
      continue;
    }
    files.push_back(need(kiln::read_kernel_file(arguments[i])));
  }
  const bool link = std::string_view(arguments[1]) == "link";
  const kiln::OpenDevice device = need(kiln::open_device(need(kiln::parse_device_request(arguments[2]))));
  kiln::Cache cache = kiln::Cache::open(need(kiln::cache_options()));
  auto bundle = link ? kiln::Bundle::link(device, std::move(files), build, &cache)
                     : kiln::Bundle::load(device, std::move(files), build, &cache);
  std::printf("%s\n", to_string(need(std::move(bundle)).origin()));
}
