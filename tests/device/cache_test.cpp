// SPDX-License-Identifier: MIT
// Bundles through the kernel cache: what a hit gives, and what becomes of entries that lie.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cache/fixture.hpp"
#include "cache/format/entry.hpp"
#include "device_test.hpp"

namespace kiln::test {
namespace {

/// Every open() is as another process: without its memory.
Cache open_cache(const TestFolder& scratch, double verify = 0) {
  CacheOptions options;
  options.folder = scratch.path();
  options.memory_size = 0;
  options.verify = verify;
  return Cache::open(options);
}

struct Loaded {
  BinaryOrigin origin;
  std::vector<std::byte> native;
  ModuleFacts facts;
  CacheCounts counts;
};

Loaded load(const TestFolder& scratch, const KernelFile& file, const std::string& flags = "",
            double verify = 0) {
  Cache cache = open_cache(scratch, verify);
  const Bundle bundle = need(Bundle::load(device(), {file}, {flags}, &cache));
  return {bundle.origin(), need(bundle.module().native_binary()), bundle.facts(), cache.counts()};
}

/// Puts another payload into the one entry of the folder, behind a checksum that is right.
void plant(const TestFolder& scratch, std::span<const std::byte> payload) {
  const cache::Folder folder = need(cache::open_folder(scratch.path(), cache::Access::write));
  const auto entries = need(cache::list_entries(folder));
  REQUIRE(entries.size() == 1);
  const auto file = cache::read_entry_file(folder, entries[0].key);
  REQUIRE(file);
  cache::Entry entry = file->entry;
  entry.payload = payload;
  need(cache::publish(folder, entries[0].key, cache::encode_entry(entry), true));
}

/// Kills every child that this process has meanwhile.
class Killer {
 public:
  explicit Killer(int signal)
      : thread_([signal](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
              std::ifstream children(task.path() / "children");
              for (pid_t child = 0; children >> child;) kill(child, signal);
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace

TEST_CASE("a hit is the binary that was compiled, byte for byte, with the same facts") {
  const TestFolder scratch;
  std::vector<KernelFile> files{sample_kernel("saxpy.spv"), sample_kernel("matmul.spv"),
                                sample_kernel("slm_table.spv")};
  // 50 kernels, for which the CPU device takes seconds.
  if (!is_kilns_own()) files.push_back(test_kernel("../../../bench/cache/fifty.spv"));
  for (const KernelFile& file : files) {
    CAPTURE(file.name);
    const Loaded compiled = load(scratch, file), cached = load(scratch, file);
    CHECK(compiled.origin == BinaryOrigin::jit);
    CHECK(compiled.counts.stored == 1);
    CHECK(cached.origin == BinaryOrigin::cache);
    CHECK(cached.counts.compilations == 0);
    // The compiler's own output, of this process.
    const Bundle here = need(Bundle::load(device(), {file}, {"", Isolation::never}));
    CHECK((cached.native == need(here.module().native_binary())));
    REQUIRE(cached.facts.kernels.size() == compiled.facts.kernels.size());
    for (std::size_t i = 0; i < cached.facts.kernels.size(); ++i) {
      const KernelFacts &now = cached.facts.kernels[i], &then = compiled.facts.kernels[i];
      CHECK(now.name == then.name);
      CHECK(now.static_slm == then.static_slm);
      CHECK(now.simd_size == then.simd_size);
      CHECK(now.arguments.size() == then.arguments.size());
    }
  }
  CHECK(load(scratch, sample_kernel("saxpy.spv"), "-cl-mad-enable").origin == BinaryOrigin::jit);
  CHECK(load(scratch, sample_kernel("saxpy.spv"), "-cl-mad-enable").origin == BinaryOrigin::cache);
}

TEST_CASE("hits that are verified are what the compiler makes again") {
  const TestFolder scratch;
  (void)load(scratch, sample_kernel("matmul.spv"));
  const Loaded verified = load(scratch, sample_kernel("matmul.spv"), "", 1);
  CHECK(verified.origin == BinaryOrigin::cache);
  CHECK(verified.counts.verified == 1);
  CHECK(verified.counts.verify_differences == 0);
}

TEST_CASE("an entry that no driver takes is compiled anew and replaced") {
  const TestFolder scratch;
  const KernelFile file = sample_kernel("saxpy.spv");
  const Loaded compiled = load(scratch, file);
  const std::vector<std::byte> rubbish(1000, std::byte{0x5a});
  plant(scratch, rubbish);
  const Loaded repaired = load(scratch, file);
  CHECK(repaired.origin == BinaryOrigin::jit);
  CHECK((repaired.native == compiled.native));
  CHECK(load(scratch, file).origin == BinaryOrigin::cache);
}

TEST_CASE("a failure of the build is refused again without the compiler, with the same words") {
  const TestFolder scratch;
  // Too much SLM is lack of memory to the CPU device, and to Intel's driver 26.27: that is asked again.
  // To 22.43 it is a failure of the build, as is a function that is not there to the CPU device: that is
  // remembered.
  const bool cpu = is_kilns_own();
  const KernelFile file = test_kernel(cpu ? "link_main.spv" : "over_static.spv");
  const ze_result_t code = build(ModuleFormat::spirv, file.bytes).code();
  const bool remembered =
      code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE || code == ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
  const auto refusal = [&] {
    Cache cache = open_cache(scratch);
    const auto bundle = Bundle::load(device(), {file}, {}, &cache);
    return std::pair(bundle ? std::string("built") : bundle.error().text(), cache.counts());
  };
  const auto [first, first_counts] = refusal();
  REQUIRE(first != "built");
  const auto [second, second_counts] = refusal();
  CHECK(second == first);
  CHECK(first_counts.compilations == 1);
  CHECK(second_counts.compilations == (remembered ? 0 : 1));
  CHECK(second_counts.remembered_failures == (remembered ? 1 : 0));
  if (cpu) CHECK(remembered);
}

TEST_CASE("a compiler that is killed from outside is asked again") {
  if (!is_kilns_own()) return;  // its compiler is a fork of this process
  const TestFolder scratch;
  const KernelFile file = sample_kernel("matmul.spv");
  const std::string flags = "-DKILLED";  // the device compiles once in a process what it has not built before
  Cache cache = open_cache(scratch);
  for (int i = 0; i < 2; ++i) {
    const Killer killer(SIGTERM);
    const auto killed = Bundle::load(device(), {file}, {flags}, &cache);
    REQUIRE(!killed);
    CHECK(killed.error().code() == ZE_RESULT_ERROR_NOT_AVAILABLE);
    const std::string text = killed.error().text();
    // An intercepting loader loses the log of a failed build.
    const bool lost = text.find("told to intercept") != text.npos;
    CHECK((lost || text.find("signal 15") != text.npos));
  }
  CHECK(cache.counts().stored == 0);
  CHECK(Bundle::load(device(), {file}, {flags}, &cache));
  CHECK(cache.counts().compilations == 3);
}

TEST_CASE("a compiler that crashes twice is not asked a third time") {
  if (!is_kilns_own()) return;  // its compiler is a fork of this process
  const TestFolder scratch;
  const KernelFile file = sample_kernel("matmul.spv");
  const std::string flags = "-DCRASHED";  // as above
  Cache cache = open_cache(scratch);
  for (int i = 0; i < 2; ++i) {
    const Killer killer(SIGSEGV);
    const auto crashed = Bundle::load(device(), {file}, {flags}, &cache);
    REQUIRE(!crashed);
    // Without its log a crash is a failure as any other.
    if (crashed.error().text().find("told to intercept") != std::string::npos) return;
    CHECK(cache.counts().compilations == std::uint64_t(i + 1));
  }
  CHECK(!Bundle::load(device(), {file}, {flags}, &cache));
  CHECK(cache.counts().compilations == 2);
  CHECK(cache.counts().remembered_failures == 1);
}

TEST_CASE("linked modules are kept too, each order and each list of files for itself") {
  const TestFolder scratch;
  const KernelFile main = test_kernel("link_main.spv"), part = test_kernel("link_part.spv");
  const auto link = [&](std::vector<KernelFile> files) {
    Cache cache = open_cache(scratch);
    auto bundle = Bundle::link(device(), std::move(files), {}, &cache);
    if (bundle) CHECK(bundle->kernel("doubled"));
    return bundle;
  };
  const auto first = link({main, part});
  REQUIRE(first);
  CHECK(first->origin() == BinaryOrigin::jit);
  const auto again = link({main, part});
  REQUIRE(again);
  CHECK(again->origin() == BinaryOrigin::cache);
  // The compiler's own output, of this process.
  const Bundle here = need(Bundle::link(device(), {main, part}, {"", Isolation::never}));
  CHECK((need(again->module().native_binary()) == need(here.module().native_binary())));
  const auto turned = link({part, main});
  REQUIRE(turned);
  CHECK(turned->origin() == BinaryOrigin::jit);
}

TEST_CASE("what a compiler with other settings than this process's made is not stored, and told once") {
  if (is_kilns_own()) return;  // which compiles in a process of its own
  const TestFolder scratch;
  const auto script = scratch.path() / "compiler";
  std::ofstream(script) << "#!/bin/sh\nIGC_ForceOCLSIMDWidth=16 exec " KILN_TEST_COMPILER "\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  setenv("KILN_COMPILER", script.c_str(), 1);
  Cache cache = open_cache(scratch);
  LogLines lines;
  for (const std::size_t told : {1, 0}) {
    const auto bundle = Bundle::load(device(), {sample_kernel("saxpy.spv")}, {}, &cache);
    REQUIRE(bundle);
    CHECK(bundle->origin() == BinaryOrigin::jit);
    const auto all = lines.take();
    REQUIRE(all.size() == told);
    if (told) CHECK(all[0].find("env.IGC_ForceOCLSIMDWidth is there in the process") != std::string::npos);
  }
  CHECK(cache.counts().stored == 0);
  unsetenv("KILN_COMPILER");
  CHECK(load(scratch, sample_kernel("saxpy.spv")).counts.stored == 1);
}

TEST_CASE("without a cache folder all is compiled, and runs") {
  CacheOptions options;
  options.folder = "/proc/no/such/folder";
  Cache cache = Cache::open(options);
  CHECK(!cache.unusable().empty());
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}, {}, &cache));
  CHECK(bundle.origin() == BinaryOrigin::jit);
  CHECK(bundle.kernel("saxpy"));
}

}  // namespace kiln::test
