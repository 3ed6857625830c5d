// SPDX-License-Identifier: MIT
// Checked launches against the fake driver: what is sent, that a refusal sends nothing, that nothing is
// allocated.
#include "kiln/launch.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <optional>

#include "support/stub_driver.hpp"

namespace {
thread_local std::size_t allocations = 0;  // the library has threads of its own
}

// Every allocation of this executable is counted. Not inlined: GCC 12 takes free() for the wrong counterpart.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace kiln;
using namespace kiln::test;

namespace {

struct Pair {
  std::uint64_t first;
  float second;
};

/// kernel mixed(float a, global x*, struct Pair p, local s*, global y*, uint n)
KernelFacts mixed_facts() {
  KernelFacts facts;
  facts.name = "mixed";
  facts.arguments_known = true;
  facts.arguments = {{ArgumentKind::value, 4, 16, "a"},
                     {ArgumentKind::global_pointer, 8, 16, "x"},
                     {ArgumentKind::value, sizeof(Pair), 16, "p"},
                     {ArgumentKind::local_pointer, 0, 4, "s"},
                     {ArgumentKind::global_pointer, 8, 16, "y"},
                     {ArgumentKind::value, 4, 16, "n"}};
  return facts;
}

struct Fixture {
  explicit Fixture(KernelFacts facts = mixed_facts()) {
    auto made = CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), std::move(facts), compute());
    REQUIRE(made);
    kernel = *std::move(made);
    list = stub.new_handle<ze_command_list_handle_t>();
    stub.forget();
  }
  static ComputeProperties compute() {
    ComputeProperties properties;
    properties.slm_per_group = 65536;
    properties.max_total_group_size = 1024;
    properties.max_group_size = {1024, 1024, 64};
    properties.max_group_count = {UINT32_MAX, 65535, 65535};
    return properties;
  }

  StubDriver stub;
  CheckedKernel kernel;
  CommandListRef list;
};

constexpr Launch kShape{{10, 2, 1}, {64, 2, 1}};
int x_data[4], y_data[4];

}  // namespace

TEST_CASE_FIXTURE(Fixture, "every kind of argument arrives") {
  const Buffer buffer = Buffer::adopt(nullptr, x_data, sizeof x_data, MemoryKind::device);
  const EventRef signal = stub.new_handle<ze_event_handle_t>();
  const EventRef waits[] = {stub.new_handle<ze_event_handle_t>(), stub.new_handle<ze_event_handle_t>()};
  Launch shape = kShape;
  shape.sync = {signal, waits};
  REQUIRE(launch(list, kernel, shape, 2.5f, buffer, Pair{7, 0.5f}, LocalMemory{4096}, y_data + 0,
                 std::uint32_t{99}));

  REQUIRE(stub.arguments.size() == 6);
  for (std::uint32_t i = 0; i < 6; ++i) {
    CHECK(stub.arguments[i].index == i);
    CHECK(stub.arguments[i].kernel == kernel.kernel().raw());
    CHECK(stub.arguments[i].has_value == (i != 3));
  }
  CHECK(stub.arguments[0].as<float>() == 2.5f);
  CHECK(stub.arguments[1].as<void*>() == x_data);
  CHECK(stub.arguments[2].as<Pair>().first == 7);
  CHECK(stub.arguments[2].as<Pair>().second == 0.5f);
  CHECK(stub.arguments[3].size == 4096);
  CHECK(stub.arguments[4].as<int*>() == y_data);
  CHECK(stub.arguments[5].as<std::uint32_t>() == 99);

  REQUIRE(stub.group_sizes.size() == 1);
  CHECK(stub.group_sizes[0].size == std::array<std::uint32_t, 3>{64, 2, 1});
  REQUIRE(stub.launches.size() == 1);
  CHECK(stub.launches[0].list == list.raw());
  CHECK(stub.launches[0].kernel == kernel.kernel().raw());
  CHECK(stub.launches[0].groups == std::array<std::uint32_t, 3>{10, 2, 1});
  CHECK(stub.launches[0].signal == signal.raw());
  CHECK(stub.launches[0].wait == std::vector<const void*>{waits[0].raw(), waits[1].raw()});
  CHECK(stub.all_calls() == 8);
  (void)const_cast<Buffer&>(buffer).release();
}

