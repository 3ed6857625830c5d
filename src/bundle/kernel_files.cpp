// SPDX-License-Identifier: MIT
// Finds the folder of the kernels, and reads kernel files from one.
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kiln/bundle.hpp"
#include "kiln/log.hpp"
#include "level_zero/observe.hpp"
#include "support/descriptor.hpp"
#include "support/own_files.hpp"
#include "support/room.hpp"

namespace kiln {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 30;  // bytes; no kernel file comes near
constexpr const char* kTooLarge = "it is larger than 1 GiB";
constexpr std::size_t kSmallestRoom = 64 << 10;  // bytes

Error unreadable(const std::string& path, std::string why, std::vector<std::string> help) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "read_kernel_file",
      {"K0201", "kernel file `" + path + "` cannot be read", {{"reason", std::move(why)}}, std::move(help)});
}

/// Whether a file is one of a family's, such as saxpy.pvc.bin or saxpy.12.60.7.bin of `saxpy`. What stands
/// between is a target, so that saxpy.v2.pvc.bin is of the family `saxpy.v2` alone. SPIR-V has one for a kind
/// of device: saxpy.cpu.spv.
bool is_of_family(std::string_view file, std::string_view family) {
  constexpr std::string_view kNative = ".bin";
  if (!file.starts_with(family)) return false;
  file.remove_prefix(family.size());
  if (file == ".spv" || file == ".cpu.spv" || file == ".ar" || file == kNative) return true;
  if (!file.starts_with('.') || !file.ends_with(kNative)) return false;
  const std::string_view target = file.substr(1, file.size() - 1 - kNative.size());
  if (target == "cpu" || find_target(target)) return true;
  log(LogLevel::info, std::string(family).append(file) + " is not taken for kernels of `" +
                          std::string(family) + "`: `" + std::string(target) + "` is no target");
  return false;
}

/// The files of a family, sorted.
std::vector<std::filesystem::path> family_paths(const std::filesystem::path& folder,
                                                const std::string& family, std::error_code& error) {
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_of_family(entry->path().filename().native(), family)) paths.push_back(entry->path());
  }
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<KernelFile>> read_all(const std::vector<std::filesystem::path>& paths) {
  std::vector<KernelFile> files;
  for (const auto& path : paths) {
    KILN_TRY(auto file, read_kernel_file(path));
    files.push_back(std::move(file));
  }
  return files;
}

/// What Bundle::load takes for a path.
Result<std::vector<KernelFile>> files_at(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string ending = path.extension().string();
  if (name.empty() || ending == ".ar" || ending == ".spv" || ending == ".bin") return read_all({path});
  std::error_code unread, unseen;
  const auto family = family_paths(path.has_parent_path() ? path.parent_path() : ".", name, unread);
  if (!family.empty()) return read_all(family);
  if (std::filesystem::status(path, unseen).type() != std::filesystem::file_type::not_found || unread)
    return read_all({path});
  return tl::unexpected(unreadable(path.string(),
                                   "there is no file of this name, nor " + name + ".ar, " + name + ".spv, " +
                                       name + ".bin or " + name + ".TARGET.bin beside it",
                                   {"check the path; without a leading / it starts at the current folder"}));
}

}  // namespace

Result<KernelFile> read_kernel_file(const std::filesystem::path& path) {
  const auto refuse = [&](std::string why, const char* help) {
    return tl::unexpected(unreadable(path.string(), std::move(why), {help}));
  };
  // A pipe that nobody writes to must not be waited for, and a device need not end.
  const detail::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return refuse(std::strerror(errno), "check the path and its rights");
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return refuse(std::strerror(errno), "check the path and its rights");
  if (S_ISDIR(status.st_mode)) return refuse("it is a folder", "name a file");
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (!is_pipe && !S_ISREG(status.st_mode)) return refuse("it is a device", "name a file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kLargestFile) return refuse(kTooLarge, "name a kernel file");

  KernelFile result{path.filename().string(), {}};
  std::size_t end = 0;
  for (;;) {
    // One byte more than the file said that it has, to see its end.
    const std::size_t room = std::max({static_cast<std::size_t>(size) + 1, 2 * end, kSmallestRoom});
    if (end == result.bytes.size() && !detail::try_resize(result.bytes, room))
      return refuse("no memory for " + std::to_string(room) + " bytes", "raise the limit: ulimit -v, cgroup");
    const ssize_t got = read(file.get(), result.bytes.data() + end, result.bytes.size() - end);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && fcntl(file.get(), F_SETFL, 0) == 0) continue;  // somebody will write
    if (got < 0) return refuse(std::strerror(errno), "check the disk");
    if (got == 0) break;
    end += static_cast<std::size_t>(got);
    if (end > kLargestFile) return refuse(kTooLarge, "name a kernel file");
  }
  if (is_pipe && end == 0) return refuse("it is a pipe that nobody writes to", "name a file");
  result.bytes.resize(end);
  return result;
}

Result<std::vector<KernelFile>> find_kernel_files(const std::filesystem::path& folder,
                                                  const std::string& family) {
  std::error_code error;
  const auto paths = family_paths(folder, family, error);
  if (paths.empty())
    return tl::unexpected(unreadable((folder / (family + ".spv")).string(),
                                     error ? error.message() : "no such file",
                                     {"name the folder that holds the kernels: KILN_KERNEL_PATH=FOLDER"}));
  return read_all(paths);
}

Result<Bundle> Bundle::load(const OpenDevice& device, const std::filesystem::path& path,
                            const BundleOptions& options, Cache* cache) {
  KILN_TRY(auto files, detail::told(Refused::build, files_at(path)));
  return load(device, std::move(files), options, cache);
}

std::filesystem::path kernel_folder() {
  if (const char* chosen = secure_getenv("KILN_KERNEL_PATH"); chosen && *chosen) return chosen;
  std::error_code ignored;
  if (getauxval(AT_SECURE) == 0)
    if (auto beside = detail::program_folder() / "kernels"; std::filesystem::is_directory(beside, ignored))
      return beside;
  return detail::own_file(detail::kOwnKernels);
}

Error unreadable_part(const std::string& file, const BinaryPart& part) {
  const BinaryError& error = part.facts.error();
  Diagnostic diagnostic{"K0209", "`" + file + "` has no kernels that can be read", {}, {}};
  if (!part.name.empty()) diagnostic.rows.push_back({"member", part.name});
  diagnostic.rows.push_back({"reason", error.message});
  if (error.offset) diagnostic.rows.push_back({"at", {}, error.offset, "B"});
  diagnostic.help = {"give SPIR-V, a native binary (zebin) or a fat binary, as ocloc writes them"};
  if (file.ends_with(".cl"))
    diagnostic.help = {
        "OpenCL C has to be compiled: `kiln check` does so, and ends with how to run each kernel; "
        "`kiln bake` writes what programs load"};
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "read_parts", std::move(diagnostic));
}

}  // namespace kiln
