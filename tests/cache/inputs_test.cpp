// SPDX-License-Identifier: MIT
// What entries were compiled from: kept by content, bounded, and never something else.
#include "cache/disk/inputs.hpp"

#include <doctest/doctest.h>

#include "cache/fixture.hpp"
#include "cache/format/facts.hpp"
#include "cache/maintenance.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

cache::Folder folder_of(const TestFolder& at) {
  auto opened = cache::open_folder(at / "cache", cache::Access::write);
  REQUIRE(opened);
  return *std::move(opened);
}

Compilation made(const Bytes& code, const Bytes& input) {
  Compilation result{CompilationEnd::built, ZE_RESULT_SUCCESS, "", cache::encode_facts({}), code};
  result.inputs = {input};
  return result;
}

}  // namespace

TEST_CASE("inputs are kept by content, and go when they are unused longest") {
  const TestFolder at;
  const cache::Folder folder = folder_of(at);
  const Bytes first = payload(1, 3000), second = payload(2, 5000), third = payload(3, 4000);
  constexpr std::uint64_t kRoom = 12 << 10;  // three blocks of 4 KiB
  CHECK(cache::keep_input(folder, first, kRoom) == 0);
  CHECK(cache::keep_input(folder, second, kRoom) == 0);
  CHECK(cache::read_input(folder, digest(first)) == first);
  CHECK(cache::inputs_size(folder).count == 2);
  CHECK(cache::inputs_size(folder).bytes == kRoom);
  const fs::path place = at / "cache/v1/inputs";
  fs::last_write_time(place / digest(first), fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(place / digest(second), fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(cache::keep_input(folder, first, kRoom) == 0);  // used again
  CHECK(cache::keep_input(folder, third, kRoom) == 0);
  CHECK(cache::has_input(folder, digest(first)));
  CHECK(!cache::has_input(folder, digest(second)));
  CHECK(cache::has_input(folder, digest(third)));
  CHECK(cache::keep_input(folder, payload(4, 20000), kRoom) == EFBIG);
  CHECK(cache::clear(folder)->unusable.empty());
  CHECK(cache::inputs_size(folder).count == 0);
}

TEST_CASE("what has another content, or is somebody else's to write, is no input") {
  const TestFolder at;
  const cache::Folder folder = folder_of(at);
  const Bytes code = payload(1, 3000);
  REQUIRE(cache::keep_input(folder, code, 1 << 20) == 0);
  const fs::path file = at / "cache/v1/inputs" / digest(code);
  fs::permissions(file, fs::perms(0620));
  CHECK(!cache::read_input(folder, digest(code)));
  fs::permissions(file, fs::perms(0600));
  CHECK(cache::read_input(folder, digest(code)) == code);
  std::ofstream(file, std::ios::app) << 'x';
  CHECK(!cache::read_input(folder, digest(code)));
  CHECK(!cache::read_input(folder, "../lock"));
  fs::remove(file);
  fs::create_symlink("/etc/passwd", file);
  CHECK(!cache::has_input(folder, digest(code)));
  REQUIRE(cache::keep_input(folder, code, 1 << 20) == 0);  // in place of the link
  CHECK(cache::read_input(folder, digest(code)) == code);
}

TEST_CASE("a cache keeps inputs where it is told to, of what it compiled and kept") {
  const TestFolder at;
  CacheOptions options;
  options.folder = at / "cache";
  const Bytes code = payload(1, 200), input = payload(2, 300);
  const auto compile = [&] { return made(code, input); };
  (void)Cache::open(options).get(manifest(1), true, compile);
  const cache::Folder folder = folder_of(at);
  CHECK(!cache::has_input(folder, digest(input)));
  options.keep_inputs = 1 << 20;
  (void)Cache::open(options).get(manifest(1), true, compile);  // a hit
  CHECK(!cache::has_input(folder, digest(input)));
  (void)Cache::open(options).get(manifest(2), false, compile);  // not stored
  CHECK(!cache::has_input(folder, digest(input)));
  (void)Cache::open(options).get(manifest(2), true, compile);
  CHECK(cache::has_input(folder, digest(input)));
  CHECK(fs::exists(at / "cache/v1/inputs"));
}
