// SPDX-License-Identifier: MIT
// A full and a read-only file system, in earnest: needs the right to mount (root, or user namespaces).
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cache/fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Store;

namespace {

constexpr int kSkipped = 77;

/// Mounts that only this process sees.
bool may_mount() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (user != 0) {
    if (unshare(CLONE_NEWUSER) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

class Mount {
 public:
  explicit Mount(const fs::path& place) : place_(place) {
    REQUIRE(mount("tmpfs", place.c_str(), "tmpfs", 0, "size=1m,mode=0700") == 0);
  }
  ~Mount() { umount2(place_.c_str(), MNT_DETACH); }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  void make_read_only() const {
    REQUIRE(mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=1m,mode=0700") == 0);
  }

 private:
  fs::path place_;
};

}  // namespace

TEST_CASE("a file system of 1 MiB: full, it takes nothing and spoils nothing; with space again, it stores") {
  constexpr std::size_t kSize = 60'000;
  const TestFolder folder;
  const Mount mounted(folder.path());
  Store store(options_in(folder / "kiln"));
  LogLines lines;
  for (int number = 0; number < 40; ++number) CHECK(ask(store, number, kSize).right);
  CHECK(lines.take().size() == 1);
  const std::uint64_t stored = store.counts().stored;
  CHECK((stored > 10 && stored <= 17));
  CHECK(store.counts().store_failures == 40 - stored);
  const auto opened = cache::open_folder(folder / "kiln", cache::Access::write);
  REQUIRE(opened);
  CHECK(cache::verify(*opened, [](const auto&, const auto&) { return true; }).value_or(1000) == 0);
  CHECK(cache::list_entries(*opened)->size() == stored);
  CHECK_FALSE(ask(store, 0, kSize).compiled);
  CHECK(ask(store, 39, kSize).compiled);

  REQUIRE(cache::prune(*opened, 5 * kSize, {}, std::chrono::sys_seconds()));
  CHECK(ask(store, 39, kSize).compiled);
  CHECK(ask(store, 39, kSize).answer.source == CacheSource::user);
}

TEST_CASE("a read-only file system serves what it has") {
  const TestFolder folder;
  const Mount mounted(folder.path());
  {
    Store store(options_in(folder / "kiln"));
    ask(store, 1);
  }
  mounted.make_read_only();
  LogLines lines;
  Store store(options_in(folder / "kiln"));
  CHECK(store.unusable().find(detail::error_text(EROFS)) != std::string::npos);
  const auto closed = cache::open_folder(folder / "kiln", cache::Access::write);
  CHECK(closed.error().diagnostic()->message.find(detail::error_text(EROFS)) != std::string::npos);
  for (int i = 0; i < 2; ++i) {
    CHECK(ask(store, 1).answer.source == CacheSource::user);
    CHECK(ask(store, 2).compiled);
  }
  CHECK(lines.take().size() == 1);
  Store other(options_in(folder / "new"));
  CHECK((ask(other, 1).right && !other.unusable().empty()));
  CHECK(lines.take().size() == 1);
}

int main(int count, char** arguments) {
  if (!may_mount()) {
    std::printf("skipped: this user may not mount: %s\n", std::strerror(errno));
    return kSkipped;
  }
  return doctest::Context(count, arguments).run();
}
