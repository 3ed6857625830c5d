// SPDX-License-Identifier: MIT
// What `kiln doctor --report` publishes: secrets are planted wherever facts come from, and looked for.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "doctor/clean.hpp"
#include "doctor/report.hpp"
#include "kiln/memory_account.hpp"
#include "support/json.hpp"

using namespace kiln;
using namespace kiln::doctor;

namespace {

const std::vector<std::string> kWords{"/home/annabel", "annabel", "secret-host.example", "secret-host"};
// Everything private has this in it, or is one of the words above.
constexpr std::string_view kSecret = "hunter2";

bool is_clean(const std::string& text) {
  for (const std::string& word : kWords)
    if (text.find(word) != text.npos) return false;
  return text.find(kSecret) == text.npos;
}

Facts full_of_secrets() {
  Facts facts;
  facts.environment = {
      {"ZE_AFFINITY_MASK", "0.1"},
      {"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"},
      {"ONEAPI_DEVICE_SELECTOR", "level_zero:0,1;!opencl:*"},
      {"ZE_ENABLE_ALT_DRIVERS", "/home/annabel/hunter2/libze_intel_gpu.so.1,/srv/hunter2.so"},
      {"LD_LIBRARY_PATH", "/home/annabel/hunter2:/usr/lib/x86_64-linux-gnu"},
      {"LD_PRELOAD", "/tmp/hunter2/libhunter2.so"},
      {"NEO_CACHE_DIR", "/home/annabel/hunter2/cache"},
      {"KILN_DEVICE", "driver:/home/annabel/hunter2.so"},
      {"KILN_CPU_DRIVER", "hunter2.so"},
      {"KILN_MEMORY_ROOT", "build/hunter2"},
      {"EnableHunter2", "hunter2"},
      {"ZE_ENABLE_VALIDATION_LAYER", "hunter2"},
      {"PrintDebugMessages", "1"},
      // Names that look like a driver's.
      {"ZE_TOKEN_hunter2", "1"},
      {"SYCL_PASSWORD", "hunter2"},
      {"NEO_API_KEY", "hunter2"},
      {"KILN_hunter2", "1"},
      {"IGC_hunter2", "hunter2"},
      {"UR_SECRET", "hunter2"},
      {"AWS_SECRET_ACCESS_KEY", "hunter2"},
      {"HOME", "/home/annabel"}};
  facts.groups = {"hunter2-group", "render", "annabel"};
  facts.cards.push_back({"0000:03:00.0", 0x8086, 0xe20b, "xe", "renderD128"});
  facts.nodes.push_back(
      {"/dev/dri/renderD128", 13, "annabel", "hunter2-group", "0660", "0000:03:00.0", 0x8086});
  facts.loader.library = "libze_loader.so.1";
  facts.loader.path = "/home/annabel/hunter2/libze_loader.so.1";
  facts.loader.error =
      "/home/annabel/hunter2/libze_loader.so.1: file too short (user annabel on secret-host)";
  facts.loader.end = {ChildEnd::Kind::signalled, 6, "hunter2: abort in /home/annabel/x"};
  Start driver;
  driver.library = driver.path = "/home/annabel/hunter2/libze_intel_gpu.so.1";
  driver.version = "hunter2";
  driver.refusal = Diagnostic{
      "K0306", "`/srv/hunter2/libze_intel_gpu.so.1` is no driver", {{"file", "/srv/hunter2/x"}}, {}};
  facts.drivers.push_back(driver);
  // Names in each form, in texts that quote them.
  for (const char* name : {"libhunter2.so", "build/hunter2/libze_x.so", "/tmp/My hunter2 dir/libze_x.so",
                           "../hunter2.so.1", "hunter2"}) {
    Start start;
    start.library = name;
    start.error = std::string(name) + ": cannot open shared object file: No such file or directory";
    start.refusal = Diagnostic{"K0306",
                               "`" + start.library + "` cannot be opened",
                               {{"reason", start.error}, {"other", "libdep-hunter2.so.2: wrong ELF class"}},
                               {"look at " + start.library + ", and below build/hunter2/libze_y.so.1"}};
    facts.drivers.push_back(start);
  }
  facts.cpu.library = "hunter2.so";
  facts.cpu.refusal = Diagnostic{"K0306", "`hunter2.so` cannot be opened", {}, {}};
  facts.compilers.push_back({"libigc.so.1", "/opt/hunter2/libigc.so.1", "1.0"});
  facts.ocloc = {"ocloc", "/home/annabel/bin/ocloc", "22.43"};
  facts.ocloc_end = {ChildEnd::Kind::exited, 1, "hunter2"};
  facts.driver_settings.push_back(
      {"igdrcl.config", false, {{"PrintDebugMessages", "hunter2"}, {"hunter2", "1"}}});
  facts.compiler_settings =
      Settings{"/tmp/IntelIGC/debugFlags/Options.txt", true, {{"DumpTo", "/home/annabel"}}};
  facts.ocloc_files = {"hunter2_options.txt"};
  facts.caches.push_back(
      {"/home/annabel/.cache/neo_compiler_cache", true, true, false, "annabel", false, 1, 1});
  return facts;
}

}  // namespace

