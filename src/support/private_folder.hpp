// SPDX-License-Identifier: MIT
// A folder for files that are gone when the work is done.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace kiln::detail {

/// A new folder in the temporary one that only this user may enter; removed with all that is in it.
class PrivateFolder {
 public:
  /// Nothing: it could not be made, as TMPDIR names no folder, or one without room. There is no value without
  /// a path, since what is written below an empty one lands in the current folder.
  [[nodiscard]] static std::optional<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace kiln::detail
