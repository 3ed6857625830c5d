// SPDX-License-Identifier: MIT
// Reads kernel files from a folder.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "kiln/bundle.hpp"
#include "kiln/log.hpp"

namespace kiln {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 30;  // bytes; no kernel file comes near

Error unreadable(const std::string& path, std::string why, std::vector<std::string> help) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "read_kernel_file",
      {"K0201", "kernel file `" + path + "` cannot be read", {{"reason", std::move(why)}}, std::move(help)});
}

/// Whether a file is one of a family's, such as saxpy.pvc.bin or saxpy.12.60.7.bin of `saxpy`. What stands
/// between is a target, so that saxpy.v2.pvc.bin is of the family `saxpy.v2` alone.
bool is_of_family(std::string_view file, std::string_view family) {
  constexpr std::string_view kNative = ".bin";
  if (!file.starts_with(family)) return false;
  file.remove_prefix(family.size());
  if (file == ".spv" || file == ".ar" || file == kNative) return true;
  if (!file.starts_with('.') || !file.ends_with(kNative)) return false;
  const std::string_view target = file.substr(1, file.size() - 1 - kNative.size());
  if (target == "cpu" || find_target(target)) return true;
  log(LogLevel::info, std::string(family).append(file) + " is not taken for kernels of `" +
                          std::string(family) + "`: `" + std::string(target) + "` is no target");
  return false;
}

}  // namespace

Result<KernelFile> read_kernel_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return tl::unexpected(unreadable(path.string(), "it is a folder", {"name a file"}));
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file)
    return tl::unexpected(unreadable(path.string(), std::strerror(errno), {"check the path and its rights"}));
  KernelFile result{path.filename().string(), {}};
  std::byte block[65536];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file)) {
    result.bytes.insert(result.bytes.end(), block, block + got);
    if (result.bytes.size() > kLargestFile) break;
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return tl::unexpected(unreadable(path.string(), "reading failed", {"check the disk"}));
  if (result.bytes.size() > kLargestFile)
    return tl::unexpected(unreadable(path.string(), "it is larger than 1 GiB", {"name a kernel file"}));
  return result;
}

Result<std::vector<KernelFile>> find_kernel_files(const std::filesystem::path& folder,
                                                  const std::string& family) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_of_family(entry->path().filename().native(), family)) paths.push_back(entry->path());
  }
  if (paths.empty())
    return tl::unexpected(unreadable((folder / (family + ".spv")).string(),
                                     error ? error.message() : "no such file",
                                     {"name the folder that holds the kernels: KILN_KERNEL_PATH=FOLDER"}));
  std::ranges::sort(paths);
  std::vector<KernelFile> files;
  for (const auto& path : paths) {
    auto file = read_kernel_file(path);
    if (!file) return tl::unexpected(std::move(file).error());
    files.push_back(*std::move(file));
  }
  return files;
}

Error unreadable_part(const std::string& file, const BinaryPart& part) {
  const BinaryError& error = part.facts.error();
  Diagnostic diagnostic{"K0209", "`" + file + "` has no kernels that can be read", {}, {}};
  if (!part.name.empty()) diagnostic.rows.push_back({"member", part.name});
  diagnostic.rows.push_back({"reason", error.message});
  if (error.offset) diagnostic.rows.push_back({"at", {}, error.offset, "B"});
  diagnostic.help = {"give SPIR-V, a native binary (zebin) or a fat binary, as ocloc writes them"};
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "read_parts", std::move(diagnostic));
}

}  // namespace kiln
