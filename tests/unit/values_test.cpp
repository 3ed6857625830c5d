// SPDX-License-Identifier: MIT
// Timestamps, device requests, result names, structs and errors: small pure functions.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kiln/kiln.hpp"

using namespace kiln;
using std::chrono::nanoseconds;

TEST_CASE("timestamp durations") {
  struct Case {
    const char* what;
    std::uint64_t start, end;
    std::uint32_t bits;
    std::uint64_t resolution;  // ticks a second
    std::int64_t nanoseconds;
  };
  constexpr std::uint64_t kGHz = 1'000'000'000;
  const Case cases[] = {
      {"nothing", 5, 5, 64, kGHz, 0},
      {"a tick a nanosecond", 1'000, 3'500, 64, kGHz, 2'500},
      {"19.2 MHz, one tick", 0, 1, 32, 19'200'000, 52},
      {"19.2 MHz, one second", 7, 19'200'007, 32, 19'200'000, 1'000'000'000},
      {"12.5 MHz, many seconds keep their nanoseconds", 0, 12'500'000ull * 100'000 + 1, 64, 12'500'000,
       100'000'000'000'080},
      {"wrap at 32 bits", 0xffffff00, 0x100, 32, kGHz, 0x200},
      {"wrap at 32 bits, one tick", 0xffffffff, 0, 32, kGHz, 1},
      {"wrap at 36 bits", 0xfffffff00, 0x100, 36, kGHz, 0x200},
      {"wrap at 64 bits", UINT64_MAX - 9, 10, 64, kGHz, 20},
      {"bits above the valid ones do not count", 0xabcd'0000'0010, 0x1234'0000'0020, 32, kGHz, 0x10},
      {"all of 32 bits", 1, 0, 32, kGHz, 0xffffffff},
      {"0 valid bits: all count", 1, 1'000, 0, kGHz, 999},
      {"more than 64: all count", 1, 1'000, 200, kGHz, 999},
      {"one bit", 1, 0, 1, kGHz, 1},
      {"no resolution: no duration", 0, 1'000, 64, 0, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(timestamp_duration(c.start, c.end, c.bits, c.resolution) == nanoseconds(c.nanoseconds));
  }
  // Longer than nanoseconds can say: the longest, not a negative one.
  CHECK(timestamp_duration(1, 0, 64, 1) == nanoseconds::max());
  CHECK(timestamp_duration(1, 0, 64, kGHz) == nanoseconds::max());
  CHECK(timestamp_duration(0, 8'999'999'999 * kGHz, 64, kGHz) == std::chrono::seconds(8'999'999'999));
}

TEST_CASE("device requests") {
  const auto good = [](std::string_view text, DeviceKind kind, std::string_view product) {
    const auto request = parse_device_request(text);
    REQUIRE(request);
    CHECK(request->kind == kind);
    CHECK(request->product == product);
  };
  good("gpu", DeviceKind::gpu, "");
  good("cpu", DeviceKind::cpu, "");
  good("cpu:pvc", DeviceKind::cpu, "pvc");
  good("capture:dg2", DeviceKind::capture, "dg2");
  good("driver:/opt/libze_other.so", DeviceKind::driver, "/opt/libze_other.so");
  good("driver:a:b.so", DeviceKind::driver, "a:b.so");
  for (const char* text : {"", ":", "GPU", "gpu:", "gpu:0", "cpu:", "capture", "capture:", "cpu pvc", " cpu",
                           "auto", "cpux", "cpu:nosuch", "cpu:skl", "driver", "driver:"}) {
    CAPTURE(text);
    const auto request = parse_device_request(text);
    REQUIRE_FALSE(request);
    CHECK(request.error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(request.error().diagnostic()->code == "K0307");
  }
}

TEST_CASE("KILN_DEVICE") {
  unsetenv("KILN_DEVICE");
  CHECK(requested_device()->kind == DeviceKind::gpu);
  setenv("KILN_DEVICE", "", 1);
  CHECK(requested_device()->kind == DeviceKind::gpu);
  setenv("KILN_DEVICE", "cpu:tgllp", 1);
  CHECK(requested_device()->product == "tgllp");
  setenv("KILN_DEVICE", "nonsense", 1);
  CHECK_FALSE(requested_device());
  unsetenv("KILN_DEVICE");
}

TEST_CASE("an unknown product is refused before anything is loaded") {
  for (const DeviceKind kind : {DeviceKind::capture, DeviceKind::cpu}) {
    const auto device = open_device({kind, "voodoo"});
    REQUIRE_FALSE(device);
    CHECK(device.error().diagnostic()->code == "K0307");
  }
  CHECK(std::getenv("ProductFamilyOverride") == nullptr);
  CHECK(std::getenv("KILN_CPU_PROFILE") == nullptr);
}

TEST_CASE("names of result codes") {
  CHECK(result_name(ZE_RESULT_SUCCESS) == "ZE_RESULT_SUCCESS");
  CHECK(result_name(ZE_RESULT_NOT_READY) == "ZE_RESULT_NOT_READY");
  CHECK(result_name(ze_result_t(0x70000003)) == "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
  CHECK(result_name(ze_result_t(0x70000004)) == "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE");
  CHECK(result_name(ze_result_t(0x7800000f)) == "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY");
  CHECK(result_name(ze_result_t(0x7ffffffe)) == "ZE_RESULT_ERROR_UNKNOWN");
  CHECK(result_name(ze_result_t(0x12345)) == "0x00012345");
  CHECK(result_name(ze_result_t(0x7fff0001)) == "0x7fff0001");
}

TEST_CASE("errors") {
  const Error bare(ZE_RESULT_ERROR_DEVICE_LOST, "zeMemFree");
  CHECK(bare.text() == "error: zeMemFree failed: ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)\n");
  CHECK(bare.diagnostic() == nullptr);
  Error rich(ZE_RESULT_ERROR_UNKNOWN, "zeInit", {"K0999", "no", {}, {"try again"}});
  CHECK(rich.text() ==
        "error[K0999]: no\n"
        "  result: ZE_RESULT_ERROR_UNKNOWN (0x7ffffffe) for zeInit; Kiln's answer, not the driver's\n"
        "  help: try again\n");
  // Code and call are the error's own, whatever the diagnostic was made with.
  const Error driver(ZE_RESULT_ERROR_DEVICE_LOST, "zeInit",
                     {"K0999", "no", {}, {}, Severity::error, Answer{AnsweredBy::driver, 7, "zeMemFree"}});
  CHECK(driver.text() ==
        "error[K0999]: no\n"
        "  result: zeInit gave ZE_RESULT_ERROR_DEVICE_LOST (0x70000001); the driver answered\n");
  CHECK(to_text(Answer{AnsweredBy::before_driver, 0x70000003, "zeKernelCreate"}) ==
        "zeKernelCreate would answer ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003); Kiln answered before "
        "the driver");
  CHECK(to_text(Answer{AnsweredBy::kiln, 0x12345, "dlopen"}) ==
        "0x00012345; Kiln's answer, not the driver's");
  const Error moved = std::move(rich);
  CHECK(moved.diagnostic()->code == "K0999");
  CHECK(moved.code() == ZE_RESULT_ERROR_UNKNOWN);
  CHECK(std::string(moved.call()) == "zeInit");
  CHECK(check(ZE_RESULT_SUCCESS, "zeInit"));
  CHECK(check(ZE_RESULT_NOT_READY, "zeEventHostSynchronize").error().code() == ZE_RESULT_NOT_READY);
}

TEST_CASE("structs are made with their type and chained in front") {
  auto properties = make<ze_device_properties_t>();
  CHECK(properties.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
  CHECK(properties.pNext == nullptr);
  CHECK(properties.maxMemAllocSize == 0);
  auto ip = make<abi::DeviceIpVersion>();
  auto memory = make<abi::DeviceUsableMemory>();
  CHECK(static_cast<std::uint32_t>(ip.stype) == abi::kDeviceIpVersion);
  chain(properties, ip);
  chain(properties, memory);
  CHECK(properties.pNext == &memory);
  CHECK(memory.pNext == &ip);
  CHECK(ip.pNext == nullptr);
}

TEST_CASE("extents") {
  constexpr Extent extent{4, 5};
  static_assert(extent[0] == 4 && extent[1] == 5 && extent[2] == 1);
  static_assert(extent == Extent{4, 5, 1} && Extent{} == Extent{1, 1, 1});
  static_assert(total({}) == 1 && total({2, 3, 5}) == 30 && total({UINT32_MAX, UINT32_MAX, 0}) == 0);
  static_assert(total({1u << 31, 1u << 31, 2}) == 1ull << 63);
  static_assert(total({1u << 31, 1u << 31, 4}) == UINT64_MAX);
}

TEST_CASE("the version compares, and says the same in every form") {
  static_assert(KILN_MAKE_VERSION(0, 2, 0) > KILN_MAKE_VERSION(0, 1, 999));
  static_assert(KILN_MAKE_VERSION(1, 0, 0) > KILN_MAKE_VERSION(0, 999, 999));
#if KILN_VERSION_NUMBER < KILN_MAKE_VERSION(0, 1, 0)  // the preprocessor compares it, too
#error "older than the first"
#endif
  CHECK(KILN_VERSION == std::to_string(KILN_VERSION_MAJOR) + '.' + std::to_string(KILN_VERSION_MINOR) + '.' +
                            std::to_string(KILN_VERSION_PATCH));
  CHECK(library_version() == KILN_VERSION_NUMBER);
}

namespace {

Result<std::string> text_or(const char* call) {
  if (call) return tl::unexpected(Error(ZE_RESULT_NOT_READY, call));
  return "a text that is longer than what a string holds without an allocation";
}

template <class A, class B>
Result<B> cast(A value) {
  return B(value);
}

/// Which of the steps fails, if any.
Result<std::size_t> steps(int failing, const Result<std::string>& kept, int& evaluated) {
  const auto call = [&](int step, const char* name) { return step == failing ? name : nullptr; };
  KILN_TRY(check(failing == 0 ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS, "nothing"));
  KILN_TRY(text_or(call(1, "dropped")));
  KILN_TRY(const auto declared, (++evaluated, text_or(call(2, "declared"))));
  std::string assigned;
  KILN_TRY(assigned, text_or(call(3, "assigned")));
  KILN_TRY(auto copied, kept);
  KILN_TRY(const auto number, cast<int, long>(7));  // a comma of its own
  KILN_TRY(const auto inner, [&]() -> Result<int> {
    KILN_TRY(text_or(call(4, "inner")));
    return 1;
  }());
  if (failing == 5)
    KILN_TRY(text_or("one statement"));
  else
    evaluated += 10;
  return declared.size() + assigned.size() + copied.size() + static_cast<std::size_t>(number + inner);
}

}  // namespace

TEST_CASE("KILN_TRY hands errors on and goes on with values") {
  const Result<std::string> kept = text_or(nullptr);
  int evaluated = 0;
  REQUIRE(steps(-1, kept, evaluated));
  CHECK(*steps(-1, kept, evaluated) == 3 * kept->size() + 8);
  CHECK(evaluated == 22);
  CHECK(!kept->empty());
  const char* const calls[] = {"nothing", "dropped", "declared", "assigned", "inner", "one statement"};
  for (int failing = 0; failing < 6; ++failing) {
    const auto failed = steps(failing, kept, evaluated);
    REQUIRE(!failed);
    CHECK(std::string(failed.error().call()) == calls[failing]);
    CHECK(failed.error().code() == (failing ? ZE_RESULT_NOT_READY : ZE_RESULT_ERROR_DEVICE_LOST));
  }
  const auto failed = steps(-1, text_or("kept"), evaluated);
  REQUIRE(!failed);
  CHECK(std::string(failed.error().call()) == "kept");
}

TEST_CASE("KILN_TRY takes what only moves, and leaves what has a name") {
  const auto moved = []() -> Result<std::unique_ptr<int>> {
    KILN_TRY(auto owner, Result<std::unique_ptr<int>>(std::make_unique<int>(3)));
    return owner;
  }();
  REQUIRE(moved);
  CHECK(**moved == 3);
  Result<std::string> named = text_or(nullptr);
  const auto copy = [&]() -> Result<std::string> {
    KILN_TRY(auto value, named);
    return value;
  }();
  CHECK(*copy == *named);
}

TEST_CASE("a log sink that was replaced gets no line any more") {
  struct Count {
    std::atomic<bool> gone = false;
    std::atomic<int> lines = 0, late = 0;
  };
  const auto count = [](void* user, LogLevel, std::string_view) {
    auto& counted = *static_cast<Count*>(user);
    ++counted.lines;
    std::this_thread::yield();
    counted.late += counted.gone;
  };
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop) log(LogLevel::info, "line");
    });
  Count counts[50];
  for (Count& each : counts) {
    const LogTarget before = replace_log_sink({count, &each});
    if (before.user) static_cast<Count*>(before.user)->gone = true;
    while (each.lines < 10) std::this_thread::yield();
  }
  CHECK(replace_log_sink({}).user == &counts[49]);
  stop = true;
  threads.clear();
  for (const Count& each : counts) CHECK(each.late == 0);
  CHECK(bool(!replace_log_sink({}).sink));
}

TEST_CASE("a log sink may log, and replace itself") {
  struct Last {
    std::string text;
  } last;
  const auto keep = [](void* user, LogLevel level, std::string_view line) {
    static_cast<Last*>(user)->text = line;
    if (level != LogLevel::error) return;
    log(LogLevel::info, "inner");
    const LogTarget self = replace_log_sink({});
    static_cast<Last*>(self.user)->text += " replaced";
    log(LogLevel::info, "nobody");
  };
  set_log_sink(keep, &last);
  log(LogLevel::error, "outer");
  CHECK(last.text == "inner replaced");
  CHECK(bool(!replace_log_sink({}).sink));
}
