// SPDX-License-Identifier: MIT
// kiln::bake(): what it makes, and what it says of all that can go wrong. ocloc is a script here:
// bake_test.py has the real one.
#include "kiln/bake.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "offline/compiler_messages.hpp"
#include "offline/ocloc_script.hpp"
#include "offline/parallel.hpp"
#include "support/private_folder.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

namespace fs = std::filesystem;

const std::string kSaxpy = KILN_TEST_SPIRV "/saxpy.spv";
const KernelFile kSource{"k.cl", bytes_of("kernel void k() {}")};

/// One error of that code, and no output.
Error refused(const char* code, BakeOptions options) {
  CAPTURE(code);
  const kiln::detail::PrivateFolder folder = detail::PrivateFolder::make().value();
  const fs::path output = folder.path() / "out.ar";
  if (options.output.empty()) options.output = output.string();
  const auto baked = bake(options);
  REQUIRE_FALSE(baked);
  CHECK(baked.error().errors.size() == 1);
  CHECK_FALSE(fs::exists(output));
  const Error error = baked.error();
  REQUIRE(error.diagnostic());
  CHECK(error.diagnostic()->code == code);
  CHECK_FALSE(error.diagnostic()->help.empty());
  return error;
}

}  // namespace

TEST_CASE("bake: SPIR-V alone needs no ocloc, and comes out as it went in") {
  const Ocloc none;
  const fs::path output = none.folder() / "k.ar", rule = none.folder() / "k.d";
  std::size_t calls = 0;
  const auto baked = bake({.files = {kSaxpy},
                           .output = output.string(),
                           .depfile = rule.string(),
                           .work = {[&](std::size_t, std::size_t) { ++calls; }, {}}});
  REQUIRE(baked);
  CHECK(calls == 0);
  CHECK(baked->spirv == read_file(kSaxpy));
  REQUIRE(baked->members.size() == 1);
  CHECK(baked->members[0].name == "generic_ir");
  CHECK(baked->members[0].target.empty());
  CHECK(baked->dependencies == std::vector{kSaxpy});
  REQUIRE_FALSE(baked->kernels.empty());
  CHECK(baked->kernels[0].file == kSaxpy);
  CHECK(baked->bundle == read_file(output));
  CHECK(read_file(rule) == bytes_of(output.string() + ": \\\n  " + kSaxpy + "\n"));
  const auto parts = read_parts(baked->bundle);
  REQUIRE(parts.size() == 1);
  REQUIRE(parts[0].facts);
  CHECK(parts[0].facts->kernels.size() == baked->kernels.size());

  const auto in_memory = bake({.sources = {{"memory", read_file(kSaxpy)}}});
  REQUIRE(in_memory);
  CHECK(in_memory->bundle == baked->bundle);
  CHECK(in_memory->dependencies.empty());
}

TEST_CASE("bake: what cannot be meant is named") {
  const Ocloc none;
  const std::string notes = (none.folder() / "notes.txt").string();
  std::ofstream(notes) << "text";
  Bytes cut = read_file(kSaxpy);
  cut.resize(40);
  refused("K0420", {});
  refused("K0420", {.files = {notes}});
  refused("K0201", {.files = {"/nonexistent/k.cl"}});
  refused("K0201", {.files = {none.folder().string()}});
  refused("K0209", {.sources = {{"cut.spv", cut}}});
  refused("K0404", {.files = {kSaxpy}, .targets = {"pcv"}});
  refused("K0404", {.files = {kSaxpy}, .targets = {"pvc", "12.60.7"}});
  refused("K0404", {.files = {notes}, .output = notes});
  refused("K0404", {.files = {kSaxpy}, .output = notes, .depfile = notes});
  CHECK(bake({.files = {kSaxpy}, .depfile = notes}).error().errors[0].diagnostic()->code == "K0404");
  refused("K0421", {.files = {kSaxpy}, .output = "/nonexistent/k.ar"});
  refused("K0421", {.files = {kSaxpy}, .output = none.folder().string()});
  refused("K0405", {.sources = {kSource}});
  refused("K0405", {.files = {kSaxpy}, .targets = {"pvc"}});
  CHECK(read_file(notes) == bytes_of("text"));
}

TEST_CASE("bake: an error turns into that of a Result") {
  const auto caller = []() -> Result<std::size_t> {
    KILN_TRY(const auto baked, bake({.files = {"/nonexistent/k.cl"}}));
    return baked.bundle.size();
  };
  const auto answer = caller();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(answer.error().diagnostic()->code == "K0201");
}

