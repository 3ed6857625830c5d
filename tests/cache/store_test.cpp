// SPDX-License-Identifier: MIT
// Hits, misses and what is remembered: one process, one thread.
#include <csignal>

#include "cache/fixture.hpp"
#include "cache/usage.hpp"
#include "kiln/cache.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Store;

TEST_CASE("what was compiled once is a hit for the next cache, with log, facts and code") {
  const TestFolder folder;
  CacheOptions options;
  options.folder = folder / "kiln";
  Compiler compiler{built(1)};
  {
    Cache first = Cache::open(options);
    CHECK(first.unusable().empty());
    CHECK(first.folder() == folder / "kiln");
    const CacheAnswer answer = first.get(manifest(1), true, compiler.function());
    CHECK(answer.source == CacheSource::compiled);
    CHECK(answer.missed == "not there");
    CHECK(same(answer.payload, payload(1)));
    CHECK(first.get(manifest(1), true, compiler.function()).source == CacheSource::memory);
    CHECK(first.counts().stored == 1);
  }
  Cache second = Cache::open(options);
  const CacheAnswer answer = second.get(manifest(1), true, compiler.function());
  CHECK(answer.source == CacheSource::user);
  CHECK(answer.end == CompilationEnd::built);
  CHECK(answer.log == "fine");
  CHECK(same(answer.facts, bytes_of("facts")));
  CHECK(same(answer.payload, payload(1)));
  CHECK(answer.missed.empty());
  CHECK(compiler.calls == 1);
  CHECK(second.get(manifest(1), true, compiler.function()).source == CacheSource::memory);
  const CacheCounts counts = second.counts();
  CHECK((counts.user_hits == 1 && counts.memory_hits == 1 && counts.compilations == 0));
}

TEST_CASE("an answer outlives its cache and its file") {
  const TestFolder folder;
  CacheAnswer answer;
  {
    Store(options_in(folder.path())).get(manifest(1), true, [] { return built(1); });
    Store store(options_in(folder.path()));
    answer = ask(store, 1).answer;
  }
  fs::resize_file(entry_path(folder.path(), 1), 0);
  CHECK(same(answer.payload, payload(1)));
}

TEST_CASE("off, read and unknown manifests write nothing") {
  const TestFolder folder;
  CacheOptions options = options_in(folder / "kiln");
  options.mode = CacheMode::off;
  Store off(options);
  CHECK(ask(off, 1).answer.missed == "cache is off");
  CHECK(ask(off, 1).compiled);
  CHECK(files_in(folder.path()) == 0);

  options.mode = CacheMode::on;
  Store on(options);
  Compiler compiler{built(1)};
  CHECK_FALSE(on.get(manifest(1), false, compiler.function()).missed.empty());
  CHECK(on.get(manifest(1), false, compiler.function()).source == CacheSource::compiled);
  CHECK(compiler.calls == 2);
  CHECK_FALSE(fs::exists(entry_path(folder / "kiln", 1)));
  CHECK(ask(on, 1).compiled);

  options.mode = CacheMode::read;
  Store read(options);
  CHECK_FALSE(read.unusable().empty());
  CHECK(ask(read, 1).answer.source == CacheSource::user);
  CHECK(ask(read, 2).compiled);
  CHECK_FALSE(fs::exists(entry_path(folder / "kiln", 2)));
}

TEST_CASE("a moved folder: only hits") {
  const TestFolder folder;
  {
    Store store(options_in(folder / "old"));
    for (int i = 0; i < 100; ++i) REQUIRE(ask(store, i).compiled);
  }
  fs::copy(folder / "old", folder / "new", fs::copy_options::recursive);
  fs::permissions(folder / "new", fs::perms::owner_all);
  fs::remove_all(folder / "old");
  Store store(options_in(folder / "new"));
  for (int i = 0; i < 100; ++i) {
    const Asked asked = ask(store, i);
    CHECK((asked.right && !asked.compiled));
  }
  CHECK(store.counts().user_hits == 100);
}

