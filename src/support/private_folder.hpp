// SPDX-License-Identifier: MIT
// A folder for files that are gone when the work is done.
#pragma once

#include <filesystem>

namespace kiln::detail {

/// A new folder in the temporary one that only this user may enter; removed with all that is in it.
class PrivateFolder {
 public:
  PrivateFolder();
  PrivateFolder(PrivateFolder&&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  ///< empty: it could not be made

 private:
  std::filesystem::path path_;
};

}  // namespace kiln::detail
