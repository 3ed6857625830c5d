// SPDX-License-Identifier: MIT
// What the CPU device counts of each sample: equal to what the sample predicts, and to the guides' claims.
#include "tool/samples/counters.hpp"

#include <algorithm>
#include <numeric>

#include "device_test.hpp"

namespace kiln::test {
namespace {

struct Seen {
  samples::Prepared prepared;
  Counters counters;
};

/// Runs a sample once, counted; its answer must be right and its memory accesses clean.
Seen run_counted(const samples::Sample& sample, Bundle& bundle, const samples::Choices& choices = {}) {
  CAPTURE(sample.name);
  CAPTURE(choices.size.value_or(0));
  CAPTURE(choices.slm.value_or(0));
  const CheckedKernel& kernel = *need(bundle.kernel(sample.kernel));
  Seen seen{need(sample.prepare(device(), choices)), {}};
  const CommandList list = immediate_list();
  seen.prepared.reset();
  need(seen.prepared.launch(list.get(), kernel, {}));
  finish(list.get());
  CHECK_FALSE(seen.prepared.verify());
  seen.counters = need(read_counters(device(), kernel.kernel()));
  CHECK(seen.counters.launches == 1);
  for (const Defect& defect : seen.counters.defects) FAIL_CHECK(defect.text);
  for (const samples::Predicted& predicted : seen.prepared.predicted)
    if (const auto value = tool::counted(seen.counters, predicted))
      CHECK_MESSAGE(*value == predicted.value, predicted.what);
  return seen;
}

Bundle counted_bundle(const std::string& family) {
  return need(Bundle::load(device(), need(find_kernel_files(KILN_SAMPLE_KERNELS, family)), counted_build()));
}

Counters counters_of(const char* name, const samples::Choices& choices = {}) {
  const samples::Sample* sample = samples::find(name);
  REQUIRE(sample != nullptr);
  Bundle bundle = counted_bundle(sample->family);
  return run_counted(*sample, bundle, choices).counters;
}

/// The one instruction of a kind that goes to an argument.
InstructionCount the(const Counters& counters, AccessKind kind, std::uint32_t argument) {
  std::optional<InstructionCount> found;
  for (const InstructionCount& each : counters.instructions)
    if (each.at.kind == kind && each.argument == argument) {
      CHECK_FALSE(found);
      found = each;
    }
  REQUIRE(found);
  return *found;
}

const MemoryTotal* total(const Counters& counters, MemorySpace memory, AccessKind kind) {
  const auto found = std::ranges::find_if(
      counters.totals, [&](const MemoryTotal& each) { return each.memory == memory && each.kind == kind; });
  return found == counters.totals.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("every sample: counted as predicted, and clean") {
  std::string family;
  Bundle bundle;
  std::size_t predictions = 0;
  for (const samples::Sample& sample : samples::all()) {
    if (family != sample.family) bundle = counted_bundle(family = sample.family);
    for (const std::uint64_t size : {300, 16, 1, 0}) {
      const Seen seen = run_counted(sample, bundle, {.size = size});
      for (const samples::Predicted& predicted : seen.prepared.predicted)
        predictions += tool::counted(seen.counters, predicted).has_value();
    }
  }
  CHECK(predictions == 4 * 82);
}

TEST_CASE("cache lines: shapes of work-groups and index functions") {
  const std::pair<const char*, std::uint64_t> wanted[] = {
      {"access.work_group_shape_row", 1},     {"access.work_group_shape_square", 4},
      {"access.work_group_shape_column", 16}, {"access.index_function_1", 1},
      {"access.index_function_2", 2},         {"access.index_function_3", 1},
      {"access.index_function_4", 4},         {"access.index_function_5", 16},
      {"access.index_function_6", 16}};
  for (const auto& [name, lines] : wanted) {
    CAPTURE(name);
    const Counters counters = counters_of(name, {.size = 64});
    const InstructionCount read = the(counters, AccessKind::read, 0);
    CHECK(read.lines == std::map{std::pair{lines, counters.work_items / 16}});  // of all sub-groups
    CHECK(read.example.value().lanes.size() == 16);
  }
}

TEST_CASE("bank conflicts of every stride") {
  Bundle bundle = counted_bundle("bank_conflict");
  for (std::uint64_t stride = 1; stride <= 32; ++stride) {
    CAPTURE(stride);
    const Seen seen = run_counted(*samples::find("bank_conflict.stride_any"), bundle,
                                  {.size = 64, .group = 32, .slm = 32 * 4 * stride});
    const std::uint64_t turns = std::gcd(stride, std::uint64_t{16});
    const MemoryTotal* reads = total(seen.counters, MemorySpace::slm, AccessKind::read);
    REQUIRE(reads);
    CHECK(reads->turns == turns * reads->sub_group_accesses);
    CHECK(reads->conflict_turns == (turns - 1) * reads->sub_group_accesses);
  }
}

TEST_CASE("coalescing: four neighbours, none through offsets, one by construction") {
  const samples::Choices four_groups{.size = 4096};
  const auto check = [](const InstructionCount& access, std::uint64_t width, std::uint64_t neighbours,
                        std::uint64_t bytes) {
    CHECK(access.width == width);
    CHECK(access.neighbours == neighbours);
    CHECK(access.neighbour_bytes == bytes);
    CHECK(access.bytes == 4 * 4096);
  };
  for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
    const std::uint32_t argument = kind == AccessKind::read ? 0 : 1;
    check(the(counters_of("coalescing.contiguous", four_groups), kind, argument), 4, 4, 16);
    check(the(counters_of("coalescing.indirect", four_groups), kind, argument), 4, 1, 4);
    check(the(counters_of("coalescing.vector", four_groups), kind, argument), 16, 1, 16);
    check(the(counters_of("coalescing.vector_pointer", four_groups), kind, argument), 16, 1, 16);
  }
}

TEST_CASE("coalescing in SLM: the same neighbours") {
  const auto widest = [](const Counters& counters, AccessKind kind) {
    std::uint64_t bytes = 0;
    for (const InstructionCount& each : counters.instructions)
      if (each.at.kind == kind && each.memory == MemorySpace::slm)
        bytes = std::max(bytes, each.neighbour_bytes);
    return bytes;
  };
  for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
    CHECK(widest(counters_of("coalescing.slm_contiguous", {.size = 4096}), kind) == 16);
    CHECK(widest(counters_of("coalescing.slm_indirect", {.size = 4096}), kind) == 4);
    CHECK(widest(counters_of("coalescing.slm_vector", {.size = 4096}), kind) == 16);
  }
}

TEST_CASE("private memory: an array that is indexed, and scalars") {
  const samples::Choices one_group{.size = 256};
  const Counters array = counters_of("access.private_array", one_group);
  const MemoryTotal* reads = total(array, MemorySpace::private_memory, AccessKind::read);
  REQUIRE(reads);
  CHECK(reads->accesses >= 256 * 64);
  CHECK_FALSE(
      total(counters_of("access.private_scalars", one_group), MemorySpace::private_memory, AccessKind::read));
}

TEST_CASE("reading clears, other modules have no counters, other devices do not count") {
  const samples::Sample& sample = *samples::find("saxpy");
  Bundle counted = counted_bundle("saxpy");
  run_counted(sample, counted);
  const auto again = need(read_counters(device(), need(counted.kernel(sample.kernel))->kernel()));
  CHECK(again.launches == 0);
  CHECK(again.instructions.empty());
  Bundle plain = need(Bundle::load(device(), need(find_kernel_files(KILN_SAMPLE_KERNELS, "saxpy"))));
  const auto none = read_counters(device(), need(plain.kernel(sample.kernel))->kernel());
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == ZE_RESULT_ERROR_NOT_AVAILABLE);
}

}  // namespace kiln::test