TEST_CASE("read-only folders are asked in their order, before the user's, and not written") {
  const TestFolder folder;
  const auto put = [&](const char* name, int number, int content) {
    Store store(options_in(folder / name));
    store.get(manifest(number), true, [&] { return built(content); });
  };
  put("a", 1, 11);
  put("b", 1, 12);
  put("b", 2, 22);
  put("user", 1, 31);
  put("user", 2, 32);
  put("user", 3, 33);
  CacheOptions options = options_in(folder / "user");
  options.read_only = {folder / "a", folder / "missing", folder / "b"};
  const int files_of_a = files_in(folder / "a"), files_of_b = files_in(folder / "b");
  LogLines lines;
  Store store(options);
  CHECK(lines.take().size() == 1);  // the missing one
  const auto content = [&](int number, CacheSource source, int wanted) {
    const CacheAnswer answer = ask(store, number).answer;
    CHECK(answer.source == source);
    CHECK(same(answer.payload, payload(wanted)));
  };
  content(1, CacheSource::read_only, 11);
  content(2, CacheSource::read_only, 22);
  content(3, CacheSource::user, 33);
  content(4, CacheSource::compiled, 4);
  CHECK(store.counts().read_only_hits == 2);

  // A damaged entry in one of them is a miss there, and stays.
  fs::resize_file(entry_path(folder / "a", 1), 100);
  content(1, CacheSource::read_only, 12);
  CHECK(files_in(folder / "a") == files_of_a);
  CHECK(files_in(folder / "b") == files_of_b);
  CHECK(store.counts().damaged == 1);
}