TEST_CASE_FIXTURE(Fixture, "null pointers, const pointers and host buffers are pointers") {
  HostBuffer host = HostBuffer::adopt(nullptr, y_data, sizeof y_data, HostMemoryKind::shared);
  const float* constant = nullptr;
  REQUIRE(launch(list, kernel, kShape, 1.0f, nullptr, Pair{}, LocalMemory{0}, host, 0u));
  CHECK(stub.arguments[1].size == sizeof(void*));
  CHECK_FALSE(stub.arguments[1].has_value);  // driver 22.43 refuses the address of a null pointer
  CHECK(stub.arguments[4].as<void*>() == y_data);
  CHECK(stub.arguments[3].size == 0);
  REQUIRE(launch(list, kernel, kShape, 1.0f, constant, Pair{}, LocalMemory{0}, Buffer(), 0u));
  CHECK_FALSE(stub.arguments[7].has_value);
  CHECK_FALSE(stub.arguments[10].has_value);
  const float value = 1;
  const Pair pair{};
  const std::uint32_t n = 0;
  void* const address = nullptr;
  const LaunchArgument untyped[] = {
      {ArgumentKind::value, 4, &value},           {ArgumentKind::global_pointer, 8, &address},
      {ArgumentKind::value, sizeof pair, &pair},  {ArgumentKind::local_pointer, 64, nullptr},
      {ArgumentKind::global_pointer, 8, nullptr}, {ArgumentKind::value, 4, &n}};
  REQUIRE(launch_with(list, kernel, kShape, untyped));
  CHECK_FALSE(stub.arguments[13].has_value);
  CHECK_FALSE(stub.arguments[16].has_value);
  CHECK(stub.launches.size() == 3);
  (void)host.release();
}

TEST_CASE("images and samplers are taken as what they are, and never null") {
  StubDriver stub;
  KernelFacts facts;
  facts.name = "blur";
  facts.arguments_known = true;
  facts.arguments = {{ArgumentKind::image, 0, 16, "in"}, {ArgumentKind::sampler, 0, 16, "how"}};
  const auto kernel =
      CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), std::move(facts), Fixture::compute());
  REQUIRE(kernel);
  const CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
  const auto image = stub.new_handle<ze_image_handle_t>();
  const auto sampler = stub.new_handle<ze_sampler_handle_t>();
  stub.forget();
  const auto refused = [&](const char* code, const auto& first, const auto& second) {
    CAPTURE(code);
    const auto answer = launch(list, *kernel, kShape, first, second);
    REQUIRE_FALSE(answer);
    REQUIRE(answer.error().diagnostic());
    CHECK(answer.error().diagnostic()->code == code);
    CHECK(stub.all_calls() == 0);
  };
  refused("K0107", x_data + 0, sampler);
  refused("K0107", Buffer(), sampler);
  refused("K0107", std::uint64_t{7}, sampler);
  refused("K0107", LocalMemory{64}, sampler);
  refused("K0107", nullptr, sampler);
  refused("K0107", sampler, image);
  refused("K0107", image, 1);
  refused("K0121", ze_image_handle_t{}, sampler);
  refused("K0121", image, ze_sampler_handle_t{});
  REQUIRE(launch(list, *kernel, kShape, image, sampler));
  CHECK(stub.arguments[0].as<ze_image_handle_t>() == image);
  CHECK(stub.arguments[1].as<ze_sampler_handle_t>() == sampler);
}

