// SPDX-License-Identifier: MIT
// Damaged entries in the folder: all are misses, and none survives.
#include "cache/fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using cache::Store;

namespace {

/// The entry of number 1, damaged by `damage`, must be a miss that is set aside and stored anew.
class Victim {
 public:
  Victim() : store_(options_in(folder_.path())) { REQUIRE(ask(store_, 1, 200).compiled); }

  template <class Damage>
  void check(Damage damage) {
    const detail::Descriptor file(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    damage(file.get());
    const std::uint64_t damaged = store_.counts().damaged;
    const Asked asked = ask(store_, 1, 200);
    // Without a macro of doctest each: they take longer than the cache.
    if (asked.compiled && asked.right && store_.counts().damaged == damaged + 1 &&
        asked.answer.missed.starts_with("damaged: "))
      ++refused;
    struct stat status {};
    if (fstat(file.get(), &status) == 0 && same_file(status)) ++left;
  }

  [[nodiscard]] Bytes bytes() const { return read_file(path_); }
  [[nodiscard]] fs::path folder() const { return folder_.path(); }
  int refused = 0, left = 0;

 private:
  [[nodiscard]] bool same_file(const struct stat& before) const {
    struct stat now {};
    return stat(path_.c_str(), &now) == 0 && now.st_ino == before.st_ino;
  }

  const TestFolder folder_;
  const fs::path path_ = entry_path(folder_.path(), 1);
  Store store_;
};

}  // namespace

TEST_CASE("every truncated entry is a miss") {
  LogLines lines;
  Victim victim;
  const int size = int(victim.bytes().size());
  for (int length = 0; length < size; ++length)
    victim.check([&](int file) { REQUIRE(ftruncate(file, length) == 0); });
  CHECK(victim.refused == size);
  MESSAGE(size << " truncated entries, " << victim.refused << " misses");
  CHECK(victim.left == 0);
  CHECK(lines.take().size() <= 5);  // one line a cause, not an entry
  CHECK(files_in(victim.folder() / "v1/damaged") <= 16);
}

TEST_CASE("every flipped bit of 100,000 is a miss") {
  constexpr int kFlips = 100'000;
  Victim victim;
  const std::size_t bits = victim.bytes().size() * 8;
  std::mt19937 random(1);
  for (int i = 0; i < kFlips; ++i) {
    const std::size_t bit = random() % bits;
    victim.check([&](int file) {
      std::byte byte{};
      REQUIRE(pread(file, &byte, 1, off_t(bit / 8)) == 1);
      byte ^= std::byte(1u << bit % 8);
      REQUIRE(pwrite(file, &byte, 1, off_t(bit / 8)) == 1);
    });
  }
  CHECK(victim.refused == kFlips);
  MESSAGE(kFlips << " flipped bits, " << victim.refused << " misses");
  CHECK(victim.left == 0);
}
