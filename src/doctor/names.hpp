// SPDX-License-Identifier: MIT
// Names of users, groups and library versions.
#pragma once

#include <sys/types.h>

#include <string>

namespace kiln::doctor {

[[nodiscard]] std::string user_name(uid_t id);
[[nodiscard]] std::string group_name(gid_t id);

/// Neither this user's nor root's.
[[nodiscard]] bool is_foreign(uid_t owner);

/// "libze_intel_gpu.so.1.3.24595", or a link to it, gives "1.3.24595"; empty where the name has no version.
[[nodiscard]] std::string version_of_file(const std::string& path);

}  // namespace kiln::doctor