TEST_CASE("failures are remembered for their time, with their log") {
  const TestFolder folder;
  TestClock clock;
  Compiler compiler{{CompilationEnd::failed, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "error: no", {}, {}}};
  CacheOptions options = options_in(folder.path());
  for (const int memory : {0, 1 << 20}) {
    CAPTURE(memory);
    compiler.calls = 0;
    options.memory_size = static_cast<std::uint64_t>(memory);
    Store store(options, clock.edge());
    const auto ask_again = [&] { return store.get(manifest(1), true, compiler.function()); };
    CHECK(ask_again().source == CacheSource::compiled);
    clock.now += 3599s;
    const CacheAnswer again = ask_again();
    CHECK(again.source == (memory == 0 ? CacheSource::user : CacheSource::memory));
    CHECK(again.end == CompilationEnd::failed);
    CHECK(again.code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(again.log == "error: no");
    CHECK(compiler.calls == 1);
    CHECK(store.counts().remembered_failures == 1);
    clock.now += 1s;
    CHECK(ask_again().source == CacheSource::compiled);
    CHECK(ask_again().source != CacheSource::compiled);
    clock.now -= 2h;  // a clock that was put back
    CHECK(ask_again().source == CacheSource::compiled);
    CHECK(compiler.calls == 3);
    clock.now += 48h;
  }
  // What compiles at last takes the failure's place.
  Store store(options, clock.edge());
  CHECK(ask(store, 1).compiled);
  Store next(options, clock.edge());
  CHECK_FALSE(ask(next, 1).compiled);
}

TEST_CASE("transient ends are never remembered") {
  const TestFolder folder;
  CacheOptions options = options_in(folder.path());
  options.memory_size = 1 << 20;
  Store store(options);
  Compiler compiler{{CompilationEnd::transient, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "", {}, {}}};
  for (int i = 1; i <= 3; ++i) {
    CHECK(store.get(manifest(1), true, compiler.function()).end == CompilationEnd::transient);
    CHECK(compiler.calls == i);
  }
  CHECK_FALSE(fs::exists(entry_path(folder.path(), 1)));
}

TEST_CASE("an input that ends the compiler twice is not given to it again, until the cache is cleared") {
  const TestFolder folder;
  Compiler compiler{{CompilationEnd::died, ZE_RESULT_ERROR_UNKNOWN, "signal 11", {}, {}}};
  const auto ask_anew = [&](std::uint64_t memory) {
    CacheOptions options = options_in(folder.path());
    options.memory_size = static_cast<std::uint64_t>(memory);
    return Store(options).get(manifest(1), true, compiler.function());
  };
  CHECK(ask_anew(1 << 20).log == "signal 11");
  CHECK(ask_anew(0).missed == "the compiler ended by itself once");
  CHECK(compiler.calls == 2);
  const CacheAnswer third = ask_anew(1 << 20);
  CHECK(compiler.calls == 2);
  CHECK(third.end == CompilationEnd::died);
  CHECK(third.code == ZE_RESULT_ERROR_UNKNOWN);
  CHECK(third.log.starts_with("signal 11\n"));
  CHECK(third.log.find("kiln cache clear") != third.log.npos);

  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE((opened && cache::clear(*opened)));
  ask_anew(0);
  CHECK(compiler.calls == 3);
  compiler.result = built(1);  // it was a passing trouble
  CHECK(ask_anew(0).end == CompilationEnd::built);
  CHECK(ask_anew(0).source == CacheSource::user);
}

TEST_CASE("one store remembers a crash too") {
  const TestFolder folder;
  CacheOptions options = options_in(folder.path());
  options.memory_size = 1 << 20;
  Store store(options);
  Compiler compiler{{CompilationEnd::died, ZE_RESULT_ERROR_UNKNOWN, "signal 11", {}, {}}};
  for (int i = 0; i < 5; ++i)
    CHECK(store.get(manifest(1), true, compiler.function()).end == CompilationEnd::died);
  CHECK(compiler.calls == 2);
}

TEST_CASE("verifying compiles a share of the hits again, and takes the compiler's word") {
  const TestFolder folder;
  CacheOptions options = options_in(folder.path());
  options.memory_size = 0;
  Store first(options);
  ask(first, 1);
  options.verify = 0.25;
  double chance = 0.25;
  Store store(options, {{}, [&] { return chance; }});
  Compiler compiler{built(2)};
  LogLines lines;
  const auto asked = [&](CacheSource source, int wanted) {
    const CacheAnswer answer = store.get(manifest(1), true, compiler.function());
    CHECK(answer.source == source);
    CHECK(same(answer.payload, payload(wanted)));
  };
  asked(CacheSource::user, 1);
  CHECK(store.counts().verified == 0);
  chance = 0.2;
  asked(CacheSource::compiled, 2);
  CHECK((store.counts().verified == 1 && store.counts().verify_differences == 1));
  CHECK(lines.take().size() == 1);
  asked(CacheSource::user, 2);
  CHECK((store.counts().verified == 2 && store.counts().verify_differences == 1));
  compiler.result.end = CompilationEnd::transient;
  asked(CacheSource::user, 2);
  CHECK(store.counts().verified == 2);
  compiler.result.code = ZE_RESULT_NOT_READY;  // whoever cancelled it wants no module
  const CacheAnswer cancelled = store.get(manifest(1), true, compiler.function());
  CHECK(cancelled.source == CacheSource::compiled);
  CHECK(cancelled.code == ZE_RESULT_NOT_READY);
  chance = 0.25;
  asked(CacheSource::user, 2);
  chance = 0.2;
  CHECK(store.counts().verified == 2);
  CHECK(lines.take().empty());

  // What is only read cannot be replaced there.
  const TestFolder own;
  options.read_only = {folder.path()};
  options.folder = own.path();
  Store other(options, {{}, [&] { return chance; }});
  compiler.result = built(3);
  for (const CacheSource source : {CacheSource::compiled, CacheSource::user}) {
    const CacheAnswer answer = other.get(manifest(1), true, compiler.function());
    CHECK(answer.source == source);
    CHECK(same(answer.payload, payload(3)));
  }
}

TEST_CASE("memory keeps what was used last, within its bytes") {
  const TestFolder folder;
  CacheOptions options = options_in(folder.path());
  options.memory_size = 5000;  // four entries of a bit more than 1,000 bytes
  Store store(options);
  for (const int number : {1, 2, 3, 4}) ask(store, number);
  CHECK(ask(store, 1).answer.source == CacheSource::memory);
  ask(store, 5);
  CHECK(ask(store, 1).answer.source == CacheSource::memory);
  CHECK(ask(store, 2).answer.source == CacheSource::user);
  ask(store, 6, 6000);  // larger than all of it: drops nothing
  CHECK(ask(store, 6, 6000).answer.source == CacheSource::user);
  CHECK(ask(store, 1).answer.source == CacheSource::memory);
}

TEST_CASE("memory drops what proved false, also where the right one is too large for it") {
  const TestFolder folder;
  CacheOptions options = options_in(folder.path());
  options.memory_size = 5000;
  {
    Store first(options);
    ask(first, 1);
  }
  options.verify = 1;
  Store store(options, {{}, [] { return 0.5; }});
  Compiler compiler{built(2, 6000)};
  CHECK(store.get(manifest(1), true, compiler.function()).source == CacheSource::compiled);
  CHECK(store.counts().verify_differences == 1);
  const CacheAnswer next = store.get(manifest(1), true, compiler.function());
  CHECK(next.source == CacheSource::user);
  CHECK(same(next.payload, payload(2, 6000)));
}

TEST_CASE("a replaced entry is compiled again, for everybody") {
  const TestFolder folder;
  CacheOptions options = options_in(folder / "user");
  options.memory_size = 1 << 20;
  Store store(options);
  ask(store, 1);
  const CacheAnswer answer = store.replace(
      manifest(1), [] { return built(100); }, "it was false");
  CHECK(answer.missed == "it was false");
  CHECK(answer.source == CacheSource::compiled);
  CHECK(same(answer.payload, payload(100)));
  CHECK(same(ask(store, 1).answer.payload, payload(100)));
  Store other(options);
  CHECK(same(ask(other, 1).answer.payload, payload(100)));
  CHECK(files_in(folder / "user/v1/damaged") == 1);

  // From a folder that cannot be changed: this cache keeps away from the false entry.
  CacheOptions tiers = options_in(folder / "other");
  tiers.read_only = {folder / "user"};
  Store reader(tiers);
  CHECK(same(ask(reader, 1).answer.payload, payload(100)));
  CHECK(same(reader
                 .replace(
                     manifest(1), [] { return built(200); }, "false")
                 .payload,
             payload(200)));
  CHECK(same(ask(reader, 1).answer.payload, payload(200)));
}

TEST_CASE("a limit of file sizes is an error of storing and no end of the process") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  LogLines lines;
  const auto check_refused = [&](int number) {
    const FileSizeLimit limit(100);
    const Asked asked = ask(store, number);
    CHECK((asked.compiled && asked.right));
    CHECK_FALSE(fs::exists(entry_path(folder.path(), number)));
  };
  check_refused(1);
  REQUIRE(lines.take().size() == 1);
  CHECK(store.counts().store_failures == 1);
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  {
    const FileSizeLimit limit(1);
    cache::add_usage(*opened, 100 * cache::kBlock);
    cache::set_usage(*opened, 0, 100);
  }

  // What the application blocks, and what waits for it, stays as it was.
  sigset_t none, own, now;
  sigemptyset(&none);
  sigemptyset(&own);
  sigaddset(&own, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &own, nullptr);
  check_refused(2);
  sigpending(&now);
  CHECK(sigismember(&now, SIGXFSZ) == 0);
  raise(SIGXFSZ);
  check_refused(3);
  sigpending(&now);
  CHECK(sigismember(&now, SIGXFSZ) == 1);
  const struct timespec at_once {};
  CHECK(sigtimedwait(&own, nullptr, &at_once) == SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &none, &now);
  CHECK(sigismember(&now, SIGXFSZ) == 1);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  CHECK(ask(store, 4).compiled);
  CHECK_FALSE(ask(store, 4).compiled);
}