TEST_CASE_FIXTURE(Fixture, "on a refusal the driver hears nothing") {
  const auto refused = [&](const char* code, ze_result_t result, const Result<void>& answer) {
    CAPTURE(code);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == result);
    REQUIRE(answer.error().diagnostic());
    CHECK(answer.error().diagnostic()->code == code);
    // That of the raw sequence which would have failed first.
    const std::string_view number(code + 1);
    const char* call = number >= "0106" && number <= "0108"   ? "zeKernelSetArgumentValue"
                       : number >= "0102" && number <= "0104" ? "zeKernelSetGroupSize"
                                                              : "zeCommandListAppendLaunchKernel";
    CHECK(std::string(answer.error().call()) == call);
    CHECK(stub.all_calls() == 0);
  };
  const auto with = [&](const Launch& shape, auto slm) {
    return launch(list, kernel, shape, 1.0f, x_data + 0, Pair{}, slm, y_data + 0, 1u);
  };
  const LocalMemory slm{64};
  refused("K0101", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, with(kShape, LocalMemory{65537}));
  refused("K0101", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
          with(kShape, LocalMemory{(std::uint64_t{4} << 30) + 16}));
  refused("K0102", ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, with({{}, {1024, 2, 1}}, slm));
  refused("K0104", ZE_RESULT_ERROR_INVALID_ARGUMENT, with({{}, {0, 1, 1}}, slm));
  refused("K0105", ZE_RESULT_ERROR_INVALID_ARGUMENT, with({{1, 65536, 1}, {1, 1, 1}}, slm));
  refused("K0106", ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, launch(list, kernel, kShape));
  refused("K0106", ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, launch(list, kernel, kShape, 1.0f));
  refused("K0107", ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, with(kShape, x_data + 0));
  refused("K0107", ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
          launch(list, kernel, kShape, 1.0f, std::uint64_t{1}, Pair{}, slm, y_data + 0, 1u));
  refused("K0108", ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
          launch(list, kernel, kShape, 1.0, x_data + 0, Pair{}, slm, y_data + 0, 1u));
}

TEST_CASE("a required group size comes from the file or from the driver") {
  for (const bool from_file : {true, false}) {
    CAPTURE(from_file);
    StubDriver stub;
    KernelFacts facts;
    facts.name = "k";
    facts.arguments_known = true;
    if (from_file)
      facts.required_group_size = {32, 2, 1};
    else
      stub.kernel.requiredGroupSizeX = 32, stub.kernel.requiredGroupSizeY = 2,
      stub.kernel.requiredGroupSizeZ = 1;
    const auto kernel =
        CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, Fixture::compute());
    REQUIRE(kernel);
    stub.forget();
    const CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
    for (int call = 0; call < 2; ++call) {
      const auto answer = launch(list, *kernel, {{}, {64, 1, 1}});
      REQUIRE_FALSE(answer);
      CHECK(answer.error().diagnostic()->code == "K0103");
    }
    CHECK(stub.all_calls() == 0);
    CHECK(launch(list, *kernel, {{}, {32, 2, 1}}));
  }
}

TEST_CASE("a kernel that may follow pointers is allowed all kinds of memory, and no other") {
  StubDriver stub;
  const auto create = [&](bool follows) {
    KernelFacts facts = mixed_facts();
    facts.may_follow_pointers = follows;
    stub.indirect_access = 0;
    return CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, Fixture::compute());
  };
  CHECK(create(true));
  CHECK(stub.indirect_access == (ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST | ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                 ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
  CHECK(create(false));
  CHECK(stub.indirect_access == 0);
  CHECK(stub.calls(Call::zeKernelSetIndirectAccess) == 1);
  stub.fail(Call::zeKernelSetIndirectAccess, ZE_RESULT_ERROR_DEVICE_LOST);
  const auto refused = create(true);
  REQUIRE_FALSE(refused);
  CHECK(std::string(refused.error().call()) == "zeKernelSetIndirectAccess");
}

TEST_CASE("limits come from the kernel where the driver knows them") {
  StubDriver stub;
  stub.max_group_size = 256;
  stub.kernel.localMemSize = 1024;
  const auto kernel =
      CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), mixed_facts(), Fixture::compute());
  REQUIRE(kernel);
  CHECK(kernel->limits().max_group_size == 256);
  CHECK(kernel->limits().device_max_group_size == 1024);
  CHECK(kernel->limits().slm_per_group == 65536);
  CHECK(kernel->limits().max_group_extent == Extent{1024, 1024, 64});
  CHECK(kernel->facts().static_slm == 1024);
  stub.refuses_chained = true;
  const auto validated = CheckedKernel::create(kernel->kernel(), mixed_facts(), Fixture::compute());
  REQUIRE(validated);
  CHECK(validated->limits().max_group_size == 1024);
  CHECK(validated->facts().static_slm == 1024);
  stub.fail(Call::zeKernelGetProperties, ZE_RESULT_ERROR_DEVICE_LOST);
  CHECK(CheckedKernel::create(kernel->kernel(), {}, {}).error().code() == ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_CASE("a kernel of which no file tells anything is checked by what the driver says") {
  StubDriver stub;
  stub.kernel.numKernelArgs = 2;
  KernelFacts facts;
  facts.name = "unknown";
  const auto kernel = CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, Fixture::compute());
  REQUIRE(kernel);
  stub.forget();
  const CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
  for (const auto& answer :
       {launch(list, *kernel, kShape, 1.0f), launch(list, *kernel, kShape, 1.0f, 2.0f, 3.0f)}) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().diagnostic()->code == "K0106");
  }
  CHECK(launch(list, *kernel, kShape, LocalMemory{65537}, 1.0f).error().diagnostic()->code == "K0101");
  CHECK(stub.all_calls() == 0);
  CHECK(launch(list, *kernel, kShape, 1.0, LocalMemory{64}));
}

