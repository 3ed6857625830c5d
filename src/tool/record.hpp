// SPDX-License-Identifier: MIT
// `kiln explain` of what `kiln exec --record` keeps.
#pragma once

#include <cstdio>

namespace kiln::tool {

/// Is the file a record of calls? Leaves it at its beginning.
[[nodiscard]] bool is_record(std::FILE* file);

/// Says what was under way. The exit status of `kiln explain`.
[[nodiscard]] int explain_record(std::FILE* file, const char* path, bool as_json);

}  // namespace kiln::tool
