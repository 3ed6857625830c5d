// SPDX-License-Identifier: MIT
// The settings files that Intel's driver and compiler obey: read, counted by their content, or distrusted.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cache/identity_world.hpp"
#include "unit/golden.hpp"

namespace kiln::cache {
namespace {

/// A folder of its own, removed at the end.
struct LooseFolder {
  std::filesystem::path path;
  LooseFolder() {
    std::string name = std::filesystem::temp_directory_path() / "kiln-identity-XXXXXX";
    REQUIRE(mkdtemp(name.data()));
    path = name;
    std::filesystem::create_directories(options().parent_path());
  }
  ~LooseFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path options() const { return path / "IntelIGC" / "debugFlags" / "Options.txt"; }
  detail::EnvironmentSnapshot sample() const { return detail::take_snapshot({path, path}); }
};

void write(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST_CASE("settings files are read when they may be trusted, and only their content counts") {
  const LooseFolder folder;
  CHECK(folder.sample().driver_files.empty());
  CHECK(folder.sample().compiler_files.empty());
  write(folder.options(), "ForceOCLSIMDWidth=16");
  write(folder.path / "igdrcl.config", "A = 1");
  write(folder.path / "neo.config", "B = 1");
  const auto snapshot = folder.sample();
  REQUIRE(snapshot.compiler_files.size() == 1);
  CHECK(snapshot.compiler_files[0].content == "ForceOCLSIMDWidth=16");
  CHECK(snapshot.compiler_files[0].distrust.empty());
  REQUIRE(snapshot.driver_files.size() == 2);
  CHECK(snapshot.driver_files[1].content == "B = 1");

  World world = make_world();
  world.snapshot.compiler_files = snapshot.compiler_files;
  const CacheKey before = key(world);
  std::filesystem::last_write_time(folder.options(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(99));
  world.snapshot.compiler_files = folder.sample().compiler_files;
  CHECK(key(world) == before);
  write(folder.options(), "ForceOCLSIMDWidth=32");
  world.snapshot.compiler_files = folder.sample().compiler_files;
  CHECK(key(world) != before);
}

TEST_CASE("K0720: a settings file of somebody else") {
  World world = make_world();
  world.snapshot.compiler_files = {
      {"Options.txt", "/tmp/IntelIGC/debugFlags/Options.txt", "", "belongs to neither this user nor root"}};
  const Identity identity = identity_of(world);
  REQUIRE(identity.warnings.size() == 1);
  test::check_diagnostic("K0720", identity.warnings[0]);
  CHECK(identity.bypass == "/tmp/IntelIGC/debugFlags/Options.txt belongs to neither this user nor root");
}

TEST_CASE("hostile settings files neither hang nor are believed") {
  const LooseFolder folder;
  const auto why = [&] {
    const auto snapshot = folder.sample();
    REQUIRE(snapshot.compiler_files.size() == 1);
    CHECK(snapshot.compiler_files[0].content.empty());
    World world = make_world();
    world.snapshot.compiler_files = snapshot.compiler_files;
    const Identity identity = identity_of(world);
    CHECK(!identity.usable());
    REQUIRE(identity.warnings.size() == 1);
    CHECK(identity.warnings[0].code == "K0720");
    std::filesystem::remove_all(folder.options());
    return snapshot.compiler_files[0].distrust;
  };
  const std::string path = folder.options();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(why() == "is no regular file");
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  CHECK(why() == "is no regular file");
  write(folder.path / "elsewhere", "A=1");
  REQUIRE(symlink((folder.path / "elsewhere").c_str(), path.c_str()) == 0);
  CHECK(why() == "is a link, or no regular file");
  REQUIRE(symlink("/dev/zero", path.c_str()) == 0);
  CHECK(why() == "is a link, or no regular file");
  write(path, "A=1");
  REQUIRE(truncate(path.c_str(), off_t{1} << 40) == 0);  // sparse
  CHECK(why() == "is larger than 1 MiB");
  write(path, std::string(std::size_t{1} << 20, 'x'));
  CHECK(folder.sample().compiler_files[0].distrust.empty());
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  CHECK(why() == "can be written by everybody");
  if (geteuid() == 0) {
    write(path, "A=1");
    REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
    CHECK(why() == "belongs to neither this user nor root");
  }
}

}  // namespace
}  // namespace kiln::cache
