// SPDX-License-Identifier: MIT
// Kernels that cannot be compiled when they are asked for: what becomes of them, and of their neighbours.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "drivers/cpu/compiler/child_process.hpp"
#include "drivers/cpu/compiler/late_program.hpp"
#include "drivers/cpu/objects/recent_builds.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

constexpr unsigned kSeconds = 60;
constexpr std::size_t kBad = 3;  // among the fifty, by its place

/// What a test wants in place of a compilation; nothing: what the compiler makes.
using Instead = std::function<std::optional<Compilation>(std::span<const std::size_t>, WithoutChild)>;

/// The fifty kernels, each compilation of which is told to `instead` first.
struct Watched {
  BuildResult build;
  std::shared_ptr<std::vector<std::vector<std::size_t>>> compilations =
      std::make_shared<std::vector<std::vector<std::size_t>>>();

  explicit Watched(Instead instead) {
    BuildOptions options;
    options.late = true;
    const std::vector<std::byte> spirv = read_file("../../../bench/cache/fifty.spv");
    const SpirvModule module{spirv, {}};
    const Compilation whole = compile_module(std::span(&module, 1), options);
    REQUIRE_MESSAGE(whole.well, whole.log);
    REQUIRE(!whole.facts.empty());  // it is late
    const auto kernels = std::make_shared<const std::vector<DescribedKernel>>(*read_facts(whole.facts));
    const auto code = std::make_shared<const std::vector<std::byte>>(whole.code);
    const auto mutex = std::make_shared<std::mutex>();
    build = make_late_program(
        whole,
        {[=, all = compilations](std::span<const std::size_t> wanted, WithoutChild without_child) {
           {
             const std::lock_guard lock(*mutex);
             all->emplace_back(wanted.begin(), wanted.end());
           }
           const auto other = instead(wanted, without_child);
           return other ? *other : compile_kernels(*code, *kernels, wanted, "", kSeconds, without_child);
         },
         [](std::span<const std::span<const std::byte>> objects, std::span<const DescribedKernel> described) {
           return bind_objects(objects, described, "");
         }});
    REQUIRE_MESSAGE(build.status == BuildStatus::ok, build.log);
  }

  [[nodiscard]] const CompiledKernel& kernel(std::size_t place) const {
    return build.program->kernels()[place];
  }
  [[nodiscard]] bool is_ready(std::size_t place) const { return kernel(place).entry != nullptr; }
  BuildStatus ask(std::size_t place, std::string& log) const {
    return build.program->make_ready(&kernel(place), log);
  }
  /// Compilations that had the kernel.
  [[nodiscard]] std::ptrdiff_t tries(std::size_t place) const {
    return std::ranges::count_if(
        *compilations, [&](const auto& wanted) { return std::ranges::find(wanted, place) != wanted.end(); });
  }
};

bool has_bad(std::span<const std::size_t> wanted) { return std::ranges::find(wanted, kBad) != wanted.end(); }

Compilation failed(BuildStatus status, const char* log) {
  Compilation compilation;
  compilation.failure = status;
  compilation.log = log;
  return compilation;
}

}  // namespace

TEST_CASE("a kernel that cannot be compiled is tried once for those that come after it") {
  const Watched fifty([](auto wanted, WithoutChild) -> std::optional<Compilation> {
    if (has_bad(wanted)) return failed(BuildStatus::build_failure, "error: the compiler ended\n");
    return std::nullopt;
  });
  std::string log;
  for (std::size_t i = 0; i < 50; ++i)
    if (i != kBad) REQUIRE_MESSAGE(fifty.ask(i, log) == BuildStatus::ok, log);
  CHECK(fifty.tries(kBad) == 1);
  for (std::size_t i = 0; i < 50; ++i) CHECK(fifty.is_ready(i) == (i != kBad));
  CHECK(log.empty());

  // Who asks for it is told why it failed, when it was tried alone; what is certain is not tried again.
  CHECK(fifty.ask(kBad, log) == BuildStatus::build_failure);
  CHECK(log == "error: the compiler ended\n");
  CHECK(std::ranges::count(*fifty.compilations, std::vector{kBad}) == 1);
  const auto tries = fifty.tries(kBad);
  log.clear();
  CHECK(fifty.ask(kBad, log) == BuildStatus::build_failure);
  CHECK(log == "error: the compiler ended\n");
  CHECK(fifty.tries(kBad) == tries);
}

TEST_CASE("a native binary that lacks a kernel says which, and why") {
  const Watched fifty([](auto wanted, WithoutChild) -> std::optional<Compilation> {
    if (has_bad(wanted)) return failed(BuildStatus::build_failure, "error: the compiler ended\n");
    return std::nullopt;
  });
  std::string log;
  CHECK(fifty.build.program->make_ready(nullptr, log) == BuildStatus::build_failure);
  CHECK(log == "native binary: kernel 'k13': error: the compiler ended\n");
  CHECK(fifty.build.program->native_binary().empty());

  // Known from then on: nothing is compiled for the sake of a binary that cannot be.
  const auto tries = fifty.compilations->size();
  log.clear();
  CHECK(fifty.build.program->make_ready(nullptr, log) == BuildStatus::build_failure);
  CHECK(log == "native binary: kernel 'k13': error: the compiler ended\n");
  CHECK(fifty.compilations->size() == tries);
}

