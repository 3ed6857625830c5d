// SPDX-License-Identifier: MIT
// The C interface on the device that KILN_DEVICE names: answers, refusals, and any order of ends.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "capi/capi.hpp"
#include "kiln/context.hpp"

using namespace kiln::test;

namespace {

constexpr uint32_t kCount = 1000;

struct Saxpy {
  Device device;
  BundleHandle bundle;
  KernelHandle kernel;
  BufferHandle x, y;
  List list;
  Caught caught;
  float a = 3;
  uint32_t n = kCount;
  std::vector<kiln_argument> arguments;
  kiln_launch_info info = KILN_INIT(kiln_launch_info);

  explicit Saxpy(uint32_t flags = KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS) {
    good(kiln_device_open(nullptr, device.out(), caught.out()), caught);
    good(kiln_bundle_load(device, KILN_TEST_SPIRV "/saxpy", nullptr, nullptr, bundle.out(), caught.out()),
         caught);
    good(kiln_kernel_create(bundle, "saxpy", kernel.out(), caught.out()), caught);
    for (BufferHandle* buffer : {&x, &y})
      good(kiln_buffer_allocate(device, KILN_MEMORY_SHARED, kCount * sizeof(float), nullptr, buffer->out(),
                                caught.out()),
           caught);
    good(kiln_list_create(device, flags, list.out(), caught.out()), caught);
    for (uint32_t i = 0; i < kCount; ++i) data(x)[i] = static_cast<float>(i), data(y)[i] = 1;
    arguments = {kiln_value(&a, sizeof a), kiln_buffer_argument(x.out()), kiln_buffer_argument(y.out()),
                 kiln_value(&n, sizeof n)};
    info.groups.x = 4;
    info.group_size.x = 256;
    info.arguments = arguments.data();
    info.argument_count = 4;
  }
  static float* data(kiln_buffer buffer) { return static_cast<float*>(kiln_buffer_data(buffer)); }
  kiln_result launch() { return kiln_launch(list, kernel, &info, caught.out()); }
  void right(float times = 1) {
    for (uint32_t i = 0; i < kCount; ++i) REQUIRE(data(y)[i] == times * 3 * static_cast<float>(i) + 1);
  }
};

}  // namespace

TEST_CASE("a launch gives the right answer") {
  Saxpy saxpy;
  good(saxpy.launch(), saxpy.caught);
  saxpy.right();
  // The same with addresses in place of buffers.
  void* const addresses[] = {kiln_buffer_data(saxpy.x), kiln_buffer_data(saxpy.y)};
  saxpy.arguments[1] = kiln_pointer_argument(&addresses[0]);
  saxpy.arguments[2] = kiln_pointer_argument(&addresses[1]);
  good(saxpy.launch(), saxpy.caught);
  saxpy.right(2);
}

