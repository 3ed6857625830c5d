// SPDX-License-Identifier: MIT
// Runs the C interface's tests on the device that KILN_DEVICE names. Ends with 77 when a machine does not
// have it.
#define DOCTEST_CONFIG_IMPLEMENT
// Intel's driver has a handler of its own: a host that touches what was prefetched faults, and gets it back.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include <cstdio>
#include <cstdlib>

#include "capi/capi.hpp"

int main(int count, char** words) {
  doctest::Context tests(count, words);
  kiln::test::Device device;
  kiln::test::Caught caught;
  const char* const wanted = std::getenv("KILN_DEVICE");
  if (kiln_device_open(nullptr, device.out(), caught.out()) != KILN_SUCCESS &&
      caught.code().starts_with("K03") && std::string(wanted ? wanted : "") != "cpu") {
    std::printf("skipped: %s", caught.text().c_str());
    return 77;
  }
  return tests.run();
}
