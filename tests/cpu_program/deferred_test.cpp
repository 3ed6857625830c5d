// SPDX-License-Identifier: MIT
// Additions that a thread makes when its groups are done are those that it would have made at once.
#include <doctest/doctest.h>

#include <chrono>
#include <numeric>

#include "drivers/cpu/runtime/deferred_additions.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

constexpr std::uint32_t kBefore = 3;  // in all places

BuildResult build(const char* file, const char* flags = "") {
  BuildOptions options;
  options.flags = flags;
  BuildResult built = build_from_spirv(read_file(file), options);
  REQUIRE_MESSAGE(built.status == BuildStatus::ok, built.log);
  return built;
}

bool defers(const BuildResult& built) {
  const auto object = built.program->native_binary();
  constexpr std::string_view kName = "kiln_add_deferred";
  return !std::ranges::search(object, std::as_bytes(std::span(kName))).empty();
}

/// Lines of `out` begin where those of 64 bytes do.
struct alignas(64) Line {
  std::array<std::uint32_t, 16> words;
};

std::vector<std::uint32_t> run(const Program& program, std::string_view name, std::uint32_t groups,
                               std::uint32_t size, std::uint32_t n) {
  std::vector<std::uint32_t> in(64);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i * 37 % 101;
  std::vector<Line> lines(groups * (std::size_t{size} * 2 / 16 + 1) + n / 16 + 3);
  for (Line& line : lines) line.words.fill(kBefore);
  CHECK(launch(program, name, {groups, 1, 1}, {size, 1, 1}, in, lines, n));
  std::vector<std::uint32_t> out;
  for (const Line& line : lines) out.insert(out.end(), line.words.begin(), line.words.end());
  return out;
}

}  // namespace

TEST_CASE("what is added when groups are done is what is added at once") {
  for (const char* file : {"deferred.spv", "not_deferred.spv"}) {
    const BuildResult deferred = build(file), at_once = build(file, "-cl-opt-disable");
    CHECK(defers(deferred) == (std::string_view(file) == "deferred.spv"));
    CHECK(!defers(at_once));
    for (const CompiledKernel& kernel : deferred.program->kernels()) {
      const std::string& name = kernel.facts.name;
      if (name.starts_with("chain")) continue;
      CAPTURE(name);
      for (const std::uint32_t size : {16U, 32U, 37U, 64U, 256U})
        for (const std::uint32_t groups : {1U, 3U, 100U})
          for (const std::uint32_t n : {5U, 64U, 1000U}) {
            // Else two groups write to one place.
            if (name == "far_places" && n / 2 < size) continue;
            CAPTURE(size);
            CAPTURE(groups);
            CAPTURE(n);
            CHECK(run(*deferred.program, name, groups, size, n) ==
                  run(*at_once.program, name, groups, size, n));
          }
    }
  }
}

TEST_CASE("what is counted is not deferred") { CHECK(!defers(build("deferred.spv", "-kiln-counters"))); }

TEST_CASE("groups that wait for what others add come to their end") {
  const BuildResult built = build("not_deferred.spv");
  for (const std::string_view name : {"chain", "chain_of_atomics"}) {
    CAPTURE(name);
    const CompiledKernel* kernel = find(*built.program, name);
    REQUIRE(kernel != nullptr);
    constexpr std::uint32_t kGroups = 64, kPlaces = 16;
    const std::vector<std::uint32_t> in(64);
    std::vector<Line> out(1);
    const std::array values{argument(in), argument(out), argument(kPlaces)};
    CHECK(execute({kernel, values, {kGroups, 1, 1}, {16, 1, 1}, {}, {}, std::chrono::seconds(60)}) ==
          ExecutionStatus::ok);
    for (const std::uint32_t word : out[0].words) CHECK(word == kGroups);
  }
}

TEST_CASE("additions of a thread: sums, lines that give way, and lines that come once") {
  DeferredAdditions additions;
  std::array<std::uint32_t, DeferredAdditions::kWords> values;
  std::iota(values.begin(), values.end(), 1U);
  std::vector<Line> memory(1024);
  std::vector<std::uint64_t> times(memory.size());
  const auto add = [&](std::size_t line) {
    const bool taken = additions.add(memory[line].words.data(), values.data());
    times[line] += taken;
    return taken;
  };
  const auto check = [&] {
    additions.make();
    for (std::size_t line = 0; line < memory.size(); ++line)
      for (std::size_t i = 0; i < values.size(); ++i)
        REQUIRE(memory[line].words[i] == static_cast<std::uint32_t>(times[line] * (i + 1)));
  };
  check();
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t line = 0; line < 64; ++line) CHECK(add(line));
  CHECK(memory[0].words[0] == 0);  // not yet
  check();
  // One in ten to lines that have one place.
  for (std::size_t k = 0; k < 10'000; ++k) CHECK(add(k % 10 == 9 ? k / 10 % 4 * 256 : 1 + k % 9));
  check();
  std::size_t taken = 0;
  for (std::size_t line = 0; line < memory.size(); ++line) taken += add(line);
  CHECK(taken < memory.size() / 2);
  check();
  CHECK(add(0));  // of the next launch
  check();
  CHECK_FALSE(additions.add(memory[0].words.data() + 4, values.data()));
  values.fill(0xffffffff);
  memory.assign(memory.size(), {});
  for (std::size_t k = 0; k < 5; ++k) CHECK(additions.add(memory[7].words.data(), values.data()));
  additions.make();
  CHECK(memory[7].words[3] == static_cast<std::uint32_t>(-5));
}

}  // namespace kiln::cpu::test
