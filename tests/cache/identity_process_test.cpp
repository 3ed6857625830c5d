// SPDX-License-Identifier: MIT
// Real processes with a real driver: changes environment, folder and libraries, and compares the keys.
//   identity_process_tests PROBE DEVICE [doctest options]
#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "unit/test_file.hpp"

namespace kiln::cache {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using List = std::vector<std::string>;

std::string probe, device;

bool intel() { return device.starts_with("capture"); }

struct Answer {
  int status = -1;
  std::map<std::string, std::string> fields, libraries;  // libraries: name and path
  std::string key, bypass, unknown, changed, native;
  List opened;
  bool again = false;
};

Answer parse(FILE* output) {
  Answer answer;
  char line[4096];
  while (std::fgets(line, sizeof line, output)) {
    std::string text(line, std::strcspn(line, "\n"));
    const std::string word = text.substr(0, text.find(' '));
    text.erase(0, word.size() + 1);
    const auto blank = text.find(' ');
    if (word == "field") answer.fields[text.substr(0, blank)] = text.substr(blank + 1);
    if (word == "library") answer.libraries[text.substr(0, blank)] = text.substr(blank + 1);
    if (word == "opened") answer.opened.push_back(text);
    if (word == "key") answer.key = text;
    if (word == "bypass") answer.bypass = text;
    if (word == "unknown") answer.unknown = text;
    if (word == "changed") answer.changed = text;
    if (word == "native") answer.native = text;
    if (word == "again") answer.again = true;
  }
  return answer;
}

/// Runs the probe with some variables more, or other values, and some words.
Answer ask(const List& variables, const List& words = {}, const fs::path& folder = ".") {
  List arguments{probe, device}, environment = variables;
  arguments.insert(arguments.end(), words.begin(), words.end());
  environment.emplace_back("NEO_CACHE_PERSISTENT=0");
  const auto is_set = [&](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    return std::ranges::any_of(environment, [&](const auto& known) { return known.starts_with(name); });
  };
  for (char** entry = environ; *entry; ++entry)
    if (!is_set(*entry)) environment.emplace_back(*entry);
  const auto pointers = [](List& list) {
    std::vector<char*> result;
    for (std::string& each : list) result.push_back(each.data());
    result.push_back(nullptr);
    return result;
  };
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int spawned = posix_spawn(&child, probe.c_str(), &actions, nullptr, pointers(arguments).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  REQUIRE(spawned == 0);
  FILE* output = fdopen(ends[0], "r");
  Answer answer = parse(output);
  std::fclose(output);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return answer;
}

/// The answer of an unchanged process.
const Answer& plain() {
  static const Answer answer = ask({});
  return answer;
}

Answer need(const List& variables, const List& words = {}, const fs::path& folder = ".") {
  Answer answer = ask(variables, words, folder);
  REQUIRE(answer.status == 0);
  return answer;
}

/// Names of the fields in which two answers differ.
List differing(const Answer& left, const Answer& right) {
  List names;
  for (const auto& [name, value] : left.fields)
    if (const auto found = right.fields.find(name); found == right.fields.end() || found->second != value)
      names.push_back(name);
  for (const auto& [name, value] : right.fields)
    if (!left.fields.contains(name)) names.push_back(name);
  return names;
}

struct Folder {
  fs::path path;
  Folder() {
    std::string name = fs::temp_directory_path() / "kiln-identity-XXXXXX";
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Where the build-id lies in the file of a library.
std::size_t find_build_id(const Bytes& file, const std::string& id) {
  const Bytes wanted = from_hex(id);
  const auto found = std::search(file.begin(), file.end(), wanted.begin(), wanted.end());
  REQUIRE(found != file.end());
  return static_cast<std::size_t>(found - file.begin());
}

/// The library of the driver, as the table of fields names it.
std::string driver_name() { return intel() ? "libze_intel_gpu.so.1" : "libze_kiln_cpu.so"; }

/// Variables that make the process take a library from that folder.
List take_from(const fs::path& folder) {
  List variables{"LD_LIBRARY_PATH=" + folder.string()};
  if (!intel() && fs::exists(folder / driver_name()))
    variables.push_back("KILN_CPU_DRIVER=" + (folder / driver_name()).string());
  return variables;
}

}  // namespace

TEST_CASE("an unchanged process has the same key, with the compiler in it") {
  CHECK(plain().unknown.empty());
  CHECK(plain().bypass.empty());
  CHECK(plain().changed.empty());
  CHECK_FALSE(plain().again);
  CHECK(need({}).key == plain().key);
  CHECK(plain().fields.contains("library." + driver_name()));
  CHECK(plain().fields.contains("library.libkiln.so.0"));
  const auto compiler = intel() ? "library.libigc.so" : "library.libLLVM";
  CHECK(std::ranges::any_of(plain().fields,
                            [&](const auto& field) { return field.first.starts_with(compiler); }));
  CHECK_FALSE(plain().fields.contains("library.libc.so.6"));
}

TEST_CASE("variables that shape Intel's code change the key there, and no other field than theirs") {
  const std::pair<const char*, List> inputs[] = {
      {"IGC_ForceOCLSIMDWidth", {"IGC_ForceOCLSIMDWidth=16"}},
      {"IGC_NoSuchKey", {"IGC_NoSuchKey=1"}},
      {"NEO_FP64_EMULATION", {"NEO_FP64_EMULATION=1"}},
      {"ONEAPI_PVC_SEND_WAR_WA", {"ONEAPI_PVC_SEND_WAR_WA=0"}},
      {"OverrideDefaultFP64Settings", {"OverrideDefaultFP64Settings=1"}},
      {"DisableStatelessToStatefulOptimization",
       {"NEOReadDebugKeys=1", "DisableStatelessToStatefulOptimization=1"}},
      {"ForceLargeGrfCompilationMode", {"NEOReadDebugKeys=1", "ForceLargeGrfCompilationMode=1"}},
  };
  for (const auto& [name, variables] : inputs) {
    CAPTURE(name);
    const Answer answer = need(variables);
    CHECK((answer.key != plain().key) == intel());
    CHECK(differing(plain(), answer) == (intel() ? List{std::string("env.") + name} : List{}));
  }
}

TEST_CASE("other variables leave the key alone") {
  const List variables{"HOSTNAME=node17",
                       "PBS_JOBID=1",
                       "PALS_RANKID=2",
                       "PMIX_RANK=3",
                       "SLURM_PROCID=4",
                       "TMPDIR=/var/tmp",
                       "PWD=/",
                       "ZE_AFFINITY_MASK=0",
                       "ZE_FLAT_DEVICE_HIERARCHY=FLAT",
                       "ZE_ENABLE_PCI_ID_DEVICE_ORDER=1",
                       "NEO_CACHE_DIR=/var/tmp",
                       "NEO_CACHE_PERSISTENT=1",
                       "KILN_CACHE_DIR=/var/tmp",
                       "KILN_CPU_THREADS=1",
                       "XDG_CACHE_HOME=/var/tmp",
                       "HOME=/nonexistent",
                       "LANG=C",
                       "IGC_ShaderDumpEnable=0"};
  const Answer all = need(variables);
  CHECK(differing(plain(), all).empty());
  CHECK(all.key == plain().key);
  for (const char* word : {"nonsense=1", "another"}) CHECK(need({}, {word}).key == plain().key);
}

TEST_CASE("dumps keep the cache out, where they are made") {
  CHECK(need({"IGC_ShaderDumpEnableAll=1"}).bypass.empty() != intel());
}

TEST_CASE("the current folder counts only by the driver's settings in it") {
  const Folder folder;
  CHECK(need({}, {}, folder.path).key == plain().key);
  // Drivers that read it, newer than 22.43, read it in place of the environment: with it the device must be
  // the same.
  write(folder.path / "neo.config",
        test::bytes_of("NEOReadDebugKeys = 1\nSetCommandStreamReceiver = 1\nProductFamilyOverride = tgllp\n"
                       "HardwareInfoOverride = 1x6x16\nUseAubStream = 0\nUseBindlessMode = 0\n"
                       "UseExternalAllocatorForSshAndDsh = 0\nAUBDumpCaptureFileName = /dev/null\n"));
  const Answer answer = need({}, {}, folder.path);
  CHECK(differing(plain(), answer) == (intel() ? List{"file.neo.config"} : List{}));
  CHECK(answer.bypass.empty());
  fs::rename(folder.path / "neo.config", folder.path / "elsewhere");
  fs::create_symlink("elsewhere", folder.path / "neo.config");
  CHECK(need({}, {}, folder.path).bypass.empty() != intel());
}

TEST_CASE("a library counts by its build, not by its folder or its time") {
  const List names =
      intel() ? List{driver_name(), "libigc.so", "libLLVMSPIRVLib"} : List{driver_name(), "libLLVMSPIRVLib"};
  for (const std::string& prefix : names) {
    CAPTURE(prefix);
    const auto library = std::ranges::find_if(
        plain().libraries, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    if (library == plain().libraries.end()) continue;  // newer compilers hold their translator
    const Folder folder;
    const fs::path copy = folder.path / library->first;
    Bytes file = test::read_file(library->second);
    write(copy, file);
    fs::last_write_time(copy, fs::file_time_type::clock::now() - std::chrono::hours(99));
    const Answer moved = need(take_from(folder.path));
    CHECK(moved.libraries.at(library->first) == copy.string());
    CHECK(moved.key == plain().key);

    const std::string field = "library." + library->first;
    file[find_build_id(file, plain().fields.at(field))] ^= std::byte{1};
    fs::remove(copy);
    write(copy, file);
    const Answer other = need(take_from(folder.path));
    CHECK(other.key != plain().key);
    // The CPU driver's native code is its build's.
    const bool own = !intel() && library->first == driver_name();
    CHECK(differing(plain(), other) == (own ? List{"device.native_format", field} : List{field}));
  }
}

TEST_CASE("without build-id the mapped file counts, unless it was replaced") {
  const std::string field = "library." + driver_name();
  const Folder one, two;
  Bytes file = test::read_file(plain().libraries.at(driver_name()));
  // The type of the note, in front of its name and the build-id.
  file[find_build_id(file, plain().fields.at(field)) - 4 - sizeof(std::uint32_t)] = std::byte{77};
  write(one.path / driver_name(), file);
  write(two.path / driver_name(), file);
  const Answer first = need(take_from(one.path)), second = need(take_from(two.path));
  CHECK(first.unknown.empty());
  CHECK(first.fields.at(field).starts_with("sha256:"));
  CHECK(first.key == second.key);
  file.push_back(std::byte{0});
  fs::remove(two.path / driver_name());
  write(two.path / driver_name(), file);
  CHECK(differing(first, need(take_from(two.path))) == List{field});
  CHECK(!need(take_from(one.path), {"replace=" + (one.path / driver_name()).string()}).unknown.empty());
  // With a build-id it does not matter.
  const Folder three;
  write(three.path / driver_name(), test::read_file(plain().libraries.at(driver_name())));
  const Answer replaced = need(take_from(three.path), {"replace=" + (three.path / driver_name()).string()});
  CHECK(replaced.unknown.empty());
  CHECK(replaced.key == plain().key);
}

TEST_CASE("a variable that is set too late") {
  const std::string changed = "env.IGC_ForceOCLSIMDWidth changed after the driver was loaded";
  const Answer late = need({}, {"late=IGC_ForceOCLSIMDWidth=16"});
  CHECK(late.unknown == (intel() ? changed : ""));
  const Answer later = need({}, {"later=IGC_ForceOCLSIMDWidth=16"});
  CHECK(later.unknown.empty());
  CHECK(later.key == plain().key);
  CHECK(later.changed == (intel() ? changed : ""));
  CHECK(need({}, {"late=HOSTNAME=node"}).key == plain().key);
}

TEST_CASE("a driver or compiler that the program loads before Kiln") {
  if (intel()) {
    // The compiler alone: a driver would have found another machine than the simulation is.
    const auto igc = std::ranges::find_if(
        plain().libraries, [](const auto& library) { return library.first.starts_with("libigc.so"); });
    REQUIRE(igc != plain().libraries.end());
    const List early{"KILN_CPU_DRIVER=" + igc->second};  // what the probe loads early
    CHECK(need(early).key == plain().key);
    CHECK(need(early, {"early=IGC_A=1"}).unknown.find("before Kiln began") != std::string::npos);
    return;
  }
  CHECK(need({}, {"early=HOSTNAME=node"}).key == plain().key);
  CHECK(need({}, {"early=IGC_A=1"}).key == plain().key);
}

TEST_CASE("no library is opened") {
  const Answer answer = need({});
  CHECK(answer.opened.size() <= 3);  // settings that are not there
  for (const std::string& path : answer.opened) {
    CHECK_MESSAGE(path.find(".so") == path.npos, path);
    CHECK_MESSAGE(path.find("/proc") == path.npos, path);
  }
}

TEST_CASE("the compiler itself obeys what is in the key") {
  if (!intel()) return;
  const std::string build = "build=" KILN_TEST_SPIRV "/saxpy.spv";
  const Answer before = need({}, {build});
  CHECK(need({}, {build}).native == before.native);
  const Answer wide = need({"IGC_ForceOCLSIMDWidth=16"}, {build});
  CHECK(wide.native != before.native);
  CHECK(wide.key != before.key);
  const Answer other = need({"HOSTNAME=node", "TMPDIR=/var/tmp", "ZE_AFFINITY_MASK=0"}, {build});
  CHECK(other.native == before.native);
  CHECK(other.key == before.key);
  // Set after the driver was loaded, it still reaches the compiler: this is why the identity is unknown then.
  const Answer late = need({}, {build, "late=IGC_ForceOCLSIMDWidth=16"});
  CHECK(late.native == wide.native);
  CHECK(!late.unknown.empty());
  const Answer later = need({}, {build, "later=IGC_ForceOCLSIMDWidth=16"});
  CHECK(later.native == before.native);
  CHECK(later.key == before.key);
}

TEST_CASE("Intel's compiler obeys a file that nobody named") {
  const std::string build = "build=" KILN_TEST_SPIRV "/saxpy.spv";
  const bool there = fs::exists(fs::path(P_tmpdir) / "IntelIGC");
  const Answer planted = ask({}, {build, "options=hash:0-ffffffffffffffff\nForceOCLSIMDWidth=16\n"});
  std::error_code ignored;
  if (!there) fs::remove(fs::path(P_tmpdir) / "IntelIGC", ignored);
  if (planted.status == 77) {
    MESSAGE("skipped: no mount namespace here");
    return;
  }
  REQUIRE(planted.status == 0);
  const Answer before = need({}, {build});
  if (!intel()) {
    CHECK(planted.native == before.native);
    CHECK(planted.key == before.key);
    return;
  }
  // Driver 26.27 does not open the file.
  CHECK((planted.native != before.native) == before.fields.contains("library.libigc.so.1"));
  CHECK(planted.bypass.empty());
  CHECK(differing(before, planted) == List{"file.Options.txt"});
}

}  // namespace kiln::cache

int main(int count, char** arguments) {
  unsetenv("LD_LIBRARY_PATH");  // a runner of tests sets it, and the first one counts
  if (count < 3) return 2;
  kiln::cache::probe = std::filesystem::absolute(arguments[1]);
  kiln::cache::device = arguments[2];
  doctest::Context context(count, arguments);
  context.setAsDefaultForAssertsOutOfTestCases();
  if (kiln::cache::plain().status == 77) {
    std::printf("skipped: %s is not there\n", arguments[2]);
    return 77;
  }
  return context.run();
}
