// SPDX-License-Identifier: MIT
// Cached binaries that the driver compiles again and says so, which no driver at hand does, and results that
// are not kept: against the fake one.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <latch>
#include <thread>

#include "cache/fixture.hpp"
#include "kiln/bundle.hpp"
#include "support/stub_driver.hpp"

extern "C" const char* fake_compiler();

using namespace kiln;
using namespace kiln::test;

namespace {

/// Word for word as in Intel's drivers 22.43 and 26.27.
constexpr const char* kRecompiled =
    "warning: module got recompiled from IR because provided native binary is incompatible with underlying "
    "device and/or driver [-Wrecompiled-from-ir]\n";

struct Loaded {
  BinaryOrigin origin;
  CacheCounts counts;
  std::vector<std::string> lines;           // of the log
  std::vector<ze_module_format_t> formats;  // that the driver got
};

constexpr auto kSpirv = ZE_MODULE_FORMAT_IL_SPIRV;
constexpr auto kNative = ZE_MODULE_FORMAT_NATIVE;

class Program {
 public:
  explicit Program(StubDriver& stub) : stub_(stub), cache_(Cache::open(options_in(folder_.path()))) {
    REQUIRE(fake_compiler());  // it is mapped
    auto device = open_device({stub.driver, stub.device}, DeviceKind::gpu);
    REQUIRE(device);
    device_ = *std::move(device);
  }

  Loaded load() {
    const fs::path file = fs::path(KILN_TEST_SPIRV) / "slm_table.spv";
    const CacheCounts before = cache_.counts();
    stub_.forget();
    LogLines log;
    const auto bundle =
        Bundle::load(device_, {{"slm_table.spv", read_file(file)}}, {"", Isolation::never}, &cache_);
    REQUIRE(bundle);
    CacheCounts counts = cache_.counts();
    counts.compilations -= before.compilations;
    counts.stored -= before.stored;
    return {bundle->origin(), counts, log.take(), stub_.module_formats};
  }

  /// What any thread may call.
  Result<Bundle> try_load() {
    const fs::path file = fs::path(KILN_TEST_SPIRV) / "slm_table.spv";
    return Bundle::load(device_, {{"slm_table.spv", read_file(file)}}, {"", Isolation::never}, &cache_);
  }
  [[nodiscard]] CacheCounts counts() const { return cache_.counts(); }

  /// The payload of the one entry.
  Bytes kept() {
    const auto opened = cache::open_folder(folder_.path(), cache::Access::read);
    REQUIRE(opened);
    const auto entries = cache::list_entries(*opened);
    REQUIRE(entries);
    REQUIRE(entries->size() == 1);
    const auto file = cache::read_entry_file(*opened, entries->front().key);
    REQUIRE(file);
    return {file->entry.payload.begin(), file->entry.payload.end()};
  }

 private:
  StubDriver& stub_;
  TestFolder folder_;
  Cache cache_;
  OpenDevice device_;
};

}  // namespace

TEST_CASE("an entry that the driver compiles again is replaced, and told of once") {
  StubDriver stub;
  Program program(stub);
  stub.native_binary = bytes_of("of the old driver");
  CHECK(program.load().formats == std::vector{kSpirv});
  CHECK(program.load().origin == BinaryOrigin::cache);

  stub.native_binary = bytes_of("of the new driver");
  stub.native_build_log = kRecompiled;
  const Loaded repaired = program.load();
  CHECK(repaired.origin == BinaryOrigin::jit);
  CHECK(repaired.formats == std::vector{kNative, kSpirv});
  CHECK((repaired.counts.compilations == 1 && repaired.counts.stored == 1));
  REQUIRE(repaired.lines.size() == 1);
  CHECK(repaired.lines[0].find("compiled an entry again") != std::string::npos);
  CHECK(program.kept() == stub.native_binary);

  stub.native_build_log.clear();
  const Loaded after = program.load();
  CHECK(after.origin == BinaryOrigin::cache);
  CHECK(after.formats == std::vector{kNative});
  CHECK(after.lines.empty());
}

