// SPDX-License-Identifier: MIT
// Threads that ask for the same key, and callbacks that end in every way they can.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <latch>
#include <stdexcept>
#include <thread>

#include "cache/fixture.hpp"
#include "cache/key_lock.hpp"
#include "kiln/cache.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::KeyLocks;
using cache::Store;

namespace {

/// Two threads ask a store for number 1. The first one's compilation ends as `end` does, once the second one
/// waits for it; the second one's is fine.
struct Two {
  CacheAnswer second;
  int compilations = 0;
};
template <class End>
Two ask_two(Store& store, End end) {
  std::atomic<pid_t> waiting = 0;
  std::atomic<int> compilations = 0;
  std::latch begun(1);
  std::thread first([&] {
    const auto compile = [&]() -> Compilation {
      ++compilations;
      begun.count_down();
      until_asleep(waiting);
      return end();
    };
    try {
      (void)store.get(manifest(1), true, compile);
    } catch (const std::runtime_error&) {
    }
  });
  begun.wait();
  Two two;
  std::thread second([&] {
    waiting = gettid();
    two.second = store.get(manifest(1), true, [&] {
      ++compilations;
      return built(1);
    });
  });
  first.join();
  second.join();
  two.compilations = compilations;
  return two;
}

CacheOptions with_memory(const fs::path& folder) {
  CacheOptions options;
  options.folder = folder;
  return options;
}

/// On a thread of its own, so that a lock that nobody gives back is a failure and no hang.
bool answers_within_a_minute(Store& store, int number) {
  std::promise<void> answered;
  std::thread thread([&] {
    (void)ask(store, number);
    answered.set_value();
  });
  REQUIRE_MESSAGE(answered.get_future().wait_for(60s) == std::future_status::ready, "it waits for ever");
  thread.join();
  return true;
}

}  // namespace

TEST_CASE("a result that is kept is that of all threads who ask for it at the time") {
  const TestFolder folder;
  Store store(with_memory(folder.path()));
  const Two two = ask_two(store, [] { return built(1); });
  CHECK(two.compilations == 1);
  CHECK(two.second.source == CacheSource::memory);
  CHECK(two.second.end == CompilationEnd::built);
  CHECK(same(two.second.payload, payload(1)));
}

TEST_CASE("a result that is not kept is never another thread's") {
  Compilation not_kept = built(2);
  not_kept.not_kept = "another compiler made it";
  const Compilation transient{CompilationEnd::transient, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "", {}, {}};
  for (const Compilation& result : {transient, not_kept}) {
    const TestFolder folder;
    Store store(with_memory(folder.path()));
    LogLines lines;
    const Two two = ask_two(store, [&] { return result; });
    CHECK(two.compilations == 2);
    CHECK(two.second.source == CacheSource::compiled);
    CHECK(two.second.end == CompilationEnd::built);
    CHECK(same(two.second.payload, payload(1)));
    CHECK(lines.take().size() == (result.not_kept.empty() ? 0 : 1));
  }
}

TEST_CASE("a result that is not kept is told once, and neither stored nor remembered") {
  const TestFolder folder;
  Store store(with_memory(folder.path()));
  Compiler compiler{built(1)};
  compiler.result.not_kept = "library.libigc.so.1 differs";
  LogLines lines;
  for (int i = 1; i <= 3; ++i) {
    const CacheAnswer answer = store.get(manifest(1), true, compiler.function());
    CHECK(answer.source == CacheSource::compiled);
    CHECK(answer.end == CompilationEnd::built);
    CHECK(same(answer.payload, payload(1)));
    CHECK(compiler.calls == i);
  }
  const auto told = lines.take();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("library.libigc.so.1 differs") != std::string::npos);
  CHECK(told[0].find(key(1).hex()) != std::string::npos);
  CHECK(store.counts().stored == 0);
  CHECK_FALSE(fs::exists(entry_path(folder.path(), 1)));
}

TEST_CASE("what a compiler throws passes through, and nobody waits for it") {
  const TestFolder folder;
  Store store(with_memory(folder.path()));
  const auto compile = []() -> Compilation { throw std::runtime_error("of the application"); };
  CHECK_THROWS_AS((void)store.get(manifest(1), true, compile), std::runtime_error);
  CHECK(answers_within_a_minute(store, 1));
  CHECK_THROWS_AS((void)store.get(manifest(2), false, compile), std::runtime_error);
  CHECK_THROWS_AS((void)store.replace(manifest(1), compile, "false"), std::runtime_error);
  CHECK(answers_within_a_minute(store, 1));

  const TestFolder other;
  Store empty(with_memory(other.path()));
  const Two two = ask_two(empty, []() -> Compilation { throw std::runtime_error("after all"); });
  CHECK(two.second.end == CompilationEnd::built);
}

