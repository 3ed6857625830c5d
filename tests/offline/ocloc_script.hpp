// SPDX-License-Identifier: MIT
// A script in place of ocloc.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/private_folder.hpp"

namespace kiln::test {

/// A folder, and PATH with an `ocloc` of this text before all else; without a text there is none at all.
class Ocloc {
 public:
  explicit Ocloc(const std::string& script = {}) : path_(std::getenv("PATH")) {
    const std::filesystem::path program = folder() / "ocloc";
    if (!script.empty()) {
      std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
      std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    }
    setenv("PATH", (folder().string() + (script.empty() ? "" : ":" + path_)).c_str(), 1);
  }
  Ocloc(Ocloc&&) = delete;
  ~Ocloc() { setenv("PATH", path_.c_str(), 1); }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder()), {}));
  }

 private:
  std::string path_;
  const kiln::detail::PrivateFolder folder_ = kiln::detail::PrivateFolder::make().value();
};

}  // namespace kiln::test
