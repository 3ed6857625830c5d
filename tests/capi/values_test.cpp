// SPDX-License-Identifier: MIT
// The C interface where no device is needed, the handles, and what comes in wrong.
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "capi/capi.hpp"
#include "kiln/log.hpp"
#include "kiln/result.hpp"
#include "kiln/version.hpp"

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

namespace {

const std::string kMatmul = KILN_TEST_SPIRV "/matmul.spv";

/// matmul's `tiled`, which has two `__local` arguments, the last two of nine.
struct Matmul {
  File file;
  std::array<uint64_t, 9> local{};
  kiln_request request = KILN_INIT(kiln_request);
  Caught caught;

  Matmul() {
    good(kiln_file_read(kMatmul.c_str(), file.out(), caught.out()), caught);
    request.group_size.x = 16;
    request.group_size.y = 16;
    request.local_bytes = local.data();
    request.local_count = 9;
  }
  void tiles(uint64_t bytes) { local[7] = local[8] = bytes; }
};

std::string golden(const char* name) {
  std::ifstream file(KILN_TEST_DATA "/golden/" + std::string(name) + ".txt", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the library tells its version and the names of results") {
  CHECK(kiln_library_version() == KILN_VERSION_NUMBER);
  for (const kiln_result code : {KILN_SUCCESS,
                                 KILN_NOT_READY,
                                 KILN_ERROR_DEVICE_LOST,
                                 KILN_ERROR_OUT_OF_HOST_MEMORY,
                                 KILN_ERROR_OUT_OF_DEVICE_MEMORY,
                                 KILN_ERROR_MODULE_BUILD_FAILURE,
                                 KILN_ERROR_MODULE_LINK_FAILURE,
                                 KILN_ERROR_UNINITIALIZED,
                                 KILN_ERROR_UNSUPPORTED_VERSION,
                                 KILN_ERROR_UNSUPPORTED_FEATURE,
                                 KILN_ERROR_INVALID_ARGUMENT,
                                 KILN_ERROR_INVALID_NULL_HANDLE,
                                 KILN_ERROR_INVALID_NULL_POINTER,
                                 KILN_ERROR_INVALID_SIZE,
                                 KILN_ERROR_UNSUPPORTED_SIZE,
                                 KILN_ERROR_UNSUPPORTED_ALIGNMENT,
                                 KILN_ERROR_INVALID_ENUMERATION,
                                 KILN_ERROR_INVALID_NATIVE_BINARY,
                                 KILN_ERROR_INVALID_KERNEL_NAME,
                                 KILN_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                                 KILN_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                 KILN_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                                 KILN_ERROR_UNKNOWN})
    CHECK(kiln_result_name(code) == kiln::result_name(static_cast<ze_result_t>(code)));
  CHECK(kiln_result_name(KILN_ERROR_INVALID_KERNEL_NAME) ==
        std::string("ZE_RESULT_ERROR_INVALID_KERNEL_NAME"));
  CHECK(kiln_result_name(12345) == std::string("unknown"));
}

TEST_CASE("a file says what its kernels are") {
  Matmul matmul;
  Caught caught;
  uint32_t parts = 0, kernel = 7;
  good(kiln_file_part_count(matmul.file, &parts, caught.out()), caught);
  CHECK(parts == 1);
  kiln_part_info part = KILN_INIT(kiln_part_info);
  good(kiln_file_part(matmul.file, 0, &part, caught.out()), caught);
  CHECK(part.format == KILN_FORMAT_SPIRV);
  CHECK(part.kernels == 1);
  CHECK(part.spirv_version != 0);
  CHECK(part.name == std::string());
  CHECK(part.target == std::string());
  CHECK(part.unreadable == std::string());
  good(kiln_file_find_kernel(matmul.file, 0, "tiled", &kernel, caught.out()), caught);
  CHECK(kernel == 0);
  kiln_kernel_info info = KILN_INIT(kiln_kernel_info);
  good(kiln_file_kernel(matmul.file, 0, 0, &info, caught.out()), caught);
  CHECK(info.name == std::string("tiled"));
  CHECK(info.arguments == 9);
  CHECK((info.flags & KILN_KERNEL_ARGUMENTS_KNOWN) != 0);
  kiln_argument_info argument = KILN_INIT(kiln_argument_info);
  good(kiln_file_argument(matmul.file, 0, 0, 7, &argument, caught.out()), caught);
  CHECK(argument.kind == KILN_ARGUMENT_LOCAL);
  CHECK(argument.name == std::string("a_tile"));
  CHECK(argument.local_alignment == 4);

  bad(kiln_file_find_kernel(matmul.file, 0, "tilde", &kernel, caught.out()), caught,
      KILN_ERROR_INVALID_KERNEL_NAME, "K0208");
  CHECK(caught.text().find("tiled") != std::string::npos);
  bad(kiln_file_part(matmul.file, 1, &part, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  bad(kiln_file_kernel(matmul.file, 0, 1, &info, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  bad(kiln_file_argument(matmul.file, 0, 0, 9, &argument, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  bad(kiln_file_read("nowhere.spv", File().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0201");
}

TEST_CASE("what is no kernel file has a part with the reason") {
  File file;
  Caught caught;
  good(kiln_file_from_memory("x", "hello", 5, file.out(), caught.out()), caught);
  kiln_part_info part = KILN_INIT(kiln_part_info);
  good(kiln_file_part(file, 0, &part, caught.out()), caught);
  CHECK(part.unreadable != std::string());
  CHECK(part.kernels == 0);
  kiln_kernel_info info = KILN_INIT(kiln_kernel_info);
  bad(kiln_file_kernel(file, 0, 0, &info, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  File empty;
  good(kiln_file_from_memory(nullptr, nullptr, 0, empty.out(), caught.out()), caught);
  bad(kiln_file_from_memory("x", nullptr, 5, File().out(), caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
}

TEST_CASE("a kernel is held against a product") {
  Matmul matmul;
  Caught& caught = matmul.caught;
  kiln_target_info target = KILN_INIT(kiln_target_info);
  good(kiln_target_find("pvc", &target, caught.out()), caught);
  CHECK(target.slm_per_group == 131072);
  CHECK(target.name == std::string("pvc"));
  CHECK(kiln_target_count() > 20);
  good(kiln_target_get(0, &target, caught.out()), caught);
  CHECK(target.name == std::string("tgllp"));
  CHECK(target.fp64 == 0);
  bad(kiln_target_get(kiln_target_count(), &target, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  bad(kiln_target_find("pcv", &target, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  CHECK(caught.text().starts_with("error[K0903]: `name` "));

  const auto errors = [&](Findings& findings) {
    good(kiln_check(matmul.file, 0, 0, "pvc", &matmul.request, findings.out(), caught.out()), caught);
    uint32_t count = 0, wrong = 0;
    good(kiln_findings_count(findings, &count, &wrong, caught.out()), caught);
    CHECK(count == wrong);
    return wrong;
  };
  matmul.tiles(1024);
  Findings fits, refused;
  CHECK(errors(fits) == 0);
  matmul.tiles(131044);
  CHECK(errors(refused) == 1);
  kiln_finding finding = KILN_INIT(kiln_finding);
  good(kiln_findings_get(refused, 0, &finding, caught.out()), caught);
  CHECK(finding.code == std::string("K0101"));
  CHECK(finding.severity == KILN_SEVERITY_ERROR);
  CHECK(std::string(finding.text).find("128") != std::string::npos);
  bad(kiln_findings_get(refused, 1, &finding, caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0903");
  Findings without_request;
  good(kiln_check(matmul.file, 0, 0, "pvc", nullptr, without_request.out(), caught.out()), caught);

  // 256 work-items with 131,072 bytes of SLM: half of them have half.
  kiln_room room = KILN_INIT(kiln_room);
  matmul.tiles(131072);
  good(kiln_what_fits(matmul.file, 0, 0, "pvc", &matmul.request, &room, caught.out()), caught);
  CHECK(room.slm_per_group == 131072);
  CHECK(room.asked_slm == 262144);
  CHECK(room.local_bytes == 131072);
  CHECK(room.largest_group == 128);
  CHECK(room.max_group_size == 1024);
  CHECK(room.local_bytes_per_item == 1024);
  CHECK(room.element_size == 2);
  CHECK(room.tiles == 0);  // 32768 floats are no square
  // The texts of K0101 say the same: two tiles of edge 181 do not fit, of edge 128 they do.
  matmul.tiles(181 * 181 * 4);
  good(kiln_what_fits(matmul.file, 0, 0, "pvc", &matmul.request, &room, caught.out()), caught);
  CHECK(room.tiles == 2);
  CHECK(room.tile_edge == 128);
  CHECK(room.tile_element == 4);
  CHECK(room.element_size == 2);
  CHECK(room.required_group_size[0] == 0);
  matmul.tiles(std::uint64_t{1} << 62);
  matmul.request.group_size = {1, 1, 1};
  good(kiln_what_fits(matmul.file, 0, 0, "pvc", &matmul.request, &room, caught.out()), caught);
  CHECK(room.largest_group == 0);
  matmul.request.local_count = 10;
  bad(kiln_what_fits(matmul.file, 0, 0, "pvc", &matmul.request, &room, caught.out()), caught,
      KILN_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "K0903");
  matmul.request.local_count = 9;
  matmul.request.local_bytes = nullptr;
  bad(kiln_what_fits(matmul.file, 0, 0, "pvc", &matmul.request, &room, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
}

TEST_CASE("occupancy of a native kernel") {
  File file;
  Caught caught;
  good(kiln_file_read(KILN_TEST_DATA "/data/memory.pvc.bin", file.out(), caught.out()), caught);
  kiln_kernel_info info = KILN_INIT(kiln_kernel_info);
  good(kiln_file_kernel(file, 0, 0, &info, caught.out()), caught);
  REQUIRE(info.simd_size != 0);
  kiln_occupancy occupancy = KILN_INIT(kiln_occupancy);
  good(kiln_get_occupancy(file, 0, 0, "pvc", info.simd_size, 0, &occupancy, caught.out()), caught);
  CHECK(occupancy.threads_per_group == 1);
  CHECK(occupancy.threads_per_core == (info.grf_count == 256 ? 32 : 64));
  CHECK(occupancy.groups_per_core * occupancy.threads_per_group * 100 / occupancy.threads_per_core ==
        occupancy.percent);
  good(kiln_get_occupancy(file, 0, 0, "pvc", info.simd_size, 131072, &occupancy, caught.out()), caught);
  CHECK(occupancy.groups_per_core == 1);
  CHECK(occupancy.limit == KILN_RESOURCE_SLM);
}

TEST_CASE("codes and logs are explained") {
  Meaning meaning;
  Caught caught;
  good(kiln_explain_code("0x70000003", meaning.out(), caught.out()), caught);
  kiln_meaning_info info = KILN_INIT(kiln_meaning_info);
  good(kiln_meaning_get(meaning, &info, caught.out()), caught);
  CHECK(info.name == std::string("ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"));
  CHECK(info.has_value == 1);
  CHECK(info.value == 0x70000003);
  REQUIRE(info.cause_count > 0);
  CHECK(std::strlen(info.causes[info.cause_count - 1]) > 0);
  bad(kiln_explain_code("no code", Meaning().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");

  const std::string log = "error[K0101]: kernel `tiled` asks for 262144 bytes of SLM a work-group\r\n";
  Findings findings, none;
  good(kiln_explain_log(log.data(), log.size(), findings.out(), caught.out()), caught);
  uint32_t count = 0;
  good(kiln_findings_count(findings, &count, nullptr, caught.out()), caught);
  REQUIRE(count == 1);
  kiln_finding finding = KILN_INIT(kiln_finding);
  good(kiln_findings_get(findings, 0, &finding, caught.out()), caught);
  CHECK(finding.code == std::string("K0509"));
  good(kiln_explain_log(nullptr, 0, none.out(), caught.out()), caught);
  good(kiln_findings_count(none, &count, nullptr, caught.out()), caught);
  CHECK(count == 0);
}

TEST_CASE("K0901: what is no handle") {
  Caught caught;
  uint32_t count = 0;
  bad(kiln_file_part_count(nullptr, &count, caught.out()), caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
  CHECK(caught.text() == golden("K0901-null"));
  int local = 0;
  Matmul matmul;
  File gone;
  good(kiln_file_read(kMatmul.c_str(), gone.out(), caught.out()), caught);
  const kiln_file destroyed = gone;
  gone.reset();
  File in_its_place;
  good(kiln_file_read(kMatmul.c_str(), in_its_place.out(), caught.out()), caught);
  const auto file = [](const void* value) { return static_cast<kiln_file>(const_cast<void*>(value)); };
  const auto number = [&](std::uintptr_t value) { return file(reinterpret_cast<void*>(value)); };
  const auto real = reinterpret_cast<std::uintptr_t>(static_cast<kiln_file>(matmul.file));
  Meaning meaning;
  good(kiln_explain_code("0x70000003", meaning.out(), caught.out()), caught);
  for (const kiln_file each : {destroyed, file(&local), file(static_cast<kiln_meaning>(meaning)), number(1),
                               number(~std::uintptr_t{0}), number(real + 1), number(real + 16),
                               number(real | std::uintptr_t{1} << 60), number(real & 15)}) {
    CAPTURE(each);
    bad(kiln_file_part_count(each, &count, caught.out()), caught, KILN_ERROR_INVALID_NULL_HANDLE, "K0901");
    kiln_file_destroy(each);
  }
  CHECK(caught.text() == golden("K0901"));
  good(kiln_file_part_count(matmul.file, &count, caught.out()), caught);
}

TEST_CASE("errors may be left out, and asked of nothing") {
  CHECK(kiln_file_part_count(nullptr, nullptr, nullptr) == KILN_ERROR_INVALID_NULL_HANDLE);
  CHECK(kiln_error_result(nullptr) == KILN_SUCCESS);
  for (const kiln_error none : {kiln_error(), reinterpret_cast<kiln_error>(std::uintptr_t{0x1234})}) {
    CHECK(kiln_error_text(none) == std::string());
    CHECK(kiln_error_json(none) == std::string());
    CHECK(kiln_error_code(none) == std::string());
    CHECK(kiln_error_call(none) == std::string());
    kiln_error_destroy(none);
  }
}

TEST_CASE("K0902: a struct of another size or version") {
  Matmul matmul;
  Caught& caught = matmul.caught;
  kiln_room room = KILN_INIT(kiln_room);
  const auto ask = [&] {
    return kiln_what_fits(matmul.file, 0, 0, "pvc", &matmul.request, &room, caught.out());
  };
  good(ask(), caught);
  for (const uint32_t size : {0u, 8u, static_cast<uint32_t>(sizeof room) - 1, 1u << 20, ~0u}) {
    room.struct_size = size;
    bad(ask(), caught, KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  }
  room = KILN_INIT(kiln_room);
  room.struct_version = 2;
  bad(ask(), caught, KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  room = KILN_INIT(kiln_room);
  matmul.request.struct_size = 12;
  bad(ask(), caught, KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  CHECK(caught.text() == golden("K0902"));

  // A newer program's structs: what is new in them is zero going in, and comes back so.
  struct Newer {
    kiln_request request = KILN_INIT(kiln_request);
    uint64_t more = 0;
  } newer;
  struct NewerRoom {
    kiln_room room = KILN_INIT(kiln_room);
    uint64_t more = 7;
  } newer_room;
  newer.request.struct_size = sizeof newer;
  newer_room.room.struct_size = sizeof newer_room;
  good(kiln_what_fits(matmul.file, 0, 0, "pvc", &newer.request, &newer_room.room, caught.out()), caught);
  CHECK(newer_room.more == 0);
  CHECK(newer_room.room.slm_per_group == 131072);
  CHECK(newer_room.room.struct_size == sizeof newer_room);
  newer.more = 1;
  bad(kiln_what_fits(matmul.file, 0, 0, "pvc", &newer.request, &room, caught.out()), caught,
      KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  CHECK(caught.text() == golden("K0902-newer"));
  // The same of what the structs of now keep free.
  kiln_request reserved = KILN_INIT(kiln_request);
  reserved.reserved = 7;
  bad(kiln_what_fits(matmul.file, 0, 0, "pvc", &reserved, &room, caught.out()), caught,
      KILN_ERROR_UNSUPPORTED_VERSION, "K0902");
  CHECK(caught.text() == golden("K0902-reserved"));
}

TEST_CASE("K0903: null, overlong and unknown") {
  Caught caught;
  bad(kiln_file_read(nullptr, File().out(), caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  CHECK(caught.text() == golden("K0903"));
  bad(kiln_file_read(kMatmul.c_str(), nullptr, caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER,
      "K0903");
  const std::string overlong(65536, 'x'), longest(65535, 'x');
  bad(kiln_file_read(overlong.c_str(), File().out(), caught.out()), caught, KILN_ERROR_INVALID_SIZE, "K0903");
  bad(kiln_file_read(longest.c_str(), File().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0201");
  bad(kiln_file_read("", File().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0201");
  Matmul matmul;
  kiln_room room = KILN_INIT(kiln_room);
  bad(kiln_what_fits(matmul.file, 0, 0, "pvc", nullptr, nullptr, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  bad(kiln_what_fits(matmul.file, 0, 0, nullptr, nullptr, &room, caught.out()), caught,
      KILN_ERROR_INVALID_NULL_POINTER, "K0903");
  bad(kiln_what_fits(matmul.file, 0, 0, overlong.c_str(), nullptr, &room, caught.out()), caught,
      KILN_ERROR_INVALID_SIZE, "K0903");
  bad(kiln_device_open("gpus", Device().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT, "K0307");
  bad(kiln_device_open(overlong.c_str(), Device().out(), caught.out()), caught, KILN_ERROR_INVALID_SIZE,
      "K0903");
  kiln_cache_options options = KILN_INIT(kiln_cache_options);
  options.mode = 9;
  bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_ENUMERATION,
      "K0903");
  options = KILN_INIT(kiln_cache_options);
  options.read_only_count = 1;
  bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER,
      "K0903");
  options.read_only_count = 0;
  for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    options.verify = share;
    bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
        "K0903");
  }
}

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
  static char line[2000];
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
