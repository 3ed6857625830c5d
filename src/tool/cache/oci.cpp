// SPDX-License-Identifier: MIT
// `kiln cache export --oci`: the native binaries of a folder as an image with one layer, which registries
// keep and container builds copy from. Source: OCI image format specification 1.1 (image layout, manifest,
// config).
#include <tar.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "support/whole_file.hpp"
#include "tool/cache/compare.hpp"
#include "tool/cache/fleet.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlace = "usr/share/kiln/cache/v1/";  // in the image
constexpr std::size_t kBlock = 512;                         // bytes, of a tar file

/// The header of a member, of root and without a time, so that the same entries make the same image.
/// POSIX.1-1988 (ustar): names here are below 100 bytes.
std::string tar_header(const std::string& name, std::size_t size, char type, unsigned mode) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  const auto octal = [](std::size_t number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*zo", digits, number);
    return std::string(text);
  };
  put(0, name);
  put(100, octal(mode, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(0, 11));
  header[156] = type;
  put(257, std::string(TMAGIC, TMAGLEN) + TVERSION);
  put(148, std::string(8, ' '));
  std::size_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return header;
}

void add_file(std::string& tar, const std::string& name, std::span<const std::byte> bytes) {
  tar += tar_header(name, bytes.size(), REGTYPE, 0644);
  tar.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  tar.resize((tar.size() + kBlock - 1) / kBlock * kBlock, '\0');
}

std::string digest_of(const std::string& text) { return digest(std::as_bytes(std::span(text))); }

std::string joined(const std::set<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// 0 or an errno.
int write_file(const fs::path& path, const std::string& text) {
  detail::WholeFile file(path.string());
  file.write(text);
  return file.finish();
}

struct Layer {
  std::string tar;
  std::uint64_t entries = 0;
  std::set<std::string> products, compilers, drivers;
};

Layer layer_of(const cache::Folder& folder, std::vector<cache::StoredEntry> entries,
               const CacheCommand& command, std::vector<RefusedEntry>& refused) {
  Layer layer;
  std::ranges::sort(entries, {}, &cache::StoredEntry::key);
  std::string above;
  for (const char* name : {"usr/", "usr/share/", "usr/share/kiln/", "usr/share/kiln/cache/", kPlace})
    layer.tar += tar_header(name, 0, DIRTYPE, 0755);
  for (const cache::StoredEntry& stored : entries) {
    const auto checked = cache::read_checked(folder, stored.key);
    if (!checked) {
      refused.push_back({stored.key.hex(), checked.error().reason});
      continue;
    }
    if (checked->file.entry.kind != cache::EntryKind::binary || !is_for(checked->manifest, command.products))
      continue;
    const cache::EntryName name(stored.key);
    if (above != name.folder()) layer.tar += tar_header(kPlace + name.folder() + '/', 0, DIRTYPE, 0755);
    above = name.folder();
    add_file(layer.tar, kPlace + std::string(name.path(), 65), checked->file.bytes);
    ++layer.entries;
    layer.products.insert(brief_device(checked->manifest));
    layer.compilers.insert(brief_compiler(checked->manifest));
    for (const char* field : {"driver.text", "driver.version"})
      if (const std::string* value = checked->manifest.find(field)) {
        layer.drivers.insert(*value);
        break;
      }
  }
  layer.tar.append(2 * kBlock, '\0');
  return layer;
}

}  // namespace

int cache_export_oci(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const fs::path place = command.archive;
  std::error_code error;
  if (fs::exists(place, error) && !fs::is_empty(place, error))
    return fail(command,
                cache_usage("`" + command.archive + "` is there and not empty", {"name a new folder"}));
  const auto folder = existing_folder(*options, cache::Access::read);
  if (!folder) return fail(command, folder.error());
  if (!*folder) return fail(command, cache_usage("there is no cache yet", {}));
  auto entries = cache::list_entries(**folder);
  if (!entries) return fail(command, entries.error());
  std::vector<RefusedEntry> refused;
  const Layer layer = layer_of(**folder, *std::move(entries), command, refused);
  const std::string layer_digest = digest_of(layer.tar);
  const Json labels{{"org.kiln.products", joined(layer.products)},
                    {"org.kiln.compilers", joined(layer.compilers)},
                    {"org.kiln.drivers", joined(layer.drivers)},
                    {"org.kiln.entries", std::to_string(layer.entries)},
                    {"org.opencontainers.image.title", "Kiln kernel cache"}};
  const auto blob = [](const char* type, const std::string& content) {
    return Json{{"mediaType", type}, {"digest", "sha256:" + digest_of(content)}, {"size", content.size()}};
  };
  const auto one = [](Json element) {
    Json list = Json::array();
    list.push_back(std::move(element));
    return list;
  };
  Json root{{"type", "layers"}};
  root["diff_ids"] = one("sha256:" + layer_digest);
  Json settings{{"architecture", "amd64"}, {"os", "linux"}};
  settings["config"]["Labels"] = labels;
  settings["rootfs"] = std::move(root);
  const std::string config = settings.dump();
  Json image{{"schemaVersion", 2}, {"mediaType", "application/vnd.oci.image.manifest.v1+json"}};
  image["config"] = blob("application/vnd.oci.image.config.v1+json", config);
  image["layers"] = one(blob("application/vnd.oci.image.layer.v1.tar", layer.tar));
  image["annotations"] = labels;
  const std::string manifest = image.dump();
  Json entry = blob("application/vnd.oci.image.manifest.v1+json", manifest);
  entry["annotations"]["org.opencontainers.image.ref.name"] = "latest";
  Json index{{"schemaVersion", 2}, {"mediaType", "application/vnd.oci.image.index.v1+json"}};
  index["manifests"] = one(std::move(entry));
  const fs::path blobs = place / "blobs" / "sha256";
  fs::create_directories(blobs, error);
  int failed = error.value();
  for (const std::string& each : {layer.tar, config, manifest})
    if (failed == 0) failed = write_file(blobs / digest_of(each), each);
  if (failed == 0) failed = write_file(place / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  if (failed == 0) failed = write_file(place / "index.json", index.dump());  // last: then it is an image
  if (failed != 0) return fail(command, offline::unwritable_archive(command.archive, std::strerror(failed)));
  Json list = Json::array();
  for (const auto& [name, why] : refused) {
    list.push_back({{"name", name}, {"reason", why}});
    if (!command.json) say("%s  refused: %s\n", name.c_str(), why.c_str());
  }
  if (command.json)
    print({{"archive", command.archive},
           {"exported", layer.entries},
           {"digest", "sha256:" + digest_of(manifest)},
           {"refused", std::move(list)}});
  else
    say("%llu entries exported, %zu refused\n", static_cast<unsigned long long>(layer.entries),
        refused.size());
  return refused.empty() ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
