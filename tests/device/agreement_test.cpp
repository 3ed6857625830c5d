// SPDX-License-Identifier: MIT
// Kiln's yes and no against the driver's own: the same launch, checked by Kiln and sent unchecked.
#include <vector>

#include "device_test.hpp"

namespace kiln::test {
namespace {

/// Sends a launch past Kiln's check, as an application would.
ze_result_t send_unchecked(CommandListRef list, const CheckedKernel& kernel, const LaunchShape& shape,
                           std::span<const LaunchArgument> arguments) {
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    if (auto set = kernel.kernel().set_argument(i, arguments[i].size, arguments[i].data); !set)
      return set.error().code();
  if (auto set = kernel.kernel().set_group_size(shape.group_size); !set) return set.error().code();
  const auto sent = list.launch_unchecked(kernel.kernel(), shape.groups);
  return sent ? ZE_RESULT_SUCCESS : sent.error().code();
}

struct Setup {
  CommandList list;
  Bundle bundle;
  HostBuffer out;
  void* address = nullptr;

  Setup() {
    const auto group = need(device().device.compute_queue_group());
    list = need(CommandListRef::create(context(), device().device, group));  // regular: nothing is executed
    bundle = need(Bundle::load(device(), {test_kernel("limits.spv")}));
    out = need(context().allocate_shared(device().device, 1 << 20));
    address = out.data();
  }

