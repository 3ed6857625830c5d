// SPDX-License-Identifier: MIT
// `kiln cache explain`: all that an entry says, or why there is none for a file.
#include <algorithm>
#include <iterator>

#include "support/printable.hpp"
#include "tool/cache/compare.hpp"
#include "tool/cache/fleet.hpp"
#include "tool/cache/inputs.hpp"
#include "tool/cache/lookup.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

Json fields_json(const Manifest& manifest) {
  Json json = Json::object();
  for (const ManifestField& field : manifest.fields()) json[field.name] = field.value;
  return json;
}

Json kernel_json(const KernelFacts& kernel) {
  return {{"name", kernel.name},
          {"arguments", kernel.arguments.size()},
          {"static_slm", kernel.static_slm},
          {"simd", kernel.simd_size},
          {"grf", kernel.grf_count},
          {"required_group_size", kernel.required_group_size},
          {"spill_bytes", kernel.spill_size}};
}

Json entry_json(const CacheEntry& entry) {
  Json json{{"key", entry.key.hex()}, {"size", entry.size}};
  json["last_used"] = entry.last_used.time_since_epoch().count();
  if (!entry.damage.empty()) {
    json[entry.unreadable ? "unreadable" : "damage"] = entry.damage;
    return json;
  }
  json["kind"] = to_string(entry.kind);
  json["result"] = result_name(entry.code);
  json["attempts"] = entry.attempts;
  json["created"] = entry.created.time_since_epoch().count();
  json["binary_bytes"] = entry.payload;
  json["manifest"] = fields_json(entry.manifest);
  json["kernels"] = Json::array();
  if (entry.facts)
    for (const KernelFacts& kernel : entry.facts->kernels) json["kernels"].push_back(kernel_json(kernel));
  json["log"] = entry.log;
  return json;
}

void print_kernels(const ModuleFacts& facts) {
  std::vector<std::vector<std::string>> table{{"KERNEL", "ARGS", "SLM", "SIMD", "GRF", "SPILL"}};
  for (const KernelFacts& kernel : facts.kernels)
    table.push_back({kernel.name, std::to_string(kernel.arguments.size()), std::to_string(kernel.static_slm),
                     std::to_string(kernel.simd_size), std::to_string(kernel.grf_count),
                     std::to_string(kernel.spill_size)});
  say("\n");
  print_table(std::move(table), 1);
}

void print_entry(const CacheEntry& entry) {
  say("%s\n", entry.key.hex().c_str());
  say("  size       %s, last used %s\n", size_text(entry.size).c_str(),
      age_text(now() - entry.last_used).c_str());
  if (!entry.damage.empty()) {
    say("  %s %s\n", entry.unreadable ? "UNREADABLE" : "DAMAGED   ", entry.damage.c_str());
    return;
  }
  say("  kind       %s of %s, %s", to_string(entry.kind), date_text(entry.created).c_str(),
      result_name(entry.code).c_str());
  if (entry.kind == CacheEntryKind::crash) say(", %u attempts", entry.attempts);
  say("\n\n");
  std::vector<std::vector<std::string>> table{{"SHAPED BY", "VALUE"}};
  for (const ManifestField& field : entry.manifest.fields()) table.push_back({field.name, field.value});
  print_table(std::move(table), 2);
  if (entry.facts && !entry.facts->kernels.empty()) print_kernels(*entry.facts);
  if (!entry.log.empty()) say("\nlog:\n%s\n", detail::printable(entry.log, "\n\t").c_str());
}

int explain_key(const CacheCommand& command, const cache::Folder& folder, const cache::StoredEntry& stored) {
  const CacheEntry entry = summarize(folder, stored, true);
  if (command.json)
    print(entry_json(entry));
  else
    print_entry(entry);
  return entry.damage.empty() ? kOk : kWrongAnswer;
}

/// Error: K0711.
Result<void> tell_nearest(Json& json, bool text, const Manifest& wanted, const Lookup& lookup) {
  std::vector<CacheEntry> entries;
  for (const cache::Folder& folder : lookup.folders) {
    auto read = offline::summarize_all(folder, shown_work("reading entries"));
    if (!read) return tl::unexpected(std::move(read).error());
    std::ranges::move(read->entries, std::back_inserter(entries));
  }
  std::vector<const Manifest*> manifests;
  std::vector<const CacheEntry*> whole;
  for (const CacheEntry& entry : entries)
    if (entry.damage.empty()) manifests.push_back(&entry.manifest), whole.push_back(&entry);
  const auto nearest = nearest_entry(wanted, manifests);
  if (!nearest) {
    if (text && !lookup.unusable) say(entries.empty() ? "  the cache is empty\n" : "  no entry is whole\n");
    return {};
  }
  Json list = Json::array();
  const auto optional_text = [](const std::optional<std::string>& value) {
    return value ? Json(*value) : Json();
  };
  for (const auto& [name, want, found] : nearest->differences)
    list.push_back({{"name", name}, {"wanted", optional_text(want)}, {"found", optional_text(found)}});
  const CacheEntry& entry = *whole[nearest->index];
  json["nearest"] = {{"key", entry.key.hex()}, {"same_input", nearest->same_input}, {"differences", list}};
  if (!text) return {};
  say("  nearest    %s, of %s; what differs:\n", short_key(entry.key).c_str(),
      nearest->same_input ? "the same input" : "another input");
  for (const ManifestDifference& difference : nearest->differences)
    say("    %s\n", detail::printable(difference_text(difference)).c_str());
  return {};
}