TEST_CASE("the entry of another key is damage") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  ask(store, 1);
  ask(store, 2);
  fs::copy_file(entry_path(folder.path(), 2), entry_path(folder.path(), 1),
                fs::copy_options::overwrite_existing);
  const Asked asked = ask(store, 1);
  CHECK((asked.compiled && asked.right));
  CHECK(asked.answer.missed.starts_with("damaged: "));
}

TEST_CASE("the mark of use is written at most once an hour, and the time of access left alone") {
  const TestFolder folder;
  TestClock clock;
  const fs::path path = entry_path(folder.path(), 1);
  const auto marked = [&] {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    return std::chrono::sys_seconds(std::chrono::seconds(status.st_mtime));
  };
  for (const int memory : {0, 1 << 20}) {
    CAPTURE(memory);
    CacheOptions options = options_in(folder.path());
    options.memory_size = static_cast<std::uint64_t>(memory);
    Store store(options, clock.edge());
    ask(store, 1);
    ask(store, 1);
    const auto start = clock.now;
    clock.now += 2h;  // also away from the time at which the file was made
    ask(store, 1);
    CHECK(marked() == start + 2h);
    clock.now += 30min;
    ask(store, 1);
    CHECK(marked() == start + 2h);
    clock.now += 30min;
    ask(store, 1);
    CHECK(marked() == start + 3h);
    clock.now += 5h;
  }
}
