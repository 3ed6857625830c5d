// SPDX-License-Identifier: MIT
// Where the dispatch table came from, so that another process can fill its own from there.
#pragma once

#include <string>

#include "kiln/result.hpp"

namespace kiln::detail {

/// The library that filled the table: the loader or a driver; empty for none, and for a table of the
/// caller's.
[[nodiscard]] const std::string& table_source();

/// Fills the table from what table_source() gave elsewhere. Errors: as load_loader() and load_driver().
[[nodiscard]] Result<void> load_source(const std::string& source);

}  // namespace kiln::detail
