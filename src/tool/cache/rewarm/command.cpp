// SPDX-License-Identifier: MIT
// `kiln cache rewarm`: what is used most of late, compiled for the driver and compiler of now before anybody
// waits for it.
#include <algorithm>
#include <array>
#include <set>

#include "cache/disk/inputs.hpp"
#include "support/printable.hpp"
#include "tool/cache/compare.hpp"
#include "tool/cache/fleet.hpp"
#include "tool/cache/lookup.hpp"
#include "tool/cache/rewarm/recipe.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"
#include "tool/common/progress.hpp"

namespace kiln::tool {
namespace {

struct Hot {
  const CacheEntry* entry = nullptr;  ///< the last used of that recipe
  Recipe recipe;
};

/// The last used first, one of each recipe.
std::vector<Hot> hot_entries(const std::vector<CacheEntry>& entries, const std::string& products,
                             const Manifest& device) {
  // By its ID, which drivers of any age give; the name of a product hangs on what they tell.
  const auto is_wanted = [&](const Manifest& manifest) {
    if (!products.empty()) return is_for(manifest, products);
    return std::ranges::all_of(std::array{"device.vendor", "device.id"}, [&](const char* name) {
      const std::string *has = manifest.find(name), *wanted = device.find(name);
      return has && wanted && *has == *wanted;
    });
  };
  std::vector<Hot> hot;
  std::set<std::string> seen;
  for (const CacheEntry& entry : entries) {
    if (!entry.damage.empty() || entry.kind != CacheEntryKind::binary || !is_wanted(entry.manifest)) continue;
    auto recipe = recipe_of(entry.manifest);
    if (recipe && seen.insert(recipe->text).second) hot.push_back({&entry, *std::move(recipe)});
  }
  return hot;
}

/// Nothing where one of them is gone.
std::optional<Recipe::Codes> read_codes(const cache::Folder& folder, const Recipe& recipe) {
  Recipe::Codes codes;
  for (const Recipe::Input& input : recipe.inputs) {
    auto code = cache::read_input(folder, input.digest);
    if (!code) return std::nullopt;
    codes.push_back(*std::move(code));
  }
  return codes;
}

std::string names_of(const CacheEntry& entry) {
  std::string names;
  if (entry.facts)
    for (const KernelFacts& kernel : entry.facts->kernels) names += (names.empty() ? "" : ", ") + kernel.name;
  return names.empty() ? short_key(entry.key) : names;
}

class Rewarm {
 public:
  Rewarm(const CacheCommand& command, const CacheOptions& options, const OpenDevice& device,
         const cache::Folder& folder)
      : command_(command), options_(options), device_(device), folder_(folder) {}

  int run(const std::vector<Hot>& hot) {
    std::optional<Cache> cache;
    if (!command_.dry_run) {
      cache.emplace(Cache::open(options_));
      if (!cache->unusable().empty()) return fail(command_, offline::nothing_kept(cache->unusable()));
    }
    Progress progress(hot.size());
    for (const Hot& each : hot) {
      const std::string name = names_of(*each.entry), shown = shortened(detail::printable(name));
      progress.next(shown.c_str());
      Json json{{"key", each.entry->key.hex()},
                {"kernels", name},
                {"compiler", brief_compiler(each.entry->manifest)}};
      json["outcome"] = outcome(each, cache ? &*cache : nullptr, json);
      if (!command_.json) say("%s: %s\n", shown.c_str(), json["outcome"].get<std::string>().c_str());
      modules_.push_back(std::move(json));
    }
    if (command_.json)
      print({{"folder", options_.folder.string()},
             {"device", device_.properties.name},
             {"compiled", compiled_},
             {"there", there_},
             {"without_inputs", without_},
             {"beyond_limit", beyond_},
             {"modules", std::move(modules_)}});
    else
      say("%llu %s, %llu there already, %llu whose inputs are not kept, %llu beyond the limit\n", compiled_,
          command_.dry_run ? "to compile" : "compiled", there_, without_, beyond_);
    return status_ != kOk ? status_ : without_ != 0 ? kWrongAnswer : kOk;
  }

 private:
  std::string outcome(const Hot& hot, Cache* cache, Json& json) {
    const auto codes = read_codes(folder_, hot.recipe);
    if (!codes) {
      ++without_;
      return "its inputs are not kept";
    }
    const CacheQuestion question = hot.recipe.question(device_, *codes);
    json["new_key"] = key_of(encode(question.manifest)).hex();
    if (question.unusable.empty() && look_up(options_, question).hit) {
      ++there_;
      return "was there";
    }
    if (command_.limit != 0 && compiled_ >= command_.limit) {
      ++beyond_;
      return "beyond the limit";
    }
    if (!cache) {
      ++compiled_;
      return "would be compiled";
    }
    if (!question.unusable.empty()) return tell(offline::nothing_kept(question.unusable), json);
    const CacheCounts before = cache->counts();
    const detail::CachedBuild made = hot.recipe.make(*cache, device_, *codes);
    if (made.build.code() != ZE_RESULT_SUCCESS)
      return tell(Error(made.build.code(), "zeModuleCreate",
                        {"K0203",
                         "`" + names_of(*hot.entry) + "` does not compile any more",
                         {{"build log", made.build.log}},
                         {}}),
                  json);
    if (cache->counts().stored == before.stored && !look_up(options_, question).hit)
      return tell(offline::nothing_kept("its folder takes nothing, or the compiler changed meanwhile"), json);
    ++(made.from_cache ? there_ : compiled_);
    return made.from_cache ? "was there" : "compiled";
  }

  std::string tell(const Error& error, Json& json) {
    json["error"] = to_json(error);
    status_ = exit_code(error);
    clear_progress();
    complain("%s", error.text().c_str());
    return "failed";
  }

  const CacheCommand& command_;
  const CacheOptions& options_;
  const OpenDevice& device_;
  const cache::Folder& folder_;
  Json modules_ = Json::array();
  unsigned long long compiled_ = 0, there_ = 0, without_ = 0, beyond_ = 0;
  int status_ = kOk;
};

}  // namespace

int cache_rewarm(const CacheCommand& command) {
  auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto device = open_chosen(command.device);
  if (!device) return fail(command, device.error());
  const auto folder = existing_folder(*options, cache::Access::read);
  if (!folder) return fail(command, folder.error());
  if (!*folder) return fail(command, cache_usage("there is no cache yet: " + options->folder.string(), {}));
  // What is compiled again is wanted again for the next driver.
  const std::uint64_t kept = cache::inputs_size(**folder).bytes;
  options->keep_inputs = std::max(options->keep_inputs, kept);
  const auto all = list_cache(*options, shown_work("reading entries"));
  if (!all) return fail(command, all.error());
  const Manifest of_device = cache_question(*device, {}).manifest;
  return Rewarm(command, *options, *device, **folder)
      .run(hot_entries(all->entries, command.products, of_device));
}

}  // namespace kiln::tool
