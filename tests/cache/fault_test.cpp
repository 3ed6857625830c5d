// SPDX-License-Identifier: MIT
// A disk that fails at every single call: the calls of the library are caught on their way to the C library.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>
#include <set>

#include "cache/fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Store;

namespace {

/// Which of the calls that change the disk fails, and how.
struct Fault {
  int at = -1;           ///< the first call that fails; -1: none
  bool lasting = false;  ///< all after it too
  int error = 0;         ///< errno; 0: writes take half of the bytes
  int calls = 0;
  [[nodiscard]] bool strikes() {
    const int call = calls++;
    return at >= 0 && (call == at || (lasting && call > at));
  }
};
Fault fault;
bool watching = false;       // only while the store works
bool nameless_files = true;  // O_TMPFILE
std::set<pid_t>* removing_threads = nullptr;

/// The allocation of this thread that fails, counted from now; -1: none.
thread_local int failing_allocation = -1;

/// Sets errno and says true when this call is to fail.
bool fails() {
  if (!watching || !fault.strikes() || fault.error == 0) return false;
  errno = fault.error;
  return true;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
  if (!watching) return next(file, bytes, size);
  const bool strikes = fault.strikes();
  if (strikes && fault.error != 0) {
    errno = fault.error;
    return -1;
  }
  return next(file, bytes, strikes && size > 1 ? size / 2 : size);
}

int close(int file) {
  static const auto next = real<int (*)(int)>("close");
  const int result = next(file);  // also when it fails
  return fails() ? -1 : result;
}

int openat64(int folder, const char* path, int flags, ...) {
  static const auto next = real<int (*)(int, const char*, int, ...)>("openat64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return fails() ? -1 : next(folder, path, flags, mode);
}

int linkat(int from, const char* old_path, int to, const char* path, int flags) noexcept {
  static const auto next = real<decltype(&linkat)>("linkat");
  return fails() ? -1 : next(from, old_path, to, path, flags);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto next = real<decltype(&unlinkat)>("unlinkat");
  if (removing_threads) removing_threads->insert(gettid());
  return next(folder, path, flags);
}

int renameat2(int from, const char* old_path, int to, const char* path, unsigned flags) noexcept {
  static const auto next = real<decltype(&renameat2)>("renameat2");
  return fails() ? -1 : next(from, old_path, to, path, flags);
}

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  static const auto next = real<decltype(&mkdirat)>("mkdirat");
  return fails() ? -1 : next(folder, path, mode);
}

int ftruncate64(int file, off64_t size) noexcept {
  static const auto next = real<decltype(&ftruncate64)>("ftruncate64");
  return fails() ? -1 : next(file, size);
}

ssize_t read(int file, void* bytes, size_t size) {
  static const auto next = real<ssize_t (*)(int, void*, size_t)>("read");
  if (!watching) return next(file, bytes, size);
  const bool strikes = fault.strikes();
  if (strikes && fault.error != 0) {
    errno = fault.error;
    return -1;
  }
  return next(file, bytes, strikes && size > 1 ? size / 2 : size);
}

}  // extern "C"

// Not inlined: GCC 12 takes free() for the wrong counterpart of a replaced operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (failing_allocation >= 0 && failing_allocation-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (failing_allocation >= 0 && failing_allocation-- == 0) return nullptr;
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t& none) noexcept {
  return operator new(size, none);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// Two misses, a failure that is superseded, hits: all that a store does to a disk. False when an answer is
/// wrong.
bool work(Store& store) {
  bool right = true;
  watching = true;
  for (const int number : {1, 2, 1, 2}) {
    const CacheAnswer answer = store.get(manifest(number), true, [&] {
      watching = false;
      Compilation compiled = built(number);
      watching = true;
      return compiled;
    });
    right = right && same(answer.payload, payload(number));
  }
  const CacheAnswer replaced = store.replace(
      manifest(1), [] { return built(1); }, "false");
  watching = false;
  return right && same(replaced.payload, payload(1));
}

void check_sound(const fs::path& folder) {
  const auto opened = cache::open_folder(folder, cache::Access::write);
  REQUIRE(opened);
  CHECK(cache::verify(*opened, [](const auto&, const auto&) { return true; }).value_or(1000) == 0);
}

/// Gives the number of calls that there were to fail.
int check_faults(bool lasting, int error) {
  CAPTURE(lasting);
  CAPTURE(error);
  for (int at = 0;; ++at) {
    CAPTURE(at);
    const TestFolder folder;
    LogLines lines;
    {
      Store store(options_in(folder / "kiln"), {{}, {}, 2s, true});
      fault = {at, lasting, error, 0};
      CHECK(work(store));
      if (fault.calls <= at) return at;
      CHECK(lines.take().size() <= 2);  // it cannot read, it cannot store
      check_sound(folder / "kiln");
      fault = {};
      CHECK(work(store));  // space is there again
      CHECK((ask(store, 1).answer.source == CacheSource::user &&
             ask(store, 2).answer.source == CacheSource::user));
      check_sound(folder / "kiln");
    }
    const auto opened = cache::open_folder(folder / "kiln", cache::Access::write);
    REQUIRE((opened && cache::prune(*opened, std::uint64_t{1} << 40, {}, std::chrono::sys_seconds())));
    CHECK(files_in(folder / "kiln/v1/temporary") == 0);
  }
}

}  // namespace

