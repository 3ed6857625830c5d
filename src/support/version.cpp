// SPDX-License-Identifier: MIT
// The version that this library was built as.
#include "kiln/version.hpp"

namespace kiln {

int library_version() noexcept { return KILN_VERSION_NUMBER; }

}  // namespace kiln
