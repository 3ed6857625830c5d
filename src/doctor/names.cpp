// SPDX-License-Identifier: MIT
// Names of users, groups and library versions.
#include "doctor/names.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>

namespace kiln::doctor {

std::string user_name(uid_t id) {
  const passwd* user = getpwuid(id);
  return user && user->pw_name ? user->pw_name : std::to_string(id);
}

std::string group_name(gid_t id) {
  const group* found = getgrgid(id);
  return found && found->gr_name ? found->gr_name : std::to_string(id);
}

bool is_foreign(uid_t owner) { return owner != geteuid() && owner != 0; }

std::string version_of_file(const std::string& path) {
  std::error_code error;
  const std::string name = std::filesystem::weakly_canonical(path, error).filename().string();
  const auto at = name.find(".so.");
  return error || at == name.npos ? std::string() : name.substr(at + 4);
}

}  // namespace kiln::doctor
