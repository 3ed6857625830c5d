// SPDX-License-Identifier: MIT
// Launches: ids in three dimensions, barriers, large private arrays, concurrency, the caller's floating-point
// mode.
#include <doctest/doctest.h>

#include <cfenv>
#include <numeric>
#include <thread>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

BuildResult build() { return build_from_spirv(read_file("execute.ocloc.spv"), {}); }

}  // namespace

TEST_CASE("work-item functions") {
  const BuildResult result = build();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const CompiledKernel* kernel = find(*result.program, "ids");
  REQUIRE(kernel != nullptr);
  constexpr std::uint64_t kGroups[3] = {3, 4, 2}, kSize[3] = {5, 2, 3},
                          kOffset[3] = {1000, std::uint64_t{1} << 33, 7};
  std::vector<std::uint64_t> out(24 * 3 * 4 * 2 * 5 * 2 * 3);
  const std::array values = {argument(out)};
  REQUIRE(execute({kernel, values, {3, 4, 2}, {5, 2, 3}, {kOffset[0], kOffset[1], kOffset[2]}}) ==
          ExecutionStatus::ok);
  std::size_t at = 0;
  for (std::uint64_t z = 0; z < 6; ++z) {
    for (std::uint64_t y = 0; y < 8; ++y) {
      for (std::uint64_t x = 0; x < 15; ++x, ++at) {
        const std::uint64_t id[3] = {x, y, z};
        for (std::size_t d = 0; d < 3; ++d) {
          const std::uint64_t* o = &out[24 * at + d];
          CHECK(o[0] == id[d] + kOffset[d]);
          CHECK(o[3] == id[d] % kSize[d]);
          CHECK(o[6] == id[d] / kSize[d]);
          CHECK(o[9] == kGroups[d] * kSize[d]);
          CHECK(o[12] == kSize[d]);
          CHECK(o[15] == kGroups[d]);
          CHECK(o[18] == kOffset[d]);
        }
        CHECK(out[24 * at + 21] == 3);
      }
    }
  }
}

TEST_CASE("barriers") {
  const BuildResult result = build();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const Program& program = *result.program;
  for (const std::uint32_t size : {1u, 2u, 64u, 256u, 1024u}) {
    CAPTURE(size);
    std::vector<std::int32_t> in(std::size_t{size} * 50), out(50);
    std::iota(in.begin(), in.end(), 0);
    REQUIRE(launch(program, "reduce", {50, 1, 1}, {size, 1, 1}, in, out, local(size * 4)));
    for (std::size_t g = 0; g < out.size(); ++g) {
      const auto first = static_cast<std::int32_t>(g * size), n = static_cast<std::int32_t>(size);
      CHECK(out[g] == n * first + n * (n - 1) / 2);
    }
  }
  std::vector<float> in(64 * 32), out(64 * 32);
  std::iota(in.begin(), in.end(), 0.0F);
  REQUIRE(launch(program, "transpose", {8, 4, 1}, {8, 8, 1}, in, out, std::uint32_t{64}));
  for (std::size_t y = 0; y < 32; ++y)
    for (std::size_t x = 0; x < 64; ++x) CHECK(out[x * 32 + y] == in[y * 64 + x]);
}

TEST_CASE("large private arrays") {
  const BuildResult result = build();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const CompiledKernel* kernel = find(*result.program, "large_private");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->facts.private_size >= 80000);
  constexpr std::int32_t k = 3;
  std::vector<std::int32_t> out(256);
  REQUIRE(launch(*result.program, "large_private", {8, 1, 1}, {32, 1, 1}, out, k));
  for (std::int32_t i = 0; i < 256; ++i) {
    std::int32_t sum = 0;
    for (std::int32_t j = 0; j < 20000; j += 7) sum += (j * k + i) % 20000 * k + i;
    CHECK(out[static_cast<std::size_t>(i)] == sum);
  }
  REQUIRE(launch(*result.program, "large_private_barrier", {8, 1, 1}, {32, 1, 1}, out, k, local(128)));
  for (std::int32_t i = 0; i < 256; ++i) {
    const std::int32_t own = i % 32, next = (own + 1) % 32;
    CHECK(out[static_cast<std::size_t>(i)] == (k * 31 + next) % 20000 * k + next + own * k + own);
  }
}

TEST_CASE("launches from several threads at once") {
  const BuildResult result = build();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  std::vector<std::thread> threads;
  std::array<std::int32_t, 4> counts{};
  std::array<std::vector<std::int32_t>, 4> sums;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::int32_t> counter(1), in(64 * 20, 1), out(20);
      for (int i = 0; i < 50; ++i) {
        if (!launch(*result.program, "count", {100, 1, 1}, {10, 1, 1}, counter)) return;
        if (!launch(*result.program, "reduce", {20, 1, 1}, {64, 1, 1}, in, out, local(256))) return;
      }
      counts[t] = counter[0];
      sums[t] = out;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < counts.size(); ++t) {
    CHECK(counts[t] == 50000);
    CHECK(sums[t] == std::vector<std::int32_t>(20, 64));
  }
}

TEST_CASE("the caller's rounding mode neither matters nor changes") {
  const BuildResult result = build_from_spirv(read_file("convert.ocloc.spv"), {});
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  const std::vector<float> in = {2.5F, 3.5F};
  std::vector<std::int32_t> out(2);
  std::fesetround(FE_UPWARD);
  const bool ok = launch(*result.program, "float_to_int", {2, 1, 1}, {1, 1, 1}, in, out, std::uint32_t{0});
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  REQUIRE(ok);
  CHECK(mode == FE_UPWARD);
  CHECK(out == std::vector<std::int32_t>{2, 4});
}

TEST_CASE("empty and impossible launches") {
  const BuildResult result = build();
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  std::vector<std::int32_t> in(1), out(1);
  CHECK(launch(*result.program, "count", {0, 1, 1}, {1, 1, 1}, out));
  CHECK(out[0] == 0);
  const CompiledKernel* kernel = find(*result.program, "reduce");
  REQUIRE(kernel != nullptr);
  const std::array values = {argument(in), argument(out), local(~std::uint64_t{0})};
  CHECK(execute({kernel, values, {1, 1, 1}, {1, 1, 1}, {}}) == ExecutionStatus::out_of_host_memory);
  CHECK(execute({kernel, values, {~0u, ~0u, ~0u}, {1, 1, 1}, {}}) == ExecutionStatus::out_of_host_memory);
}

}  // namespace kiln::cpu::test
