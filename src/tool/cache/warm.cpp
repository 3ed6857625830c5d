// SPDX-License-Identifier: MIT
// `kiln cache warm`: compiles files for the device at hand, so that the first program that needs them finds
// them.

#include <utility>

#include "support/printable.hpp"
#include "tool/cache/inputs.hpp"
#include "tool/cache/lookup.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"

namespace kiln::tool {
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
  const auto build = build_options(command);
  if (!build) return fail(command, build.error());
  const auto device = open_chosen(command.device);
  if (!device) return fail(command, device.error());
  Cache cache = Cache::open(*options);
  if (!cache.unusable().empty()) return fail(command, offline::nothing_kept(cache.unusable()));
  Json modules = Json::array();
  int status = kOk;
  std::string said;
  const auto tell = [&](Json& json, const Error& error) {
    json["error"] = to_json(error);
    status = exit_code(error);
    const std::string text = error.text();
    if (text == std::exchange(said, text)) return;  // one reason for many files
    clear_progress();
    complain("%s", text.c_str());
  };
  const std::size_t inputs = command.link ? command.files.size() : 1;  // of a module
  Progress progress(command.files.size() / inputs);
  for (std::span rest(command.files); !rest.empty(); rest = rest.subspan(inputs)) {
    const auto paths = rest.first(inputs);
    const std::string name = module_name(paths), shown = detail::printable(name);
    progress.next(shown.c_str());
    Json json{{"file", name}};
    if (command.link) json["linked"] = command.files;
    const CacheCounts before = cache.counts();
    auto files = read_inputs(paths);
    auto bundle = [&]() -> Result<Bundle> {
      KILN_TRY(const auto& inputs_read, files);
      return command.link ? Bundle::link(*device, inputs_read, *build, &cache)
                          : Bundle::load(*device, inputs_read, *build, &cache);
    }();
    if (bundle) {
      json["outcome"] = outcome_text(bundle->origin());
      json["build_ms"] = std::chrono::duration<double, std::milli>(bundle->build_time()).count();
      const CacheCounts counts = cache.counts();
      if (bundle->origin() == BinaryOrigin::jit && counts.stored == before.stored) {
        std::vector<CodeToCompile> codes;
        for (const KernelFile& file : *files)
          if (auto code = code_to_compile(file, *device)) codes.push_back(*std::move(code));
        const CacheQuestion question = question_for(*device, codes, *build);
        const bool failed = counts.store_failures > before.store_failures;
        // Another process may have stored the same at this moment.
        if (!question.unusable.empty() || !look_up(*options, question).hit) {
          json["outcome"] = "compiled, not kept";
          tell(json, offline::nothing_kept(why_not_kept(*options, question, failed)));
        }
      }
    } else {
      json["outcome"] = "failed";
      tell(json, bundle.error());
    }
    if (!command.json) say("%s: %s\n", shown.c_str(), json["outcome"].get<std::string>().c_str());
    modules.push_back(std::move(json));
  }
  if (command.json)
    print({{"folder", options->folder.string()},
           {"device", device->properties.name},
           {"files", std::move(modules)}});
  return status;
}

}  // namespace kiln::tool
