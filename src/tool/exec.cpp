// SPDX-License-Identifier: MIT
// `kiln exec`: any program, with the layer between its Level Zero loader and the driver.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "kiln/cache.hpp"
#include "level_zero/discovery.hpp"
#include "record/format.hpp"
#include "support/limits.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

// As env(1), nohup(1) and shells have them.
constexpr int kFailed = 125, kNotStarted = 126, kNotFound = 127;

constexpr const char* kDrivers = "ZE_ENABLE_ALT_DRIVERS";

int fail(const Error& error, int status) {
  complain("%s", error.text().c_str());
  return status;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Beside the GPU's driver the loader opens these too; one that is there stays so, past the layer.
std::vector<std::string> other_drivers() {
  std::vector<std::string> there;
  for (const char* name : {"libze_intel_gpu_legacy1.so.1", "libze_intel_vpu.so.1", "libze_intel_npu.so.1"})
    if (dlopen(name, RTLD_LAZY | RTLD_LOCAL)) there.emplace_back(name);
  return there;
}

/// The drivers that the program is to have; the layer stands before the first. Sets what else the device
/// needs.
Result<std::vector<std::string>> drivers_for(const std::string& device) {
  const std::string wanted = device.empty() ? environment("KILN_DEVICE") : device;
  if (wanted.empty() || wanted == "auto" || wanted == "gpu") {
    if (auto own = split(environment(kDrivers)); !own.empty()) return own;
    std::vector<std::string> all = other_drivers();
    const bool only_other = !all.empty() && !dlopen(detail::kIntelDriver, RTLD_LAZY | RTLD_LOCAL);
    if (!only_other) all.insert(all.begin(), detail::kIntelDriver);
    return all;
  }
  KILN_TRY(const auto request, parse_device_request(wanted));
  switch (request.kind) {
    case DeviceKind::cpu:
      if (!request.product.empty()) set("KILN_CPU_PROFILE", request.product);
      return std::vector{detail::cpu_driver_path()};
    case DeviceKind::capture: {
      KILN_TRY(const auto variables, detail::capture_variables(request.product));
      for (const auto& [name, value] : variables) set(name, value);
      setenv("AUBDumpCaptureFileName", "/dev/null", 0);
      return std::vector<std::string>{detail::kIntelDriver};
    }
    case DeviceKind::driver:
      return std::vector{request.product};
    case DeviceKind::simulated:
      return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "exec",
                                  {"K0400",
                                   "`kiln exec` starts no simulated GPU",
                                   {},
                                   {"use `kiln simulate " + request.product + " -- kiln exec -- PROGRAM`"}}));
    case DeviceKind::gpu:
      break;
  }
  return std::vector<std::string>{detail::kIntelDriver};
}

constexpr mode_t kAll = 0666, kOwner = 0600;

Error not_writable(const std::string& path, const std::string& reason) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "open",
               {"K0451",
                "`" + path + "` cannot be written",
                {{"reason", reason}},
                {"name a file in a folder that you may write to"}});
}

constexpr const char* kStandard = "-";

/// The file is made now, so that a mistake in its name shows before the program runs.
Result<std::string> emptied(const std::string& path, mode_t readers = kAll) {
  if (path == kStandard) return tl::unexpected(not_writable(path, "standard output is the program's"));
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readers);
  if (file < 0) return tl::unexpected(not_writable(path, std::strerror(errno)));
  struct stat status {};
  // One that was there before has the rights that somebody gave it.
  if (readers == kOwner && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) (void)fchmod(file, readers);
  close(file);
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();  // the program may go to another folder
}

/// No file, an empty one, or a record: what may be replaced.
bool is_record_or_empty(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return true;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return false;
  std::ifstream file(path, std::ios::binary);
  char magic[sizeof record::kMagic];
  file.read(magic, sizeof magic);
  return file.gcount() == 0 ? std::filesystem::is_empty(path, error)
                            : file && std::memcmp(magic, record::kMagic, sizeof magic) == 0;
}

/// The same of a record, which the first process that opens a driver takes. A new file: the one that was
/// there may be mapped by a program that still runs, and stays until there is room for another.
Result<std::string> made_record(const std::string& path) {
  if (path == kStandard) return tl::unexpected(not_writable(path, "standard output is the program's"));
  if (!is_record_or_empty(path))
    return tl::unexpected(not_writable(path, "it is there already, and no record of calls"));
  const std::string part = path + "." + std::to_string(getpid()) + ".part";
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return tl::unexpected(not_writable(path, std::strerror(errno)));
  record::Header header{};
  std::memcpy(header.magic, record::kMagic, sizeof header.magic);
  header.version = record::kVersion;
  int failed = 0;
  {
    const detail::NoFileSizeSignal no_signal;
    failed = posix_fallocate(file, 0, sizeof(record::Image));
  }
  if (!failed && write(file, &header, sizeof header) != static_cast<ssize_t>(sizeof header))
    failed = errno ? errno : EIO;
  close(file);
  if (!failed && std::rename(part.c_str(), path.c_str()) != 0) failed = errno;
  if (failed) {
    unlink(part.c_str());
    return tl::unexpected(not_writable(path, std::strerror(failed)));
  }
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();
}

