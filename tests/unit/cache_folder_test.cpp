// SPDX-License-Identifier: MIT
// Golden texts of the cache's folders.
#include <cerrno>

#include "cache/maintenance.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("K0710: cache folders that cannot be used") {
  const auto check_refused = [](const char* path, cache::Access access, ze_result_t code,
                                const char* variant) {
    check_diagnostic("K0710", code, cache::open_folder(path, access), variant);
  };
  check_refused("/proc/nowhere/kiln", cache::Access::write, ZE_RESULT_ERROR_NOT_AVAILABLE, "");
  check_refused("caches/kiln", cache::Access::read, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "relative");
  check_diagnostic(
      "K0710", *cache::unusable_folder("/srv/kiln", "others may write to it", EPERM).diagnostic(), "open");
}

TEST_CASE("K0711: operations on a cache folder") {
  const cache::Folder lost("/srv/kiln", cache::Access::read, detail::Descriptor());
  check_diagnostic("K0711", ZE_RESULT_ERROR_NOT_AVAILABLE, cache::list_entries(lost));
}