TEST_CASE("a kernel whose compiler was killed is tried again when it is asked for again") {
  bool kill = true;
  const Watched fifty([&](auto wanted, WithoutChild) -> std::optional<Compilation> {
    if (kill && has_bad(wanted)) return failed(BuildStatus::compiler_killed, "error: it was killed\n");
    return std::nullopt;
  });
  std::string log;
  CHECK(fifty.ask(kBad, log) == BuildStatus::compiler_killed);
  CHECK(log == "error: it was killed\n");
  log.clear();
  CHECK(fifty.build.program->make_ready(nullptr, log) == BuildStatus::compiler_killed);
  CHECK(log == "native binary: kernel 'k13': error: it was killed\n");
  kill = false;
  REQUIRE_MESSAGE(fifty.ask(kBad, log) == BuildStatus::ok, log);
  CHECK(fifty.is_ready(kBad));
  REQUIRE_MESSAGE(fifty.build.program->make_ready(nullptr, log) == BuildStatus::ok, log);
  const BuildResult again = build_from_native(fifty.build.program->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  CHECK(again.program->kernels().size() == 50);
}

TEST_CASE("a kernel whose compiler was killed beside others is tried again alone") {
  std::atomic<bool> crowded = false;  // two threads compile
  const Watched fifty([&](auto wanted, WithoutChild) -> std::optional<Compilation> {
    if (!has_bad(wanted) || !crowded.exchange(false)) return std::nullopt;
    return failed(BuildStatus::compiler_killed, "error: it was killed\n");
  });
  std::string log;
  // So that the next question compiles two kernels, where there are two processors each by itself.
  for (std::size_t i = 10; i < 12; ++i) REQUIRE_MESSAGE(fifty.ask(i, log) == BuildStatus::ok, log);
  crowded = true;
  CHECK_MESSAGE(fifty.ask(kBad, log) == BuildStatus::ok, log);
  CHECK(fifty.tries(kBad) == 2);
}

TEST_CASE("without child processes this one compiles what is asked for, and nothing else beforehand") {
  std::vector<std::size_t> here;
  const Watched fifty([&](auto wanted, WithoutChild without_child) -> std::optional<Compilation> {
    if (without_child == WithoutChild::compile_here) {
      here.insert(here.end(), wanted.begin(), wanted.end());
      return std::nullopt;
    }
    Compilation none = failed(BuildStatus::out_of_memory, "error: no process could be started\n");
    none.begun = false;
    return none;
  });
  std::string log;
  const std::vector<std::size_t> asked = {7, 20, 5, 33, 48};
  for (const std::size_t place : asked) REQUIRE_MESSAGE(fifty.ask(place, log) == BuildStatus::ok, log);
  CHECK(here == asked);
  for (std::size_t i = 0; i < 50; ++i)
    CHECK(fifty.is_ready(i) == (std::ranges::find(asked, i) != asked.end()));
  REQUIRE_MESSAGE(fifty.build.program->make_ready(nullptr, log) == BuildStatus::ok, log);
  CHECK(here.size() == 50);
}

// In a child, whose own children inherit the limit.
TEST_CASE("a kernel is left as it is where no process can be started for it") {
  const ChildOutcome outcome = run_in_child([]() -> std::string {
    BuildOptions options;
    options.late = true;
    const std::vector<std::byte> spirv = read_file("../../../bench/cache/fifty.spv");
    const SpirvModule module{spirv, {}};
    const Compilation whole = compile_module(std::span(&module, 1), options);
    if (!whole.well || whole.facts.empty()) return "not built: " + whole.log;
    const rlimit no_files{};
    setrlimit(RLIMIT_NOFILE, &no_files);  // so that there is no pipe
    const std::size_t wanted[] = {kBad};
    const auto try_it = [&](WithoutChild without_child) {
      return compile_kernels(whole.code, *read_facts(whole.facts), wanted, "", kSeconds, without_child);
    };
    const Compilation left = try_it(WithoutChild::leave);
    if (left.well || left.begun || left.log.empty()) return "was not left";
    const Compilation here = try_it(WithoutChild::compile_here);
    return here.well && here.begun ? "well" : "not compiled here: " + here.log;
  });
  CHECK(outcome.kind == ChildOutcome::Kind::finished);
  CHECK(outcome.text == "well");
}

TEST_CASE("modules of the same source share a program whose kernels come late") {
  const std::vector<std::byte> spirv = read_file("../../../bench/cache/fifty.spv");
  const SpirvModule module{spirv, {}};
  BuildOptions options;
  options.late = true;
  const BuildResult first = build_once(std::span(&module, 1), options);
  REQUIRE_MESSAGE(first.status == BuildStatus::ok, first.log);
  const auto kernels = first.program->kernels();
  REQUIRE(kernels[9].entry == nullptr);
  std::string log;
  REQUIRE_MESSAGE(first.program->make_ready(&kernels[9], log) == BuildStatus::ok, log);
  const BuildResult second = build_once(std::span(&module, 1), options);
  CHECK(second.program == first.program);
  CHECK(second.program->kernels()[9].entry != nullptr);
  options.flags = "-cl-mad-enable";
  const BuildResult other = build_once(std::span(&module, 1), options);
  REQUIRE_MESSAGE(other.status == BuildStatus::ok, other.log);
  CHECK(other.program->kernels()[9].entry == nullptr);
}

}  // namespace kiln::cpu::test
