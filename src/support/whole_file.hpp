// SPDX-License-Identifier: MIT
// A file that is written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace kiln::detail {

/// Writes beside the file and puts it there at the end, so that there is never half of it; behind a link,
/// which stays. A pipe or a device is written to as it is. Bound to a thread.
class WholeFile {
 public:
  enum class Readers : bool { all, owner };
  /// `readers` of a file that is made: whom the umask lets, or the owner alone.
  explicit WholeFile(std::string path, Readers readers = Readers::all);
  WholeFile(WholeFile&&) = delete;
  ~WholeFile();
  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  /// 0, or the errno of what went wrong first.
  [[nodiscard]] int finish();

 private:
  void note();

  std::string path_, made_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
  bool made_by_us_ = false, finished_ = false;
};

}  // namespace kiln::detail
