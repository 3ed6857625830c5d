// SPDX-License-Identifier: MIT
// Folders that cannot be used or trusted, strange things at an entry's place, and what `clear` must not
// touch.
#include <dlfcn.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/auxv.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <cstdarg>
#include <thread>

#include "cache/fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Access;
using cache::Store;

namespace {

constexpr uid_t kOther = 65534;

bool more_rights = false;           // as in a setuid program
bool no_home = false;               // as a user whom the password file does not know
bool remote_files = false;          // as on NFS
std::function<void()> before_lock;  // what another process does in that moment

/// Restores a variable at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) { value ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::optional<std::string> old_;
};

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

void chmod_to(const fs::path& path, mode_t mode) { REQUIRE(chmod(path.c_str(), mode) == 0); }

/// Runs as a user without root's rights; the folder is given to that user.
template <class Work>
bool as_plain_user(const TestFolder& folder, Work work) {
  if (geteuid() == 0) REQUIRE(chown(folder.path().c_str(), kOther, kOther) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && (setresgid(kOther, kOther, kOther) != 0 || setresuid(kOther, kOther, kOther) != 0))
      _exit(2);
    _exit(work() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status == 0;
}

void check_works_without(const CacheOptions& options) {
  LogLines lines;
  Store store(options);
  CHECK_FALSE(store.unusable().empty());
  CHECK(lines.take().size() == 1);
  for (int i = 0; i < 3; ++i) {
    const Asked asked = ask(store, i % 2);
    CHECK((asked.compiled && asked.right));
  }
  CHECK(lines.take().empty());
}

}  // namespace

extern "C" unsigned long getauxval(unsigned long type) noexcept {
  static const auto next = reinterpret_cast<decltype(&getauxval)>(dlsym(RTLD_NEXT, "getauxval"));
  return more_rights && type == AT_SECURE ? 1 : next(type);
}

extern "C" int getpwuid_r(uid_t user, struct passwd* entry, char* space, size_t size, struct passwd** found) {
  static const auto next = reinterpret_cast<decltype(&getpwuid_r)>(dlsym(RTLD_NEXT, "getpwuid_r"));
  *found = nullptr;
  return no_home ? ENOENT : next(user, entry, space, size, found);
}

extern "C" int fcntl64(int file, int command, ...) {
  static const auto next = reinterpret_cast<decltype(&fcntl64)>(dlsym(RTLD_NEXT, "fcntl64"));
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (command == F_SETLK && before_lock) std::exchange(before_lock, nullptr)();
  return next(file, command, argument);
}

extern "C" int fstatfs64(int file, struct statfs64* status) noexcept {
  static const auto next = reinterpret_cast<decltype(&fstatfs64)>(dlsym(RTLD_NEXT, "fstatfs64"));
  const int result = next(file, status);
  if (remote_files) status->f_type = NFS_SUPER_MAGIC;
  return result;
}

TEST_CASE("the standard folder is none in a temporary folder, whatever the variables say") {
  const TestFolder folder;
  const fs::path temporary = folder / "temporary";
  fs::create_directories(temporary / "own");
  chmod(temporary.c_str(), 01777);
  const Variable home("HOME", temporary.c_str());
  for (const fs::path& place : {temporary, temporary / "", temporary / "none", temporary / "none" / "none"}) {
    const Variable caches("XDG_CACHE_HOME", place.c_str());
    REQUIRE_FALSE(cache::default_folder());
    CHECK(cache::default_folder().error().text().find("temporary") != std::string::npos);
  }
  const Variable nothing("XDG_CACHE_HOME", nullptr);
  CHECK_FALSE(cache::default_folder());
  CacheOptions options;
  options.memory_size = 0;
  check_works_without(options);
  CHECK_FALSE(fs::exists(temporary / ".cache"));
  options.folder = temporary / "kiln";  // somebody's own word
  CHECK(Cache::open(options).unusable().empty());
  const Variable own("XDG_CACHE_HOME", (temporary / "own").c_str());
  CHECK(cache::default_folder().value() == temporary / "own/kiln");
  if (chown((temporary / "own").c_str(), 65534, 65534) == 0)  // who was quicker; only root can play that
    CHECK_FALSE(cache::default_folder());
}

