// SPDX-License-Identifier: MIT
// Makes the folder and removes it.
#include "support/private_folder.hpp"

#include <cstdlib>

namespace kiln::detail {

std::optional<PrivateFolder> PrivateFolder::make() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "kiln-XXXXXX").string();
  if (error || !mkdtemp(name.data())) return std::nullopt;
  return PrivateFolder(name);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace kiln::detail
