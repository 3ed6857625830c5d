// SPDX-License-Identifier: MIT
// The driver behind the layer: opened once, and asked for its tables.
#pragma once

#include <level_zero/ze_api.h>

#include <string_view>

#include "kiln/api.hpp"

namespace kiln::layer {

/// Has the driver fill a table through its function `symbol`, and puts the layer's functions in the places of
/// their own. A table that the driver has no function for stays as it is. Error: UNINITIALIZED where there is
/// no driver, which is said once on stderr; else the driver's. Thread-safe.
[[nodiscard]] ze_result_t fill_table(const char* symbol, std::string_view table_name,
                                     ze_api_version_t version, void* table);

/// The driver's entry points, for asking around a refused call. Null: it lacks some that all have, which is
/// told once, or the process ends. Thread-safe.
[[nodiscard]] const Api* real_api() noexcept;

}  // namespace kiln::layer
