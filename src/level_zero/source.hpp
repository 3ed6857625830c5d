// SPDX-License-Identifier: MIT
// Where a dispatch table came from: for another process that needs the same, and for what shaped its driver.
#pragma once

#include <string>

#include "identity/environment_snapshot.hpp"
#include "kiln/api.hpp"

namespace kiln::detail {

/// The library of load_loader().
inline constexpr const char* kLoader = "libze_loader.so.1";

struct Source {
  std::string library;           ///< the loader or a driver; empty for a table of the caller's
  EnvironmentSnapshot snapshot;  ///< just before this process first loaded it
};

/// Of a table that load_…() gave, valid until the process ends; null for any other. Thread-safe.
[[nodiscard]] const Source* source_of(const Api& api);

/// Whether there is a table of that library. Thread-safe.
[[nodiscard]] bool is_loaded_from(const std::string& library);

/// The table of a library that source_of() named elsewhere. Errors: as load_loader() and load_driver().
[[nodiscard]] Result<const Api*> load_source(const std::string& library);

/// A table made of a driver's own, with the same source. It lives until the process ends. Thread-safe.
[[nodiscard]] const Api& keep_beside(const Api& table, const Api& driver);

}  // namespace kiln::detail
