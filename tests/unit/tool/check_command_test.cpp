// SPDX-License-Identifier: MIT
// What `kiln check` is made of: processes, what ocloc says, the lines of the driver child, and the matrix.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "support/private_folder.hpp"
#include "tool/check/driver_question.hpp"
#include "tool/check/matrix.hpp"
#include "tool/check/parts.hpp"
#include "tool/common/parallel.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::offline;
using namespace kiln::tool;
using namespace kiln::test;
using namespace std::chrono_literals;
using End = ProcessResult::End;

namespace {

ProcessResult shell(const std::string& script, std::chrono::milliseconds time_limit = 60s,
                    std::size_t limit = 1 << 20) {
  return run_process({{"sh", "-c", script}, {}, time_limit, limit});
}

ProcessResult said(std::string words, int status) { return {End::exited, status, std::move(words), {}}; }

offline::CompileFailure explain(const ProcessResult& result) {
  return offline::explain_compile({"saxpy.cl", {}, offline::SourceLanguage::opencl_c, "dg2-g10", ""}, result,
                                  1500ms);
}

/// A set with one native binary for dg2-g10 and one kernel.
PartSet one_kernel(KernelFacts kernel) {
  kernel.name = "k";
  kernel.simd_size = 16;
  PartSet set;
  set.parts.push_back({"f", "f.bin", {"", BinaryFormat::elf, ModuleFacts{}}, {}, find_target("dg2-g10")});
  set.parts[0].part.facts->kernels.push_back(kernel);
  return set;
}

}  // namespace

TEST_CASE("a process: status, both streams, signal, and what is not there") {
  const auto done = shell("echo out; echo err >&2; exit 7");
  CHECK(done.end == End::exited);
  CHECK(done.number == 7);
  CHECK(done.out == "out\n");
  CHECK(done.err == "err\n");
  CHECK(done.ended_by(1s) == "exit status 7");
  CHECK(shell("cat").succeeded());  // stdin is empty
  CHECK(shell("kill -ABRT $$").ended_by(1s) == "SIGABRT");
  const auto missing = run_process({{"kiln-no-such-program"}, {}, 1s});
  CHECK(missing.end == End::not_started);
  CHECK(missing.number == ENOENT);
}