TEST_CASE("the standard folder") {
  const Variable home("HOME", "/home/me"), caches("XDG_CACHE_HOME", "/caches");
  CHECK(cache::default_folder().value() == "/caches/kiln");
  {
    const Variable relative("XDG_CACHE_HOME", "caches");
    CHECK(cache::default_folder().value() == "/home/me/.cache/kiln");
    const Variable nowhere("HOME", nullptr);
    if (const passwd* user = getpwuid(geteuid()))
      CHECK(cache::default_folder().value() == fs::path(user->pw_dir) / ".cache/kiln");
    no_home = true;
    CHECK_FALSE(cache::default_folder());
    CacheOptions options;
    options.memory_size = 0;
    check_works_without(options);
    no_home = false;
  }
  // A setuid program trusts neither its variables nor a folder that the user may name.
  const TestFolder folder;
  more_rights = true;
  CHECK_FALSE(cache::default_folder());
  check_works_without(options_in(folder / "kiln"));
  CHECK(files_in(folder.path()) == 0);
  more_rights = false;
}

TEST_CASE("all that is made is closed to others") {
  const TestFolder folder;
  const mode_t old = umask(0);
  {
    Store store(options_in(folder / "a/b/kiln"));
    ask(store, 1);
    fs::resize_file(entry_path(folder / "a/b/kiln", 1), 3);
    ask(store, 1);
    store.replace(
        manifest(1), [] { return built(1); }, "false");
  }
  umask(old);
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    CAPTURE(entry.path());
    CHECK(mode_of(entry.path()) == (entry.is_directory() ? 0700 : 0600));
    ++seen;
  }
  CHECK(seen == 10);  // a, b, kiln, v1, lock, usage, damaged and one in it, ab and one in it
}

