// SPDX-License-Identifier: MIT
// Which file systems several machines may share, whose locks and renames have other rules.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::cache {

/// "nfs" of the f_type of statfs(); empty: it is of this machine alone, or an overlay of such. FUSE counts as
/// shared, since it does not tell what is behind it. Pure.
[[nodiscard]] std::string_view shared_file_system(std::uint32_t type);

/// The same of an open folder; "unknown" where the system does not say.
[[nodiscard]] std::string_view shared_file_system_of(int folder);

}  // namespace kiln::cache