TEST_CASE("no space, no quota, a failing or lost disk, at every call") {
  for (const bool named : {false, true}) {
    CAPTURE(named);
    nameless_files = !named;
    for (const bool lasting : {false, true})
      for (const int error : {ENOSPC, EDQUOT, EIO, EROFS, ESTALE, EACCES})
        CHECK(check_faults(lasting, error) > 30);
  }
  nameless_files = true;
}

TEST_CASE("short reads and writes at every call") {
  for (const bool named : {false, true}) {
    nameless_files = !named;
    CHECK(check_faults(false, 0) > 30);
    CHECK(check_faults(true, 0) > 30);
  }
  nameless_files = true;
}

TEST_CASE("a disk that cannot be read or has lost the file: a miss, and the entry stays") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  ask(store, 1);
  for (const int error : {ESTALE, EIO}) {
    fault = {0, true, error, 0};
    watching = true;
    const Asked asked = ask(store, 1);
    watching = false;
    fault = {};
    CHECK((asked.compiled && asked.right));
    CHECK(asked.answer.missed == detail::error_text(error));
    CHECK(store.counts().damaged == 0);
    CHECK(ask(store, 1).answer.source == CacheSource::user);
  }
}

TEST_CASE("memory that is refused at every single allocation: no lock stays, no answer is wrong") {
  // The second store of a key takes it from memory or disk, the first one compiles; one replaces.
  const Compilation result = built(1);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto open_before = open_files();
  int at = 0;
  for (bool refused = true; refused; ++at) {
    CAPTURE(at);
    refused = false;
    const TestFolder folder;
    CacheOptions options;
    options.folder = folder / "kiln";
    Store store(options, {{}, {}, 2s, true});
    const Manifest wanted = manifest(1);
    const auto compile = [&] { return result; };
    for (const bool replace : {false, false, true}) {
      failing_allocation = at;
      try {
        const CacheAnswer answer =
            replace ? store.replace(wanted, compile, "false") : store.get(wanted, true, compile);
        refused |= failing_allocation < 0;
        failing_allocation = -1;
        CHECK(same(answer.payload, payload(1)));
      } catch (const std::bad_alloc&) {
        failing_allocation = -1;
        refused = true;
      }
      CHECK(ask(store, 1).right);
      CHECK(ask(store, 2).right);
    }
    check_sound(folder / "kiln");
  }
  MESSAGE(at << " allocations refused, one at a time");
  CHECK(at > 20);
  CHECK(open_files() == open_before);
}

TEST_CASE("a cache that is too large is pruned by a thread of its own") {
  const TestFolder folder;
  CacheOptions options = options_in(folder / "kiln");
  options.max_size = 5 * 4096;
  std::set<pid_t> threads;
  {
    Store store(options);
    for (int number = 0; number < 5; ++number) ask(store, number);
  }
  removing_threads = &threads;
  {
    Store store(options);
    ask(store, 5);
  }  // waits
  removing_threads = nullptr;
  CHECK(threads.size() == 1);
  CHECK_FALSE(threads.contains(gettid()));
  CHECK(files_in(folder / "kiln") == 4 + 2);  // v1/lock, v1/usage
}
