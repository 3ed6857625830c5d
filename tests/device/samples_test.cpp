// SPDX-License-Identifier: MIT
// The samples: each against its host reference, their names, and what they predict.
#include "tool/samples/samples.hpp"

#include <numeric>

#include "device_test.hpp"

namespace kiln::test {
namespace {

/// Runs a sample once and compares; the error or the first wrong element otherwise.
void run_sample(const samples::Sample& sample, Bundle& bundle, const samples::Choices& choices) {
  CAPTURE(sample.name);
  CAPTURE(choices.size.value_or(0));
  CAPTURE(choices.group.value_or(0));
  CAPTURE(choices.slm.value_or(0));
  const CheckedKernel& kernel = *need(bundle.kernel(sample.kernel));
  const samples::Prepared prepared = need(sample.prepare(device(), choices));
  const CommandList list = immediate_list();
  prepared.reset();
  need(prepared.launch(list.get(), kernel, {}));
  finish(list.get());
  if (!executes()) return;
  const auto wrong = prepared.verify();
  if (wrong) FAIL_CHECK("element ", wrong->index, " is ", wrong->got, ", should be ", wrong->wanted);
}

/// Nothing, one, one group, odd numbers of groups, groups of one and odd ones, and what each sample lets
/// choose.
std::vector<samples::Choices> choices_of(const samples::Sample& sample) {
  using C = samples::Choices;
  const std::string name = sample.name;
  const std::vector<C> table_sizes{C{.slm = 4}, C{.slm = 255 * 4}, C{.slm = 256 * 4}};
  const std::vector<C> larger_tables{C{.slm = 257 * 4}, C{.slm = 1000 * 4}};
  const auto more = [](std::vector<C> list, std::initializer_list<C> last) {
    list.insert(list.end(), last);
    return list;
  };
  const std::vector<C> sizes{C{.size = 5000}, C{.size = 0},   C{.size = 1},
                             C{.size = 255},  C{.size = 256}, C{.size = 257}};
  const std::vector<C> usual =
      more(sizes, {C{.size = 9999, .group = 17}, C{.size = 3, .group = 1}, C{.size = 257, .group = 512},
                   C{.size = 10'000, .group = 256, .seed = 2}});
  if (name == "matmul")
    return {C{},
            C{.size = 0},
            C{.size = 1},
            C{.size = 16},
            C{.size = 17},
            C{.size = 100, .slm = 65536},
            C{.size = 33, .group = 5, .slm = 8},
            C{.size = 64, .group = 64, .slm = 30000}};
  if (name == "slm_limit")  // 512 bytes a work-item
    return more(sizes, {C{.size = 1000, .group = 3}, C{.size = 129, .group = 64, .slm = 65536}});
  if (name == "slm_table.one_each") return more(sizes, {C{.size = 100'001}});
  if (name == "slm_table.one_each_smaller") return more(table_sizes, {C{.size = 3, .group = 1, .slm = 4}});
  if (name == "slm_table.one_each_bigger")
    return more(table_sizes, {larger_tables[0], larger_tables[1], C{.size = 0, .group = 250, .slm = 4000}});
  if (name == "slm_table.one_each_any")
    return more(table_sizes, {larger_tables[0], larger_tables[1], C{.size = 0}, C{.group = 33, .slm = 4000}});
  if (name == "bank_conflict.stride_any") {
    std::vector<C> strides = usual;
    for (std::uint64_t stride = 1; stride <= 32; ++stride)
      strides.push_back(C{.size = 999, .group = 32, .slm = 32 * 4 * stride});
    return strides;
  }
  if (name.starts_with("convolution.slm_1d")) {
    std::vector<C> taps = usual;  // from one tap, or two, to more than a group has inputs
    for (const std::uint64_t halo : {1, 2, 100, 300})
      taps.push_back(C{.size = 1000, .group = 64, .slm = (64 + 2 * halo) * 4});
    return taps;
  }
  if (name.starts_with("access.work_group_shape") || name.starts_with("slm_scatter"))  // edges of squares
    return {C{}, C{.size = 0}, C{.size = 1}, C{.size = 3}, C{.size = 16}, C{.size = 17}, C{.size = 100}};
  if (name.starts_with("share"))  // whole rings
    return more(sizes, {C{.size = 3, .group = 16}, C{.size = 10'000, .group = 128, .seed = 2}});
  if (name.starts_with("histogram.registers"))  // whole sub-groups; 4096 values each
    return more(sizes, {C{.size = 4095, .group = 16}, C{.size = 4097, .group = 16},
                        C{.size = 16384, .seed = 2}, C{.size = 50'001, .group = 128}});
  if (name == "access.same_element_slm")
    return more(usual, {C{.size = 100, .slm = 4}, C{.size = 100, .slm = 4000}});
  return usual;
}

/// The first prediction of a sample, and its groups in the first dimension.
std::pair<std::uint64_t, std::uint64_t> predicted(const char* name, const samples::Choices& choices = {}) {
  const samples::Prepared prepared = need(samples::find(name)->prepare(device(), choices));
  return {prepared.predicted.at(0).value, prepared.shape.groups.x};
}

}  // namespace

TEST_CASE("every sample gives the host's answer") {
  for (const samples::Sample& sample : samples::all()) {
    Bundle bundle = need(Bundle::load(device(), need(find_kernel_files(KILN_NATIVE_KERNELS, sample.family))));
    for (const samples::Choices& choices : choices_of(sample)) run_sample(sample, bundle, choices);
  }
}

TEST_CASE("a part of a name is the first sample that it stands for") {
  const auto name_of = [](const char* part) {
    const samples::Sample* sample = samples::find(part);
    return std::string(sample ? sample->name : "");
  };
  CHECK(name_of("access") == "access.work_group_shape_row");
  CHECK(name_of("access.narrow") == "access.narrow_8");
  CHECK(name_of("bank_conflict.stride") == "bank_conflict.stride_1");
  CHECK(name_of("slm_table.one_each") == "slm_table.one_each");
  CHECK(name_of("slm_limit.dynamic_tile") == "slm_limit");
  CHECK(name_of("matmul.tiled") == "matmul");
  CHECK(name_of("convolution") == "convolution.global_1d");
  for (const char* nothing : {"", "slm", "access.", "access.narr", "saxpy.", "saxpys"})
    CHECK(name_of(nothing).empty());
}

TEST_CASE("cache lines of 16 reads") {
  CHECK(predicted("access.work_group_shape_row").first == 1);
  CHECK(predicted("access.work_group_shape_square").first == 4);
  CHECK(predicted("access.work_group_shape_column").first == 16);
  const std::uint64_t lines[] = {1, 2, 1, 4, 16, 16};
  for (int i = 0; i < 6; ++i)
    CHECK(predicted(("access.index_function_" + std::to_string(i + 1)).c_str()).first == lines[i]);
}

TEST_CASE("the turns of every stride") {
  for (std::uint64_t stride = 1; stride <= 32; ++stride) {
    CAPTURE(stride);
    CHECK(predicted("bank_conflict.stride_any", {.size = 64, .slm = 32 * 4 * stride}).first ==
          std::gcd(stride, 16u));
  }
}

TEST_CASE("all at one word take one turn, scattered writes 16 lines, a branch half of the lanes") {
  CHECK(predicted("bank_conflict.broadcast").first == 1);
  CHECK(predicted("slm_scatter.direct").first == 16);
  CHECK(predicted("slm_scatter.through_slm").first == 1);
  CHECK(predicted("access.branch_divergent").first == 8);
  CHECK(predicted("access.branch_free").first == 16);
}

TEST_CASE("reads of tables and inputs, and global atomics") {
  const std::pair<const char*, std::uint64_t> a_group[] = {{"slm_table.every_item", 256 * 256},
                                                           {"slm_table.strided", 256},
                                                           {"slm_table.one_each", 256},
                                                           {"slm_table.one_each_smaller", 256},
                                                           {"slm_table.one_each_bigger", 4 * 256},
                                                           {"slm_table.one_each_any", 1000},
                                                           {"access.same_element_slm", 64},
                                                           {"access.same_element_global", 64 * 256},
                                                           {"histogram.slm_256", 256},
                                                           {"histogram.slm_1024", 1024},
                                                           {"access.same_element_private", 16 * 256}};
  for (const auto& [name, count] : a_group) {
    CAPTURE(name);
    const auto [total, groups] = predicted(name, {.size = 64 * 256});
    CHECK(total == count * groups);
  }
  // 17 taps, so a halo of 8. Of 1024 inputs 8 + 7 + ... + 1 are missed at each end; by groups, 8 at each end.
  CHECK(predicted("convolution.global_1d", {.size = 1024}).first == 1024 * 17 - 72);
  CHECK(predicted("convolution.slm_1d", {.size = 1024}).first == 4 * (256 + 16) - 16);
  CHECK(predicted("convolution.global_1d_even", {.size = 1024}).first == 1024 * 16 - 36 - 28);
}

}  // namespace kiln::test
