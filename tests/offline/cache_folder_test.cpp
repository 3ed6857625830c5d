// SPDX-License-Identifier: MIT
// Upkeep of a cache folder by the functions that a settings page calls, also on folders that are hostile.
#include "kiln/cache_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "cache/format/facts.hpp"
#include "support/private_folder.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

Manifest numbered(int number) {
  Manifest manifest;
  manifest.set("input.0.digest", "number " + std::to_string(number));
  return manifest;
}

CacheKey numbered_key(int number) { return key_of(encode(numbered(number))); }

/// A folder for a cache, with entries 1 to `count`.
class World {
 public:
  explicit World(int count = 0) {
    options.folder = path() / "cache";
    for (int i = 1; i <= count; ++i) CHECK(load(i) == 1);
  }
  [[nodiscard]] fs::path path() const { return folder_.path(); }
  [[nodiscard]] fs::path entry(int number) const {
    const std::string digits = numbered_key(number).hex();
    return options.folder / "v1" / digits.substr(0, 2) / digits.substr(2);
  }
  /// Compilations that a program makes which needs that entry.
  int load(int number, CompilationEnd end = CompilationEnd::built) const {
    Cache cache = Cache::open(options);
    return load_by(cache, number, end);
  }
  static int load_by(Cache& cache, int number, CompilationEnd end = CompilationEnd::built) {
    int calls = 0;
    (void)cache.get(numbered(number), true, [&]() -> Compilation {
      ++calls;
      const auto code =
          end == CompilationEnd::built ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
      return {end, code, "fine", cache::encode_facts({}),
              end == CompilationEnd::built ? bytes_of("CTNI machine code") : Bytes()};
    });
    return calls;
  }
  CacheOptions options;

 private:
  const kiln::detail::PrivateFolder folder_ = detail::PrivateFolder::make().value();
};

template <class T>
void refused(const char* code, const Result<T>& failed) {
  CAPTURE(code);
  REQUIRE_FALSE(failed);
  REQUIRE(failed.error().diagnostic());
  CHECK(failed.error().diagnostic()->code == code);
}

void damage(const fs::path& path) {
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(40);
  file.put('\x7f');
}

/// Asked to stop before it began.
LongWork stopped_work() {
  std::stop_source source;
  source.request_stop();
  return {{}, source.get_token()};
}

}  // namespace

TEST_CASE("upkeep: a cache that is not there is empty, and is not made") {
  const World world;
  const auto list = list_cache(world.options);
  REQUIRE(list);
  CHECK_FALSE(list->exists);
  CHECK(list->folder == world.options.folder);
  CHECK(list->entries.empty());
  CHECK(cache_size(world.options)->entries == 0);
  CHECK(clear_cache(world.options)->removed == 0);
  CHECK(prune_cache(world.options, 0s)->removed == 0);
  CHECK(verify_cache(world.options, true)->findings.empty());
  CHECK(export_cache(world.path() / "none.ar", world.options)->exported == 0);
  refused("K0407", read_cache_entry(numbered_key(1), world.options));
  const std::vector keys{numbered_key(1)};
  refused("K0407", export_cache(world.path() / "keys.ar", world.options, keys));
  refused("K0408", import_cache(world.path() / "nothing.ar", world.options));
  CHECK_FALSE(fs::exists(world.options.folder));
  CHECK_FALSE(fs::exists(world.path() / "keys.ar"));
}