TEST_CASE("bake: the compiler's messages have their place, and each is there once") {
  const Ocloc ocloc("cp '" + kSaxpy + R"(' result.spv
echo "1:3:7: warning: strange: error: not"
echo "In file included from 1:1:"
echo "/h/a b.h:12:1: note: here"
echo "nonsense: warning: no place"
echo "1:x:7: error: no line"
echo "Build succeeded.")");
  const auto baked = bake({.sources = {kSource}});
  REQUIRE(baked);
  REQUIRE(baked->messages.size() == 2);
  const CompilerMessage& warning = baked->messages[0];
  CHECK(warning.kind == MessageKind::warning);
  CHECK(warning.file == "k.cl");
  CHECK(warning.line == 3);
  CHECK(warning.column == 7);
  CHECK(warning.text == "strange: error: not");
  CHECK(warning.targets == std::vector<std::string>{"pvc"});
  CHECK(baked->messages[1].kind == MessageKind::note);
  CHECK(baked->messages[1].file == "/h/a b.h");
  check_diagnostic("K0424", to_diagnostic(warning));
  CHECK(to_diagnostic(warning).severity == Severity::warning);
  CHECK(to_diagnostic({MessageKind::error, "k.cl", 1, 2, "text"}).severity == Severity::error);

  std::vector<CompilerMessage> all = baked->messages;
  auto again = baked->messages;
  for (CompilerMessage& each : again) each.targets = {"dg2-g10"};
  offline::add_messages(all, again);
  offline::add_messages(all, baked->messages);
  REQUIRE(all.size() == 2);
  CHECK(all[0].targets == std::vector<std::string>{"pvc", "dg2-g10"});
}

TEST_CASE("bake: a source that is refused for two targets is one error, with its place") {
  const Ocloc ocloc("echo \"1:1:5: error: what is this?\"\necho 'In \x1b[2J'\nexit 1");
  const auto baked = bake({.sources = {{"a\x1b[2J.cl", kSource.bytes}}, .targets = {"pvc", "dg2-g10"}});
  REQUIRE_FALSE(baked);
  REQUIRE(baked.error().errors.size() == 1);
  CHECK(baked.error().errors[0].diagnostic()->code == "K0406");
  CHECK(baked.error().errors[0].text().find('\x1b') == std::string::npos);
  REQUIRE(baked.error().messages.size() == 1);
  CHECK(baked.error().messages[0].kind == MessageKind::error);
  CHECK(baked.error().messages[0].line == 1);
  CHECK(baked.error().messages[0].targets == std::vector<std::string>{"pvc", "dg2-g10"});
}

TEST_CASE("bake: an ocloc that hangs, crashes or leaves nothing") {
  {
    const Ocloc ocloc("exec sleep 600");
    refused("K0406", {.sources = {kSource}, .time_limit = std::chrono::milliseconds(50)});
  }
  {
    const Ocloc ocloc("kill -SEGV $$");
    refused("K0406", {.sources = {kSource}});
  }
  {
    const Ocloc ocloc("exit 0");
    refused("K0406", {.sources = {kSource}});
  }
  const Ocloc ocloc("echo rubbish > result.spv");
  CHECK(refused("K0209", {.sources = {kSource}}).text().find("k.cl") != std::string::npos);
}

TEST_CASE("bake: it stops in the middle, ends ocloc, and leaves what was there") {
  // Says that it runs, and does not end by itself.
  const kiln::detail::PrivateFolder world = detail::PrivateFolder::make().value();
  const fs::path pipe = world.path() / "pipe", output = world.path() / "out.ar";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::ofstream(output) << "before";
  const Ocloc ocloc("echo running > '" + pipe.string() + "'\nexec sleep 600");
  std::stop_source source;
  std::jthread user([&] {
    std::string word;
    std::ifstream(pipe) >> word;
    source.request_stop();
  });
  const auto baked = bake({.sources = {kSource},
                           .targets = {"pvc", "dg2-g10", "tgllp"},
                           .output = output.string(),
                           .threads = 1,
                           .work = {{}, source.get_token()}});
  REQUIRE_FALSE(baked);
  check_diagnostic("K0423", *baked.error().errors[0].diagnostic());
  CHECK(baked.error().errors[0].code() == ZE_RESULT_NOT_READY);
  CHECK(read_file(output) == bytes_of("before"));

  // From within, too: then no more than one is begun.
  std::stop_source within;
  std::size_t calls = 0;
  const auto stopped =
      bake({.sources = {kSource},
            .targets = {"pvc", "dg2-g10"},
            .threads = 1,
            .work = {[&](std::size_t, std::size_t) { ++calls, within.request_stop(); }, within.get_token()}});
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().errors[0].diagnostic()->code == "K0423");
  CHECK(calls == 1);
}

TEST_CASE("work in parallel: what a piece throws comes back, and the end is told") {
  std::vector<std::pair<std::size_t, std::size_t>> told;
  const LongWork work{[&](std::size_t done, std::size_t all) { told.emplace_back(done, all); }, {}};
  std::atomic<int> sum = 0;
  offline::in_parallel(4, 3, work, [&](std::size_t i) { sum += static_cast<int>(i); });
  CHECK(sum == 6);
  CHECK(told.size() == 5);
  CHECK(told.back() == std::pair<std::size_t, std::size_t>(4, 4));
  CHECK_THROWS_AS(offline::in_parallel(100, 4, {}, [](std::size_t) { throw std::bad_alloc(); }),
                  std::bad_alloc);
}
