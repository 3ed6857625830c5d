// SPDX-License-Identifier: MIT
// What a bundle depends on: ocloc does not tell what it has read, so the sources are searched.
#include <algorithm>

#include "offline/bake/parts.hpp"

namespace kiln::offline {
namespace {

namespace fs = std::filesystem;

/// The name in `#include "name"` or `<name>`; empty: the line is none.
std::string_view included_name(std::string_view line) {
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  const auto skip = [&](std::string_view what) {
    skip_blanks();
    if (!line.starts_with(what)) return false;
    line.remove_prefix(what.size());
    return true;
  };
  if (!skip("#") || !skip("include")) return {};
  skip_blanks();
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return {};
  const auto end = line.find(line[0] == '"' ? '"' : '>', 1);
  return end == line.npos ? std::string_view() : line.substr(1, end - 1);
}

class Search {
 public:
  explicit Search(const std::vector<fs::path>& folders) : folders_(folders) {}

  /// `folder`: where the file lies, searched first; null: it is compiled from memory and lies nowhere.
  void read(std::span<const std::byte> bytes, const fs::path* folder) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      if (const auto name = included_name(text.substr(0, end)); !name.empty()) find(name, folder);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::vector<std::string> found;

 private:
  void find(std::string_view name, const fs::path* folder) {
    std::vector<fs::path> places;
    if (folder) places.push_back(*folder);
    places.insert(places.end(), folders_.begin(), folders_.end());
    for (const fs::path& place : places) {
      const fs::path path = (place / name).lexically_normal();
      std::error_code error;
      if (!fs::is_regular_file(path, error)) continue;
      if (std::ranges::find(found, path.string()) != found.end()) return;
      found.push_back(path.string());
      if (const auto file = read_kernel_file(path)) {
        const fs::path beside = path.parent_path();
        read(file->bytes, &beside);
      }
      return;
    }
  }

  const std::vector<fs::path>& folders_;
};

std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

}  // namespace

std::vector<std::string> included_files(const BakeSource& source, const BakeFlags& flags) {
  if (source.language == SourceLanguage::spirv) return {};
  auto folders = flags.include_folders;
  folders.push_back(fs::path(source.file).parent_path());
  Search search(folders);
  search.read(source.bytes, nullptr);
  return std::move(search.found);
}

std::string make_rule(const std::string& output, const std::vector<std::string>& dependencies) {
  std::string rule = escaped(output) + ":";
  for (const std::string& each : dependencies) rule += " \\\n  " + escaped(each);
  return rule + "\n";
}

}  // namespace kiln::offline