TEST_CASE("a process reads what it is given, keeps its last words, and may be reaped by others") {
  const std::string text(300'000, 'x');
  ProcessOptions options;
  options.arguments = {"sh", "-c", "wc -c; echo first >&2; echo last >&2; ls /proc/self/fd | wc -l"};
  options.input = std::as_bytes(std::span(text));
  options.error_tail = 5;
  options.only_standard = true;
  const int open_here = dup(0);  // not to be inherited
  const auto result = run_process(options);
  close(open_here);
  CHECK(result.succeeded());
  CHECK(result.out == "300000\n4\n");  // three, and that of the folder
  CHECK(result.err == "last\n");
  const auto former = std::signal(SIGCHLD, SIG_IGN);
  const auto unseen = shell("echo out; exit 3");
  std::signal(SIGCHLD, former);
  CHECK(unseen.end == End::not_known);
  CHECK(unseen.out == "out\n");
}

TEST_CASE("what a process reads is bounded by no limit of file sizes, and may be left unread") {
  std::string text(3'000'000, 'x');
  ProcessOptions options;
  options.arguments = {"sh", "-c", "wc -c"};
  options.input = std::as_bytes(std::span(text));
  rlimit former{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &former) == 0);
  const rlimit small{1000, former.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(run_process(options).out == "3000000\n");
  setrlimit(RLIMIT_FSIZE, &former);
  options.arguments = {"sh", "-c", "exec 0<&-; echo deaf"};
  CHECK(run_process(options).out == "deaf\n");
  options.arguments = {"cat"};  // both ways at once
  options.output_limit = text.size();
  CHECK(run_process(options).out == text);
}

TEST_CASE("a process that writes without end, or hangs, ends with its own children") {
  const auto loud = shell("yes", 200ms, 1000);
  CHECK(loud.end == End::timed_out);
  CHECK(loud.out.size() == 1000);
  CHECK(loud.ended_by(1500ms) == "time limit of 1.5 s");
  CHECK(loud.ended_by(120s) == "time limit of 120 s");
  // The shell is gone at once; what it left behind holds the pipe, and must go too.
  const auto left = shell("sleep 1000 & echo $!", 60s);
  CHECK(left.succeeded());
  const pid_t pid = std::stoi(left.out);
  const auto gone = [&] {
    if (kill(pid, 0) != 0) return true;  // else perhaps a zombie that its new parent has yet to reap
    const Bytes stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return std::string(reinterpret_cast<const char*>(stat.data()), stat.size()).find(") Z") !=
           std::string::npos;
  };
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!gone() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(gone());
}

TEST_CASE("work in parallel is done once each, in a folder that goes away") {
  std::vector<int> done(1000);
  in_parallel(done.size(), "working", [&](std::size_t i) { ++done[i]; });
  CHECK(done == std::vector<int>(1000, 1));
  std::filesystem::path path;
  {
    const detail::PrivateFolder folder = detail::PrivateFolder::make().value();
    path = folder.path();
    REQUIRE(std::filesystem::is_directory(path));
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
          std::filesystem::perms::owner_all);
    std::ofstream(path / "file") << "x";
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("what ocloc's failures mean") {
  using Kind = offline::CompileFailure::Kind;
  const auto missing = explain({End::not_started, ENOENT, {}, {}});
  CHECK(missing.kind == Kind::no_ocloc);
  check_diagnostic("K0405", missing.diagnostic);
  const auto no_front_end =
      explain(said("Error! Loading of FCL library has failed! Filename: libigdfcl.so.2\nBuild failed with "
                   "error code: -6\n",
                   250));
  CHECK(no_front_end.kind == Kind::no_front_end);
  check_diagnostic("K0405", no_front_end.diagnostic, "front-end");
  const auto unknown =
      explain(said("Error: Cannot get HW Info for device dg2-g10.\nCommand was: ocloc\n", 223));
  CHECK(unknown.kind == Kind::unknown_target);
  check_diagnostic("K0406", unknown.diagnostic, "target");
  const auto refused =
      explain(said("1:1:41: error: use of undeclared identifier 'x'\n\nBuild failed with error code: -11\n"
                   "Command was: ocloc compile\n",
                   245));
  CHECK(refused.kind == Kind::refused);
  check_diagnostic("K0406", in_options(refused.diagnostic));
  const auto slow = explain({End::timed_out, 0, {}, {}});
  CHECK(slow.kind == Kind::broken);
  check_diagnostic("K0406", in_options(slow.diagnostic), "slow");
  const auto crashed = explain({End::signalled, SIGSEGV, {}, {}});
  CHECK(crashed.kind == Kind::broken);
  CHECK(crashed.diagnostic.rows[0].text == "SIGSEGV");
  CHECK(explain(said("", 0)).kind == Kind::broken);
  CHECK(explain(said("\x1b[2J\x07\n", 1)).diagnostic.rows[1].text == ".[2J.");
}

TEST_CASE("the driver child's question and lines come through whole, and nothing else does") {
  const DriverQuestion question{"dg2",
                                {{"0.bin",
                                  true,
                                  "-cl-opt-disable",
                                  {{"k", true, {16, 2, 1}, {3}, {{1, ArgumentKind::local_pointer, 64}}}}}}};
  const auto read = parse_question(to_json(question).dump());
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(question));
  CHECK(read->modules[0].kernels[0].arguments[0].kind == ArgumentKind::local_pointer);
  for (const char* text : {"", "{", "[]", "{\"product\":1,\"modules\":[]}"})
    CHECK_FALSE(parse_question(text));
  const auto line = parse_line(to_line({1, 2, "zeKernelCreate", "ZE_RESULT_SUCCESS", "odd \xff", ""}));
  REQUIRE(line);
  CHECK(line->kernel == 2);
  CHECK(line->result == "ZE_RESULT_SUCCESS");
  CHECK_FALSE(parse_line(to_line({0, -1, "zeModuleCreate", {}, "", ""}))->result);
  for (const char* text : {"", "Abort was called", "{}", "{\"module\":\"a\",\"kernel\":0,\"call\":\"\"}"})
    CHECK_FALSE(parse_line(text));
}

TEST_CASE("the driver's last words") {
  CHECK(last_words("").empty());
  CHECK(last_words("one\ntwo \x1b[2J\n\n") == "two .[2J");
  CHECK(last_words("x\nAbort was called at 432 line in file:\n./hw_helper.cpp\nmore\n") ==
        "Abort was called at 432 line in file: ./hw_helper.cpp");
  CHECK(last_words(std::string(10'000, 'x')).size() == 500);
}

TEST_CASE("errors rule out, warnings do not, and the driver's no is a no") {
  const auto set = one_kernel({});
  Matrix matrix = check_all(set, {find_target("dg2"), find_target("pvc")}, {});
  REQUIRE(matrix.rows.size() == 1);
  Cell &dg2 = matrix.rows[0].cells[0], &pvc = matrix.rows[0].cells[1];
  CHECK(dg2.fits());
  CHECK(dg2.by() == FitBasis::compiled);
  CHECK_FALSE(pvc.fits());
  CHECK(pvc.by() == FitBasis::none);
  CHECK_FALSE(matrix.all_fit());
  matrix.rows[0].cells.pop_back();
  matrix.targets.pop_back();

  dg2.findings = {{"K0999", "a guess", {}, {}, Severity::warning}};
  CHECK(dg2.fits());
  CHECK(matrix.all_fit());
  auto result = to_json(matrix)[0]["results"][0];
  CHECK(result["reasons"].empty());
  CHECK(result["warnings"][0]["code"] == "K0999");
  dg2.driver = DriverAnswer{};
  CHECK(matrix.all_fit());  // not asked
  dg2.driver->asked = true;
  CHECK_FALSE(matrix.all_fit());
  CHECK(dg2.disagrees());
  CHECK(to_json(matrix)[0]["results"][0]["agree"] == false);
  dg2.findings.push_back({"K0998", "certain", {}, {}});
  CHECK_FALSE(dg2.fits());
  CHECK_FALSE(dg2.disagrees());
}

TEST_CASE(
    "a `__local` argument of 4 GiB or more is no disagreement with a driver that keeps its low 32 bits") {
  KernelFacts kernel;
  kernel.arguments = {{ArgumentKind::local_pointer, 0, 4, "tile"}};
  kernel.arguments_known = true;
  const auto set = one_kernel(kernel);
  CheckOptions options;
  for (const bool beyond : {true, false}) {
    options.locals = {beyond ? "tile=4294967312" : "tile=1048576"};
    auto matrix = check_all(set, {find_target("dg2")}, *parse_check_request(options));
    Cell& cell = matrix.rows[0].cells[0];
    cell.driver.emplace();
    cell.driver->asked = cell.driver->fits = true;
    CHECK(cell.findings.at(0).code == "K0101");
    CHECK(cell.disagrees() == !beyond);
    const auto json = to_json(matrix)[0]["results"][0];
    CHECK(json["agree"] == false);
    CHECK(json.contains("known_difference") == beyond);
  }
}

TEST_CASE("native code for another product stands by the SPIR-V inside it") {
  // The native part is for pvc; ocloc writes the SPIR-V beside it unless told not to.
  const auto path = std::filesystem::path(KILN_TEST_DATA) / "data" / "unresolved.ocloc-22.43.bin";
  const PartSet set = read_files({path.string()});
  REQUIRE(set.errors.empty());
  REQUIRE(set.parts.size() == 2);
  CHECK(set.parts[1].is_spirv());
  CHECK(set.parts[1].is_inside);
  const Matrix matrix = check_all(set, {find_target("pvc"), find_target("dg2")}, {});
  REQUIRE(matrix.rows.size() == 2);
  CHECK(matrix.rows[0].cells[0].by() == FitBasis::native);
  CHECK(matrix.rows[0].cells[1].by() == FitBasis::spirv);
  for (const Row& row : matrix.rows)
    for (const Cell& cell : row.cells) {
      REQUIRE_FALSE(cell.findings.empty());
      CHECK(cell.findings[0].code == "K0130");
    }
}

TEST_CASE("SLM arguments and counts reach the check") {
  KernelFacts kernel;
  kernel.arguments = {{ArgumentKind::global_pointer, 8, 16, "out"},
                      {ArgumentKind::local_pointer, 0, 4, "tile"}};
  kernel.arguments_known = true;
  const auto set = one_kernel(kernel);
  CheckOptions options;
  options.locals = {"tile=65540"};
  options.groups = "4294967295,1";
  const auto request = parse_check_request(options);
  REQUIRE(request);
  CHECK(request->groups == Extent{4294967295});
  const auto matrix = check_all(set, {find_target("dg2")}, *request);
  CHECK(matrix.rows[0].cells[0].findings.at(0).code == "K0101");
  CHECK_FALSE(unknown_local(*request, set));
  for (const char* groups : {"0", "4294967296", "1,", "1,2,3,4", "x"}) {
    options.groups = groups;
    CHECK_FALSE(parse_check_request(options));
  }
}
