// SPDX-License-Identifier: MIT
// One node of a fleet for the tests: threads that want keys, a compiler that only counts and takes its time.
//   fleet_node keys=200 threads=4 compile_ms=20 size=3000 log=FILE seed=1 [first=0] [like=FILE] [wait] [each]
//   [hold] [apart] [told=4] [fork=FILE]
// hold: keys from this one on are compiled for ever. fork: a child that only waits has all sockets as well,
// and its number is in FILE. told: the keys in their order, until the log has a line, and so many more.
// KILN_CACHE… are the settings. Prints what happened as JSON; exit status 1: a byte was wrong.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/format/facts.hpp"
#include "kiln/cache.hpp"
#include "kiln/log.hpp"

using namespace kiln;

namespace {

std::map<std::string, std::string> settings;
std::atomic<int> lines_of_log{0};

int number(const char* name, int otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : std::atoi(found->second.c_str());
}

/// Part of the file `like`, which each key has from another place on; else bytes that hardly compress.
std::vector<std::byte> payload(int key, std::size_t size) {
  static const std::string like = [] {
    std::ifstream file(settings["like"], std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  std::mt19937_64 random(static_cast<std::uint64_t>(key));
  const std::uint64_t start = random();
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = std::byte(!like.empty() ? like[(start + i) % like.size()] : i % 3 == 0 ? random() : i / 64);
  return bytes;
}

Manifest manifest(int key) {
  Manifest fields;
  fields.set("input.0.digest", "number " + std::to_string(key));
  fields.set("library.libigc.so.1", "3d1eb51d");
  return fields;
}

void fork_child() {
  const pid_t child = fork();
  if (child == 0) {
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(each);
    alarm(600);  // where the test ends without it
    for (;;) pause();
  }
  std::ofstream(settings["fork"]) << child << '\n';
}

struct Totals {
  std::atomic<int> wrong{0}, compiled{0};
  std::atomic<long> longest_us{0};
  std::mutex mutex;
  std::string each;
};

void ask(Cache& cache, int key, int log, Totals& totals) {
  const auto size = static_cast<std::size_t>(number("size", 3000));
  const auto begin = std::chrono::steady_clock::now();
  const CacheAnswer answer = cache.get(manifest(key), true, [&]() -> Compilation {
    ++totals.compiled;
    if (log >= 0 && write(log, &key, sizeof key) != sizeof key) std::abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(number("compile_ms", 0)));
    if (settings.contains("fork")) fork_child();
    if (settings.contains("hold") && key >= number("hold", 0)) pause();
    return {CompilationEnd::built, ZE_RESULT_SUCCESS, "fine", cache::encode_facts({}), payload(key, size)};
  });
  const long took =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  for (long most = totals.longest_us; took > most && !totals.longest_us.compare_exchange_weak(most, took);) {
  }
  const auto right = payload(key, size);
  if (answer.payload.size() != right.size() ||
      std::memcmp(answer.payload.data(), right.data(), right.size()) != 0)
    ++totals.wrong;
  if (settings.contains("each")) {
    const std::lock_guard lock(totals.mutex);
    char line[512];
    std::snprintf(line, sizeof line, "%s{\"key\": %d, \"source\": \"%s\", \"us\": %ld, \"missed\": \"%s\"}",
                  totals.each.empty() ? "" : ", ", key, to_string(answer.source), took,
                  answer.missed.c_str());
    totals.each += line;
  }
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    settings[text.substr(0, text.find('='))] =
        text.find('=') == text.npos ? "" : text.substr(text.find('=') + 1);
  }
  set_log_sink(
      [](void*, LogLevel, std::string_view line) {
        std::fprintf(stderr, "%.*s\n", int(line.size()), line.data());
        ++lines_of_log;
      },
      nullptr);
  auto options = cache_options();
  if (!options) {
    std::fprintf(stderr, "%s", options.error().text().c_str());
    return 2;
  }
  const int log = settings.contains("log")
                      ? open(settings["log"].c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                      : -1;
  Cache cache = Cache::open(*options);
  char nothing = 0;
  if (settings.contains("wait") && read(STDIN_FILENO, &nothing, 1) < 0) return 2;
  Totals totals;
  const int keys = number("keys", 1), first = number("first", 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < number("threads", 1); ++thread)
    threads.emplace_back([&, thread] {
      std::vector<int> order(static_cast<std::size_t>(keys));
      std::iota(order.begin(), order.end(), first);
      if (settings.contains("apart"))
        std::erase_if(order, [&](int key) { return (key - first) % number("threads", 1) != thread; });
      int left = number("told", keys);
      if (!settings.contains("told"))
        std::shuffle(order.begin(), order.end(),
                     std::mt19937(std::uint32_t(number("seed", 0) * 100 + thread)));
      for (const int key : order) {
        if (lines_of_log > 0 && left-- == 0) break;
        ask(cache, key, log, totals);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const CacheCounts counts = cache.counts();
  std::printf(
      "{\"compiled\": %d, \"wrong\": %d, \"remote_hits\": %llu, \"remote_refused\": %llu, \"user_hits\": "
      "%llu, "
      "\"memory_hits\": %llu, \"waited\": %llu, \"longest_us\": %ld, \"each\": [%s]}\n",
      totals.compiled.load(), totals.wrong.load(), static_cast<unsigned long long>(counts.remote_hits),
      static_cast<unsigned long long>(counts.remote_refused),
      static_cast<unsigned long long>(counts.user_hits), static_cast<unsigned long long>(counts.memory_hits),
      static_cast<unsigned long long>(counts.waited), totals.longest_us.load(), totals.each.c_str());
  return totals.wrong ? 1 : 0;
}