/// For the layer: "on", or the folder, which is made now, so that a mistake shows before the program runs.
Result<std::string> usable_cache(const std::string& wanted) {
  KILN_TRY(auto options, cache_options());
  if (wanted.empty()) return "on";
  std::error_code ignored;
  options.folder = std::filesystem::absolute(wanted, ignored).lexically_normal();
  if (!options.folder.has_filename()) options.folder = options.folder.parent_path();  // "folder/"
  // As `mkdir -p` has it: the cache closes its own folder to others, and those above are not the cache's.
  std::filesystem::create_directories(options.folder.parent_path(), ignored);
  const Cache cache = Cache::open(options);
  if (options.mode == CacheMode::on && !cache.unusable().empty())
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "exec",
              {"K0451",
               "`" + wanted + "` cannot be written",
               {{"reason", cache.unusable()}},
               {"name a folder of your own that is closed to others, or one that is not there yet"}}));
  return options.folder.string();
}

Error no_layer(const std::string& path) {
  return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "exec",
               {"K0452",
                "the layer of `kiln exec` is not installed",
                {{"looked for", path}},
                {"install libze_kiln_layer.so beside libkiln.so, as `ninja install` does"}});
}

Error not_started(const std::string& program, int number) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "execvp",
      {"K0450",
       "`" + program + "` cannot be started",
       {{"reason", std::strerror(number)}},
       {number == ENOENT ? "look for it: command -v PROGRAM" : "see whether it may be executed here"}});
}

/// Two options that would write one file.
std::optional<Error> same_file(const ExecOptions& options) {
  const std::array files{std::pair{"--record", &options.record}, std::pair{"--json", &options.json},
                         std::pair{"--capture", &options.capture}};
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t k = i + 1; k < files.size(); ++k)
      if (!files[i].second->empty() && !files[k].second->empty() &&
          place(*files[i].second) == place(*files[k].second))
        return usage_error(std::string(files[i].first) + " and " + files[k].first + " name the same file",
                           {"give each a file of its own"});
  return std::nullopt;
}

}  // namespace

int exec(const ExecOptions& options) {
  if (const auto error = same_file(options)) return fail(*error, kUsage);
  const std::string layer = detail::layer_path();
  if (access(layer.c_str(), R_OK) != 0) return fail(no_layer(layer), kFailed);
  const auto drivers = drivers_for(options.device);
  if (!drivers) return fail(drivers.error(), exit_code(drivers.error()));
  // As the program of another `kiln exec`, which has asked for something, too.
  const bool inner = drivers->front() == layer;
  if (!inner) {
    std::string list = layer;
    for (std::size_t i = 1; i < drivers->size(); ++i) list += "," + (*drivers)[i];
    set(kDrivers, list);
    set("KILN_LAYER_DRIVER", drivers->front());
  }
  if (!inner || options.guard) set("KILN_LAYER_MODE", options.guard ? "guard" : "watch");
  if (!inner || options.verbose) set("KILN_LAYER_VERBOSE", options.verbose ? "1" : "");
  if (!inner) set("KILN_LAYER_JSON", "");
  if (!inner) set("KILN_LAYER_RECORD", "");
  if (!options.record.empty()) {
    const auto path = made_record(options.record);
    if (!path) return fail(path.error(), kFailed);
    set("KILN_LAYER_RECORD", *path);
  }
  if (!options.json.empty()) {
    const auto path = emptied(options.json);
    if (!path) return fail(path.error(), kFailed);
    set("KILN_LAYER_JSON", *path);
  }
  if (!inner) set("KILN_LAYER_CACHE", "");
  if (options.cache || !options.cache_folder.empty()) {
    const auto cache = usable_cache(options.cache_folder);
    if (!cache) return fail(cache.error(), kFailed);
    set("KILN_LAYER_CACHE", *cache);
  }
  if (!inner) set("KILN_LAYER_CAPTURE", "");
  if (!options.capture.empty()) {
    const auto path = emptied(options.capture, kOwner);  // a program's memory is its user's
    if (!path) return fail(path.error(), kFailed);
    set("KILN_LAYER_CAPTURE", *path);
    std::string kernels;
    for (const std::string& each : options.capture_kernels) kernels += each + ",";
    set("KILN_LAYER_CAPTURE_KERNELS", kernels);
    set("KILN_LAYER_CAPTURE_LAUNCH", std::to_string(options.capture_launch));
    set("KILN_LAYER_CAPTURE_LIMIT", std::to_string(std::uint64_t{options.capture_limit} << 20));
  }
  std::vector<char*> words;
  for (const std::string& word : options.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (options.verbose && !inner)
    complain(
        "kiln exec: each process that uses Level Zero says at its end what was refused; silence: none "
        "does\n");
  std::fflush(nullptr);
  execvp(words[0], words.data());
  const int number = errno;
  return fail(not_started(options.program[0], number), number == ENOENT ? kNotFound : kNotStarted);
}

}  // namespace kiln::tool
