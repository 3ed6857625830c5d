// SPDX-License-Identifier: MIT
// A machine as one text file: what it is from, then the files of its /proc and /sys, each below a line
// `=== path`.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/private_folder.hpp"

namespace kiln::test {

/// The files of such a text in a folder of their own, which goes with this.
class Machine {
 public:
  explicit Machine(const std::filesystem::path& text) : folder_(detail::PrivateFolder::make()) {
    REQUIRE(folder_);
    std::ifstream in(text);
    REQUIRE(in);
    std::ofstream out;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("=== ")) {
        const std::filesystem::path file = folder_->path() / line.substr(4);
        std::filesystem::create_directories(file.parent_path());
        out = std::ofstream(file);
      } else if (out.is_open()) {
        out << line << '\n';
      }
    }
  }
  [[nodiscard]] std::string root() const { return folder_->path().string(); }

 private:
  std::optional<detail::PrivateFolder> folder_;
};

}  // namespace kiln::test