TEST_CASE("a file that lists only some arguments does not say how large a struct is") {
  StubDriver stub;
  stub.kernel.numKernelArgs = 3;
  KernelFacts facts;
  facts.arguments = {{ArgumentKind::value, 8, 16, ""}, {ArgumentKind::global_pointer, 8, 16, ""}};
  const auto kernel = CheckedKernel::create(stub.new_handle<ze_kernel_handle_t>(), facts, Fixture::compute());
  REQUIRE(kernel);
  const CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
  CHECK(launch(list, *kernel, kShape, Pair{}, x_data + 0, 1.0f));
  CHECK(launch(list, *kernel, kShape, Pair{}, 1.0f, 1.0f).error().diagnostic()->code == "K0107");
}

TEST_CASE_FIXTURE(Fixture, "a driver's error ends the launch and names the call") {
  const auto send = [&] {
    return launch(list, kernel, kShape, 1.0f, x_data + 0, Pair{}, LocalMemory{64}, y_data + 0, 1u);
  };
  const auto failed = [&](Call call, std::size_t nth, std::size_t calls) {
    CAPTURE(name_of(call));
    stub.forget();
    stub.fail(call, ZE_RESULT_ERROR_DEVICE_LOST, nth);
    const auto answer = send();
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == ZE_RESULT_ERROR_DEVICE_LOST);
    CHECK(std::string(answer.error().call()) == name_of(call));
    REQUIRE(answer.error().diagnostic());
    CHECK(answer.error().diagnostic()->code == "K0220");
    CHECK(stub.all_calls() == calls);
  };
  failed(Call::zeKernelSetArgumentValue, 1, 1);
  failed(Call::zeKernelSetArgumentValue, 4, 4);
  failed(Call::zeKernelSetGroupSize, 1, 7);
  failed(Call::zeCommandListAppendLaunchKernel, 1, 8);
  CHECK(send());
}

TEST_CASE_FIXTURE(Fixture, "an empty list or event never reaches the driver") {
  const EventRef events[] = {stub.new_handle<ze_event_handle_t>(), {}};
  Launch waiting = kShape;
  waiting.sync.wait = events;
  for (const auto& answer :
       {launch({}, kernel, kShape, 1.0f, x_data + 0, Pair{}, LocalMemory{64}, y_data + 0, 1u),
        launch(list, kernel, waiting, 1.0f, x_data + 0, Pair{}, LocalMemory{64}, y_data + 0, 1u)}) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK(answer.error().diagnostic()->code == "K0222");
  }
  CHECK(stub.all_calls() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a launch allocates nothing unless it is refused") {
  stub.recording = false;
  const EventRef wait = stub.new_handle<ze_event_handle_t>();
  Launch shape = kShape;
  shape.sync = {wait, std::span(&wait, 1)};
  const auto send = [&] {
    return launch(list, kernel, shape, 1.0f, x_data + 0, Pair{}, LocalMemory{64}, y_data + 0, 1u);
  };
  bool good = true;
  const std::size_t before = allocations;
  for (int i = 0; i < 1'000; ++i) good &= send().has_value();
  CHECK(allocations == before);
  CHECK(good);
  CHECK(stub.calls(Call::zeCommandListAppendLaunchKernel) == 1'000);

  // The counter works: an explained refusal does allocate.
  (void)launch(list, kernel, shape);
  CHECK(allocations > before);
}
