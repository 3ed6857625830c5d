// SPDX-License-Identifier: MIT
// Pruning: what it keeps under a cap, held against an ideal cache of that size.
#include <sys/file.h>
#include <sys/inotify.h>

#include <algorithm>
#include <list>

#include "cache/fixture.hpp"
#include "cache/usage.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Store;

namespace {

/// Numbers below `count`, the nth as often as 1/n.
std::vector<int> zipf_trace(int count, int length) {
  std::vector<double> weights;
  for (int i = 0; i < count; ++i) weights.push_back(1.0 / (i + 1));
  std::discrete_distribution<int> number(weights.begin(), weights.end());
  std::mt19937 random(7);
  std::vector<int> trace;
  for (int i = 0; i < length; ++i) trace.push_back(number(random));
  return trace;
}

int ideal_hits(const std::vector<int>& trace, std::size_t capacity) {
  std::list<int> used;  // the last first
  int hits = 0;
  for (const int number : trace) {
    const auto place = std::ranges::find(used, number);
    if (place != used.end()) {
      ++hits;
      used.erase(place);
    } else if (used.size() == capacity) {
      used.pop_back();
    }
    used.push_front(number);
  }
  return hits;
}

/// As a program that reads files in an order of its own.
void set_access_time(const fs::path& path, std::time_t time) {
  const struct timespec times[2] = {{time, 0}, {0, UTIME_OMIT}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "usage") bytes += entry.file_size();
  return bytes;
}

}  // namespace

TEST_CASE("a Zipf trace: within 5% of the hits of an ideal LRU cache, whatever the times of access") {
  constexpr int kCapacity = 200, kNumbers = 1000, kLength = 8000;
  const TestFolder folder;
  TestClock clock;
  CacheOptions options = options_in(folder.path());
  options.max_size = kCapacity * cache::kBlock;  // each entry takes one block
  Store store(options, clock.edge());
  int hits = 0;
  std::mt19937 random(8);
  const std::vector<int> trace = zipf_trace(kNumbers, kLength);
  for (const int number : trace) {
    clock.now += 5min;
    const Asked asked = ask(store, number);
    REQUIRE(asked.right);
    if (!asked.compiled) ++hits;
    if (asked.compiled) set_access_time(entry_path(folder.path(), number), std::time_t(random()));
    if (asked.compiled) REQUIRE(bytes_in(folder.path()) <= options.max_size);
  }
  const int ideal = ideal_hits(trace, kCapacity);
  MESSAGE("hits: " << hits << " of " << kLength << ", ideal LRU: " << ideal);
  CHECK(hits >= ideal * 0.95);
  CHECK(hits <= ideal);
}

TEST_CASE("above its cap a folder is pruned to 80%, the longest unused first") {
  const TestFolder folder;
  TestClock clock;
  CacheOptions options = options_in(folder.path());
  options.max_size = 10 * cache::kBlock;
  Store store(options, clock.edge());
  for (int number = 0; number < 10; ++number) {
    ask(store, number);
    clock.now += 2h;
  }
  ask(store, 0);
  CHECK(files_in(folder.path()) == 12);  // with v1/lock and v1/usage
  clock.now += 2h;
  ask(store, 10);
  CHECK(files_in(folder.path()) == 10);
  for (const int gone : {1, 2, 3}) CHECK_FALSE(fs::exists(entry_path(folder.path(), gone)));
  for (const int kept : {0, 4, 9, 10}) CHECK(fs::exists(entry_path(folder.path(), kept)));
}

TEST_CASE("what is larger than the cap is not stored") {
  const TestFolder folder;
  CacheOptions options = options_in(folder.path());
  options.max_size = 2000;
  Store store(options);
  CHECK((ask(store, 1, 3000).right && ask(store, 1, 3000).compiled));
  CHECK_FALSE(fs::exists(entry_path(folder.path(), 1)));
}

