// SPDX-License-Identifier: MIT
// What is kept of builds, and for how long.
#include "drivers/cpu/objects/recent_builds.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

namespace kiln::cpu::test {

TEST_CASE("the builds asked for last are kept, up to so many bytes") {
  RecentBuilds builds(300);
  const auto build = [](std::size_t bytes) {
    return RecentBuilds::Build{std::vector<std::byte>(bytes), "log"};
  };
  CHECK(builds.find("a") == nullptr);
  builds.keep("a", build(90));
  builds.keep("b", build(91));
  builds.keep("a", build(1));  // it is there already
  const auto held = builds.find("a");
  REQUIRE(held != nullptr);
  CHECK(held->binary.size() == 90);
  CHECK(held->log == "log");
  builds.keep("c", build(120));  // "b" goes, as "a" was asked for after it
  CHECK(builds.find("b") == nullptr);
  CHECK(builds.find("c") != nullptr);
  CHECK(builds.find("a") == held);
  builds.keep("too large", build(300));
  CHECK(builds.find("too large") == nullptr);
  CHECK(builds.find("a") == held);
  builds.keep("d", build(280));
  CHECK(builds.find("a") == nullptr);
  CHECK(held->binary.size() == 90);  // who has it keeps it
}

// Its code grows while it is kept: four times the key, which has the SPIR-V, stand for both.
TEST_CASE("a program that is kept itself counts with what it may grow to") {
  RecentBuilds builds(500);
  const BuildResult built = build_from_spirv(read_file("build.clang.spv"), {});
  REQUIRE_MESSAGE(built.status == BuildStatus::ok, built.log);
  const std::string one(100, '1'), two(30, '2');
  builds.keep(one, {{}, "log", built.program});  // 403 bytes
  const auto held = builds.find(one);
  REQUIRE(held != nullptr);
  CHECK(held->program == built.program);
  CHECK(held->binary.empty());
  builds.keep(two, {{}, "", built.program});  // 120 bytes
  CHECK(builds.find(one) == nullptr);
  REQUIRE(builds.find(two) != nullptr);
  builds.keep(std::string(126, '3'), {{}, "", built.program});  // 504 bytes
  CHECK(builds.find(std::string(126, '3')) == nullptr);
  CHECK(builds.find(two)->program == built.program);
}

}  // namespace kiln::cpu::test