TEST_CASE("upkeep: what is in a cache, and how much") {
  const World world(3);
  CHECK(world.load(4, CompilationEnd::failed) == 1);
  const auto list = list_cache(world.options);
  REQUIRE(list);
  CHECK(list->exists);
  CHECK(list->unusable.empty());
  REQUIRE(list->entries.size() == 4);
  std::uint64_t bytes = 0;
  for (const CacheEntry& entry : list->entries) {
    bytes += entry.size;
    CHECK(entry.damage.empty());
    CHECK(entry.size == fs::file_size(world.options.folder / "v1" / entry.key.hex().substr(0, 2) /
                                      entry.key.hex().substr(2)));
    CHECK(entry.key == key_of(encode(entry.manifest)));
    const bool failure = entry.key == numbered_key(4);
    CHECK(entry.kind == (failure ? CacheEntryKind::failure : CacheEntryKind::binary));
    CHECK(entry.payload == (failure ? 0 : bytes_of("CTNI machine code").size()));
    CHECK(std::chrono::system_clock::now() - entry.created < 1h);
  }
  const auto size = cache_size(world.options);
  REQUIRE(size);
  CHECK(size->exists);
  CHECK(size->entries == 4);
  CHECK(size->bytes == bytes);
  const auto entry = read_cache_entry(numbered_key(4), world.options);
  REQUIRE(entry);
  CHECK(entry->log == "fine");
  CHECK(entry->code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  CHECK(std::string(to_string(entry->kind)) == "failure");
  refused("K0407", read_cache_entry(numbered_key(5), world.options));
}

TEST_CASE("upkeep: clearing takes all that is Kiln's, while a program runs") {
  const World world(2);
  Cache running = Cache::open(world.options);
  CHECK(World::load_by(running, 1) == 0);
  std::ofstream(world.options.folder / "v1" / "notes") << "mine";
  const auto cleared = clear_cache(world.options);
  REQUIRE(cleared);
  CHECK(cleared->removed == 2);
  CHECK(cleared->removed_bytes > 0);
  CHECK(cleared->kept == 0);
  CHECK(cache_size(world.options)->entries == 0);
  CHECK(fs::exists(world.options.folder / "v1" / "notes"));
  CHECK(World::load_by(running, 1) == 0);  // from its memory
  CHECK(World::load_by(running, 2) == 1);
  CHECK(world.load(1) == 1);
  CHECK(world.load(2) == 0);
}

TEST_CASE("upkeep: pruning by age and by size") {
  World world(3);
  CHECK(prune_cache(world.options, 1h)->removed == 0);
  CHECK(prune_cache(world.options)->kept == 3);
  world.options.max_size = 2 * 4096;  // blocks of the disk
  CHECK(prune_cache(world.options)->removed == 1);
  world.options.max_size = 0;
  const auto pruned = prune_cache(world.options);
  REQUIRE(pruned);
  CHECK(pruned->removed == 2);
  CHECK(pruned->kept_bytes == 0);
}

TEST_CASE("upkeep: damage and hostile entries are named, removed, and never followed") {
  const World world(4);
  const fs::path precious = world.path() / "precious";
  std::ofstream(precious) << "precious";
  damage(world.entry(1));
  fs::remove(world.entry(2));
  fs::create_symlink(precious, world.entry(2));
  fs::remove(world.entry(3));
  REQUIRE(mkfifo(world.entry(3).c_str(), 0600) == 0);

  const auto list = list_cache(world.options);
  REQUIRE(list);
  CHECK(list->entries.size() == 2);
  CHECK(list->unusable.size() == 2);
  CHECK(std::ranges::count_if(list->entries, [](const CacheEntry& each) { return !each.damage.empty(); }) ==
        1);

  std::size_t told = 0;
  const LongWork work{[&](std::size_t, std::size_t) { ++told; }, {}};
  const auto found = verify_cache(world.options, false, work);
  REQUIRE(found);
  CHECK(found->entries == 2);
  CHECK(told == 3);
  REQUIRE(found->findings.size() == 3);
  for (const CacheFinding& each : found->findings) {
    CHECK_FALSE(each.removed);
    CHECK_FALSE(each.reason.empty());
    CHECK((each.fault == CacheFault::damaged) == (each.key == numbered_key(1)));
  }
  CHECK(fs::exists(fs::symlink_status(world.entry(2))));
  const auto removed = verify_cache(world.options, true);
  REQUIRE(removed);
  CHECK(std::ranges::count(removed->findings, true, &CacheFinding::removed) == 3);
  CHECK(verify_cache(world.options)->findings.empty());
  CHECK(cache_size(world.options)->entries == 1);
  CHECK(read_file(precious) == bytes_of("precious"));

  fs::create_symlink(precious, world.entry(1));
  const auto cleared = clear_cache(world.options);
  REQUIRE(cleared);
  REQUIRE(cleared->unusable.size() == 1);
  CHECK(cleared->unusable[0].removed);
  CHECK(read_file(precious) == bytes_of("precious"));
}

TEST_CASE("upkeep: a folder that cannot be trusted is not touched") {
  World world(1);
  fs::permissions(world.options.folder / "v1", fs::perms::all);
  refused("K0710", list_cache(world.options));
  refused("K0710", cache_size(world.options));
  refused("K0710", clear_cache(world.options));
  refused("K0710", prune_cache(world.options));
  refused("K0710", verify_cache(world.options));
  refused("K0710", export_cache(world.path() / "a.ar", world.options));
  CHECK(fs::exists(world.entry(1)));
  world.options.folder = "relative/cache";
  refused("K0710", list_cache(world.options));
  world.options.folder = world.path() / "file";
  std::ofstream(world.options.folder) << "text";
  refused("K0710", clear_cache(world.options));
  CHECK(read_file(world.options.folder) == bytes_of("text"));
}

TEST_CASE("upkeep: entries go into one file, and out of it elsewhere") {
  const World from(3);
  World to;
  CHECK(from.load(4, CompilationEnd::failed) == 1);
  const fs::path archive = from.path() / "kernels.ar";
  REQUIRE(export_cache(archive, from.options)->exported == 3);
  CHECK((fs::status(archive).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
        fs::perms::none);
  const auto imported = import_cache(archive, to.options);
  REQUIRE(imported);
  CHECK(imported->imported == 3);
  CHECK(imported->refused.empty());
  CHECK(to.load(1) == 0);
  CHECK(import_cache(archive, to.options)->there_already == 3);

  const std::vector keys{numbered_key(2), numbered_key(2), numbered_key(4), numbered_key(9)};
  const auto chosen = export_cache(from.path() / "one.ar", from.options, keys);
  REQUIRE(chosen);
  CHECK(chosen->exported == 1);
  CHECK(chosen->refused.size() == 2);  // a failure, and none

  // Another's code under a key that is trusted.
  Bytes forged = read_file(from.path() / "one.ar");
  const std::string digits = numbered_key(2).hex(), wanted = numbered_key(1).hex();
  const Bytes old = bytes_of(digits), fake = bytes_of(wanted);
  const auto name = std::ranges::search(forged, old);
  REQUIRE_FALSE(name.empty());
  std::ranges::copy(fake, name.begin());
  const fs::path forgery = from.path() / "forged.ar";
  std::ofstream(forgery, std::ios::binary)
      .write(reinterpret_cast<const char*>(forged.data()), static_cast<std::streamsize>(forged.size()));
  World victim;
  const auto taken = import_cache(forgery, victim.options);
  REQUIRE(taken);
  CHECK(taken->imported == 0);
  CHECK(taken->refused.size() == 1);
  CHECK(victim.load(1) == 1);

  refused("K0408", import_cache(KILN_TEST_SPIRV "/saxpy.spv", to.options));
  refused("K0408", export_cache("/nonexistent/kernels.ar", from.options));
  to.options.mode = CacheMode::read;
  refused("K0712", import_cache(archive, to.options));
  to.options.mode = CacheMode::off;
  refused("K0712", import_cache(archive, to.options));
  World small;
  small.options.max_size = 1;
  CHECK(import_cache(archive, small.options)->refused.size() == 3);
}

TEST_CASE("upkeep: all that reads entries stops when it is told to") {
  const World from(2);
  World to;
  const fs::path archive = from.path() / "kernels.ar", other = from.path() / "other.ar";
  REQUIRE(export_cache(archive, from.options));
  refused("K0423", list_cache(from.options, stopped_work()));
  refused("K0423", verify_cache(from.options, true, stopped_work()));
  refused("K0423", export_cache(other, from.options, {}, stopped_work()));
  refused("K0423", import_cache(archive, to.options, stopped_work()));
  CHECK_FALSE(fs::exists(other));
  CHECK(cache_size(to.options)->entries == 0);
  std::stop_source within;
  const LongWork work{[&](std::size_t done, std::size_t) { done ? void(within.request_stop()) : void(); },
                      within.get_token()};
  refused("K0423", import_cache(archive, to.options, work));
  CHECK(cache_size(to.options)->entries == 1);
}
