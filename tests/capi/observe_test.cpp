// SPDX-License-Identifier: MIT
// Observers of the C interface, modules that are linked after their build, and memory that the program has
// already, on the device that KILN_DEVICE names.
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capi/capi.hpp"

using namespace kiln::test;

namespace {

/// What was told, until it goes.
struct Watch {
  struct Compilation {
    uint64_t number;
    std::string name;
    bool ended;
    kiln_result result;
  };
  std::vector<Compilation> compilations;
  std::vector<std::pair<uint32_t, std::string>> refusals;
  std::vector<kiln_allocation_news> allocations;
  bool cancels = false;
  uint32_t heard = 7;
  Caught caught;

  static void compiled(void* user, const kiln_compilation_news* news) {
    Watch& self = *static_cast<Watch*>(user);
    CHECK(news->struct_size == sizeof *news);
    CHECK((news->ended != 0 || news->log == std::string()));
    self.compilations.push_back({news->number, news->name, news->ended != 0, news->result});
    if (self.cancels && !news->ended) self.heard = kiln_compilation_cancel(news->number);
  }
  static void refused(void* user, uint32_t what, kiln_error error) {
    CHECK(std::strlen(kiln_error_text(error)) > 0);
    static_cast<Watch*>(user)->refusals.emplace_back(what, kiln_error_code(error));
  }
  static void allocated(void* user, const kiln_allocation_news* news) {
    static_cast<Watch*>(user)->allocations.push_back(*news);
  }

  Watch() {
    good(kiln_set_compilation_observer(compiled, this, caught.out()), caught);
    good(kiln_set_refusal_observer(refused, this, caught.out()), caught);
    good(kiln_set_allocation_observer(allocated, this, caught.out()), caught);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    CHECK(kiln_set_compilation_observer(nullptr, nullptr, nullptr) == KILN_SUCCESS);
    CHECK(kiln_set_refusal_observer(nullptr, nullptr, nullptr) == KILN_SUCCESS);
    CHECK(kiln_set_allocation_observer(nullptr, nullptr, nullptr) == KILN_SUCCESS);
  }
};

/// A device, and a bundle of SPIR-V, which is compiled anew each time.
struct Opened {
  Device device;
  Caught caught;
  bool executes = false;

  Opened() {
    good(kiln_device_open(nullptr, device.out(), caught.out()), caught);
    kiln_device_info info = KILN_INIT(kiln_device_info);
    good(kiln_device_get_info(device, &info, caught.out()), caught);
    executes = info.kind != KILN_DEVICE_CAPTURE;
  }
  kiln_result load(BundleHandle& bundle, const char* path, const char* flags = nullptr,
                   bool same_process = false) {
    kiln_bundle_options options = KILN_INIT(kiln_bundle_options);
    options.flags = flags;
    options.same_process = same_process;
    return kiln_bundle_load(device, path, &options, nullptr, bundle.out(), caught.out());
  }
};

constexpr const char* kSaxpy = KILN_TEST_SPIRV "/saxpy.spv";

/// Whole pages of the host.
struct Pages {
  static constexpr size_t kBytes = 16384;
  void* data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ~Pages() { munmap(data, kBytes); }
};

}  // namespace

TEST_CASE("a compilation is told at its start and at its end") {
  Opened opened;
  Watch watch;
  BundleHandle bundle;
  good(opened.load(bundle, kSaxpy), opened.caught);
  REQUIRE(watch.compilations.size() == 2);
  const auto &start = watch.compilations[0], &end = watch.compilations[1];
  CHECK_FALSE(start.ended);
  CHECK(end.ended);
  CHECK(start.number == end.number);
  CHECK(start.number > 0);
  CHECK(start.name == "saxpy.spv");
  CHECK(end.result == KILN_SUCCESS);
  CHECK(kiln_compilation_cancel(end.number) == 0);  // too late
  CHECK(kiln_compilation_cancel(~uint64_t{0}) == 0);
}

