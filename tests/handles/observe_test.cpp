// SPDX-License-Identifier: MIT
// Observers against the fake driver: what they are told, how often, and what is left of one that was
// replaced.
#include "kiln/observe.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "kiln/bundle.hpp"
#include "kiln/cooperative.hpp"
#include "support/stub_driver.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

/// What was told of compilations, refusals and allocations, until it goes.
class Watch {
 public:
  struct Refusal {
    Refused what;
    std::string code;
  };
  struct Compilation {
    std::uint64_t number;
    CompilationStep step;
    std::string name;
    bool ended;
    ze_result_t code;
  };

  Watch() {
    replace_compilation_observer({[](void* user, const CompilationNews& news) {
                                    auto& self = *static_cast<Watch*>(user);
                                    self.compilations.push_back({news.number, news.step,
                                                                 std::string(news.name), news.ended,
                                                                 news.code});
                                    if (!news.ended) self.cancel = news.cancel;
                                    if (self.cancels_at_once) self.cancel.request_stop();
                                  },
                                  this});
    replace_refusal_observer({[](void* user, Refused what, const Error& error) {
                                const Diagnostic* const why = error.diagnostic();
                                static_cast<Watch*>(user)->refusals.push_back({what, why ? why->code : ""});
                              },
                              this});
    replace_allocation_observer({[](void* user, const AllocationNews& news) {
                                   static_cast<Watch*>(user)->allocations.push_back(news);
                                 },
                                 this});
  }
  Watch(const Watch&) = delete;
  ~Watch() {
    CHECK(replace_compilation_observer({}).user == this);
    CHECK(replace_refusal_observer({}).user == this);
    CHECK(replace_allocation_observer({}).user == this);
  }

  /// The only refusal since the last question.
  Refusal one() {
    REQUIRE(refusals.size() == 1);
    const Refusal only = refusals.front();
    refusals.clear();
    return only;
  }

  std::vector<Compilation> compilations;
  std::vector<Refusal> refusals;
  std::vector<AllocationNews> allocations;
  std::stop_source cancel{std::nostopstate};
  bool cancels_at_once = false;
};

std::vector<KernelFile> table_file() {
  return {{"slm_table.spv", read_file(std::filesystem::path(KILN_TEST_SPIRV) / "slm_table.spv")}};
}

OpenDevice open(StubDriver& stub) {
  auto device = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(device);
  return *std::move(device);
}

}  // namespace

