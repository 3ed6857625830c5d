// SPDX-License-Identifier: MIT
// Many processes and one folder: a cold start of all at once, and kill -9 at any moment (`--kills N`).
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdarg>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

#include "cache/fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Store;

namespace {

int kills = 300;
bool no_nameless_files = false;  // as on a network file system

/// A compiler that says that it was called before it begins, in a file that survives its process.
class AttemptLog {
 public:
  explicit AttemptLog(const fs::path& path)
      : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}

  Compilation compile(int number) const {
    REQUIRE(write(file_.get(), &number, sizeof number) == sizeof number);
    REQUIRE(fsync(file_.get()) == 0);
    return built(number, 3000);
  }
  [[nodiscard]] std::vector<int> attempts() const {
    const Bytes bytes = read_file(path_);
    std::vector<int> numbers(bytes.size() / sizeof(int));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(int));
    return numbers;
  }

 private:
  fs::path path_;
  detail::Descriptor file_;
};

enum Exit { fine = 0, wrong_bytes = 1 };

Exit get(Store& store, const AttemptLog& log, int number) {
  const CacheAnswer answer = store.get(manifest(number), true, [&] { return log.compile(number); });
  return same(answer.payload, payload(number, 3000)) ? fine : wrong_bytes;
}

template <class Work>
pid_t start_process(Work work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(work());
  return child;
}

/// Every entry sound, and nothing else left.
void check_clean(const fs::path& folder, int entries) {
  const auto opened = cache::open_folder(folder, cache::Access::write);
  REQUIRE(opened);
  const auto pruned = cache::prune(*opened, std::uint64_t{1} << 40, {}, std::chrono::sys_seconds());
  REQUIRE(pruned);
  CHECK(int(pruned->kept) == entries);
  const auto damaged = cache::verify(*opened, [](const auto&, const auto&) { return true; });
  CHECK(damaged.value_or(1000) == 0);
  CHECK(cache::count_damaged(*opened) == 0);
  CHECK(files_in(folder) == entries + 2);  // v1/lock, v1/usage
}

}  // namespace

extern "C" int openat64(int folder, const char* path, int flags, ...) {
  static const auto real = reinterpret_cast<decltype(&openat64)>(dlsym(RTLD_NEXT, "openat64"));
  if (no_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return real(folder, path, flags, mode);
}

TEST_CASE("a cold start of 64 processes with 8 threads compiles each of 100 keys once") {
  constexpr int kProcesses = 64, kThreads = 8, kKeys = 100;
  const TestFolder folder;
  const AttemptLog log(folder / "attempts");
  int barrier[2];
  REQUIRE(pipe(barrier) == 0);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(start_process([&] {
      no_nameless_files = process % 2 == 1;
      close(barrier[1]);
      char nothing = 0;
      if (read(barrier[0], &nothing, 1) != 0) return 9;  // until the parent closes its end
      CacheOptions options = options_in(folder / "kiln");
      options.memory_size = process % 3 == 0 ? 0 : 1 << 20;
      Store store(options);
      std::atomic<int> result = fine;
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
          std::vector<int> numbers(kKeys);
          std::iota(numbers.begin(), numbers.end(), 0);
          std::ranges::shuffle(numbers, std::mt19937(std::uint32_t(process * kThreads + thread)));
          for (const int number : numbers)
            if (get(store, log, number) == wrong_bytes) result = wrong_bytes;
        });
      for (std::thread& thread : threads) thread.join();
      return result.load();
    }));
  close(barrier[0]);
  close(barrier[1]);
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const std::vector<int> attempts = log.attempts();
  CHECK(attempts.size() == kKeys);
  MESSAGE(kProcesses << " processes, " << kThreads << " threads each, " << kKeys
                     << " keys: " << attempts.size() << " compilations");
  CHECK(std::set(attempts.begin(), attempts.end()).size() == kKeys);
  check_clean(folder / "kiln", kKeys);
}

TEST_CASE("a child that outlives the one that compiled keeps nobody waiting") {
  const TestFolder folder;
  int alive[2];
  REQUIRE(pipe(alive) == 0);
  const pid_t compiler = start_process([&] {
    Store store(options_in(folder / "kiln"));
    (void)store.get(manifest(1), true, [&]() -> Compilation {
      start_process([&] {
        close(alive[1]);
        char nothing = 0;
        return static_cast<int>(read(alive[0], &nothing, 1));  // until the test ends
      });
      raise(SIGKILL);
      return {};
    });
    return 0;
  });
  int status = -1;
  REQUIRE(waitpid(compiler, &status, 0) == compiler);
  REQUIRE(WIFSIGNALED(status));
  CacheOptions options = options_in(folder / "kiln");
  options.longest_wait = 300ms;
  Store store(options);
  CHECK(ask(store, 1).compiled);
  CHECK(store.counts().waited == 0);
  close(alive[0]);
  close(alive[1]);
}

// Who waits for the dead waits 10 minutes, which is longer than this test may take.
TEST_CASE("kill -9 at any moment: no wrong byte, no long wait, at most one more compilation a kill") {
  constexpr int kWorkers = 4;
  const TestFolder folder;
  const AttemptLog log(folder / "attempts");
  std::mt19937 random(4);
  const auto start_worker = [&] {
    no_nameless_files = random() % 2 == 0;
    const std::size_t done = fs::file_size(folder / "attempts") / sizeof(int);
    return start_process([&] {
      Store store(options_in(folder / "kiln"));
      for (int number = std::max(0, int(done) - 2 * kWorkers);; ++number)
        if (const Exit result = get(store, log, number); result != fine) return result;
    });
  };
  std::vector<pid_t> workers;
  for (int worker = 0; worker < kWorkers; ++worker) workers.push_back(start_worker());
  const auto kill_one = [&](pid_t& worker) {
    int status = -1;
    kill(worker, SIGKILL);
    REQUIRE(waitpid(worker, &status, 0) == worker);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    REQUIRE_MESSAGE(killed, "a worker ended with " << status);
  };
  for (int i = 0; i < kills; ++i) {
    usleep(random() % 4000);  // chance is the subject
    pid_t& worker = workers[random() % kWorkers];
    kill_one(worker);
    worker = start_worker();
  }
  for (pid_t& worker : workers) kill_one(worker);

  const std::vector<int> attempts = log.attempts();
  const int keys = int(std::set(attempts.begin(), attempts.end()).size());
  MESSAGE(keys << " keys, " << attempts.size() << " compilations, " << kills + kWorkers << " kills");
  CHECK(keys > kills / 10);
  CHECK(int(attempts.size()) <= keys + kills + kWorkers);
  // What nobody had finished is compiled now.
  Store store(options_in(folder / "kiln"));
  for (int number = 0; number <= *std::ranges::max_element(attempts); ++number)
    REQUIRE(get(store, log, number) == fine);
  check_clean(folder / "kiln", *std::ranges::max_element(attempts) + 1);
}

int main(int count, char** arguments) {
  for (int i = 1; i + 1 < count; ++i)
    if (std::string_view(arguments[i]) == "--kills") kills = std::atoi(arguments[i + 1]);
  return doctest::Context(count, arguments).run();
}