TEST_CASE("a bug report has nothing private, wherever it comes from") {
  Cleaner cleaner(kWords);
  const Facts facts = cleaner.facts(full_of_secrets());
  BugReport bug;
  bug.report = judge(facts);
  bug.environment = facts.environment;
  bug.left_out = cleaner.left_out();
  MemoryAccount account;
  account.program = "hunter2";
  account.clients.push_back({4711, "hunter2", "0000:03:00.0", "xe", 1, {}});
  account.groups.push_back({"/user.slice/hunter2.scope", 2, 1u << 30, 0, 0, {}, 0, {}});
  account.groups.push_back({"/user.slice", 2, {}, 0, 0, {}, 0, {}});
  bug.memory = Cleaner::account(account);
  bug.kernel_log = cleaner.kernel_log(
      std::string() +
      "<5>[    0.000000] Command line: xe.force_probe=e20b token=hunter2\n"
      "<12>[    1.000000] xe 0000:03:00.0: written by a user: hunter2\n"
      "<4>[   12.345678] xe 0000:03:00.0: [drm] GT0: Engine memory CAT error [18]: class=ccs\n"
      "<4>[   13.000000] xe 0000:03:00.0: [drm] GT0: Timedout job: seqno=1, flags=0x0 in hunter2 model "
      "[4711]\n"
      "<4>[   14.000000] i915 0000:03:00.0: [drm] hunter2[4711] context reset due to GPU hang\n"
      "<4>[   15.000000] i915 0000:03:00.0: [drm] GPU HANG: ecode 12:1:85dffffb, in hunter2 [4711]\n"
      "<4>[   16.000000] Fence expiration time out i915-0000:03:00.0:hunter2[4711]:2:1!\n"
      "<6>[   17.000000] i915 0000:03:00.0: firmware from /home/annabel/hunter2.bin for annabel@secret-host\n"
      "<3>[   17.500000] i915 0000:03:00.0: [drm] *ERROR* Failed to process CT message (-EPROTO) in process "
      "hunter2\n" +
      "<6>[   17.600000] i915 0000:03:00.0: " + std::string(357, '.') +
      " annabel and more\n"
      "<6>[   18.000000] usb 1-1: Product: hunter2\n"
      "no line of the kernel's: hunter2\n");
  REQUIRE(bug.kernel_log.size() == 8);
  CHECK(bug.kernel_log[0] ==
        "[   12.345678] xe 0000:03:00.0: [drm] GT0: Engine memory CAT error [18]: class=ccs");
  CHECK(bug.kernel_log[1].ends_with("flags=0x0 in (program)[4711]"));
  CHECK(bug.kernel_log[2].ends_with("[drm] (program)[4711] context reset due to GPU hang"));
  CHECK(bug.kernel_log[6].ends_with("Failed to process CT message (-EPROTO) in process (program)"));
  CHECK(bug.kernel_log[7].find(" ann") == std::string::npos);  // half a name, where the line is cut
  const std::string page = to_markdown(bug, to_json(bug.memory));
  INFO(page);
  CHECK(is_clean(page));
  // And what the report is for is there.
  CHECK(facts.environment.at("ZE_AFFINITY_MASK") == "0.1");
  CHECK(facts.environment.at("ONEAPI_DEVICE_SELECTOR") == "level_zero:0,1;!opencl:*");
  CHECK(facts.environment.at("ZE_ENABLE_ALT_DRIVERS").find("/libze_intel_gpu.so.1") != std::string::npos);
  CHECK(facts.environment.at("PrintDebugMessages") == "1");
  CHECK(facts.environment.at("LD_LIBRARY_PATH").ends_with(":/usr/lib/x86_64-linux-gnu"));
  CHECK(bug.left_out == 9);  // two of them keys of settings files
  CHECK(facts.groups.size() == 2);
  CHECK(facts.groups[0] == facts.nodes[0].group);
  CHECK(page.find("0000:03:00.0") != page.npos);
  CHECK(page.find("signal 6") != page.npos);
  CHECK(std::ranges::count(page, '\0') == 0);
}

