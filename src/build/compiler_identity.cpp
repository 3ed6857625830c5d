// SPDX-License-Identifier: MIT
// Puts libraries, environment and files together, and samples them once a driver.
#include "build/compiler_identity.hpp"

#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "identity/library_files.hpp"
#include "level_zero/source.hpp"

namespace kiln::cache {
namespace {

using detail::EnvironmentSnapshot;
using detail::SettingsFile;
using KeyNames = std::set<std::string, std::less<>>;

std::string digest_of_text(std::string_view text) {
  return digest(std::as_bytes(std::span(text.data(), text.size())));
}

Diagnostic distrusted(const SettingsFile& file) {
  return {"K0720",
          "`" + file.path + "` changes what kernels are compiled to and is not to be trusted",
          {{"why", "it " + file.distrust}, {"effect", "the kernel cache is not used"}},
          {"remove it, unless it is meant; then make it a regular file of your own"},
          Severity::warning};
}

// What is hot lies side by side: src/meson.build says why.
[[gnu::hot]] void add_files(const std::vector<SettingsFile>& files, Identity& identity) {
  for (const SettingsFile& file : files) {
    identity.fields.set("file." + file.name, digest_of_text(file.content));
    if (file.distrust.empty()) continue;
    identity.warnings.push_back(distrusted(file));
    identity.bypass = file.path + " " + file.distrust;
  }
}

/// What Intel's compiler reads at the first build of the process.
Manifest late_fields(const EnvironmentSnapshot& snapshot) {
  Manifest fields;
  for (const ManifestField& field : snapshot.inputs.fields.fields())
    if (detail::read_at_first_build(field.name)) fields.set(field.name, field.value);
  for (const SettingsFile& file : snapshot.compiler_files)
    fields.set("file." + file.name, digest_of_text(file.content) + file.distrust);
  return fields;
}

std::string first_change(const Manifest& wanted, const Manifest& found) {
  const auto list = differences(wanted, found);
  return list.empty() ? std::string() : list.front().name + " changed after the driver was loaded";
}

/// All that shapes code of what an environment had.
[[gnu::hot]] Manifest shaping_fields(const detail::EnvironmentInputs& inputs, const KeyNames& known) {
  Manifest fields = inputs.fields;
  for (const ManifestField& field : inputs.keys.fields())
    if (known.contains(detail::key_of_field(field.name))) fields.set(field);
  return fields;
}

/// Of the keys of a moment, those that the libraries know.
[[gnu::hot]] KeyNames known_keys(const EnvironmentSnapshot& loaded, std::span<const std::uintptr_t> places,
                                 const KnownNames& known_names) {
  KeyNames known;
  std::vector<std::string> asked;
  const auto look_at = [&](const Manifest& keys) {
    for (const ManifestField& field : keys.fields()) {
      const std::string key(detail::key_of_field(field.name));
      if (detail::is_known_key(key))
        known.insert(key);
      else
        asked.push_back(key);
    }
  };
  look_at(loaded.inputs.keys);
  if (loaded.started) look_at(loaded.started->keys);
  if (!asked.empty())
    for (std::string& name : known_names(places, std::move(asked))) known.insert(std::move(name));
  return known;
}

[[gnu::hot]] std::string unknown_start(const EnvironmentSnapshot& loaded, const KeyNames& known) {
  if (!loaded.started) return {};
  const auto list = differences(shaping_fields(*loaded.started, known), shaping_fields(loaded.inputs, known));
  return list.empty() ? std::string()
                      : list.front().name + " was changed, and a driver loaded, before Kiln began";
}

/// Adds what only Intel's driver and compiler read.
[[gnu::hot]] void add_intel(const EnvironmentSnapshot& loaded, const EnvironmentSnapshot* first_use,
                            const KeyNames& known, Identity& identity) {
  identity.fields.merge(shaping_fields(loaded.inputs, known));
  identity.bypass = loaded.inputs.bypass;
  add_files(loaded.driver_files, identity);
  add_files(loaded.compiler_files, identity);
  if (identity.unknown.empty()) identity.unknown = loaded.inputs.unknown;
  if (identity.unknown.empty()) identity.unknown = unknown_start(loaded, known);
  if (!first_use) return;
  if (identity.unknown.empty()) identity.unknown = first_change(late_fields(loaded), late_fields(*first_use));
  if (identity.bypass.empty()) identity.bypass = first_use->inputs.bypass;
}

/// Sampled identities of one driver. References to them stay valid: they are never removed.
struct Samples {
  std::list<Identity> all;
  const Identity* latest = nullptr;
  std::uint64_t mappings = 0;
  std::optional<EnvironmentSnapshot> first_use;  ///< where it is not as when the driver was loaded
};

struct AllSamples {
  std::mutex mutex;
  std::map<const detail::Source*, Samples> by_source;
};

[[gnu::hot]] AllSamples& all_samples() {
  static auto* kept = new AllSamples;  // outlives whoever asks while the process ends
  return *kept;
}

}  // namespace

[[gnu::hot]] Identity make_identity(LibraryInputs libraries, const EnvironmentSnapshot& loaded,
                                    const EnvironmentSnapshot* first_use, const KnownNames& known_names) {
  Identity identity;
  identity.fields = std::move(libraries.fields);
  identity.unknown = std::move(libraries.unknown);
  identity.intel = libraries.intel;
  if (identity.intel)
    add_intel(loaded, first_use, known_keys(loaded, libraries.places, known_names), identity);
  for (const EnvironmentSnapshot* snapshot : {&loaded, first_use})
    if (snapshot && identity.bypass.empty()) identity.bypass = snapshot->inputs.cpu_bypass;
  return identity;
}

[[gnu::hot]] bool is_build_snapshot(const EnvironmentSnapshot& snapshot, const LibraryInputs& libraries) {
  return detail::is_environment_of(snapshot) &&
         (!libraries.intel || detail::compiler_files() == snapshot.compiler_files);
}

[[gnu::hot]] const Identity& identity(const Api& api) {
  const detail::Source* source = detail::source_of(api);
  if (!source) {
    static const auto* never = new Identity{{}, {}, {}, "no driver is loaded"};
    return *never;
  }
  const EnvironmentSnapshot& loaded = source->snapshot;
  const std::lock_guard lock(all_samples().mutex);
  Samples& kept = all_samples().by_source[source];
  if (kept.latest && kept.mappings == mapping_count()) return *kept.latest;
  const MappedLibraries mapped(reinterpret_cast<const void*>(api.zeModuleCreate));
  kept.mappings = mapped.count();
  LibraryInputs libraries = library_inputs(mapped.all(), &digest_of_mapped);
  if (!kept.latest && !is_build_snapshot(loaded, libraries)) kept.first_use = detail::take_build_snapshot();
  Identity sampled =
      make_identity(std::move(libraries), loaded, kept.first_use ? &*kept.first_use : nullptr, &names_in);
  // Libraries that have nothing to do with compiling come and go.
  for (const Identity& known : kept.all)
    if (known.fields == sampled.fields && known.bypass == sampled.bypass && known.unknown == sampled.unknown)
      return *(kept.latest = &known);
  return *(kept.latest = &kept.all.emplace_back(std::move(sampled)));
}

FrontEndIdentity front_end_identity(const Api& api) {
  const detail::Source* source = detail::source_of(api);
  std::string search;
  if (source)
    for (const std::string& variable : source->snapshot.environment)
      if (constexpr std::string_view kSearch = "LD_LIBRARY_PATH=";
          search.empty() && variable.starts_with(kSearch))
        search = variable.substr(kSearch.size());
  const char* chosen = secure_getenv("KILN_OCLOC");
  FrontEndFields front_end = front_end_fields([&](const std::string& name) {
    const bool other = name == detail::kOclocName && chosen && *chosen;
    return find_library(other ? std::string(chosen) : name, search);
  });
  FrontEndIdentity identity{std::move(front_end.fields), std::move(front_end.library),
                            std::move(front_end.unknown)};
  if (chosen && *chosen) identity.library = chosen;
  const Identity& driver = cache::identity(api);
  if (!source || driver.intel) return identity;  // whose settings are in its own fields
  const auto& inputs = source->snapshot.inputs;
  identity.fields.merge(inputs.fields);
  identity.fields.merge(inputs.keys);
  Identity files;
  add_files(detail::compiler_files(), files);
  identity.fields.merge(std::move(files.fields));
  for (const std::string& why : {inputs.bypass, inputs.unknown, files.bypass})
    if (identity.unusable.empty()) identity.unusable = why;
  return identity;
}

std::string changed_since(const Identity& identity) {
  if (!identity.intel) return {};
  Manifest sampled;
  for (const ManifestField& field : identity.fields.fields())
    if (detail::read_at_first_build(field.name) || field.name == "file.Options.txt")
      sampled.set(field.name, field.value);
  return first_change(sampled, late_fields(detail::take_build_snapshot()));
}

std::string encode(const Identity& identity) {
  Manifest all = identity.fields;
  all.set("bypass", identity.bypass);
  all.set("unknown", identity.unknown);
  return kiln::encode(all);
}

std::string first_difference(const Identity& identity, std::string_view encoded) {
  const auto wanted = decode_manifest(encode(identity)), found = decode_manifest(encoded);
  if (!wanted || !found) return "everything differs";
  for (const ManifestDifference& each : differences(*wanted, *found))
    if (each.name != kProgramField)
      return each.name + (!each.wanted ? " is there" : !each.found ? " is missing" : " differs");
  return {};
}

}  // namespace kiln::cache