TEST_CASE("a compilation is cancelled by its number") {
  Opened opened;
  for (const bool same_process : {false, true}) {
    CAPTURE(same_process);
    Watch watch;
    watch.cancels = true;
    BundleHandle bundle;
    bad(opened.load(bundle, kSaxpy, nullptr, same_process), opened.caught, KILN_NOT_READY, "K0423");
    CHECK(kiln_bundle(bundle) == nullptr);
    CHECK(watch.heard == 1);
    REQUIRE(watch.compilations.size() == 2);
    CHECK(watch.compilations[1].result == KILN_NOT_READY);
    REQUIRE(watch.refusals.size() == 1);
    CHECK(watch.refusals[0] == std::pair<uint32_t, std::string>(KILN_REFUSED_BUILD, "K0423"));
    watch.cancels = false;
    good(opened.load(bundle, kSaxpy, nullptr, same_process), opened.caught);
  }
}

TEST_CASE("who was replaced is told no end, and cancels nothing more") {
  Opened opened;
  struct Left {
    uint64_t number = 0;
    int calls = 0;
    static void call(void* user, const kiln_compilation_news* news) {
      Left& self = *static_cast<Left*>(user);
      ++self.calls;
      self.number = news->number;
      CHECK(kiln_set_compilation_observer(nullptr, nullptr, nullptr) == KILN_SUCCESS);  // from inside
      CHECK(kiln_compilation_cancel(news->number) == 0);
    }
  };
  const auto left = std::make_unique<Left>();
  Caught& caught = opened.caught;
  good(kiln_set_compilation_observer(Left::call, left.get(), caught.out()), caught);
  BundleHandle bundle;
  good(opened.load(bundle, kSaxpy), caught);
  CHECK(left->calls == 1);
  CHECK(left->number > 0);
}

TEST_CASE("each refusal is told once, with the error that the caller gets") {
  Opened opened;
  Caught& caught = opened.caught;
  BundleHandle bundle;
  good(opened.load(bundle, kSaxpy), caught);
  KernelHandle kernel;
  good(kiln_kernel_create(bundle, "saxpy", kernel.out(), caught.out()), caught);
  List list;
  good(kiln_list_create(opened.device, KILN_LIST_IMMEDIATE, list.out(), caught.out()), caught);
  Watch watch;
  BufferHandle none;
  CHECK(kiln_buffer_allocate(opened.device, KILN_MEMORY_HOST, 0, nullptr, none.out(), caught.out()) !=
        KILN_SUCCESS);
  CHECK(kiln_kernel_create(bundle, "sax", KernelHandle().out(), caught.out()) != KILN_SUCCESS);
  kiln_launch_info launch = KILN_INIT(kiln_launch_info);
  launch.groups.x = launch.group_size.x = 1;
  CHECK(kiln_launch(list, kernel, &launch, caught.out()) != KILN_SUCCESS);
  BundleHandle other;
  CHECK(opened.load(other, "nowhere.spv") != KILN_SUCCESS);
  CHECK(kiln_launch(nullptr, kernel, &launch, caught.out()) != KILN_SUCCESS);  // a mistake in C
  const std::vector<std::pair<uint32_t, std::string>> wanted = {{KILN_REFUSED_ALLOCATION, "K0204"},
                                                                {KILN_REFUSED_KERNEL, "K0208"},
                                                                {KILN_REFUSED_LAUNCH, "K0106"},
                                                                {KILN_REFUSED_BUILD, "K0201"}};
  CHECK(watch.refusals == wanted);
}

TEST_CASE("each allocation is told, and its end") {
  Opened opened;
  kiln_native_device native = KILN_INIT(kiln_native_device);
  good(kiln_device_get_native(opened.device, &native, opened.caught.out()), opened.caught);
  Watch watch;
  BufferHandle buffer;
  good(kiln_buffer_allocate(opened.device, KILN_MEMORY_SHARED, 300, nullptr, buffer.out(),
                            opened.caught.out()),
       opened.caught);
  const void* const data = kiln_buffer_data(buffer);
  buffer.reset();
  REQUIRE(watch.allocations.size() == 2);
  for (const kiln_allocation_news& news : watch.allocations) {
    CHECK(news.data == data);
    CHECK(news.size == 300);
    CHECK(news.kind == KILN_MEMORY_SHARED);
    CHECK(news.context == native.context);
  }
  CHECK(watch.allocations[0].freed == 0);
  CHECK(watch.allocations[1].freed == 1);
}

TEST_CASE("observers are set while others compile") {
  Opened opened;
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) Watch();
  });
  for (int i = 0; i < 5; ++i) {
    BundleHandle bundle;
    Caught caught;
    good(kiln_bundle_load(opened.device, kSaxpy, nullptr, nullptr, bundle.out(), caught.out()), caught);
  }
  other.join();
}

