// SPDX-License-Identifier: MIT
// Runs the fuzz target of a name over files, those in folders included: the corpus as an ordinary test, with
// any compiler.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/input.hpp"

namespace {

bool replay(kiln::fuzz::Function target, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || !file.is_open()) return false;
  // Exactly as large as the file, so that a sanitizer sees each byte that is read beyond.
  const std::vector<std::uint8_t> input(content.begin(), content.end());
  target(input.data(), input.size());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const kiln::fuzz::Function target = count > 1 ? kiln::fuzz::find_function(arguments[1]) : nullptr;
  if (target == nullptr) return std::fprintf(stderr, "usage: replay TARGET FILE...\n"), 2;
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < count; ++i) {
    const std::filesystem::path path = arguments[i];
    if (!std::filesystem::is_directory(path)) files.push_back(path);
    if (std::filesystem::is_directory(path))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (files.empty()) return std::fprintf(stderr, "no files to replay\n"), 1;
  for (const auto& path : files) {
    // Before it runs: the last line names the one that crashes.
    std::printf("%s\n", path.c_str()), std::fflush(stdout);
    if (!replay(target, path)) return std::fprintf(stderr, "cannot be read\n"), 1;
  }
  std::printf("%zu files replayed\n", files.size());
}