TEST_CASE("where the driver compiles new binaries again too, its own are never used") {
  StubDriver stub;
  Program program(stub);
  stub.native_binary = bytes_of("never good enough");
  stub.native_build_log = kRecompiled;
  CHECK(program.load().origin == BinaryOrigin::jit);
  const Loaded repaired = program.load();
  CHECK(repaired.origin == BinaryOrigin::jit);
  CHECK(repaired.formats == std::vector{kNative, kSpirv});
  CHECK((repaired.lines.size() == 1 && repaired.counts.stored == 1));
  const Loaded given_up = program.load();
  CHECK(given_up.origin == BinaryOrigin::jit);
  CHECK(given_up.formats == std::vector{kNative, kSpirv});
  CHECK(given_up.counts.stored == 0);
  REQUIRE(given_up.lines.size() == 1);
  CHECK(given_up.lines[0].find("not asked") != std::string::npos);
  for (int i = 0; i < 2; ++i) {
    const Loaded loaded = program.load();
    CHECK(loaded.origin == BinaryOrigin::jit);
    CHECK(loaded.formats == std::vector{kSpirv});
    CHECK(loaded.counts.stored == 0);
    CHECK(loaded.lines.empty());
  }
  CHECK(program.kept() == stub.native_binary);
}

TEST_CASE("other warnings are no reason to compile") {
  StubDriver stub;
  Program program(stub);
  stub.native_binary = bytes_of("code");
  stub.native_build_log = "warning: unused [-Wunused]\n";
  CHECK(program.load().origin == BinaryOrigin::jit);
  CHECK(program.load().origin == BinaryOrigin::cache);
}

TEST_CASE("two threads that build the same, with a result that may not be stored: two modules") {
  StubDriver stub;
  Program program(stub);
  std::vector<ze_result_t> first_build{ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY};
  for (const ze_result_t code : first_build) {
    CAPTURE(code);  // without a native binary, or a failure of the moment
    if (code != ZE_RESULT_SUCCESS) stub.fail(Call::zeModuleCreate, code);
    std::atomic<pid_t> waiting = 0;
    std::atomic<bool> is_first = true;
    std::latch begun(1);
    stub.on_build = [&] {
      if (!is_first.exchange(false)) return;
      begun.count_down();
      until_asleep(waiting);
    };
    std::vector<Result<Bundle>> loaded;
    loaded.emplace_back(tl::unexpected(Error(ZE_RESULT_NOT_READY, "")));
    loaded.emplace_back(tl::unexpected(Error(ZE_RESULT_NOT_READY, "")));
    std::thread leader([&] { loaded[0] = program.try_load(); });
    begun.wait();
    std::thread other([&] {
      waiting = gettid();
      loaded[1] = program.try_load();
    });
    leader.join();
    other.join();
    CHECK(loaded[0].has_value() == (code == ZE_RESULT_SUCCESS));
    if (!loaded[0]) CHECK(loaded[0].error().code() == code);
    REQUIRE(loaded[1]);
    CHECK(loaded[1]->module());
    CHECK(loaded[1]->origin() == BinaryOrigin::jit);
    CHECK(loaded[1]->kernel("strided"));
    stub.on_build = nullptr;
  }
  CHECK(program.counts().stored == 0);
}

TEST_CASE("what another compiler than the key's may have made is not stored, and told once") {
  StubDriver stub;
  Program program(stub);
  stub.native_binary = bytes_of("code");
  const auto check_not_stored = [&](const char* why) {
    CAPTURE(why);
    const Loaded loaded = program.load();
    CHECK(loaded.origin == BinaryOrigin::jit);
    CHECK(loaded.counts.stored == 0);
    REQUIRE(loaded.lines.size() == 1);
    CHECK(loaded.lines[0].find(why) != std::string::npos);
  };
  stub.on_build = [] { setenv("IGC_ForceOCLSIMDWidth", "16", 1); };
  check_not_stored("env.IGC_ForceOCLSIMDWidth");
  CHECK(program.load().lines.empty());
  unsetenv("IGC_ForceOCLSIMDWidth");
  void* front_end = nullptr;
  stub.on_build = [&] { front_end = dlopen(KILN_TEST_FRONT_END, RTLD_NOW); };
  check_not_stored("library.libigdfcl.so");
  REQUIRE(front_end);
  dlclose(front_end);
  stub.on_build = nullptr;
  CHECK(program.load().counts.stored == 1);
  CHECK(program.load().origin == BinaryOrigin::cache);
}