TEST_CASE("each allocation is told behind the driver's call, and its end before the other") {
  StubDriver stub;
  const OpenDevice device = open(stub);
  const ContextRef context = device.context.get();
  Watch watch;
  const void* shared = nullptr;
  {
    const auto on_device = context.allocate_device(device.device, 100);
    const auto on_host = context.allocate_host(200);
    auto both = context.allocate_shared(device.device, 300);
    REQUIRE((on_device && on_host && both));
    REQUIRE(watch.allocations.size() == 3);
    CHECK(watch.allocations[0].data == on_device->data());
    CHECK(watch.allocations[0].size == 100);
    CHECK(watch.allocations[0].kind == MemoryKind::device);
    CHECK(watch.allocations[1].kind == MemoryKind::host);
    CHECK(watch.allocations[2].kind == MemoryKind::shared);
    for (const AllocationNews& each : watch.allocations) {
      CHECK_FALSE(each.freed);
      CHECK(each.context == context.raw());
    }
    shared = both->data();
    both->reset();
    both->reset();
  }
  REQUIRE(watch.allocations.size() == 6);
  CHECK(watch.allocations[3].freed);
  CHECK(watch.allocations[3].data == shared);
  CHECK(watch.allocations[3].size == 300);
  CHECK(watch.allocations[3].kind == MemoryKind::shared);

  SUBCASE("an address is not told twice without its end") {
    static std::size_t frees;
    frees = SIZE_MAX;
    replace_allocation_observer({[](void* user, const AllocationNews& news) {
                                   if (news.freed)
                                     frees = static_cast<StubDriver*>(user)->calls(Call::zeMemFree);
                                 },
                                 &stub});
    const std::size_t before = stub.calls(Call::zeMemFree);
    CHECK(context.allocate_host(1).has_value());
    CHECK(frees == before);
    replace_allocation_observer({nullptr, &watch});
  }
  SUBCASE("refused, it is a refusal and nothing else") {
    CHECK_FALSE(context.allocate_host(0));
    CHECK(watch.one().code == "K0204");
    stub.fail(Call::zeMemAllocDevice, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK_FALSE(context.allocate_device(device.device, 100));
    const Watch::Refusal refusal = watch.one();
    CHECK(refusal.what == Refused::allocation);
    CHECK(refusal.code == "K0214");
    CHECK(watch.allocations.size() == 6);
  }
}

TEST_CASE("each refusal is told once, with its diagnostic") {
  StubDriver stub;
  stub.compute.maxSharedLocalMemory = 65536;
  stub.compute.maxTotalGroupSize = 1024;
  const OpenDevice device = open(stub);
  Watch watch;
  CHECK_FALSE(Bundle::load(device, std::vector<KernelFile>()));
  Watch::Refusal refusal = watch.one();
  CHECK(refusal.what == Refused::build);
  CHECK(refusal.code == "K0202");
  CHECK_FALSE(Bundle::load(device, std::filesystem::path("no such/kernel")));
  CHECK(watch.one().code == "K0201");
  CHECK_FALSE(Bundle::link(device, {}));
  CHECK(watch.one().what == Refused::build);
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  CHECK_FALSE(Bundle::load(device, table_file()));
  CHECK(watch.one().code == "K0210");

  auto bundle = Bundle::load(device, table_file());
  REQUIRE(bundle);
  stub.fail(Call::zeKernelCreate, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
  CHECK_FALSE(bundle->kernel("none"));
  refusal = watch.one();
  CHECK(refusal.what == Refused::kernel);
  CHECK(refusal.code == "K0208");

  const auto kernel = bundle->kernel("strided");
  REQUIRE(kernel);
  const CommandListRef list = stub.new_handle<ze_command_list_handle_t>();
  const std::vector<LaunchArgument> none;
  CHECK_FALSE(launch_with(list, **kernel, {{1}, {4096}}, none));
  CHECK(watch.one().what == Refused::launch);
  CHECK_FALSE(launch_cooperative_with(list, **kernel, {{1}, {4096}}, none));
  CHECK(watch.one().what == Refused::launch);
  CHECK(watch.allocations.empty());
}

TEST_CASE("a compilation is told when it begins and when it has ended") {
  StubDriver stub;
  const OpenDevice device = open(stub);
  Watch watch;
  REQUIRE(Bundle::load(device, table_file()));
  REQUIRE(watch.compilations.size() == 2);
  CHECK(watch.compilations[0].number == watch.compilations[1].number);
  CHECK(watch.compilations[0].name == "slm_table.spv");
  CHECK(watch.compilations[0].step == CompilationStep::code);
  CHECK_FALSE(watch.compilations[0].ended);
  CHECK(watch.compilations[1].ended);
  CHECK(watch.compilations[1].code == ZE_RESULT_SUCCESS);
  watch.cancel.request_stop();  // which does nothing any more

  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  CHECK_FALSE(Bundle::load(device, table_file()));
  REQUIRE(watch.compilations.size() == 4);
  CHECK(watch.compilations[2].number > watch.compilations[0].number);
  CHECK(watch.compilations[3].code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
}

TEST_CASE("who was set while a compilation ran hears nothing of it") {
  StubDriver stub;
  const OpenDevice device = open(stub);
  struct Late {
    std::vector<bool> ended;
    static void call(void* user, const CompilationNews& news) {
      static_cast<Late*>(user)->ended.push_back(news.ended);
    }
  } late;
  Watch watch;
  CompilationObserver before;
  stub.on_build = [&] { before = replace_compilation_observer({Late::call, &late}); };
  REQUIRE(Bundle::load(device, table_file()));
  stub.on_build = nullptr;
  CHECK(late.ended.empty());
  CHECK(watch.compilations.size() == 1);
  REQUIRE(Bundle::load(device, table_file()));
  CHECK(late.ended == std::vector{false, true});
  replace_compilation_observer(before);
}

TEST_CASE("a compilation that is cancelled makes nothing, and nothing else is tried") {
  StubDriver stub;
  const OpenDevice device = open(stub);
  Watch watch;
  std::vector<KernelFile> files = table_file();
  files.push_back(table_file().front());
  const auto cancelled = [&] {
    const auto bundle = Bundle::load(device, files);
    REQUIRE_FALSE(bundle);
    CHECK(bundle.error().code() == ZE_RESULT_NOT_READY);
    CHECK(watch.one().code == "K0423");
    REQUIRE(watch.compilations.size() == 2);
    CHECK(watch.compilations[1].code == ZE_RESULT_NOT_READY);
  };
  SUBCASE("before it begins") {
    watch.cancels_at_once = true;
    cancelled();
    CHECK(stub.calls(Call::zeModuleCreate) == 0);
  }
  SUBCASE("while it runs in this process") {
    stub.on_build = [&] { watch.cancel.request_stop(); };
    cancelled();
    CHECK(stub.calls(Call::zeModuleCreate) == 1);
    CHECK(stub.calls(Call::zeModuleDestroy) == 1);
  }
}

TEST_CASE("an observer that was replaced is called no more") {
  StubDriver stub;
  stub.recording = false;
  const OpenDevice device = open(stub);
  struct Count {
    std::atomic<bool> gone = false;
    std::atomic<int> calls = 0, late = 0;
    static void call(void* user, Refused, const Error&) {
      auto& counted = *static_cast<Count*>(user);
      ++counted.calls;
      std::this_thread::yield();
      counted.late += counted.gone;
    }
  };
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop) (void)device.context->allocate_host(0);
    });
  Count counts[50];
  for (Count& each : counts) {
    const RefusalObserver before = replace_refusal_observer({Count::call, &each});
    if (before.user) static_cast<Count*>(before.user)->gone = true;
    while (each.calls < 10) std::this_thread::yield();
  }
  CHECK(replace_refusal_observer({}).user == &counts[49]);
  stop = true;
  threads.clear();
  for (const Count& each : counts) CHECK(each.late == 0);
}

TEST_CASE("an observer may do what it watches, and replace itself") {
  StubDriver stub;
  const OpenDevice device = open(stub);
  static int calls;
  calls = 0;
  replace_refusal_observer({[](void* user, Refused, const Error&) {
                              if (++calls == 1)
                                (void)static_cast<const OpenDevice*>(user)->context->allocate_host(0);
                              if (calls == 2) replace_refusal_observer({});
                            },
                            const_cast<OpenDevice*>(&device)});
  (void)device.context->allocate_host(0);
  (void)device.context->allocate_host(0);
  CHECK(calls == 2);
}