Error not_compiled(const KernelFile& file, bool link) {
  return cache_usage("`" + file.name + "` has no SPIR-V to compile",
                     {link ? "files are linked from SPIR-V alone"
                           : "native binaries are loaded as they are, without the cache"});
}

/// Known without a device. Only Bundle::load looks into other files.
bool may_be_compiled(const KernelFile& file, bool link) {
  const BinaryFormat format = identify(file.bytes);
  return format == BinaryFormat::spirv ||
         (!link && (format == BinaryFormat::archive || format == BinaryFormat::patch_tokens));
}

int explain_module(const CacheCommand& command, const CacheOptions& options, const BundleOptions& build) {
  const auto files = read_inputs(command.files);
  if (!files) return fail(command, files.error());
  for (const KernelFile& file : *files)
    if (!may_be_compiled(file, command.link)) return fail(command, not_compiled(file, command.link));
  const auto device = open_chosen(command.device);
  if (!device) return fail(command, device.error());
  std::vector<CodeToCompile> codes;
  for (const KernelFile& file : *files) {
    auto code = code_to_compile(file, *device);
    if (!code) return fail(command, not_compiled(file, command.link));
    codes.push_back(*std::move(code));
  }
  CacheQuestion wanted = question_for(*device, codes, build);
  const std::string name = module_name(command.files);
  if (options.mode == CacheMode::off) wanted.unusable = "the cache is off (KILN_CACHE): it would be compiled";
  const bool asked = wanted.unusable.empty(), text = !command.json;
  const Lookup found = asked ? look_up(options, wanted) : Lookup{};
  const std::string key = key_of(encode(wanted.manifest)).hex();
  bool store_hit = false;
  Json json{{"file", name}, {"device", device->properties.name}, {"key", key}};
  if (command.link) json["linked"] = command.files;
  const CodeToCompile& first = codes.front();
  if (!first.member.empty()) json["member"] = first.member;
  json["native_first"] = first.native_first;
  json["hit"] = found.hit.has_value();
  json["manifest"] = fields_json(wanted.manifest);
  if (text)
    say("%s on %s\n  key        %s\n", detail::printable(name).c_str(), device->properties.name.c_str(),
        key.c_str());
  if (text && !first.member.empty())
    say("  of member  %s%s\n", detail::printable(first.member).c_str(),
        first.native_first ? ", unless the driver takes native code of the file" : "");
  for (const cache::Folder& folder : found.folders)
    if (folder.access() != cache::Access::any && folder.path() == options.folder && folder.is_shared()) {
      json["file_system"] = folder.file_system();
      if (text)
        say("  shared     on %s: no lock there is relied on, each machine compiles for itself\n",
            std::string(folder.file_system()).c_str());
    }
  if (!asked) {
    json["unused"] = wanted.unusable;
    if (text) say("  not asked  %s\n", wanted.unusable.c_str());
  } else if (found.hit) {
    json["kind"] = to_string(found.hit->kind);
    json["folder"] = found.folder;
    if (text)
      say("  hit        %s of %s, in %s\n", to_string(found.hit->kind), size_text(found.hit->size).c_str(),
          detail::printable(found.folder).c_str());
  } else {
    json["missed"] = found.missed;
    if (!found.damage.empty()) json["damage"] = found.damage;
    if (found.unusable) json["unusable"] = to_json(*found.unusable);
    if (text) say("  miss       %s\n", detail::printable(found.missed).c_str());
    json["stores"] = stores_json(options, key_of(encode(wanted.manifest)), text, store_hit);
    json["hit"] = store_hit;
    json["nearest"] = nullptr;
    if (found.absent && !store_hit)
      if (const auto told = tell_nearest(json, text, wanted.manifest, found); !told)
        return fail(command, told.error());
  }
  if (!text) print(json);
  if (!found.unusable) return found.hit || store_hit ? kOk : kWrongAnswer;
  if (text) complain("%s", found.unusable->text().c_str());
  return exit_code(*found.unusable);
}

}  // namespace

int cache_explain(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto build = build_options(command);
  if (!build) return fail(command, build.error());
  if (command.link) return explain_module(command, *options, *build);
  if (command.files.size() > 1)
    return fail(command, cache_usage("several files are no one module",
                                     {"ask for one, or with --link for the module that is linked from all"}));
  const std::string& what = command.files.front();
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(what, error);
  if (may_be_key(what)) {
    const auto folder = existing_folder(*options, cache::Access::read);
    if (!folder) return fail(command, folder.error());
    if (*folder) {
      const auto entry = find_entry(**folder, what);
      if (entry) return explain_key(command, **folder, *entry);
      if (!is_file) return fail(command, entry.error());
    }
  }
  if (is_file) return explain_module(command, *options, *build);
  return fail(command, cache_usage("`" + what + "` is neither the key of an entry nor a file",
                                   {"`kiln cache list` names the keys; the first digits are enough"}));
}

}  // namespace kiln::tool