  /// Both answers to one launch. They must agree in whether, and for SLM in the code too.
  void compare(const char* name, const LaunchShape& shape, std::span<const LaunchArgument> arguments) {
    const CheckedKernel& kernel = *need(bundle.kernel(name));
    const LaunchVerdict verdict = check_launch(kernel.facts(), kernel.limits(), shape, arguments);
    const ze_result_t driver = send_unchecked(list.get(), kernel, shape, arguments);
    CAPTURE(result_name(driver));
    CAPTURE(static_cast<int>(verdict));
    CHECK((verdict == LaunchVerdict::fits) == (driver == ZE_RESULT_SUCCESS));
    if (driver != ZE_RESULT_SUCCESS) CHECK(result_name(code_of(verdict)) == result_name(driver));
  }
};

}  // namespace

TEST_CASE("limits by product are the driver's own") {
  const auto version = device().properties.ip_version;  // drivers before 23.30 do not offer it
  const Target* target = version ? find_target(*version) : nullptr;
  if (!target) return;
  CAPTURE(target->name);
  const TargetLimits limits = target_limits(*target);
  CHECK(limits.slm_per_group == device().compute.slm_per_group);
  CHECK(limits.max_group_size == device().compute.max_total_group_size);
  if (is_kilns_own()) return;  // its kernels have no registers
  for (const char* flags : {"", "-ze-opt-large-register-file"}) {
    CAPTURE(flags);
    const ModuleBuild module = build(ModuleFormat::spirv, test_kernel("limits.spv").bytes, flags);
    REQUIRE(module.code() == ZE_RESULT_SUCCESS);
    const auto facts = read_zebin(need(module.module->native_binary()));
    if (!facts) continue;  // before zebin
    for (const KernelFacts& kernel : facts->kernels) {
      CAPTURE(kernel.name);
      CAPTURE(kernel.simd_size);
      CAPTURE(kernel.grf_count);
      const Kernel made = need(module.module->kernel(kernel.name.c_str()));
      const auto properties = need(made.get().properties());
      if (properties.max_group_size) CHECK(max_group_size(kernel, limits) == *properties.max_group_size);
    }
  }
}

TEST_CASE("static and dynamic SLM together: the check agrees with the driver around the limit") {
  Setup setup;
  const std::uint64_t limit = device().compute.slm_per_group, own = 4096;
  const std::uint32_t words = 0;
  std::vector<std::uint64_t> sizes{4, 16, 1024, limit / 2, limit - 4, limit, limit + 4, 2 * limit, 1 << 20};
  for (const std::int64_t delta : {-1028, -1024, -1023, -4, -1, 0, 1, 4, 1020, 1024, 1025})
    sizes.push_back(limit - own + delta);
  for (const std::uint64_t size : sizes) {
    CAPTURE(size);
    setup.compare("both", {{1}, {16}},
                  std::array<LaunchArgument, 3>{{{ArgumentKind::global_pointer, 8, &setup.address},
                                                 {ArgumentKind::local_pointer, size, nullptr},
                                                 {ArgumentKind::value, 4, &words}}});
  }
}

TEST_CASE("alignment between `__local` arguments: the check agrees with the driver around the limit") {
  Setup setup;
  const std::uint64_t limit = device().compute.slm_per_group;
  for (const std::uint64_t bytes : {1, 15, 16, 17, 1023})
    for (const std::uint64_t words : {4, 1024})
      for (const std::int64_t delta : {-2064, -1025, -1024, -33, -17, -16, -15, -1, 0, 1, 16, 1024}) {
        const std::uint64_t vectors = limit - bytes - words + delta;
        CAPTURE(bytes);
        CAPTURE(words);
        CAPTURE(vectors);
        setup.compare("aligned", {{1}, {16}},
                      std::array<LaunchArgument, 4>{{{ArgumentKind::global_pointer, 8, &setup.address},
                                                     {ArgumentKind::local_pointer, bytes, nullptr},
                                                     {ArgumentKind::local_pointer, vectors, nullptr},
                                                     {ArgumentKind::local_pointer, words, nullptr}}});
      }
}

TEST_CASE("group sizes: the check agrees with the driver") {
  Setup setup;
  const std::uint32_t most = need(setup.bundle.kernel("values"))->limits().max_group_size;
  const std::int8_t a = 0;
  const std::uint16_t b = 0;
  const std::uint32_t c = 0, unused = 0;
  const std::uint64_t d = 0;
  const float e = 0;
  const std::array<float, 4> g{};
  const std::array<std::uint64_t, 2> h{};
  const std::array<LaunchArgument, 9> arguments{{{ArgumentKind::global_pointer, 8, &setup.address},
                                                 {ArgumentKind::value, 1, &a},
                                                 {ArgumentKind::value, 2, &b},
                                                 {ArgumentKind::value, 4, &c},
                                                 {ArgumentKind::value, 8, &d},
                                                 {ArgumentKind::value, 4, &e},
                                                 {ArgumentKind::value, 16, &g},
                                                 {ArgumentKind::value, 16, &h},
                                                 {ArgumentKind::value, 4, &unused}}};
  const Extent extents[] = {{1},           {most},           {most + 1},       {most / 2, 2},
                            {most / 2, 3}, {2, 2, most / 4}, {1, 1, most + 1}, {65536, 65536},
                            {0},           {1, 0},           {16, 1, 0}};
  for (const Extent& extent : extents) {
    CAPTURE(extent.x);
    CAPTURE(extent.y);
    CAPTURE(extent.z);
    setup.compare("values", {{1}, extent}, arguments);
  }
}

TEST_CASE("a required group size is checked each time, though drivers forget it") {
  Setup setup;
  const CheckedKernel& kernel = *need(setup.bundle.kernel("fixed_group"));
  const std::array<LaunchArgument, 1> arguments{{{ArgumentKind::global_pointer, 8, &setup.address}}};
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    CHECK(check_launch(kernel.facts(), kernel.limits(), {{1}, {8, 8, 1}}, arguments) ==
          LaunchVerdict::required_group_size);
    const auto refused = launch(setup.list.get(), kernel, {{1}, {8, 8, 1}}, setup.out);
    REQUIRE(!refused);
    CHECK(refused.error().code() == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  }
  need(launch(setup.list.get(), kernel, {{1}, {8, 4, 2}}, setup.out));
}

TEST_CASE("4 GiB + 16 of SLM is refused, though the driver keeps only the low 32 bits") {
  Setup setup;
  const CheckedKernel& kernel = *need(setup.bundle.kernel("both"));
  const std::uint32_t words = 0;
  const auto refused = launch(setup.list.get(), kernel, {{1}, {16}}, setup.out,
                              LocalMemory{(std::uint64_t{1} << 32) + 16}, words);
  REQUIRE(!refused);
  CHECK(refused.error().code() == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK(refused.error().diagnostic()->code == "K0101");
}

TEST_CASE("zero and many work-groups: the check agrees with the driver") {
  Setup setup;
  const std::array<LaunchArgument, 1> arguments{{{ArgumentKind::global_pointer, 8, &setup.address}}};
  for (const Extent& groups :
       {Extent{0}, Extent{1, 0}, Extent{1, 1, 0}, Extent{UINT32_MAX / 8}, Extent{UINT32_MAX}}) {
    CAPTURE(groups.x);
    setup.compare("fixed_group", {groups, {8, 4, 2}}, arguments);
  }
}

}  // namespace kiln::test