TEST_CASE("a thread that is cancelled while it compiles leaves nobody waiting") {
  const TestFolder folder;
  Store store(with_memory(folder.path()));
  std::latch ended(1);
  std::promise<void> answered;
  std::thread other([&] {  // made first, since a thread that is gone leaves its number to the next
    ended.wait();
    (void)ask(store, 1);
    answered.set_value();
  });
  std::thread thread([&] {
    (void)store.get(manifest(1), true, []() -> Compilation {
      pthread_exit(nullptr);
      return {};
    });
  });
  thread.join();
  ended.count_down();
  REQUIRE_MESSAGE(answered.get_future().wait_for(60s) == std::future_status::ready, "it waits for ever");
  other.join();
}

TEST_CASE("a compiler may ask its own cache, for its own key too") {
  const TestFolder folder;
  Store store(with_memory(folder.path()));
  int calls = 0;
  const std::function<Compilation()> compile = [&]() -> Compilation {
    ++calls;
    CHECK(ask(store, 2).right);
    if (calls == 1) CHECK(same(store.get(manifest(1), true, compile).payload, payload(1)));
    return built(1);
  };
  CHECK(same(store.get(manifest(1), true, compile).payload, payload(1)));
  CHECK(calls == 2);
  CHECK_FALSE(ask(store, 1).compiled);
}

TEST_CASE("caches of one process on one folder compile a key once, and prune one at a time") {
  const TestFolder folder;
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const KeyLocks one = KeyLocks::open(*opened);
  {
    const KeyLocks other = KeyLocks::open(*opened);
    const KeyLocks::Hold pruning = one.try_lock_pruning(), first = one.try_lock(key(1));
    CHECK((pruning.locked() && first.locked()));
    for (const KeyLocks* locks : {&one, &other}) {
      CHECK(locks->try_lock_pruning().answer() == KeyLocks::Answer::busy);
      CHECK(locks->try_lock(key(1)).answer() == KeyLocks::Answer::busy);
      CHECK(locks->try_lock(key(2)).locked());
    }
  }
  // That the other one closed the file took no lock from this one.
  const KeyLocks::Hold hold = one.try_lock(key(1));
  CHECK(hold.locked());
  { const KeyLocks other = KeyLocks::open(*opened); }
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const KeyLocks locks = KeyLocks::open(*opened);
    _exit(locks.try_lock(key(1)).answer() == KeyLocks::Answer::busy ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a wait of any length is a wait") {
  const TestFolder folder;
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const KeyLocks one = KeyLocks::open(*opened), other = KeyLocks::open(*opened);
  const KeyLocks::Hold held = one.try_lock(key(1));
  for (const auto longest : {1ms, std::chrono::milliseconds(INT64_MAX / 1000000),  // what C calls for ever
                             std::chrono::milliseconds::max()}) {
    const KeyLocks::Hold hold = other.lock(key(1), longest, [] { return true; });
    CHECK(hold.waited());
  }
}

TEST_CASE("an entry of another cache at the moment of storing is as good, and storing goes on") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const CacheAnswer answer = store.get(manifest(1), true, [&] {
    const std::string fields = encode(manifest(1));
    const Bytes code = payload(1);
    cache::Entry entry;
    entry.manifest = fields;
    entry.payload = code;
    REQUIRE(cache::publish_bytes(*opened, key(1), cache::encode_entry(entry), false) == 0);
    return built(1);
  });
  CHECK(same(answer.payload, payload(1)));
  CHECK(store.counts().store_failures == 0);
  // A store that gave up would take no turn.
  (void)store.get(manifest(2), true, [&] {
    CHECK(KeyLocks::open(*opened).try_lock(key(2)).answer() == KeyLocks::Answer::busy);
    return built(2);
  });
  CHECK(fs::exists(entry_path(folder.path(), 2)));
}

TEST_CASE("publishing keeps what is there, unless it is to be replaced") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  ask(store, 1);
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const Bytes before = read_file(entry_path(folder.path(), 1)), other = bytes_of("another entry");
  for (const bool nameless : {true, false}) {
    opened->nameless_files() = nameless;
    CHECK(cache::publish(*opened, key(1), other, false));
    CHECK(read_file(entry_path(folder.path(), 1)) == before);
    CHECK(cache::publish(*opened, key(1), other, true));
    CHECK(read_file(entry_path(folder.path(), 1)) == other);
    CHECK(cache::publish(*opened, key(1), before, true));
  }
}