TEST_CASE("the device, bundle and kernel tell what they are") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  kiln_device_info device = KILN_INIT(kiln_device_info);
  good(kiln_device_get_info(saxpy.device, &device, caught.out()), caught);
  CHECK(std::strlen(device.name) > 0);
  CHECK(device.slm_per_group >= 65536);
  CHECK(device.max_group_size >= 256);
  CHECK(device.memory > 0);
  CHECK(device.sub_group_size_count > 0);
  good(kiln_device_status(saxpy.device, caught.out()), caught);
  kiln_native_device native = KILN_INIT(kiln_native_device);
  good(kiln_device_get_native(saxpy.device, &native, caught.out()), caught);
  CHECK(native.driver != nullptr);
  CHECK(native.device != nullptr);
  CHECK(native.context != nullptr);
  CHECK(kiln_kernel_native(saxpy.kernel) != nullptr);
  CHECK(kiln_list_native(saxpy.list) != nullptr);
  CHECK(kiln_bundle_native(saxpy.bundle) != nullptr);
  Queue queue;
  good(kiln_queue_create(saxpy.device, 0, queue.out(), caught.out()), caught);
  CHECK(kiln_queue_native(queue) != nullptr);
  kiln_bundle_info bundle = KILN_INIT(kiln_bundle_info);
  good(kiln_bundle_get_info(saxpy.bundle, &bundle, caught.out()), caught);
  CHECK(bundle.file == std::string("saxpy.spv"));
  CHECK(bundle.origin == KILN_ORIGIN_JIT);
  CHECK(bundle.fit == KILN_FIT_SPIRV);
  CHECK(bundle.build_time > 0);
  REQUIRE(bundle.kernels == 1);
  const char* name = nullptr;
  good(kiln_bundle_kernel_name(saxpy.bundle, 0, &name, caught.out()), caught);
  CHECK(name == std::string("saxpy"));
  bad(kiln_bundle_kernel_name(saxpy.bundle, 1, &name, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  kiln_kernel_info kernel = KILN_INIT(kiln_kernel_info);
  good(kiln_kernel_get_info(saxpy.kernel, &kernel, caught.out()), caught);
  CHECK(kernel.arguments == 4);
  kiln_argument_info argument = KILN_INIT(kiln_argument_info);
  good(kiln_kernel_get_argument(saxpy.kernel, 0, &argument, caught.out()), caught);
  CHECK(argument.kind == KILN_ARGUMENT_VALUE);
  CHECK(argument.size == 4);
  kiln_extent size{};
  good(kiln_kernel_suggest_group_size(saxpy.kernel, {kCount, 0, 0}, &size, caught.out()), caught);
  CHECK(size.x >= 1);
  bad(kiln_kernel_suggest_group_size(saxpy.kernel, {}, &size, caught.out()), caught, KILN_ERROR_INVALID_SIZE,
      "K0903");
}

TEST_CASE("what does not fit is refused as in C++") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  saxpy.info.group_size.x = 1 << 20;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_GROUP_SIZE_DIMENSION, "K0102");
  CHECK(kiln_error_call(caught.get()) == std::string("zeKernelSetGroupSize"));
  saxpy.info.group_size.x = 0;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ARGUMENT, "K0104");
  saxpy.info.group_size.x = 256;
  saxpy.info.argument_count = 3;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "K0106");
  saxpy.info.argument_count = 4;
  const double wide = 3;
  saxpy.arguments[0] = kiln_value(&wide, sizeof wide);
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "K0108");
  saxpy.arguments[0] = kiln_local_argument(64);
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "K0107");
  saxpy.arguments[0] = kiln_value(nullptr, sizeof saxpy.a);
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  saxpy.arguments[0] = kiln_value(&saxpy.a, sizeof saxpy.a);
  saxpy.arguments[0].kind = 77;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  saxpy.arguments[0].kind = KILN_ARGUMENT_VALUE;
  saxpy.info.flags = 1u << 31;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  saxpy.info.flags = 0;
  saxpy.info.wait_count = 1;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  const kiln_event none = nullptr;
  saxpy.info.wait = &none;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
  saxpy.info.wait_count = ~0u;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  saxpy.info.wait_count = 0;
  saxpy.info.argument_count = ~0u;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  saxpy.info.argument_count = 4;
  saxpy.info.arguments = nullptr;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  saxpy.info.arguments = saxpy.arguments.data();
  // A buffer that was destroyed, and then another in its slot.
  saxpy.x.reset();
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
  const int value = 0;
  const void* const host = &value;
  saxpy.arguments[1] = kiln_pointer_argument(const_cast<void* const*>(&host));
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ARGUMENT, "K0229");
  bad(kiln_kernel_create(saxpy.bundle, "sax", KernelHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_KERNEL_NAME, "K0208");
  bad(kiln_bundle_load(saxpy.device, "nowhere", nullptr, nullptr, BundleHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0201");
}

TEST_CASE("memory: refusals, alignment and copies") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  const auto allocate = [&](uint32_t kind, size_t size, uint64_t alignment = 0, uint32_t flags = 0) {
    BufferHandle buffer;
    kiln_buffer_options options = KILN_INIT(kiln_buffer_options);
    options.alignment = alignment;
    options.flags = flags;
    const kiln_result result =
        kiln_buffer_allocate(saxpy.device, kind, size, &options, buffer.out(), caught.out());
    CHECK((result == KILN_SUCCESS) == (kiln_buffer(buffer) != nullptr));
    if (result == KILN_SUCCESS && alignment)
      CHECK(reinterpret_cast<std::uintptr_t>(kiln_buffer_data(buffer)) % alignment == 0);
    return result;
  };
  good(allocate(KILN_MEMORY_DEVICE, 100, 4096), caught);
  good(allocate(KILN_MEMORY_HOST, 100, 128), caught);
  bad(allocate(KILN_MEMORY_SHARED, 0), caught, KILN_ERROR_UNSUPPORTED_SIZE, "K0204");
  bad(allocate(KILN_MEMORY_SHARED, 16, 3), caught, KILN_ERROR_UNSUPPORTED_ALIGNMENT, "K0205");
  bad(allocate(KILN_MEMORY_DEVICE, SIZE_MAX), caught, KILN_ERROR_UNSUPPORTED_SIZE, "K0207");
  bad(allocate(3, 16), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  bad(allocate(0, 16, 0, 1u << 7), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  CHECK(kiln_buffer_size(saxpy.x) == kCount * sizeof(float));

  const float seven = 7;
  good(kiln_list_fill(saxpy.list, kiln_buffer_data(saxpy.x), &seven, sizeof seven, kCount * sizeof seven,
                      nullptr, caught.out()),
       caught);
  good(kiln_list_copy_buffer(saxpy.list, saxpy.y, saxpy.x, nullptr, caught.out()), caught);
  CHECK(Saxpy::data(saxpy.y)[kCount - 1] == 7);
  float one = 0;
  good(kiln_list_copy(saxpy.list, &one, kiln_buffer_data(saxpy.y), sizeof one, nullptr, caught.out()),
       caught);
  CHECK(one == 7);
  BufferHandle small;
  good(kiln_buffer_allocate(saxpy.device, KILN_MEMORY_DEVICE, 4, nullptr, small.out(), caught.out()), caught);
  bad(kiln_list_copy_buffer(saxpy.list, small, saxpy.x, nullptr, caught.out()), caught,
      KILN_ERROR_UNSUPPORTED_SIZE, "K0206");
  bad(kiln_list_copy(saxpy.list, nullptr, &one, 4, nullptr, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0222");
  bad(kiln_list_fill(saxpy.list, kiln_buffer_data(saxpy.x), &seven, 3, 12, nullptr, caught.out()), caught,
      KILN_ERROR_INVALID_SIZE, "K0226");
  bad(kiln_list_fill(saxpy.list, kiln_buffer_data(saxpy.x), nullptr, 4, 12, nullptr, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
}

TEST_CASE("a list on a queue, with events and their times") {
  Saxpy saxpy(0);
  Caught& caught = saxpy.caught;
  Pool pool;
  EventHandle first, second;
  Queue queue;
  good(kiln_event_pool_create(saxpy.device, 2, KILN_EVENTS_TIMESTAMPS, pool.out(), caught.out()), caught);
  bad(kiln_event_pool_create(saxpy.device, 0, 0, Pool().out(), caught.out()), caught, KILN_ERROR_INVALID_SIZE,
      "K0223");
  bad(kiln_event_pool_create(saxpy.device, 1, 8, Pool().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ENUMERATION, "K0903");
  good(kiln_event_create(pool, 0, first.out(), caught.out()), caught);
  good(kiln_event_create(pool, 1, second.out(), caught.out()), caught);
  bad(kiln_event_create(pool, 2, EventHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  good(kiln_queue_create(saxpy.device, 0, queue.out(), caught.out()), caught);
  CHECK(kiln_event_status(first, caught.out()) == KILN_NOT_READY);
  CHECK(caught.get() == nullptr);
  CHECK(kiln_event_wait(first, 1, caught.out()) == KILN_NOT_READY);
  CHECK(caught.get() == nullptr);

  const kiln_event waited = first;
  saxpy.info.signal = first;
  good(saxpy.launch(), caught);
  saxpy.info.signal = second;
  saxpy.info.wait = &waited;
  saxpy.info.wait_count = 1;
  good(saxpy.launch(), caught);
  kiln_sync sync = KILN_INIT(kiln_sync);
  good(kiln_list_barrier(saxpy.list, &sync, caught.out()), caught);
  good(kiln_list_close(saxpy.list, caught.out()), caught);
  const kiln_list lists[] = {saxpy.list};
  bad(kiln_queue_execute(queue, lists, 0, caught.out()), caught, KILN_ERROR_INVALID_SIZE, "K0903");
  good(kiln_queue_execute(queue, lists, 1, caught.out()), caught);
  good(kiln_event_wait(second, KILN_FOREVER, caught.out()), caught);
  good(kiln_queue_synchronize(queue, KILN_FOREVER, caught.out()), caught);
  good(kiln_event_status(second, caught.out()), caught);
  saxpy.right(2);
  kiln_timestamps times = KILN_INIT(kiln_timestamps);
  good(kiln_event_get_timestamps(second, &times, caught.out()), caught);
  CHECK(times.global_end >= times.global_start);
  CHECK(times.duration > 0);
  good(kiln_event_reset(second, caught.out()), caught);
  CHECK(kiln_event_status(second, nullptr) == KILN_NOT_READY);
  good(kiln_event_signal(second, caught.out()), caught);
  good(kiln_event_status(second, caught.out()), caught);
  good(kiln_list_reset(saxpy.list, caught.out()), caught);
  good(kiln_list_reset_event(saxpy.list, second, caught.out()), caught);
  good(kiln_list_wait(saxpy.list, &waited, 1, caught.out()), caught);
  good(kiln_list_signal(saxpy.list, second, caught.out()), caught);
  bad(kiln_list_create(saxpy.device, KILN_LIST_SYNCHRONOUS, List().out(), caught.out()), caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0903");
}

TEST_CASE("an engine's own list and event are used, and stay") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  Pool pool;
  EventHandle own;
  good(kiln_event_pool_create(saxpy.device, 1, 0, pool.out(), caught.out()), caught);
  good(kiln_event_create(pool, 0, own.out(), caught.out()), caught);
  {
    List list;
    EventHandle event;
    good(kiln_list_lend(saxpy.device, kiln_list_native(saxpy.list), list.out(), caught.out()), caught);
    good(kiln_event_lend(saxpy.device, kiln_event_native(own), event.out(), caught.out()), caught);
    CHECK(kiln_list_native(list) == kiln_list_native(saxpy.list));
    CHECK(kiln_event_native(event) == kiln_event_native(own));
    saxpy.info.signal = event;
    good(kiln_launch(list, saxpy.kernel, &saxpy.info, caught.out()), caught);
    saxpy.info.group_size.x = 1 << 20;
    bad(kiln_launch(list, saxpy.kernel, &saxpy.info, caught.out()), caught,
        KILN_ERROR_INVALID_GROUP_SIZE_DIMENSION, "K0102");
    saxpy.info.group_size.x = 256;
  }
  good(kiln_event_status(own, caught.out()), caught);
  saxpy.info.signal = nullptr;
  good(saxpy.launch(), caught);
  saxpy.right(2);
  bad(kiln_list_lend(saxpy.device, nullptr, List().out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  bad(kiln_event_lend(saxpy.device, nullptr, EventHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
}

// Run by itself with the CPU driver in the Level Zero loader, as an engine has its devices.
TEST_CASE("of the loader: a device that is lent is of its own kind" * doctest::skip()) {
  Caught caught;
  const auto api = kiln::load_loader();
  REQUIRE(api);
  const auto all = kiln::drivers(**api);
  REQUIRE(all);
  REQUIRE(!all->empty());
  const auto devices = all->front().devices();
  REQUIRE(devices);
  REQUIRE(!devices->empty());
  const auto context = kiln::ContextRef::create(all->front());
  REQUIRE(context);
  kiln_native_device native = KILN_INIT(kiln_native_device);
  native.driver = all->front().raw();
  native.device = devices->front().raw();
  native.context = context->get().raw();
  Device lent;
  good(kiln_device_lend(nullptr, &native, lent.out(), caught.out()), caught);
  kiln_device_info info = KILN_INIT(kiln_device_info);
  good(kiln_device_get_info(lent, &info, caught.out()), caught);
  CHECK(info.kind == KILN_DEVICE_CPU);
}

TEST_CASE("what a struct keeps free is zero") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  const auto refused = [&](kiln_result result) {
    bad(result, caught, KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  };
  kiln_bundle_options bundle = KILN_INIT(kiln_bundle_options);
  kiln_source source = KILN_INIT(kiln_source);
  kiln_buffer_options buffer = KILN_INIT(kiln_buffer_options);
  kiln_event_options event = KILN_INIT(kiln_event_options);
  kiln_sync sync = KILN_INIT(kiln_sync);
  bundle.reserved = source.reserved = buffer.reserved = event.reserved = sync.reserved = 7;
  source.name = "name";
  refused(kiln_bundle_load(saxpy.device, KILN_TEST_SPIRV "/saxpy", &bundle, nullptr, BundleHandle().out(),
                           caught.out()));
  refused(kiln_bundle_compile(saxpy.device, &source, nullptr, nullptr, BundleHandle().out(), caught.out()));
  refused(
      kiln_buffer_allocate(saxpy.device, KILN_MEMORY_SHARED, 4, &buffer, BufferHandle().out(), caught.out()));
  refused(kiln_event_create_counter_based(saxpy.device, &event, EventHandle().out(), caught.out()));
  refused(kiln_list_barrier(saxpy.list, &sync, caught.out()));
  saxpy.info.reserved = 7;
  refused(saxpy.launch());
  saxpy.info.reserved = 0;
  saxpy.arguments[2].reserved = 7;
  bad(saxpy.launch(), caught, KILN_ERROR_INVALID_ENUMERATION, "K0903");
  CHECK(caught.text().starts_with("error[K0903]: `arguments[2]` "));
}

TEST_CASE("a parameter is called by its name") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  const auto named = [&](kiln_result result, const std::string& name) {
    bad(result, caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
    CHECK(caught.text().starts_with("error[K0903]: `" + name + "` "));
  };
  named(kiln_list_wait(saxpy.list, nullptr, 1, caught.out()), "events");
  named(kiln_device_at(saxpy.device, 0, nullptr, caught.out()), "other");
  named(kiln_device_sub_device(saxpy.device, 0, nullptr, caught.out()), "sub_device");
  const kiln_event none = nullptr;
  bad(kiln_list_wait(saxpy.list, &none, ~0u, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  CHECK(caught.text().starts_with("error[K0903]: `count` "));
  saxpy.info.wait_count = 1;
  named(saxpy.launch(), "wait");
  // What the driver alone knows is told in the same members.
  const kiln_ipc_handle none_such{};
  const kiln_result result =
      kiln_buffer_open_ipc(saxpy.device, &none_such, 4, BufferHandle().out(), caught.out());
  REQUIRE(result != KILN_SUCCESS);
  bad(result, caught, result, "");
}

TEST_CASE("objects end in any order") {
  Saxpy saxpy;
  saxpy.device.reset();
  saxpy.bundle.reset();
  good(saxpy.launch(), saxpy.caught);
  saxpy.right();
  saxpy.kernel.reset();
  bad(saxpy.launch(), saxpy.caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
}

TEST_CASE("each thread has a kernel of its own") {
  Saxpy saxpy;
  std::vector<std::thread> threads;
  std::vector<int> wrong(3, -1);
  for (int& mine : wrong)
    threads.emplace_back([&mine, &saxpy, factor = static_cast<float>(&mine - wrong.data())] {
      KernelHandle kernel;
      List list;
      BufferHandle y;
      mine = kiln_kernel_create(saxpy.bundle, "saxpy", kernel.out(), nullptr) != KILN_SUCCESS;
      mine += kiln_list_create(saxpy.device, KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS, list.out(),
                               nullptr) != KILN_SUCCESS;
      mine += kiln_buffer_allocate(saxpy.device, KILN_MEMORY_SHARED, kCount * sizeof(float), nullptr, y.out(),
                                   nullptr) != KILN_SUCCESS;
      if (mine) return;
      for (int round = 0; round < 20; ++round) {
        for (uint32_t i = 0; i < kCount; ++i) Saxpy::data(y)[i] = 1;
        std::vector<kiln_argument> arguments = saxpy.arguments;
        arguments[0] = kiln_value(&factor, sizeof factor);
        arguments[2] = kiln_buffer_argument(y.out());
        kiln_launch_info info = saxpy.info;
        info.arguments = arguments.data();
        mine += kiln_launch(list, kernel, &info, nullptr) != KILN_SUCCESS;
        for (uint32_t i = 0; i < kCount; ++i) mine += Saxpy::data(y)[i] != factor * static_cast<float>(i) + 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(3, 0));
}

TEST_CASE("through the cache the second load compiles nothing") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  char folder[] = "/tmp/kiln-capi-XXXXXX";
  REQUIRE(mkdtemp(folder));
  {
    kiln_cache_options options = KILN_INIT(kiln_cache_options);
    options.folder = folder;
    CacheHandle cache;
    good(kiln_cache_open(&options, cache.out(), caught.out()), caught);
    for (const uint32_t origin : {KILN_ORIGIN_JIT, KILN_ORIGIN_CACHE}) {
      BundleHandle bundle;
      kiln_bundle_options how = KILN_INIT(kiln_bundle_options);
      how.flags = "-cl-fast-relaxed-math";
      good(kiln_bundle_load(saxpy.device, KILN_TEST_SPIRV "/saxpy.spv", &how, cache, bundle.out(),
                            caught.out()),
           caught);
      kiln_bundle_info info = KILN_INIT(kiln_bundle_info);
      good(kiln_bundle_get_info(bundle, &info, caught.out()), caught);
      CHECK(info.origin == origin);
    }
    kiln_cache_counts counts = KILN_INIT(kiln_cache_counts);
    good(kiln_cache_get_counts(cache, &counts, caught.out()), caught);
    CHECK(counts.compilations == 1);
    CHECK(counts.memory_hits == 1);
  }
  REQUIRE(std::system((std::string("rm -r ") + folder).c_str()) == 0);
}

TEST_CASE("bundles from memory, and bad ones") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  BundleHandle bundle;
  const kiln_memory_file hello[] = {{"hello", "hello", 5}};
  CHECK(kiln_bundle_load_memory(saxpy.device, hello, 1, nullptr, nullptr, bundle.out(), caught.out()) ==
        KILN_ERROR_INVALID_NATIVE_BINARY);
  CHECK(caught.code() == "K0202");
  bad(kiln_bundle_load_memory(saxpy.device, nullptr, 1, nullptr, nullptr, bundle.out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  bad(kiln_bundle_load_memory(saxpy.device, hello, 0, nullptr, nullptr, bundle.out(), caught.out()), caught,
      KILN_ERROR_INVALID_SIZE, "K0903");
  const kiln_memory_file none[] = {{nullptr, nullptr, 5}};
  bad(kiln_bundle_load_memory(saxpy.device, none, 1, nullptr, nullptr, bundle.out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  kiln_bundle_options options = KILN_INIT(kiln_bundle_options);
  options.constant_count = 1;
  bad(kiln_bundle_load_memory(saxpy.device, hello, 1, &options, nullptr, bundle.out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  CHECK(kiln_bundle(bundle) == nullptr);
}

TEST_CASE("OpenCL C is compiled with its headers and macros") {
  Saxpy saxpy;
  Caught& caught = saxpy.caught;
  const kiln_named_text headers[] = {{"more.h", "#define MORE 1\n"}};
  const kiln_named_text macros[] = {{"FACTOR", "2"}, {"EMPTY", nullptr}};
  kiln_source source = KILN_INIT(kiln_source);
  source.name = "twice.cl";
  source.text =
      "#include \"more.h\"\n"
      "kernel void twice(global float* y EMPTY) { y[get_global_id(0)] = FACTOR * y[get_global_id(0)] + MORE; "
      "}\n";
  source.headers = headers;
  source.header_count = 1;
  source.macros = macros;
  source.macro_count = 2;
  BundleHandle bundle;
  const auto compile = [&] {
    bundle.reset();
    return kiln_bundle_compile(saxpy.device, &source, nullptr, nullptr, bundle.out(), caught.out());
  };
  for (uint32_t* const count : {&source.header_count, &source.macro_count, &source.folder_count}) {
    const uint32_t before = std::exchange(*count, 1 << 20);
    CHECK(compile() != KILN_SUCCESS);
    CHECK(caught.code() == "K0903");
    *count = before;
  }
  source.name = nullptr;
  bad(compile(), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  source.name = "nowhere.cl";
  const char* const text = std::exchange(source.text, nullptr);
  bad(compile(), caught, KILN_ERROR_INVALID_ARGUMENT, "K0201");
  source.text = text;
  if (compile() != KILN_SUCCESS && caught.code() == "K0405") {
    MESSAGE("no compiler of OpenCL C here");
    return;
  }
  REQUIRE(caught.text() == "");
  KernelHandle twice;
  good(kiln_kernel_create(bundle, "twice", twice.out(), caught.out()), caught);
  saxpy.info.arguments = &saxpy.arguments[2];
  saxpy.info.argument_count = 1;
  saxpy.info.groups.x = kCount / 250;
  saxpy.info.group_size.x = 250;
  good(kiln_launch(saxpy.list, twice, &saxpy.info, caught.out()), caught);
  CHECK(Saxpy::data(saxpy.y)[kCount - 1] == 3);
  source.text = "kernel void twice() { nonsense }";
  bad(compile(), caught, KILN_ERROR_MODULE_BUILD_FAILURE, "K0251");
}

TEST_CASE("how many groups may run at the same time") {
  Saxpy saxpy;
  uint64_t groups = 0;
  good(kiln_max_cooperative_groups(saxpy.kernel, &saxpy.info, &groups, saxpy.caught.out()), saxpy.caught);
  CHECK(groups > 0);
  saxpy.info.flags = KILN_LAUNCH_COOPERATIVE;
  saxpy.info.groups.x = 1;
  good(saxpy.launch(), saxpy.caught);
  saxpy.info.groups.x = 1 << 30;
  bad(saxpy.launch(), saxpy.caught, KILN_ERROR_INVALID_ARGUMENT, "K0120");
}