TEST_CASE("a wrong estimate of the size heals") {
  const TestFolder folder;
  TestClock clock;
  CacheOptions options = options_in(folder.path());
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const fs::path usage = folder / "v1/usage";
  int number = 0;
  const auto check_healed = [&](double chance) {
    Store store(options, {{}, [&] { return chance; }, 2s, true});
    ask(store, number++);
    CHECK(cache::estimated_usage(*opened) == number * cache::kBlock);
    CHECK(fs::exists(entry_path(folder.path(), 0)));
  };
  check_healed(0.5);
  fs::remove(usage);
  check_healed(0.5);  // missing
  fs::resize_file(usage, 10'000'000);
  check_healed(0.5);  // far too much: counted before anything is removed
  fs::remove(usage);
  fs::create_directory(usage);
  check_healed(0.5);
  fs::remove(usage);
  fs::create_symlink("/nowhere", usage);
  check_healed(0.5);
  std::ofstream(folder / "mine") << "mine";
  fs::remove(usage);
  fs::create_hard_link(folder / "mine", usage);
  check_healed(0.5);
  CHECK(read_file(folder / "mine") == bytes_of("mine"));
  fs::resize_file(usage, 1);
  check_healed(0.001);  // too little: found by one of 256 stores
}

TEST_CASE("what is added while somebody counts stays in the estimate") {
  const TestFolder folder;
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const std::uint64_t nothing = cache::start_count(*opened);
  CHECK(nothing == 0);
  CHECK_FALSE(cache::estimated_usage(*opened));
  cache::add_usage(*opened, 5 * cache::kBlock);
  cache::set_usage(*opened, nothing, 5);
  CHECK(cache::estimated_usage(*opened) == 10 * cache::kBlock);
  const std::uint64_t before = cache::start_count(*opened);
  CHECK(before == 10);
  cache::add_usage(*opened, 3 * cache::kBlock);
  cache::set_usage(*opened, before, 7);
  CHECK(cache::estimated_usage(*opened) == 10 * cache::kBlock);
  cache::set_usage(*opened, 20, 7);  // another count ended meanwhile
  CHECK(cache::estimated_usage(*opened) == 7 * cache::kBlock);
}

TEST_CASE("prune by age and by size, and the files of dead writers") {
  const TestFolder folder;
  TestClock clock;
  Store store(options_in(folder.path()), clock.edge());
  for (int number = 0; number < 10; ++number) {
    ask(store, number);
    clock.now += 24h;
  }
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const fs::path temporary = folder / "v1/temporary";
  fs::create_directory(temporary);
  fs::permissions(temporary, fs::perms::owner_all);
  std::ofstream(temporary / "dead") << "x";
  std::ofstream(temporary / "alive") << "x";
  const detail::Descriptor writer(open((temporary / "alive").c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(flock(writer.get(), LOCK_EX | LOCK_NB) == 0);

  auto result = cache::prune(*opened, std::uint64_t{1} << 40, 4 * 24h, clock.now);
  REQUIRE(result);
  CHECK((result->removed == 6 && result->kept == 4));
  CHECK(result->orphans == 1);
  CHECK(fs::exists(temporary / "alive"));
  CHECK_FALSE(fs::exists(temporary / "dead"));
  result = cache::prune(*opened, 3 * cache::kBlock, {}, clock.now);
  REQUIRE(result);
  CHECK((result->removed == 1 && result->kept == 3));
  CHECK(result->kept_bytes == 3 * fs::file_size(entry_path(folder.path(), 9)));
  CHECK(fs::exists(entry_path(folder.path(), 7)));
  CHECK(cache::list_entries(*opened)->size() == 3);
}

TEST_CASE("opening a folder of many entries looks at none of them") {
  const TestFolder folder;
  { Store store(options_in(folder.path())); }
  for (int i = 0; i < 300; ++i) {
    const fs::path path = entry_path(folder.path(), i);
    fs::create_directory(path.parent_path());
    std::ofstream(path) << "x";
  }
  // Names come from reading the folders that hold entries, and reading begins with opening.
  const detail::Descriptor watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  int watched = 0;
  for (const auto& holder : fs::directory_iterator(folder / "v1"))
    if (holder.is_directory()) {
      REQUIRE(inotify_add_watch(watch.get(), holder.path().c_str(), IN_OPEN | IN_ACCESS) >= 0);
      ++watched;
    }
  CHECK(watched > 100);
  { const Store store(options_in(folder.path())); }
  alignas(inotify_event) char events[4096];
  const ssize_t looks = read(watch.get(), events, sizeof events);
  CHECK((looks < 0 && errno == EAGAIN));
  // The watch sees a look.
  (void)fs::directory_iterator(entry_path(folder.path(), 0).parent_path());
  CHECK(read(watch.get(), events, sizeof events) > 0);
}
