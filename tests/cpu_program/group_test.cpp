// SPDX-License-Identifier: MIT
// Sub-group and work-group functions against references on the host, for sub-groups of 8, 16 and 32, with
// loops over work-items where the compiler makes them and with a fiber for each.
#include "reference/group.hpp"

#include <doctest/doctest.h>

#include <map>
#include <tuple>

#include "drivers/cpu/runtime/loaded_kernel.hpp"

namespace kiln::cpu::test {
namespace {

constexpr const char* kFiles[] = {"group.ocloc.spv", "group.clang.spv"};
constexpr const char* kFibers = "-cl-opt-disable";

/// Builds for one sub-group size, which kernels that require none then have. Built once for all tests.
const Program& build(const std::string& file, std::uint32_t size, const std::string& flags = {}) {
  static std::map<std::tuple<std::string, std::uint32_t, std::string>, std::shared_ptr<const Program>>
      programs;
  std::shared_ptr<const Program>& program = programs[{file, size, flags}];
  if (program == nullptr) {
    BuildOptions options;
    options.flags = flags;
    options.sub_group_sizes = {size, 0, 0};
    BuildResult result = build_from_spirv(read_file(file), options);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    program = std::move(result.program);
  }
  return *program;
}

/// Calls test(program, sub-group size) for both compilers, all sizes and both ways to run them; without the
/// variable five of these twelve, with each of them.
template <class Test>
void for_all(Test test) {
  const bool all = std::getenv("KILN_TEST_ALL") != nullptr;
  for (const char* file : kFiles) {
    for (const std::uint32_t size : {8u, 16u, 32u}) {
      for (const char* flags : {"", kFibers}) {
        if (!all && (size == 16) != (file == kFiles[0] || flags == kFibers)) continue;
        CAPTURE(file);
        CAPTURE(size);
        CAPTURE(flags);
        test(build(file, size, flags), size);
      }
    }
  }
}

bool has_fibers(const Program& program, const char* kernel) {
  const CompiledKernel* found = find(program, kernel);
  std::string log;
  REQUIRE_MESSAGE(found != nullptr, kernel);
  REQUIRE_MESSAGE(program.make_ready(found, log) == BuildStatus::ok, log);
  return static_cast<const LoadedKernel*>(found->entry)->run_item != nullptr;
}

// Whole sub-groups, a partial last one, fewer items than a sub-group, and 2-D and 3-D groups.
constexpr Three kGroupSizes[] = {{64, 1, 1}, {37, 1, 1}, {5, 1, 1}, {7, 6, 1}, {3, 5, 4}};

std::uint32_t volume(Three size) { return size[0] * size[1] * size[2]; }

template <class T>
void check_reductions(const Program& program, const std::string& kernel, bool of_group, std::uint32_t width) {
  CAPTURE(kernel);
  for (const Three size : kGroupSizes) {
    CAPTURE(size[0]);
    const Layout layout{2, size, of_group ? volume(size) : width};
    const std::vector<T> in = inputs<T>(layout.items());
    std::vector<T> out(9 * in.size());
    REQUIRE(launch(program, kernel, {2, 1, 1}, size, in, out, layout.items()));
    const auto members = layout.teams();
    const Expected<T> expected(out, layout.items());
    for (const auto& team : members) {
      expected.reduce(0, team, in, add<T>);
      expected.reduce(1, team, in, smaller<T>);
      expected.reduce(2, team, in, larger<T>);
      expected.scan(3, team, in, add<T>);
      expected.scan(4, team, in, smaller<T>);
      expected.scan(5, team, in, larger<T>);
      expected.exclusive_scan(6, team, in, add<T>, T(0));
      expected.exclusive_scan(7, team, in, smaller<T>, highest<T>());
      expected.exclusive_scan(8, team, in, larger<T>, lowest<T>());
    }
  }
}

template <class T>
void check_shuffles(const Program& program, const std::string& kernel, std::uint32_t width) {
  CAPTURE(kernel);
  for (const Three size : kGroupSizes) {
    CAPTURE(size[0]);
    const Layout layout{2, size, width};
    const std::vector<T> in = inputs<T>(layout.items());
    std::vector<T> out(7 * in.size());
    REQUIRE(launch(program, kernel, {2, 1, 1}, size, in, out, layout.items()));
    const Expected<T> expected(out, layout.items());
    for (const auto& team : layout.teams()) {
      const auto count = static_cast<std::uint32_t>(team.size());
      for (std::uint32_t lane = 0; lane < count; ++lane) {
        const std::uint32_t sources[] = {2, 1, 0, (lane * 5 + 3) % count, lane ^ 3, lane - 2, lane + 1};
        for (std::size_t f = 0; f < std::size(sources); ++f)
          if (sources[f] < count) expected.is(f, team[lane], in[team[sources[f]]]);
      }
    }
  }
}

template <class T>
void check_intel_shuffles(const Program& program, const std::string& kernel, std::uint32_t width) {
  CAPTURE(kernel);
  for (const std::uint32_t distance : {0u, 1u, 3u, width - 1, width}) {
    const Layout layout{2, {2 * width, 1, 1}, width};
    const std::vector<T> in = inputs<T>(2 * layout.items());
    std::vector<T> out(4 * std::size_t{layout.items()});
    REQUIRE(launch(program, kernel, {2, 1, 1}, layout.size, in, out, layout.items(), distance));
    const Expected<T> expected(out, layout.items());
    for (const auto& team : layout.teams()) {
      // x and behind it y, as one row of twice the width
      const auto row = [&](std::uint32_t i) {
        return i < width ? in[team[i]] : in[layout.items() + team[i - width]];
      };
      for (std::uint32_t lane = 0; lane < width; ++lane) {
        expected.is(0, team[lane], row((lane * 5 + 3) % width));
        expected.is(1, team[lane], row(lane + distance));
        expected.is(2, team[lane], row(lane + width - distance));
        if ((lane ^ distance) < width) expected.is(3, team[lane], row(lane ^ distance));
      }
    }
  }
}

template <class T>
void check_divergent(const Program& program, const std::string& kernel, std::uint32_t width) {
  CAPTURE(kernel);
  for (const Three size : kGroupSizes) {
    CAPTURE(size[0]);
    const Layout layout{2, size, width};
    const std::vector<T> in = inputs<T>(layout.items());
    std::vector<T> out(11 * in.size());
    REQUIRE(launch(program, kernel, {2, 1, 1}, size, in, out, layout.items()));
    const Expected<T> expected(out, layout.items());
    for (const auto& team : layout.teams()) {
      for (std::size_t i = 0; i < team.size(); i += 4) expected.reduce(9, part(team, i, 4), in, add<T>);
      for (std::size_t i = 0; i < team.size(); i += 2) expected.reduce(10, part(team, i, 2), in, larger<T>);
      Team branches[3], rest;
      for (const std::uint32_t item : team) branches[item % 3].push_back(item);
      for (const std::uint32_t item : team)
        if (item % 3 != 0) rest.push_back(item);
      expected.reduce(0, branches[1], in, add<T>);
      expected.reduce(1, branches[1], in, times<T>);
      expected.reduce(2, branches[1], in, smaller<T>);
      expected.reduce(3, branches[1], in, larger<T>);
      expected.scan(4, branches[2], in, add<T>);
      expected.exclusive_scan(5, branches[2], in, times<T>, T(1));
      expected.exclusive_scan(6, branches[2], in, smaller<T>, highest<T>());
      expected.exclusive_scan(7, branches[2], in, larger<T>, lowest<T>());
      expected.reduce(8, rest, in, add<T>);
    }
  }
}

template <class T>
void check_bitwise(const Program& program, const std::string& kernel, std::uint32_t width) {
  CAPTURE(kernel);
  for (const Three size : kGroupSizes) {
    const Layout layout{2, size, width};
    const std::vector<T> in = inputs<T>(layout.items());
    std::vector<T> out(4 * in.size());
    REQUIRE(launch(program, kernel, {2, 1, 1}, size, in, out, layout.items()));
    const Expected<T> expected(out, layout.items());
    const auto both = [](T a, T b) { return static_cast<T>(a & b); };
    for (const auto& team : layout.teams()) {
      expected.reduce(0, team, in, both);
      expected.scan(1, team, in, [](T a, T b) { return static_cast<T>(a | b); });
      expected.exclusive_scan(
          2, team, in, [](T a, T b) { return static_cast<T>(a ^ b); }, T(0));
      expected.exclusive_scan(3, team, in, both, static_cast<T>(~T(0)));
    }
  }
}

// Lane n is in the loop n times, and every `step`th time with those who are still there.
void check_loop(const Program& program, const char* kernel, std::uint32_t width, std::uint32_t step) {
  CAPTURE(kernel);
  const Layout layout{2, {41, 1, 1}, width};
  std::vector<std::uint32_t> out(2 * std::size_t{layout.items()});
  REQUIRE(launch(program, kernel, {2, 1, 1}, layout.size, out, layout.items()));
  const Expected<std::uint32_t> expected(out, layout.items());
  for (const auto& team : layout.teams()) {
    std::uint32_t total = 0;
    for (std::uint32_t lane = 0; lane < team.size(); ++lane) {
      std::uint32_t sum = 0;
      for (std::uint32_t k = 0; k < lane; k += step) sum += static_cast<std::uint32_t>(team.size()) - k - 1;
      expected.is(0, team[lane], sum);
      total += sum;
    }
    for (const std::uint32_t item : team) expected.is(1, item, total);
  }
}

template <class T>
void check_blocks(const Program& program, const std::string& type, std::uint32_t width,
                  std::initializer_list<std::uint32_t> vectors) {
  for (const std::uint32_t vector : vectors) {
    const std::string kernel = "block_" + type + std::to_string(vector);
    CAPTURE(kernel);
    const std::uint32_t items = 4 * width;
    const std::vector<T> in = inputs<T>(std::size_t{items} * vector);
    std::vector<T> out(in.size()), copy(in.size());
    REQUIRE(launch(program, kernel, {2, 1, 1}, {2 * width, 1, 1}, in, out, copy));
    CHECK(copy == in);
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < items; ++i)
      for (std::uint32_t c = 0; c < vector; ++c)
        wrong += out[i * vector + c] != in[(i / width * vector + c) * width + i % width];
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("items that come to each function together are no fibers, unless it is to be so") {
  for (const char* file : kFiles) {
    for (const char* kernel : {"sub_group_int", "work_group_int", "shuffle_int", "block_uint1"}) {
      CAPTURE(file);
      CAPTURE(kernel);
      CHECK_FALSE(has_fibers(build(file, 16), kernel));
      CHECK(has_fibers(build(file, 16, kFibers), kernel));
    }
    for (const char* kernel : {"divergent_int", "divergent_loop"}) CHECK(has_fibers(build(file, 16), kernel));
  }
}

TEST_CASE("sub-group reductions and scans") {
  for_all([](const Program& program, std::uint32_t width) {
    check_reductions<std::int8_t>(program, "sub_group_char", false, width);
    check_reductions<std::uint8_t>(program, "sub_group_uchar", false, width);
    check_reductions<std::int16_t>(program, "sub_group_short", false, width);
    check_reductions<std::uint16_t>(program, "sub_group_ushort", false, width);
    check_reductions<std::int32_t>(program, "sub_group_int", false, width);
    check_reductions<std::uint32_t>(program, "sub_group_uint", false, width);
    check_reductions<std::int64_t>(program, "sub_group_long", false, width);
    check_reductions<std::uint64_t>(program, "sub_group_ulong", false, width);
    check_reductions<Half>(program, "sub_group_half", false, width);
    check_reductions<float>(program, "sub_group_float", false, width);
    check_reductions<double>(program, "sub_group_double", false, width);
  });
}

TEST_CASE("work-group reductions and scans") {
  for_all([](const Program& program, std::uint32_t width) {
    check_reductions<std::int32_t>(program, "work_group_int", true, width);
    check_reductions<std::uint32_t>(program, "work_group_uint", true, width);
    check_reductions<std::int64_t>(program, "work_group_long", true, width);
    check_reductions<std::uint64_t>(program, "work_group_ulong", true, width);
    check_reductions<float>(program, "work_group_float", true, width);
    check_reductions<double>(program, "work_group_double", true, width);
  });
}

TEST_CASE("products of uniform group instructions") {
  for (const std::uint32_t width : {8u, 16u, 32u}) {
    CAPTURE(width);
    const Layout of_sub_group{2, {37, 1, 1}, width}, of_group{2, {37, 1, 1}, 37};
    const std::vector<std::uint32_t> in = inputs<std::uint32_t>(of_group.items());
    const std::vector<float> reals = inputs<float>(of_group.items());
    std::vector<std::uint32_t> a = in;
    std::vector<float> f = reals;
    REQUIRE(launch(build("group_multiply.spv", width), "multiply", {2, 1, 1}, {37, 1, 1}, a, f));
    for (const auto& team : of_sub_group.teams())
      Expected<std::uint32_t>(a, of_group.items()).reduce(0, team, in, times<std::uint32_t>);
    for (const auto& team : of_group.teams())
      Expected<float>(f, of_group.items()).scan(0, team, reals, times<float>);
  }
}

TEST_CASE("broadcasts and shuffles") {
  for_all([](const Program& program, std::uint32_t width) {
    check_shuffles<std::int8_t>(program, "shuffle_char", width);
    check_shuffles<std::uint16_t>(program, "shuffle_ushort", width);
    check_shuffles<std::int32_t>(program, "shuffle_int", width);
    check_shuffles<std::uint64_t>(program, "shuffle_ulong", width);
    check_shuffles<Half>(program, "shuffle_half", width);
    check_shuffles<float>(program, "shuffle_float", width);
    check_shuffles<double>(program, "shuffle_double", width);
    check_intel_shuffles<std::int16_t>(program, "intel_shuffle_short", width);
    check_intel_shuffles<std::int32_t>(program, "intel_shuffle_int", width);
    check_intel_shuffles<std::uint64_t>(program, "intel_shuffle_ulong", width);
    check_intel_shuffles<float>(program, "intel_shuffle_float", width);
    check_intel_shuffles<Float4>(program, "intel_shuffle_float4", width);
  });
}

TEST_CASE("non-uniform functions take the items that come") {
  for_all([](const Program& program, std::uint32_t width) {
    check_divergent<std::int32_t>(program, "divergent_int", width);
    check_divergent<std::uint64_t>(program, "divergent_ulong", width);
    check_divergent<float>(program, "divergent_float", width);
    check_bitwise<std::int32_t>(program, "bitwise_int", width);
    check_bitwise<std::uint64_t>(program, "bitwise_ulong", width);
    check_bitwise<std::uint8_t>(program, "bitwise_uchar", width);

    check_loop(program, "divergent_loop", width, 2);
    check_loop(program, "divergent_break", width, 1);
  });
}

TEST_CASE("block reads and writes") {
  for_all([](const Program& program, std::uint32_t width) {
    check_blocks<std::uint8_t>(program, "uchar", width, {1, 2, 4, 8, 16});
    check_blocks<std::uint16_t>(program, "ushort", width, {1, 2, 4, 8});
    check_blocks<std::uint32_t>(program, "uint", width, {1, 2, 4, 8});
    check_blocks<std::uint64_t>(program, "ulong", width, {1, 2, 4, 8});
    std::vector<std::uint32_t> data = inputs<std::uint32_t>(width + 1);
    std::vector<std::uint32_t> moved = data;
    std::copy(data.begin(), data.end() - 1, moved.begin() + 1);
    REQUIRE(launch(program, "rotate_block", {1, 1, 1}, {width, 1, 1}, data));
    CHECK(data == moved);
  });
}

TEST_CASE("block reads and writes of SLM") {
  for (const std::uint32_t width : {8u, 16u, 32u}) {
    CAPTURE(width);
    std::vector<std::uint32_t> out(width);
    REQUIRE(launch(build("group.clang.spv", width), "local_block", {1, 1, 1}, {width, 1, 1}, out,
                   local(4 * std::uint64_t{width})));
    for (std::uint32_t i = 0; i < width; ++i) CHECK(out[i] == 3 * i + 1);
  }
}

TEST_CASE("sub-group ids and sizes") {
  for_all([](const Program& program, std::uint32_t width) {
    const CompiledKernel* kernel = find(program, "sub_group_ids");
    REQUIRE(kernel != nullptr);
    CHECK(kernel->facts.simd_size == width);
    CHECK(kernel->facts.required_sub_group_size == 0);
    CHECK(kernel->facts.barrier_count == 0);
    for (const Three size : kGroupSizes) {
      CAPTURE(size[0]);
      const Layout layout{2, size, width};
      std::vector<std::uint32_t> out(11 * std::size_t{layout.items()});
      REQUIRE(launch(program, "sub_group_ids", {2, 1, 1}, size, out, layout.items()));
      const Expected<std::uint32_t> expected(out, layout.items());
      const std::uint32_t count = (volume(size) + width - 1) / width;
      std::uint32_t id = 0;
      for (const auto& team : layout.teams()) {
        for (std::uint32_t lane = 0; lane < team.size(); ++lane) {
          const auto bit = std::uint64_t{1} << lane, all = (std::uint64_t{1} << width) - 1;
          const std::uint64_t values[] = {
              id % count,           lane,        team.size(), width, count, count, bit, all & ~(bit - 1),
              all & ~(2 * bit - 1), 2 * bit - 1, bit - 1};
          for (std::size_t f = 0; f < std::size(values); ++f)
            expected.is(f, team[lane], static_cast<std::uint32_t>(values[f]));
        }
        ++id;
      }
    }
  });
}

TEST_CASE("votes and ballots") {
  for_all([](const Program& program, std::uint32_t width) {
    for (const std::uint32_t pattern : {0u, 1u, 2u, 3u}) {
      CAPTURE(pattern);
      const Layout layout{2, {45, 1, 1}, width};
      std::vector<std::uint32_t> in(layout.items());
      for (std::uint32_t i = 0; i < in.size(); ++i)
        in[i] = pattern < 2 ? pattern : i % pattern == 1 ? 0u : 6u;
      std::vector<std::uint32_t> out(17 * in.size());
      REQUIRE(launch(program, "votes", {2, 1, 1}, layout.size, in, out, layout.items()));
      const Expected<std::uint32_t> expected(out, layout.items());
      for (const auto& team : layout.teams()) check_votes(expected, team, in);
    }
  });
}

TEST_CASE("work-group votes and broadcasts in two dimensions") {
  for_all([](const Program& program, std::uint32_t) {
    for (const std::int32_t zero : {-1, 5, 40}) {
      const std::uint32_t n = 2 * 42;
      std::vector<std::int32_t> in(n), out(3 * n);
      for (std::int32_t i = 0; i < 84; ++i) in[static_cast<std::size_t>(i)] = i == zero ? 0 : i + 1;
      REQUIRE(launch(program, "work_group_votes", {2, 1, 1}, {7, 6, 1}, in, out, n));
      const Layout layout{2, {7, 6, 1}, 42};
      for (const auto& team : layout.teams()) {
        const bool all = std::ranges::all_of(team, [&](std::uint32_t i) { return in[i] != 0; });
        for (const std::uint32_t item : team) {
          CHECK(out[item] == (all ? 1 : 0));
          CHECK(out[n + item] == 1);  // never all zero
          CHECK(out[2 * n + item] == in[team[1 * 7 + 3]]);
        }
      }
    }
  });
}

TEST_CASE("uniform barriers in a loop") {
  for_all([](const Program& program, std::uint32_t) {
    constexpr std::uint32_t kRounds = 11, kItems = 9 * 5;
    std::vector<std::uint32_t> out(2 * kItems);
    REQUIRE(launch(program, "barriers_in_loop", {2, 1, 1}, {9, 5, 1}, out, local(4 * kItems), kRounds));
    for (const auto& team : Layout{2, {9, 5, 1}, kItems}.teams())
      for (std::uint32_t i = 0; i < kItems; ++i)
        CHECK(out[team[i]] == (i + kRounds) % kItems + kRounds * (kRounds - 1) / 2);
  });
}

}  // namespace kiln::cpu::test
