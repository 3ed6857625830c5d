// SPDX-License-Identifier: MIT
// The C interface where no device is needed, the handles, and what comes in wrong.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "capi/matmul.hpp"
#include "kiln/result.hpp"
#include "kiln/version.hpp"

using namespace kiln::test;

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
  options.remote_count = 1;
  bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_NULL_POINTER,
      "K0903");
  const char* const stores[] = {"redis://me:secret@cache.example,readonly"};
  options.remote = stores;
  bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  CHECK(caught.text().find("secret") == std::string::npos);
  options.remote_count = 65;
  bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
      "K0903");
  // A program of before knows nothing of stores, and what lies behind its struct is its own.
  options.struct_size = offsetof(kiln_cache_options, remote);
  options.folder = "/dev/null/kiln";
  CacheHandle older;
  good(kiln_cache_open(&options, older.out(), caught.out()), caught);
  kiln_cache_counts counts = KILN_INIT(kiln_cache_counts);
  counts.struct_size = offsetof(kiln_cache_counts, remote_hits);
  counts.remote_hits = 7;
  good(kiln_cache_get_counts(older, &counts, caught.out()), caught);
  CHECK(counts.remote_hits == 7);
  options.struct_size = sizeof options;
  options.remote_count = 0;
  options.reserved = 1;
  bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_UNSUPPORTED_VERSION,
      "K0902");
  options.reserved = 0;
  for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    options.verify = share;
    bad(kiln_cache_open(&options, CacheHandle().out(), caught.out()), caught, KILN_ERROR_INVALID_ARGUMENT,
        "K0903");
  }
}