TEST_CASE("modules are linked after their build, and end in any order") {
  Opened opened;
  Caught& caught = opened.caught;
  BundleHandle main, part;
  constexpr const char* kFlags = "-library-compilation";
  good(opened.load(main, KILN_TEST_KERNELS "/link_main.spv", kFlags), caught);
  good(opened.load(part, KILN_TEST_KERNELS "/link_part.spv", kFlags), caught);
  const kiln_bundle alone[] = {main}, both[] = {main, part}, none[] = {main, nullptr};
  const kiln_result missing = kiln_link_modules(alone, 1, caught.out());
  CHECK(caught.code() == "K0236");
  if (missing == KILN_ERROR_UNSUPPORTED_FEATURE) return;  // an old loader that intercepts
  CHECK(missing == KILN_ERROR_MODULE_LINK_FAILURE);
  CHECK(caught.text().find("twice") != std::string::npos);
  bad(kiln_link_modules(none, 2, caught.out()), caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
  bad(kiln_link_modules(nullptr, 1, caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  bad(kiln_link_modules(both, 1u << 20, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  good(kiln_link_modules(nullptr, 0, caught.out()), caught);
  good(kiln_link_modules(both, 2, caught.out()), caught);

  KernelHandle kernel;
  good(kiln_kernel_create(main, "doubled", kernel.out(), caught.out()), caught);
  part.reset();  // whose code the kernel calls
  main.reset();
  BufferHandle values;
  good(kiln_buffer_allocate(opened.device, KILN_MEMORY_SHARED, 4 * sizeof(int), nullptr, values.out(),
                            caught.out()),
       caught);
  auto* const words = static_cast<int*>(kiln_buffer_data(values));
  for (int i = 0; i < 4; ++i) words[i] = i + 5;
  List list;
  good(kiln_list_create(opened.device, KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS, list.out(), caught.out()),
       caught);
  kiln_launch_info launch = KILN_INIT(kiln_launch_info);
  const kiln_argument argument = kiln_buffer_argument(values.out());
  launch.groups.x = 1;
  launch.group_size.x = 4;
  launch.arguments = &argument;
  launch.argument_count = 1;
  good(kiln_launch(list, kernel, &launch, caught.out()), caught);
  for (int i = 0; opened.executes && i < 4; ++i) CHECK(words[i] == 2 * (i + 5));
}

TEST_CASE("memory of the host becomes a buffer where the driver does that") {
  Opened opened;
  Caught& caught = opened.caught;
  const Pages pages;
  REQUIRE(pages.data != MAP_FAILED);
  uint32_t has = 2;
  good(kiln_device_has(opened.device, KILN_FEATURE_IMPORT_HOST, &has, caught.out()), caught);
  bad(kiln_buffer_import_host(opened.device, nullptr, 4096, BufferHandle().out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  BufferHandle host;
  const kiln_result result =
      kiln_buffer_import_host(opened.device, pages.data, Pages::kBytes, host.out(), caught.out());
  if (!has || result == KILN_ERROR_UNSUPPORTED_FEATURE) {  // or switched off in the driver
    bad(result, caught, KILN_ERROR_UNSUPPORTED_FEATURE, "K0230");
    return;
  }
  good(result, caught);
  CHECK(kiln_buffer_data(host) == pages.data);
  CHECK(kiln_buffer_size(host) == Pages::kBytes);
  for (const size_t part : {size_t{100}, size_t{0}})
    bad(kiln_buffer_import_host(opened.device, pages.data, part, BufferHandle().out(), caught.out()), caught,
        KILN_ERROR_INVALID_ARGUMENT, "K0237");
  List list;
  good(kiln_list_create(opened.device, KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS, list.out(), caught.out()),
       caught);
  const uint32_t value = 41;
  good(kiln_list_fill(list, kiln_buffer_data(host), &value, sizeof value, Pages::kBytes, nullptr,
                      caught.out()),
       caught);
  if (opened.executes) CHECK(static_cast<uint32_t*>(pages.data)[7] == 41);
  host.reset();
  // It is the program's again.
  static_cast<uint32_t*>(pages.data)[7] = 5;
  good(kiln_buffer_import_host(opened.device, pages.data, Pages::kBytes, host.out(), caught.out()), caught);
}