TEST_CASE("one folder has one name in a report, and two have two") {
  Cleaner cleaner({});
  const std::string first = cleaner.path("/srv/a/libze_x.so.1");
  CHECK(first == "(folder 1)/libze_x.so.1");
  CHECK(cleaner.path("/srv/a/libigc.so.1") == "(folder 1)/libigc.so.1");
  CHECK(cleaner.path("/srv/b/libze_x.so.1") == "(folder 2)/libze_x.so.1");
  CHECK(cleaner.path("/usr/lib/x86_64-linux-gnu/libze_x.so.1") == "/usr/lib/x86_64-linux-gnu/libze_x.so.1");
  CHECK(cleaner.path("/usr/lib/../../srv/c") == "(folder 3)");
  CHECK(cleaner.path("hunter2.so") == "(file)");
  CHECK(cleaner.path("/srv/b/../a//libze_x.so.1") == "(folder 1)/libze_x.so.1");
  CHECK(cleaner.path("./libze_x.so.1") == "(folder 4)/libze_x.so.1");
}

TEST_CASE("what is taken out of facts changes no finding") {
  Facts facts;
  facts.loader.library = "libze_loader.so.1";
  facts.loader.path = "/tmp/d/lib/libze_loader.so.1";
  facts.loader.answer = 0;
  facts.cpu.devices.push_back({"Kiln CPU", "cpu", 0, 0});
  std::string masks = "0.0";
  for (int i = 1; i < 64; ++i) masks += "," + std::to_string(i) + ".1";
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"LD_LIBRARY_PATH", "/tmp/d/lib/"},
                                                        {"LD_LIBRARY_PATH", "/tmp/d/./lib:/tmp/e"},
                                                        {"ZE_AFFINITY_MASK", "0,1,2,3,4,5,6,7,8,9"},
                                                        {"ZE_AFFINITY_MASK", masks},
                                                        {"ZE_AFFINITY_MASK", "0,,1"},
                                                        {"ZE_AFFINITY_MASK", "first"},
                                                        {"KILN_DEVICE", "driver:/x/y.so"},
                                                        {"KILN_DEVICE", "cpu:dg2"},
                                                        {"KILN_DEVICE", "cpu:nonsense"},
                                                        {"KILN_DEVICE", "capture:nonsense"},
                                                        {"KILN_DEVICE", "nonsense"},
                                                        {"KILN_DEVICE", ""},
                                                        {"KILN_DEVICE", "gpu"},
                                                        {"LD_PRELOAD", "mine.so"},
                                                        {"ForceDeviceId", "0x56A0"}}) {
    CAPTURE(name);
    CAPTURE(value);
    facts.environment = {{name, value}, {"NEOReadDebugKeys", "1"}};
    const auto told = [](const Report& report) {
      std::string all = report.gpu_usable ? "gpu" : "none";
      all += report.device.substr(0, report.device.find(':')) + report.verdict.substr(0, 24);
      for (const Finding& finding : report.findings)
        all += std::string(" ") + to_string(finding.state) + (finding.why ? finding.why->code : "");
      return all;
    };
    Cleaner cleaner({});
    const Facts clean = cleaner.facts(facts);
    CHECK(told(judge(clean)) == told(judge(facts)));
    if (name == "ForceDeviceId") CHECK(clean.environment.at(name) == value);
  }
}

TEST_CASE("keys of the driver that a report does not show are counted") {
  Facts facts;
  facts.environment = {{"NEOReadDebugKeys", "1"}, {"EnableImplicitScaling", "0"}, {"lower_case", "0"}};
  const auto rows = [](const Facts& facts, const char* code) {
    Cleaner cleaner({});
    std::string all;
    for (const Finding& finding : judge(cleaner.facts(facts)).findings)
      if (finding.why && finding.why->code == code)
        for (const DiagnosticRow& row : finding.why->rows)
          if (row.label == "not shown") all += std::to_string(row.value) + " " + row.unit;
    return std::to_string(cleaner.left_out()) + ": " + all;
  };
  CHECK(rows(facts, "K0613") == "1: 1 key");
  facts.environment.clear();
  facts.driver_settings.push_back(
      {"igdrcl.config",
       false,
       {{"EnableDirectSubmission", "0"}, {"mine", "1"}, {"PrintDebugMessages", "1"}}});
  CHECK(rows(facts, "K0614") == "2: 2 keys");
  facts.driver_settings.clear();
  facts.compiler_settings =
      Settings{"/tmp/IntelIGC/debugFlags/Options.txt", false, {{"ShaderDumpEnable", "1"}}};
  CHECK(rows(facts, "K0615") == "1: 1 key");
}

TEST_CASE("a report stays one: what would end a table or a block") {
  BugReport bug;
  bug.environment = {{"A|B", "```\x1b[31m"}};
  bug.kernel_log = {"xe: ```\n# forged"};
  bug.by_sudo = true;
  const std::string page = to_markdown(bug, "{}");
  CHECK(page.find('\x1b') == page.npos);
  CHECK(page.find("| A\\|B |") != page.npos);
  CHECK(page.find("\n# forged") == page.npos);
  CHECK(page.find("rights are root's") < page.find("## What is wrong"));
  CHECK(system_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n") ==
        "Debian GNU/Linux 12 (bookworm)");
}
