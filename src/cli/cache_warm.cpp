// SPDX-License-Identifier: MIT
// `kiln cache warm`: compiles files for the device at hand, so that the first program that needs them finds
// them.
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/cache_lookup.hpp"
#include "cli/cache_units.hpp"
#include "cli/progress.hpp"
#include "diagnose/printable.hpp"

namespace kiln::cli {
namespace {

const char* outcome_text(BinaryOrigin origin) {
  switch (origin) {
    case BinaryOrigin::cache:
      return "was there";
    case BinaryOrigin::native:
      return "native: nothing to compile";
    case BinaryOrigin::jit:
      break;
  }
  return "compiled";
}

/// A pipe would be waited for, and a device may have no end.
Result<KernelFile> read_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool other = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                     !std::filesystem::is_directory(status);
  if (!other) return read_kernel_file(path);
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache",
                              {"K0201",
                               "kernel file `" + path + "` cannot be read",
                               {{"reason", "it is no regular file"}},
                               {"write the kernel to a file first"}}));
}

/// Why what was compiled just now is not in the cache.
std::string why_not_kept(const CacheOptions& options, const CacheQuestion& question, bool failed) {
  if (!question.unusable.empty()) return question.unusable;
  if (failed) return "its folder takes nothing, as the log says";
  const std::string allowed = "KILN_CACHE_MAX_SIZE, " + size_text(options.max_size);
  return options.max_size == 0
             ? "it may have no size: " + allowed
             : "the entry is larger than " + allowed + ", or the compiler changed meanwhile";
}

}  // namespace

int cache_warm(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto device = open_chosen(command.device);
  if (!device) return fail(command, device.error());
  Cache cache = Cache::open(*options);
  if (!cache.unusable().empty()) return fail(command, nothing_kept(cache.unusable()));
  ordered_json files = ordered_json::array();
  int status = kOk;
  std::string said;
  const auto tell = [&](ordered_json& json, const Error& error) {
    json["error"] = to_json(error);
    status = exit_code(error);
    const std::string text = error.text();
    if (text == std::exchange(said, text)) return;  // one reason for many files
    std::fprintf(stderr, "%s%s", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", text.c_str());
  };
  Progress progress(command.files.size());
  for (const std::string& path : command.files) {
    const std::string shown = detail::printable(path);
    progress.next(shown.c_str());
    ordered_json json{{"file", path}};
    const CacheCounts before = cache.counts();
    auto file = read_regular_file(path);
    const std::vector<std::byte> code = file ? file->bytes : std::vector<std::byte>();
    auto bundle = file ? Bundle::load(*device, {*std::move(file)}, {command.flags}, &cache)
                       : Result<Bundle>(tl::unexpected(std::move(file).error()));
    if (bundle) {
      json["outcome"] = outcome_text(bundle->origin());
      json["build_ms"] = std::chrono::duration<double, std::milli>(bundle->build_time()).count();
      const CacheCounts counts = cache.counts();
      if (bundle->origin() == BinaryOrigin::jit && counts.stored == before.stored) {
        const ModuleInput input{ModuleFormat::spirv, code, command.flags, {}};
        const CacheQuestion question = cache_question(*device, {&input, 1});
        const bool failed = counts.store_failures > before.store_failures;
        // Another process may have stored the same at this moment.
        if (!question.unusable.empty() || !look_up(*options, question).hit) {
          json["outcome"] = "compiled, not kept";
          tell(json, nothing_kept(why_not_kept(*options, question, failed)));
        }
      }
    } else {
      json["outcome"] = "failed";
      tell(json, bundle.error());
    }
    if (!command.json) std::printf("%s: %s\n", shown.c_str(), json["outcome"].get<std::string>().c_str());
    files.push_back(std::move(json));
  }
  if (command.json)
    print({{"folder", options->folder.string()},
           {"device", device->properties.name},
           {"files", std::move(files)}});
  return status;
}

}  // namespace kiln::cli
