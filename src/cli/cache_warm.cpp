// SPDX-License-Identifier: MIT
// `kiln cache warm`: compiles files for the device at hand, so that the first program that needs them finds
// them.
#include <unistd.h>

#include <cstdio>

#include "cli/cache_entries.hpp"
#include "cli/progress.hpp"

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
  Progress progress(command.files.size());
  for (const std::string& path : command.files) {
    progress.next(path.c_str());
    ordered_json json{{"file", path}};
    const std::uint64_t stored = cache.counts().stored;
    auto file = read_kernel_file(path);
    auto bundle = file ? Bundle::load(*device, {*std::move(file)}, {command.flags}, &cache)
                       : Result<Bundle>(tl::unexpected(std::move(file).error()));
    if (bundle) {
      json["outcome"] = outcome_text(bundle->origin());
      json["build_ms"] = std::chrono::duration<double, std::milli>(bundle->build_time()).count();
      const bool kept = bundle->origin() != BinaryOrigin::jit || cache.counts().stored > stored;
      if (!kept) json["outcome"] = "compiled, not kept";
    } else {
      json["outcome"] = "failed";
      json["error"] = to_json(bundle.error());
      status = exit_code(bundle.error());
      std::fprintf(stderr, "%s%s", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "",
                   bundle.error().text().c_str());
    }
    if (!command.json) std::printf("%s: %s\n", path.c_str(), json["outcome"].get<std::string>().c_str());
    files.push_back(std::move(json));
  }
  if (command.json)
    print({{"folder", options->folder.string()},
           {"device", device->properties.name},
           {"files", std::move(files)}});
  return status;
}

}  // namespace kiln::cli
