// SPDX-License-Identifier: MIT
// Work that is spread over threads, the folder it is done in, and the line that says how far it is.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace kiln::cli {

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

/// Calls `work` with 0 to count - 1, on at most as many threads as there are processors. `title` and the
/// number of those that are done show in one line on stderr where that is a terminal, cleared at the end.
void in_parallel(std::size_t count, const std::string& title, const std::function<void(std::size_t)>& work);

}  // namespace kiln::cli