TEST_CASE("folders that are not to be trusted are not used") {
  const TestFolder folder;
  const fs::path kiln = folder / "kiln";
  { Store store(options_in(kiln)); }
  const auto check_refused = [&](const fs::path& path) {
    CAPTURE(path);
    for (const Access access : {Access::read, Access::write}) CHECK_FALSE(cache::open_folder(path, access));
    check_works_without(options_in(path));
  };
  for (const fs::path& level : {kiln, kiln / "v1"})
    for (const mode_t mode : {0770u, 0702u}) {
      chmod_to(level, mode);
      check_refused(kiln);
      chmod_to(level, 0700);
    }
  fs::create_directory_symlink(kiln, folder / "link");
  check_refused(folder / "link");
  check_refused(folder / "link/");
  fs::create_directory(folder / "other");
  fs::create_directory_symlink(kiln / "v1", folder / "other/v1");
  check_refused(folder / "other");
  std::ofstream(folder / "file") << "x";
  check_refused(folder / "file");
  check_refused("relative");
  CHECK(files_in(kiln) == 1);

  if (geteuid() != 0) return;  // only root can give folders away
  for (const fs::path& level : {kiln, kiln / "v1"}) {
    REQUIRE(chown(level.c_str(), kOther, kOther) == 0);
    check_refused(kiln);
    REQUIRE(chown(level.c_str(), 0, 0) == 0);
  }
  // Root's folder may be read by others, and not written.
  {
    Store store(options_in(kiln));
    ask(store, 1);
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (!entry.is_symlink()) chmod_to(entry.path(), entry.is_directory() ? 0755 : 0644);
  CHECK(as_plain_user(folder, [&] {
    CacheOptions options = options_in(folder / "mine");
    options.read_only = {kiln};
    Store store(options);
    return !cache::open_folder(kiln, Access::write) && ask(store, 1).answer.source == CacheSource::read_only;
  }));
}

TEST_CASE("a folder that cannot be written is read, and one that cannot be made is done without") {
  const TestFolder folder;
  CHECK(as_plain_user(folder, [&] {
    const auto options = options_in(folder / "kiln");
    {
      Store store(options);
      ask(store, 1);
    }
    chmod(entry_path(folder / "kiln", 2).parent_path().c_str(), 0500);
    chmod((folder / "kiln/v1").c_str(), 0500);
    LogLines lines;
    Store store(options);
    const bool one_line = lines.take().size() == 1;
    const bool hit = ask(store, 1).answer.source == CacheSource::user, miss = ask(store, 2).compiled;
    const bool quiet = lines.take().empty() && !store.unusable().empty();

    chmod(folder.path().c_str(), 0500);
    Store other(options_in(folder / "new/kiln"));
    const bool without = !other.unusable().empty() && ask(other, 1).right && lines.take().size() == 1;
    chmod(folder.path().c_str(), 0700);
    chmod((folder / "kiln/v1").c_str(), 0700);
    return one_line && hit && miss && quiet && without;
  }));
}

TEST_CASE("whatever lies at an entry's place is a miss, and makes room") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  ask(store, 0);
  std::ofstream(folder / "mine") << "mine";
  int number = 0;
  const auto check_miss = [&](auto place) {
    const fs::path path = entry_path(folder.path(), ++number);
    CAPTURE(number);
    mkdir(path.parent_path().c_str(), 0700);
    place(path);
    const Asked asked = ask(store, number);
    CHECK((asked.compiled && asked.right));
    CHECK(asked.answer.missed.starts_with("damaged: "));
    CHECK(ask(store, number).answer.source == CacheSource::user);
  };
  check_miss([](const fs::path& path) { REQUIRE(mkfifo(path.c_str(), 0600) == 0); });
  check_miss([](const fs::path& path) { fs::create_directory(path); });
  check_miss([](const fs::path& path) {
    fs::create_directory(path);
    std::ofstream(path / "mine") << "mine";
  });
  check_miss([&](const fs::path& path) { fs::create_symlink(folder / "mine", path); });
  check_miss([&](const fs::path& path) { fs::create_symlink(entry_path(folder.path(), 0), path); });
  check_miss([&](const fs::path& path) {  // to the right entry, elsewhere
    ask(store, number);
    fs::rename(path, folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", path);
  });
  check_miss([&](const fs::path& path) { fs::create_hard_link(folder / "mine", path); });
  check_miss([](const fs::path& path) { std::ofstream(path).close(); });
  check_miss([&](const fs::path& path) {
    fs::copy_file(entry_path(folder.path(), 0), path);
    chmod_to(path, 0620);
  });
  if (geteuid() == 0)
    check_miss([&](const fs::path& path) {
      fs::copy_file(entry_path(folder.path(), 0), path);
      REQUIRE(chown(path.c_str(), kOther, kOther) == 0);
    });
  CHECK(read_file(folder / "mine") == bytes_of("mine"));
  CHECK(int(store.counts().damaged) == number);

  // When enough is set aside, the rest is removed; a folder with something in it is not.
  for (int i = 0; i < 20; ++i) check_miss([](const fs::path& path) { std::ofstream(path) << "damage"; });
  const auto opened = cache::open_folder(folder.path(), Access::write);
  REQUIRE(opened);
  CHECK(cache::count_damaged(*opened) == 16);
  const fs::path stuck = entry_path(folder.path(), 1000);
  fs::create_directories(stuck / "mine");
  chmod_to(stuck.parent_path(), 0700);
  for (int i = 0; i < 2; ++i) CHECK((ask(store, 1000).compiled && fs::exists(stuck / "mine")));
}

TEST_CASE("a subfolder that others may write to has no entries") {
  const TestFolder folder;
  {
    Store store(options_in(folder.path()));
    ask(store, 1);
  }
  const fs::path inside = entry_path(folder.path(), 1).parent_path();
  LogLines lines;
  for (const bool link : {false, true}) {
    if (link) {
      fs::rename(inside, folder / "elsewhere");
      chmod_to(folder / "elsewhere", 0700);
      fs::create_directory_symlink(folder / "elsewhere", inside);
    } else {
      chmod_to(inside, 0770);
    }
    Store store(options_in(folder.path()));
    for (int i = 0; i < 2; ++i) CHECK((ask(store, 1).compiled && store.counts().stored == 0));
    CHECK(lines.take().size() == 1);
  }
}

TEST_CASE("clear removes what is Kiln's, through no link") {
  const TestFolder folder;
  const fs::path kiln = folder / "kiln", outside = folder / "outside";
  Store store(options_in(kiln));
  for (int number = 0; number < 20; ++number) ask(store, number);
  fs::resize_file(entry_path(kiln, 1), 10);
  ask(store, 1);  // one in v1/damaged

  const std::string name = key(500).hex();
  fs::create_directory(outside);
  std::ofstream(outside / name.substr(2)) << "mine";
  std::ofstream(outside / "mine") << "mine";
  int linked = 0;  // a folder of entries that leads outside
  while (fs::exists(entry_path(kiln, ++linked + 600).parent_path())) {
  }
  fs::create_directory_symlink(outside, entry_path(kiln, linked + 600).parent_path());
  fs::create_hard_link(entry_path(kiln, 3), outside / "second name");
  fs::create_symlink(outside / "mine", kiln / "v1/damaged/link");
  fs::create_directory_symlink(outside, kiln / "v1/damaged/folder link");
  fs::create_directory_symlink(outside, kiln / "v1/temporary");
  fs::create_directory(kiln / "v1/damaged/full");
  std::ofstream(kiln / "v1/damaged/full/mine") << "mine";
  fs::create_directory_symlink(outside, kiln / "v1/damaged/full/link");
  const fs::path inside = entry_path(kiln, 3).parent_path();
  std::ofstream(inside / "README") << "mine";
  std::ofstream(kiln / "v1/mine") << "mine";
  std::ofstream(kiln / "mine") << "mine";
  const fs::path link = inside / name.substr(2);  // an entry's name
  fs::create_symlink(outside / "mine", link);

  const auto opened = cache::open_folder(kiln, Access::write);
  REQUIRE(opened);
  const auto cleared = cache::clear(*opened);
  REQUIRE(cleared);
  CHECK(cleared->removed == 20);
  CHECK(cleared->kept == 0);
  CHECK(cache::list_entries(*opened)->empty());
  for (const fs::path& kept : {outside / name.substr(2), outside / "mine", outside / "second name",
                               inside / "README", kiln / "v1/mine", kiln / "mine"})
    CHECK_MESSAGE(fs::exists(kept), kept);
  const fs::path linked_folder = entry_path(kiln, linked + 600).parent_path();
  for (const fs::path& gone : {link, linked_folder, kiln / "v1/temporary", kiln / "v1/damaged/full"})
    CHECK_MESSAGE(!fs::exists(fs::symlink_status(gone)), gone);
  CHECK(cleared->unusable.size() == 3);
  for (const cache::Unusable& each : cleared->unusable) CHECK_MESSAGE(each.removed, each.name);
  CHECK(cache::count_damaged(*opened) == 0);
  CHECK(ask(store, 7).compiled);
}

TEST_CASE("maintenance: list, check, remove and publish") {
  const TestFolder folder;
  Store store(options_in(folder.path()));
  for (int number = 0; number < 10; ++number) ask(store, number);
  const auto opened = cache::open_folder(folder.path(), Access::write);
  REQUIRE(opened);
  const auto entries = cache::list_entries(*opened);
  REQUIRE((entries && entries->size() == 10));
  for (const cache::StoredEntry& entry : *entries) CHECK(entry.size > 1000);

  fs::resize_file(entry_path(folder.path(), 1), 100);
  fs::copy_file(entry_path(folder.path(), 2), entry_path(folder.path(), 3),
                fs::copy_options::overwrite_existing);
  cache::Entry no_manifest;
  no_manifest.manifest = "none";
  REQUIRE(cache::publish(*opened, key(4), cache::encode_entry(no_manifest), true));
  std::vector<CacheKey> damaged;
  const auto count = cache::verify(*opened, [&](const cache::StoredEntry& entry, const auto& failure) {
    if (failure) damaged.push_back(entry.key);
    return true;
  });
  CHECK(count == 3);
  for (const int number : {1, 3, 4}) CHECK(std::ranges::count(damaged, key(number)) == 1);
  int seen = 0;
  CHECK(cache::verify(*opened, [&](const auto&, const auto&) { return ++seen < 4; }));
  CHECK(seen == 4);

  for (const CacheKey& bad : damaged) CHECK(cache::remove(*opened, bad));
  CHECK(cache::remove(*opened, key(1)));  // gone already
  CHECK(cache::list_entries(*opened)->size() == 7);

  const Bytes bytes = read_file(entry_path(folder.path(), 5)),
              other = read_file(entry_path(folder.path(), 6));
  CHECK(cache::publish(*opened, key(5), other, false));  // there already: success, and left alone
  CHECK(read_file(entry_path(folder.path(), 5)) == bytes);
  CHECK(cache::publish(*opened, key(5), other, true));
  CHECK(read_file(entry_path(folder.path(), 5)) == other);
  CHECK(cache::read_entry_file(*opened, key(6))->bytes.size() == other.size());
  CHECK(cache::read_entry_file(*opened, key(1)).error().kind == cache::ReadFailure::Kind::absent);
}

TEST_CASE("another process that compiles the same is waited for, and not forever") {
  const TestFolder folder;
  CacheOptions options = options_in(folder / "kiln");
  options.longest_wait = 30ms;
  // Two stores have two descriptors, as two processes do.
  const auto waits = [&](int number) {
    Store holder(options), waiter(options, {{}, {}, 0ms});
    LogLines lines;
    holder.get(manifest(number), true, [&] {
      CHECK(ask(waiter, number).compiled);
      return built(number);
    });
    const bool waited = waiter.counts().waited == 1;
    const auto said = lines.take();
    CHECK(std::ranges::any_of(said, [](const std::string& line) {
            return line.find("waits for another process that compiles the same, at most 1 s") != line.npos;
          }) == waited);
    return waited;
  };
  CHECK(waits(1));
  // On a network file system the lock lies in the user's own folder of this machine, or nowhere.
  const TestFolder runtime;
  const Variable variable("XDG_RUNTIME_DIR", runtime.path().c_str());
  remote_files = true;
  CHECK(waits(2));
  CHECK(fs::exists(runtime / "kiln-cache.lock"));
  chmod_to(runtime.path(), 0750);
  CHECK_FALSE(waits(3));
  chmod_to(runtime.path(), 0700);
  fs::remove(runtime / "kiln-cache.lock");
  fs::create_symlink(folder / "kiln/v1/lock", runtime / "kiln-cache.lock");
  CHECK_FALSE(waits(4));
  remote_files = false;
}

TEST_CASE("what another process stores after the look and before the lock is not compiled again") {
  const TestFolder folder, elsewhere;
  Store other(options_in(elsewhere.path()), {{}, {}, 2s, true});
  REQUIRE(ask(other, 1).compiled);
  Store store(options_in(folder.path()), {{}, {}, 2s, true});  // `before_lock` is for one thread
  const fs::path place = entry_path(folder.path(), 1);
  before_lock = [&] {
    mkdir(place.parent_path().c_str(), 0700);
    fs::rename(entry_path(elsewhere.path(), 1), place);
  };
  CHECK(ask(store, 1).answer.source == CacheSource::user);
  CHECK_FALSE(before_lock);
}

TEST_CASE("a key is free again after a compilation that left nothing") {
  const TestFolder folder;
  Store store(options_in(folder.path())), other(options_in(folder.path()));
  store.get(manifest(1), true, [] { return Compilation{}; });
  CHECK(ask(other, 1).compiled);
  CHECK(other.counts().waited == 0);
  CHECK_FALSE(ask(store, 1).compiled);
}

TEST_CASE("threads of one process share one compilation, without any folder") {
  const TestFolder folder;
  std::ofstream(folder / "file") << "x";
  CacheOptions options = options_in(folder / "file");
  options.memory_size = 1 << 20;
  Store store(options);
  constexpr int kThreads = 8;
  std::atomic<int> entered = 0, calls = 0, right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      ++entered;
      const CacheAnswer answer = store.get(manifest(1), true, [&] {
        while (entered < kThreads) std::this_thread::yield();
        ++calls;
        return built(1);
      });
      right += same(answer.payload, payload(1));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == 1);
  CHECK(right == kThreads);
  CHECK(store.counts().compilations == 1);
  CHECK(store.counts().memory_hits == kThreads - 1);
}
