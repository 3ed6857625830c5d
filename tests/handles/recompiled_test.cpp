// SPDX-License-Identifier: MIT
// Cached binaries that the driver compiles again and says so, which no driver at hand does: against the fake
// one.
#include <doctest/doctest.h>

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
