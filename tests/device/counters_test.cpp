// SPDX-License-Identifier: MIT
// What the CPU device counts of each sample: equal to what the sample predicts, and to the guides' claims.
#include "tool/samples/counters.hpp"

#include <numeric>

#include "device_test.hpp"

namespace kiln::test {
namespace {

using detail::Json;

struct Seen {
  samples::Prepared prepared;
  Json counters;
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
  seen.counters = need(tool::read_counters(device(), kernel.kernel()));
  CHECK(seen.counters["launches"] == 1);
  CHECK_MESSAGE(seen.counters["defects"].empty(), seen.counters["defects"].dump());
  for (const samples::Predicted& predicted : seen.prepared.predicted)
    if (const auto value = tool::counted(seen.counters, predicted))
      CHECK_MESSAGE(*value == predicted.value, predicted.what);
  return seen;
}

Bundle counted_bundle(const std::string& family) {
  return need(
      Bundle::load(device(), need(find_kernel_files(KILN_SAMPLE_KERNELS, family)), tool::counted_build()));
}

Json counters_of(const char* name, const samples::Choices& choices = {}) {
  const samples::Sample* sample = samples::find(name);
  REQUIRE(sample != nullptr);
  Bundle bundle = counted_bundle(sample->family);
  return run_counted(*sample, bundle, choices).counters;
}

/// The one instruction of a kind that goes to an argument.
Json the(const Json& counters, const char* kind, int argument) {
  Json found;
  for (const Json& each : counters["instructions"])
    if (each["kind"] == kind && each.value("argument", Json()) == argument) {
      CHECK(found.is_null());
      found = each;
    }
  REQUIRE(found.is_object());
  return found;
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
  CHECK(predictions == 4 * 29);
}

TEST_CASE("cache lines: shapes of work-groups and index functions") {
  const std::pair<const char*, const char*> wanted[] = {
      {"access.work_group_shape_row", "1"},     {"access.work_group_shape_square", "4"},
      {"access.work_group_shape_column", "16"}, {"access.index_function_1", "1"},
      {"access.index_function_2", "2"},         {"access.index_function_3", "1"},
      {"access.index_function_4", "4"},         {"access.index_function_5", "16"},
      {"access.index_function_6", "16"}};
  for (const auto& [name, lines] : wanted) {
    CAPTURE(name);
    const Json counters = counters_of(name, {.size = 64});
    const Json read = the(counters, "read", 0);
    CHECK(read["lines"] == Json{{lines, counters["work_items"].get<int>() / 16}});  // of all sub-groups
    CHECK(read["example"]["lanes"].size() == 16);
  }
}

TEST_CASE("bank conflicts of every stride") {
  Bundle bundle = counted_bundle("bank_conflict");
  for (std::uint64_t stride = 1; stride <= 32; ++stride) {
    CAPTURE(stride);
    const Seen seen = run_counted(*samples::find("bank_conflict.stride_any"), bundle,
                                  {.size = 64, .group = 32, .slm = 32 * 4 * stride});
    const std::uint64_t turns = std::gcd(stride, std::uint64_t{16});
    const Json& reads = seen.counters["totals"]["slm_reads"];
    CHECK(reads["turns"] == turns * reads["sub_group_accesses"].get<std::uint64_t>());
    CHECK(reads["conflict_turns"] == (turns - 1) * reads["sub_group_accesses"].get<std::uint64_t>());
  }
}

TEST_CASE("coalescing: four neighbours, none through offsets, one by construction") {
  const samples::Choices four_groups{.size = 4096};
  const auto check = [](const Json& access, int width, int neighbours, int bytes) {
    CHECK(access["width"] == width);
    CHECK(access["neighbours"]["accesses"] == neighbours);
    CHECK(access["neighbours"]["bytes"] == bytes);
    CHECK(access["bytes"] == 4 * 4096);
  };
  for (const char* kind : {"read", "write"}) {
    const int argument = kind[0] == 'r' ? 0 : 1;
    check(the(counters_of("coalescing.contiguous", four_groups), kind, argument), 4, 4, 16);
    check(the(counters_of("coalescing.indirect", four_groups), kind, argument), 4, 1, 4);
    check(the(counters_of("coalescing.vector", four_groups), kind, argument), 16, 1, 16);
    check(the(counters_of("coalescing.vector_pointer", four_groups), kind, argument), 16, 1, 16);
  }
}

TEST_CASE("private memory: an array that is indexed, and scalars") {
  const samples::Choices one_group{.size = 256};
  const Json array = counters_of("access.private_array", one_group)["totals"];
  REQUIRE(array.contains("private_reads"));
  CHECK(array["private_reads"]["accesses"].get<int>() >= 256 * 64);
  CHECK_FALSE(counters_of("access.private_scalars", one_group)["totals"].contains("private_reads"));
}

TEST_CASE("reading clears, other modules have no counters, other devices do not count") {
  const samples::Sample& sample = *samples::find("saxpy");
  Bundle counted = counted_bundle("saxpy");
  run_counted(sample, counted);
  const auto again = need(tool::read_counters(device(), need(counted.kernel(sample.kernel))->kernel()));
  CHECK(again["launches"] == 0);
  CHECK(again["instructions"].empty());
  Bundle plain = need(Bundle::load(device(), need(find_kernel_files(KILN_SAMPLE_KERNELS, "saxpy"))));
  const auto none = tool::read_counters(device(), need(plain.kernel(sample.kernel))->kernel());
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == ZE_RESULT_ERROR_NOT_AVAILABLE);
}

}  // namespace kiln::test
