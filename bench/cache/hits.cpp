// SPDX-License-Identifier: MIT
// `cache_hits FOLDER`: a hit of the kernel cache against opening, reading and hashing the same file, and what
// opening a cache costs. Medians of interleaved rounds.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/maintenance.hpp"
#include "kiln/cache.hpp"

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr int kRounds = 401;

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "cache_hits: %s\n", why);
  std::exit(1);
}

kiln::Manifest manifest_of(const std::string& name) {
  kiln::Manifest manifest;
  manifest.set("input.0.digest", name);
  for (int i = 0; i < 20; ++i) manifest.set("field." + std::to_string(i), std::string(40, 'x'));
  return manifest;
}

kiln::Compilation made(std::size_t size, std::uint32_t seed) {
  kiln::Compilation result;
  result.end = kiln::CompilationEnd::built;
  result.payload.resize(size);
  std::mt19937 random(seed);
  for (std::byte& byte : result.payload) byte = static_cast<std::byte>(random());
  return result;
}

kiln::Compilation must_not_compile() { fail("a hit was expected"); }

fs::path file_of(const fs::path& folder, const kiln::Manifest& manifest) {
  const std::string key = kiln::key_of(kiln::encode(manifest)).hex();
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > 32 && key.ends_with(name)) return entry.path();
  }
  fail("the entry is not in the folder");
}

/// What any program must do that reads a file of unknown size and checks it.
std::uint64_t read_and_hash(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) fail("the entry cannot be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  const auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
  if (read(file, bytes.get(), size) != status.st_size) fail("the entry cannot be read");
  close(file);
  return XXH3_128bits(bytes.get(), size).low64;
}

void compare_hits(const fs::path& folder) {
  std::printf("%-12s %10s %22s %7s\n", "payload", "hit us", "open+read+XXH3 us", "ratio");
  kiln::CacheOptions options;
  options.folder = folder;
  options.memory_size = 0;
  kiln::Cache cache = kiln::Cache::open(options);
  std::uint64_t sum = 0;
  for (const std::size_t kib : {4, 16, 64, 256, 1024, 4096}) {
    const kiln::Manifest manifest = manifest_of(std::to_string(kib));
    (void)cache.get(manifest, true, [&] { return made(kib << 10, static_cast<std::uint32_t>(kib)); });
    const fs::path path = file_of(folder, manifest);
    std::vector<double> hits, reads;
    for (int i = 0; i < kRounds; ++i) {
      const auto start = Clock::now();
      const kiln::CacheAnswer answer = cache.get(manifest, true, must_not_compile);
      const auto middle = Clock::now();
      sum += answer.payload.size();
      const auto second = Clock::now();
      sum += read_and_hash(path);
      hits.push_back(microseconds(middle - start));
      reads.push_back(microseconds(Clock::now() - second));
    }
    const double hit = median(hits), read = median(reads);
    std::printf("%8zu KiB %10.1f %22.1f %7.2f\n", kib, hit, read, hit / read);
  }
  if (sum == 0) fail("nothing was read");
}

void time_opening(const fs::path& folder, int entries) {
  kiln::CacheOptions options;
  options.folder = folder;
  const auto filled = kiln::cache::open_folder(folder, kiln::cache::Access::write);
  if (!filled) fail("the folder cannot be made");
  for (int i = 0; i < entries; ++i) {
    const std::string manifest = kiln::encode(manifest_of("entry " + std::to_string(i)));
    kiln::cache::Entry entry;
    entry.manifest = manifest;
    if (!kiln::cache::publish(*filled, kiln::key_of(manifest), kiln::cache::encode_entry(entry), false))
      fail("an entry cannot be written");
  }
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = Clock::now();
    const kiln::Cache cache = kiln::Cache::open(options);
    times.push_back(microseconds(Clock::now() - start));
  }
  std::printf("opening a cache with %d entries: %.1f us\n", entries, median(times));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cache_hits FOLDER\n");
    return 2;
  }
  const fs::path folder = argv[1];
  compare_hits(folder / "hits");
  time_opening(folder / "few", 10);
  time_opening(folder / "many", 100'000);
  return 0;
}
