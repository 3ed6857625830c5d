// SPDX-License-Identifier: MIT
// The C interface under what programs do to it: handles that are none, no memory, many threads, sinks that
// change.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "capi/matmul.hpp"
#include "kiln/log.hpp"
#include "unit/memory_fixture.hpp"

namespace {
// The allocation that fails, counted down on this thread alone; negative: none.
thread_local long fail_at = -1;
bool refuses() { return fail_at >= 0 && fail_at-- == 0; }
}  // namespace

// Not inlined: GCC 12 takes free() for the wrong counterpart.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (!refuses())
    if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return refuses() ? nullptr : std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace kiln::test;

TEST_CASE("every function looks at its first handle before anything else") {
  Caught caught;
  const auto refused = [&](kiln_result result) {
    bad(result, caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
  };
  // A number that was never a handle. Out of a variable, so that no compiler knows it.
  const auto garbage = [](auto handle) {
    return reinterpret_cast<decltype(handle)>(std::uintptr_t{0xdeadbeefcafe});
  };
  kiln_sync sync = KILN_INIT(kiln_sync);
  kiln_launch_info launch = KILN_INIT(kiln_launch_info);
  kiln_extent extent{};
  char byte = 0;
  uint64_t groups = 0;
  const char* name = nullptr;
  const auto each = [&](bool null) {
    const auto bad_device = null ? nullptr : garbage(kiln_device());
    const auto bad_bundle = null ? nullptr : garbage(kiln_bundle());
    const auto bad_kernel = null ? nullptr : garbage(kiln_kernel());
    const auto bad_buffer = null ? nullptr : garbage(kiln_buffer());
    const auto bad_list = null ? nullptr : garbage(kiln_list());
    const auto bad_queue = null ? nullptr : garbage(kiln_queue());
    const auto bad_pool = null ? nullptr : garbage(kiln_event_pool());
    const auto bad_event = null ? nullptr : garbage(kiln_event());
    const auto bad_account = null ? nullptr : garbage(kiln_account());
    kiln_error* const e = caught.out();
    refused(kiln_device_get_info(bad_device, nullptr, e));
    refused(kiln_device_get_native(bad_device, nullptr, caught.out()));
    refused(kiln_device_status(bad_device, caught.out()));
    uint32_t count = 0;
    int fd = -1;
    size_t size = 0;
    void* address = nullptr;
    kiln_ipc_handle ipc{};
    const kiln_region_place place{};
    refused(kiln_device_count(bad_device, &count, caught.out()));
    refused(kiln_device_at(bad_device, 0, Device().out(), caught.out()));
    refused(kiln_device_sub_device_count(bad_device, &count, caught.out()));
    refused(kiln_device_sub_device(bad_device, 0, Device().out(), caught.out()));
    refused(kiln_device_can_access(bad_device, bad_device, &count, caught.out()));
    refused(kiln_device_get_identity(bad_device, nullptr, caught.out()));
    refused(kiln_device_has(bad_device, 0, &count, caught.out()));
    refused(kiln_device_queue_group_count(bad_device, &count, caught.out()));
    refused(kiln_device_get_queue_group(bad_device, 0, nullptr, caught.out()));
    refused(kiln_device_entry_point(bad_device, "zeInit", &address, caught.out()));
    refused(kiln_device_make_resident(bad_device, &byte, 1, caught.out()));
    refused(kiln_device_evict(bad_device, &byte, 1, caught.out()));
    refused(kiln_device_get_external_memory(bad_device, &count, caught.out()));
    refused(kiln_buffer_export_fd(bad_buffer, 0, &fd, caught.out()));
    refused(kiln_buffer_import_fd(bad_device, 0, 1, 0, BufferHandle().out(), caught.out()));
    refused(kiln_buffer_get_ipc(bad_buffer, &ipc, caught.out()));
    refused(kiln_buffer_put_ipc(bad_buffer, &ipc, caught.out()));
    refused(kiln_buffer_open_ipc(bad_device, &ipc, 1, BufferHandle().out(), caught.out()));
    refused(kiln_buffer_import_host(bad_device, &byte, 1, BufferHandle().out(), caught.out()));
    refused(kiln_bundle_global(bad_bundle, "x", &address, &size, caught.out()));
    refused(kiln_bundle_function(bad_bundle, "x", &address, caught.out()));
    refused(kiln_link_modules(&bad_bundle, 1, caught.out()));
    refused(kiln_event_create_with(bad_pool, 0, nullptr, EventHandle().out(), caught.out()));
    refused(kiln_event_create_counter_based(bad_device, nullptr, EventHandle().out(), caught.out()));
    refused(kiln_list_create_with(bad_device, nullptr, List().out(), caught.out()));
    refused(kiln_queue_create_with(bad_device, nullptr, Queue().out(), caught.out()));
    refused(kiln_list_copy_region(bad_list, &byte, &place, &byte, &place, extent, &sync, caught.out()));
    refused(kiln_list_prefetch(bad_list, &byte, 1, caught.out()));
    refused(kiln_list_advise(bad_list, &byte, 1, 0, caught.out()));
    refused(kiln_list_write_timestamp(bad_list, &groups, &sync, caught.out()));
    refused(kiln_list_append(bad_list, &bad_list, 1, &sync, caught.out()));
    refused(kiln_list_host_function(bad_list, nullptr, nullptr, &sync, caught.out()));
    refused(kiln_kernel_what_fits(bad_kernel, &launch, nullptr, caught.out()));
    refused(kiln_buffer_allocate(bad_device, 0, 1, nullptr, BufferHandle().out(), caught.out()));
    refused(kiln_cache_get_counts(null ? nullptr : garbage(kiln_cache()), nullptr, caught.out()));
    refused(kiln_bundle_load(bad_device, "x", nullptr, nullptr, BundleHandle().out(), caught.out()));
    refused(kiln_bundle_load_memory(bad_device, nullptr, 0, nullptr, nullptr, BundleHandle().out(),
                                    caught.out()));
    refused(kiln_bundle_link(bad_device, nullptr, 0, nullptr, nullptr, BundleHandle().out(), caught.out()));
    refused(kiln_bundle_compile(bad_device, nullptr, nullptr, nullptr, BundleHandle().out(), caught.out()));
    refused(kiln_bundle_get_info(bad_bundle, nullptr, caught.out()));
    refused(kiln_bundle_kernel_name(bad_bundle, 0, &name, caught.out()));
    refused(kiln_kernel_create(bad_bundle, "x", KernelHandle().out(), caught.out()));
    refused(kiln_kernel_get_info(bad_kernel, nullptr, caught.out()));
    refused(kiln_kernel_get_argument(bad_kernel, 0, nullptr, caught.out()));
    refused(kiln_kernel_suggest_group_size(bad_kernel, extent, &extent, caught.out()));
    refused(kiln_event_pool_create(bad_device, 1, 0, Pool().out(), caught.out()));
    refused(kiln_event_create(bad_pool, 0, EventHandle().out(), caught.out()));
    refused(kiln_event_wait(bad_event, 0, caught.out()));
    refused(kiln_event_status(bad_event, caught.out()));
    refused(kiln_event_signal(bad_event, caught.out()));
    refused(kiln_event_reset(bad_event, caught.out()));
    refused(kiln_event_get_timestamps(bad_event, nullptr, caught.out()));
    refused(kiln_list_create(bad_device, 0, List().out(), caught.out()));
    refused(kiln_list_barrier(bad_list, &sync, caught.out()));
    refused(kiln_list_copy(bad_list, &byte, &byte, 1, &sync, caught.out()));
    refused(kiln_list_copy_buffer(bad_list, bad_buffer, bad_buffer, &sync, caught.out()));
    refused(kiln_list_fill(bad_list, &byte, &byte, 1, 1, &sync, caught.out()));
    refused(kiln_list_signal(bad_list, bad_event, caught.out()));
    refused(kiln_list_wait(bad_list, nullptr, 0, caught.out()));
    refused(kiln_list_reset_event(bad_list, bad_event, caught.out()));
    refused(kiln_list_synchronize(bad_list, 0, caught.out()));
    refused(kiln_list_close(bad_list, caught.out()));
    refused(kiln_list_reset(bad_list, caught.out()));
    refused(kiln_queue_create(bad_device, 0, Queue().out(), caught.out()));
    refused(kiln_queue_execute(bad_queue, &bad_list, 1, caught.out()));
    refused(kiln_queue_synchronize(bad_queue, 0, caught.out()));
    refused(kiln_launch(bad_list, bad_kernel, &launch, caught.out()));
    refused(kiln_max_cooperative_groups(bad_kernel, &launch, &groups, caught.out()));
    refused(kiln_account_get(bad_account, nullptr, caught.out()));
    refused(kiln_account_card(bad_account, 0, nullptr, caught.out()));
    refused(kiln_account_causes(bad_account, nullptr, Findings().out(), caught.out()));
    kiln_account_destroy(bad_account);
    CHECK(kiln_buffer_data(bad_buffer) == nullptr);
    CHECK(kiln_buffer_size(bad_buffer) == 0);
    refused(kiln_list_lend(bad_device, &byte, List().out(), caught.out()));
    refused(kiln_event_lend(bad_device, &byte, EventHandle().out(), caught.out()));
    CHECK(kiln_kernel_native(bad_kernel) == nullptr);
    CHECK(kiln_bundle_native(bad_bundle) == nullptr);
    CHECK(kiln_queue_native(bad_queue) == nullptr);
    CHECK(kiln_list_native(bad_list) == nullptr);
    CHECK(kiln_event_native(bad_event) == nullptr);
    kiln_device_destroy(bad_device);
    kiln_bundle_destroy(bad_bundle);
    kiln_kernel_destroy(bad_kernel);
    kiln_buffer_destroy(bad_buffer);
    kiln_list_destroy(bad_list);
    kiln_queue_destroy(bad_queue);
    kiln_event_pool_destroy(bad_pool);
    kiln_event_destroy(bad_event);
  };
  each(true);
  each(false);
}

TEST_CASE("no lack of memory ends an account") {
  const Machine files(KILN_TEST_DATA "/memory/others.txt");
  const std::string root = files.root();
  int failed = 0;
  for (long nth = 0; nth < 100000; ++nth) {
    kiln_account_options options = KILN_INIT(kiln_account_options);
    options.root = root.c_str();
    kiln_account account = nullptr;
    kiln_findings findings = nullptr;
    kiln_error error = nullptr;
    fail_at = nth;
    kiln_result result = kiln_account_take(&options, &account, &error);
    if (!result) result = kiln_account_causes(account, nullptr, &findings, &error);
    const bool reached = std::exchange(fail_at, -1) < 0;
    CHECK((result == KILN_SUCCESS) == (error == nullptr));
    CHECK((result == KILN_SUCCESS || result == KILN_ERROR_OUT_OF_HOST_MEMORY));
    failed += result != KILN_SUCCESS;
    kiln_error_destroy(error);
    kiln_findings_destroy(findings);
    kiln_account_destroy(account);
    if (!reached) break;
  }
  CHECK(failed > 10);
}

TEST_CASE("no lack of memory leaves as an exception") {
  kiln_result_name(KILN_SUCCESS);  // what is made once is there
  int failed = 0;
  const auto with_lack = [&](auto work) {
    for (long nth = 0;; ++nth) {
      fail_at = nth;
      const bool done = work();
      const bool reached = fail_at < 0;
      fail_at = -1;
      failed += !done;
      if (!reached) return;
      REQUIRE(nth < 100000);
    }
  };
  std::ifstream stream(kMatmul, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  with_lack([&] {
    kiln_error error = nullptr;
    kiln_file file = nullptr;
    kiln_findings findings = nullptr;
    kiln_result result = kiln_file_from_memory("m", bytes.data(), bytes.size(), &file, &error);
    if (result == KILN_SUCCESS) result = kiln_check(file, 0, 0, "pvc", nullptr, &findings, &error);
    const bool told = (result == KILN_SUCCESS) == (error == nullptr);
    const bool right = result == KILN_SUCCESS || result == KILN_ERROR_OUT_OF_HOST_MEMORY;
    const std::string_view text = kiln_error_text(error), json = kiln_error_json(error);
    const bool texts = result == KILN_SUCCESS || (!text.empty() && *kiln_error_code(error) == 0);
    fail_at = fail_at < 0 ? -1 : fail_at;
    const long meanwhile = std::exchange(fail_at, -1);
    CHECK((result == KILN_SUCCESS || has_all_members(std::string(json))));
    fail_at = meanwhile;
    kiln_error_destroy(error);
    kiln_findings_destroy(findings);
    kiln_file_destroy(file);
    fail_at = fail_at < 0 ? -1 : fail_at;
    const long left = std::exchange(fail_at, -1);
    CHECK(told);
    CHECK(right);
    CHECK(texts);
    fail_at = left;
    return result == KILN_SUCCESS;
  });
  CHECK(failed > 10);
}

TEST_CASE("no lack of memory leaves a sink, which gets its line all the same") {
  static char line[6000];  // for the whole of the longer, where memory cannot be made to lack
  static size_t line_size = 0;
  Caught caught;
  const auto take = [](void*, uint32_t, const char* message, size_t size) {
    line_size = std::min(size, sizeof line - 1);
    std::memcpy(line, message, line_size + 1);
  };
  good(kiln_set_log_sink(take, nullptr, caught.out()), caught);
  const kiln::LogTarget target = kiln::replace_log_sink({});
  const std::string shorter(100, 's'), longer(5000, 'l');
  for (const std::string& message : {shorter, longer}) {
    fail_at = 0;
    target.sink(target.user, kiln::LogLevel::info, message);
    fail_at = -1;
    CHECK(line_size > 0);
    CHECK(message.starts_with(std::string(line, line_size)));
    CHECK(line[line_size] == 0);
  }
  target.sink(target.user, kiln::LogLevel::info, std::string(1999, 'x'));
  CHECK(std::string(line) == std::string(1999, 'x'));
  kiln::replace_log_sink(target);
  good(kiln_set_log_sink(nullptr, nullptr, caught.out()), caught);
}

TEST_CASE("handles of many threads keep apart") {
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (int& mine : wrong)
    threads.emplace_back([&mine] {
      for (int round = 0; round < 300; ++round) {
        std::array<kiln_file, 20> files{};
        for (std::size_t i = 0; i < files.size(); ++i)
          mine += kiln_file_from_memory("x", "abc", i % 4, &files[i], nullptr) != KILN_SUCCESS;
        for (std::size_t i = 0; i < files.size(); ++i) {
          uint32_t count = 0;
          mine += kiln_file_part_count(files[i], &count, nullptr) != KILN_SUCCESS;
          kiln_file_destroy(files[i]);
          mine += kiln_file_part_count(files[i], &count, nullptr) != KILN_ERROR_INVALID_NULL_HANDLE;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
}

TEST_CASE("a sink that is replaced comes back, and gets nothing meanwhile") {
  static int first = 0, second = 0;
  Caught caught;
  const auto say = [] {
    kiln_cache_options options = KILN_INIT(kiln_cache_options);
    options.folder = "/dev/null/kiln";
    CacheHandle cache;
    REQUIRE(kiln_cache_open(&options, cache.out(), nullptr) == KILN_SUCCESS);
  };
  const auto count = [](void* user, uint32_t, const char*, size_t) { ++*static_cast<int*>(user); };
  // One of C++, which C puts back as it was.
  kiln::set_log_sink([](void* user, kiln::LogLevel, std::string_view) { ++*static_cast<int*>(user); },
                     &first);
  static kiln_log_sink before = nullptr;
  static void* before_user = nullptr;
  good(kiln_replace_log_sink(count, &second, &before, &before_user, caught.out()), caught);
  say();
  CHECK(first == 0);
  CHECK(second == 1);
  kiln_log_sink own = nullptr;
  void* own_user = nullptr;
  good(kiln_replace_log_sink(before, before_user, &own, &own_user, caught.out()), caught);
  say();
  CHECK(first == 1);
  CHECK(second == 1);
  CHECK((own == +count));
  CHECK(own_user == &second);
  good(kiln_replace_log_sink(nullptr, nullptr, nullptr, nullptr, caught.out()), caught);
  say();
  CHECK(first == 1);
}

TEST_CASE("log lines come with their size and a zero") {
  static std::string last;
  Caught caught;
  good(kiln_set_log_sink(
           [](void* user, uint32_t level, const char* message, size_t size) {
             last = *static_cast<const char*>(user) + std::to_string(level) + std::string(message, size);
             CHECK(message[size] == 0);
           },
           const_cast<char*>("u"), caught.out()),
       caught);
  // A cache whose folder is nobody's to use says so.
  kiln_cache_options options = KILN_INIT(kiln_cache_options);
  options.folder = "/dev/null/kiln";
  CacheHandle cache;
  good(kiln_cache_open(&options, cache.out(), caught.out()), caught);
  CHECK(last.starts_with("u"));
  good(kiln_set_log_sink(nullptr, nullptr, caught.out()), caught);
  kiln_cache_counts counts = KILN_INIT(kiln_cache_counts);
  good(kiln_cache_get_counts(cache, &counts, caught.out()), caught);
  CHECK(counts.stored == 0);
}
