// SPDX-License-Identifier: MIT
// Kernels whose work-items go through loops as lanes of vectors give what they give one by one.
#include <doctest/doctest.h>

#include <spirv/unified1/spirv.hpp>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

/// The module with kernels that require sub-groups of `size`, which its source does not.
std::vector<std::byte> with_sub_groups_of(std::uint32_t size, std::span<const std::byte> module) {
  constexpr std::size_t kHeader = 5;  // words
  std::vector<std::uint32_t> in(module.size() / 4), out, modes;
  std::memcpy(in.data(), module.data(), module.size());
  out.assign(in.begin(), in.begin() + kHeader);
  out.insert(out.end(), {2U << 16 | spv::OpCapability, spv::CapabilitySubgroupDispatch});
  for (std::size_t i = kHeader; i < in.size(); i += in[i] >> 16) {
    const std::uint32_t code = in[i] & 0xffff;
    if (code == spv::OpEntryPoint)
      modes.insert(modes.end(),
                   {4U << 16 | spv::OpExecutionMode, in[i + 2], spv::ExecutionModeSubgroupSize, size});
    else if (!modes.empty()) {
      out.insert(out.end(), modes.begin(), modes.end());
      modes.clear();
    }
    out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(i),
               in.begin() + static_cast<std::ptrdiff_t>(i + (in[i] >> 16)));
  }
  const auto bytes = std::as_bytes(std::span(out));
  return {bytes.begin(), bytes.end()};
}

/// With kernels that require sub-groups of `size`, unless it is 0.
BuildResult build_lanes(const char* flags, std::uint32_t size = 0) {
  BuildOptions options;
  options.flags = flags;
  std::vector<std::byte> module = read_file("lanes.ocloc.spv");
  if (size != 0) module = with_sub_groups_of(size, module);
  return build_from_spirv(module, options);
}

std::vector<std::int32_t> run_lanes(const Program& program, std::string_view name, Three size,
                                    std::int32_t n) {
  constexpr Three kGroups = {2, 2, 1};
  const std::uint32_t items = size[0] * size[1] * size[2];
  constexpr std::size_t kBehind = 256;  // what nobody writes: a lane too many would
  std::vector<std::int32_t> in(64), out(std::size_t{items} * 4 + kBehind, -7);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i * 37 % 101);
  CHECK(launch(program, name, kGroups, size, in, out, n, local(items * 32 + 64)));
  return out;
}

}  // namespace

TEST_CASE("lanes give what work-items give one by one") {
  const BuildResult lanes = build_lanes(""), items = build_lanes("-cl-opt-disable");
  REQUIRE_MESSAGE(lanes.status == BuildStatus::ok, lanes.log);
  REQUIRE_MESSAGE(items.status == BuildStatus::ok, items.log);
  for (const CompiledKernel& kernel : lanes.program->kernels()) {
    const std::string& name = kernel.facts.name;
    if (name == "tickets") continue;
    CAPTURE(name);
    for (const Three size :
         {Three{1, 1, 1}, Three{16, 1, 1}, Three{64, 1, 1}, Three{37, 1, 1}, Three{5, 3, 2}, Three{16, 16, 1},
          Three{33, 1, 4}, Three{18, 3, 2}, Three{8, 8, 1}})
      for (const std::int32_t n : {1, 2, 4, 5, 16}) {
        CAPTURE(size[0]);
        CAPTURE(size[1]);
        CAPTURE(n);
        CHECK(run_lanes(*lanes.program, name, size, n) == run_lanes(*items.program, name, size, n));
      }
  }
}

namespace {

std::vector<std::int32_t> counted_in(64), counted_out;
MemoryRange find_counted(std::uintptr_t address) {
  for (const auto* buffer : {&counted_in, &counted_out}) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer->data());
    const std::uint64_t bytes = buffer->size() * sizeof(std::int32_t);
    if (address - begin < bytes) return {begin, bytes};
  }
  return {};
}

/// What was counted, defects among it, in the same memory for each build.
std::string count_lanes(const CompiledKernel& kernel, Three size, std::int32_t n) {
  std::ranges::fill(counted_out, -7);
  const std::uint64_t slm = std::uint64_t{size[0]} * size[1] * size[2] * 32 + 64;
  const std::array values{argument(counted_in), argument(counted_out), argument(n), local(slm)};
  CHECK(execute({&kernel, values, {2, 2, 1}, size, {}, find_counted}) == ExecutionStatus::ok);
  const std::string counters = counters_json(kernel);
  clear_counters(kernel);
  return counters;
}

/// With kernels that require sub-groups of `sub_group`, unless it is 0: those of fewer than a vector of lanes
/// are not taken as such.
void check_counts(std::uint32_t sub_group) {
  CAPTURE(sub_group);
  const BuildResult lanes = build_lanes("-kiln-counters", sub_group),
                    items = build_lanes("-kiln-counters -cl-opt-disable", sub_group);
  REQUIRE_MESSAGE(lanes.status == BuildStatus::ok, lanes.log);
  REQUIRE_MESSAGE(items.status == BuildStatus::ok, items.log);
  for (std::size_t i = 0; i < counted_in.size(); ++i) counted_in[i] = static_cast<std::int32_t>(i * 37 % 101);
  for (const CompiledKernel& kernel : lanes.program->kernels()) {
    const std::string& name = kernel.facts.name;
    if (name == "tickets") continue;
    CAPTURE(name);
    if (sub_group != 0) CHECK(kernel.facts.required_sub_group_size == sub_group);
    for (const Three size :
         {Three{16, 1, 1}, Three{37, 1, 1}, Three{16, 16, 1}, Three{20, 4, 1}, Three{48, 1, 2}})
      for (const std::int32_t n : {1, 4, 16}) {
        CAPTURE(size[0]);
        CAPTURE(size[1]);
        CAPTURE(n);
        counted_out.resize(std::size_t{size[0]} * size[1] * size[2] * 4);
        const std::string by_items = count_lanes(*find(*items.program, name), size, n);
        const std::vector<std::int32_t> out = counted_out;
        CHECK(count_lanes(kernel, size, n) == by_items);
        CHECK(counted_out == out);
      }
  }
}

}  // namespace

TEST_CASE("what is counted by lanes is what is counted by work-items") {
  for (const std::uint32_t sub_group : {0U, 8U, 32U}) check_counts(sub_group);
}

// Else the test above would compare loops with loops.
TEST_CASE("work-items go through loops as lanes") {
  constexpr std::int32_t kTurns = 2;
  const BuildResult lanes = build_lanes("");
  REQUIRE_MESSAGE(lanes.status == BuildStatus::ok, lanes.log);
  std::vector<std::int32_t> out(1 + 40);
  REQUIRE(launch(*lanes.program, "tickets", {1, 1, 1}, {40, 1, 1}, out, kTurns));
  CHECK(out[0] == 40 * kTurns);
  for (std::int32_t item = 0; item < 32; ++item) {
    const std::int32_t first = item / 16 * 32 + item % 16;
    CHECK(out[static_cast<std::size_t>(item) + 1] == first * 1000 + first + 16);
  }
  for (std::int32_t item = 32; item < 40; ++item)  // fewer than a vector
    CHECK(out[static_cast<std::size_t>(item) + 1] == 2 * item * 1000 + 2 * item + 1);
}

}  // namespace kiln::cpu::test
