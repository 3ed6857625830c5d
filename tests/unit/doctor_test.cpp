// SPDX-License-Identifier: MIT
// What `kiln doctor` makes of a machine: facts as values in, findings out. Also the parts that gather facts,
// on folders made for it.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "doctor/child.hpp"
#include "doctor/gather.hpp"
#include "doctor/judge.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::doctor;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kDg2 = 0x56a0, kBattlemage = 0xe20b, kSkylake = 0x1912;
const std::string kIntelLibrary = "libze_intel_gpu.so.1";

Start started(const std::string& library, const std::string& version, std::vector<DeviceFact> devices) {
  Start start;
  start.library = library;
  start.path = "/usr/lib/" + library;
  start.version = version;
  start.answer = devices.empty() ? ZE_RESULT_ERROR_UNINITIALIZED : ZE_RESULT_SUCCESS;
  start.devices = std::move(devices);
  return start;
}

/// A machine where all is well.
Facts healthy() {
  Facts facts;
  const DeviceFact gpu{"Intel Arc A770", "gpu", 0x8086, kDg2};
  facts.environment = {{"HOME", "/home/u"}, {"PATH", "/usr/bin"}};
  facts.groups = {"render", "users"};
  facts.cards = {{"0000:03:00.0", 0x8086, kDg2, "i915", "renderD128"}};
  facts.nodes = {{"/dev/dri/renderD128", 0, "root", "render", "0660", "0000:03:00.0", 0x8086}};
  facts.loader = started("libze_loader.so.1", "1.8.0", {gpu});
  facts.drivers = {started(kIntelLibrary, "1.3.24595", {gpu})};
  facts.drivers[0].build = 24595;
  facts.cpu = started("libze_kiln_cpu.so", "", {{"Kiln CPU device", "cpu", 0, 0}});
  facts.compilers = {{"libigc.so.1", "/usr/lib/libigc.so.1", "1.0.1"}};
  facts.ocloc = {"ocloc", "/usr/bin/ocloc", "22.43.24595"};
  facts.caches = {{"l0_cache"}, {"/home/u/.cache/neo_compiler_cache"}};
  return facts;
}

/// The same without a device that Level Zero shows.
Facts without_gpu() {
  Facts facts = healthy();
  facts.loader.devices.clear();
  facts.drivers[0].devices.clear();
  facts.loader.answer = facts.drivers[0].answer = ZE_RESULT_ERROR_UNINITIALIZED;
  return facts;
}

std::vector<std::string> codes(const Facts& facts) {
  std::vector<std::string> all;
  for (const Finding& finding : judge(facts).findings) {
    CHECK((finding.state == State::ok) == !finding.why);
    if (finding.why) all.push_back(finding.why->code);
  }
  return all;
}

using Codes = std::vector<std::string>;

/// The only finding that is not ok has this code, and its golden text.
void check_only(const char* code, const Facts& facts, State state, const std::string& variant = "") {
  CAPTURE(code);
  CAPTURE(variant);
  REQUIRE(codes(facts) == Codes{code});
  const Report report = judge(facts);
  const auto found =
      std::ranges::find_if(report.findings, [](const Finding& each) { return each.why.has_value(); });
  CHECK(found->state == state);
  check_diagnostic(code, *found->why, variant);
}

Facts with(Facts facts, const std::string& name, const std::string& value) {
  facts.environment[name] = value;
  return facts;
}

}  // namespace

/// What load_driver() says, with its answer.
Diagnostic unusable(std::string reason) {
  Diagnostic diagnostic{"K0306", "`x` cannot be used", {{"reason", std::move(reason)}}, {"check the path"}};
  diagnostic.answer = {AnsweredBy::kiln, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "dlopen"};
  return diagnostic;
}

TEST_CASE("doctor: a healthy machine has no finding but ok") {
  CHECK(codes(healthy()).empty());
  const Report report = judge(healthy());
  CHECK(report.gpu_usable);
  CHECK(report.device == "gpu");
}

TEST_CASE("doctor: loader and drivers") {
  Facts facts = without_gpu();
  facts.loader = {};
  facts.loader.library = "libze_loader.so.1";
  facts.loader.error = "libze_loader.so.1: cannot open shared object file: No such file or directory";
  CHECK(codes(facts) == Codes{"K0301"});

  facts = without_gpu();
  facts.drivers[0] = {};
  facts.drivers[0].library = kIntelLibrary;
  facts.drivers[0].error = kIntelLibrary + ": cannot open shared object file: No such file or directory";
  CHECK(codes(facts) == Codes{"K0302"});

  // There, but what it needs is not.
  facts.drivers[0].error = "libigdgmm.so.12: cannot open shared object file: No such file or directory";
  facts.drivers[0].refusal = unusable(facts.drivers[0].error);
  CHECK(codes(facts) == Codes{"K0306"});

  facts = without_gpu();
  facts.drivers[0].refusal = unusable("zeInit gave ZE_RESULT_ERROR_UNINITIALIZED");
  CHECK(codes(facts) == Codes{"K0305"});

  facts = without_gpu();
  facts.drivers[0].answer.reset();
  facts.drivers[0].end = {ChildEnd::Kind::signalled, SIGABRT, "Abort was called at 42 line\nmore"};
  facts.loader.end = facts.drivers[0].end;  // the loader dies of the driver: that is one finding
  check_only("K0601", facts, State::problem);
  CHECK(judge(facts).device.empty());

  facts = healthy();
  facts.drivers.push_back({});
  facts.drivers[1].library = "/opt/libze_other.so";
  facts.drivers[1].end = {ChildEnd::Kind::timed_out, 20, ""};
  check_only("K0601", facts, State::problem, "hang");
  check_only("K0601", with(facts, "LD_LIBRARY_PATH", "/opt/lib"), State::problem, "path");
  CHECK(judge(facts).gpu_usable);

  // Kiln's own driver is optional, unless it is asked for.
  facts = healthy();
  facts.cpu.answer.reset();
  facts.cpu.refusal = Diagnostic{"K0306", "`libze_kiln_cpu.so` cannot be used", {}, {"check the path"}};
  REQUIRE(codes(facts) == Codes{"K0306"});
  const auto is_problem = [](const Finding& finding) { return finding.state == State::problem; };
  CHECK(std::ranges::count_if(judge(facts).findings, is_problem) == 0);
  CHECK(std::ranges::count_if(judge(with(facts, "KILN_CPU_DRIVER", "x")).findings, is_problem) == 1);

  facts = healthy();
  facts.compilers[0].path.clear();
  check_only("K0608", facts, State::problem);
  facts = healthy();
  facts.ocloc.version.clear();
  facts.ocloc_end = {ChildEnd::Kind::exited, 1, "ocloc: error while loading libocloc.so\n"};
  check_only("K0610", facts, State::note);
}

TEST_CASE("doctor: why Level Zero shows no GPU") {
  Facts facts = without_gpu();
  CHECK(codes(facts) == Codes{"K0305"});
  CHECK_FALSE(judge(facts).gpu_usable);
  CHECK(judge(facts).device == "cpu");

  facts.nodes[0].error = EACCES;
  facts.groups = {"users"};
  CHECK(codes(facts) == Codes{"K0304"});

  // One of two GPUs is locked: worth a note.
  facts = healthy();
  facts.nodes.push_back({"/dev/dri/renderD129", EACCES, "root", "video", "0600", "", 0x8086});
  CHECK(codes(facts) == Codes{"K0304"});
  CHECK(judge(facts).gpu_usable);
  for (const Finding& finding : judge(facts).findings) {
    CHECK(finding.state != State::problem);
    if (!finding.why) continue;
    CHECK(finding.why->rows[0].label == "/dev/dri/renderD129");
    CHECK(finding.why->help[0].find("-aG video") != std::string::npos);
  }
  facts.nodes[1].vendor = 0x10de;
  CHECK(codes(facts).empty());

  // Intel's driver would show the GPU, if the loader were not told to take another.
  facts = with(without_gpu(), "ZE_ENABLE_ALT_DRIVERS", "/opt/libze_other.so");
  facts.drivers[0] = healthy().drivers[0];
  CHECK(codes(facts) == Codes{"K0305", "K0609"});
  for (const Finding& finding : judge(facts).findings)
    if (finding.why && finding.why->code == "K0305")
      CHECK(finding.why->help[0] == "unset ZE_ENABLE_ALT_DRIVERS");

  facts = without_gpu();
  facts.nodes.clear();
  facts.cards.clear();
  CHECK(codes(facts) == Codes{"K0303"});

  facts = without_gpu();
  facts.nodes.clear();
  facts.in_container = true;
  check_only("K0603", facts, State::problem);

  facts.cards[0].kernel_driver.clear();
  facts.cards[0].node.clear();
  check_only("K0604", facts, State::problem);
  facts.cards[0].kernel_driver = "vfio-pci";
  CHECK(codes(facts) == Codes{"K0604"});

  facts = without_gpu();
  facts.nodes[0].vendor = facts.cards[0].vendor = 0x1002;
  check_only("K0607", facts, State::problem);

  // An unknown vendor may be Intel.
  facts.nodes[0].vendor = 0;
  facts.cards.clear();
  CHECK(codes(facts) == Codes{"K0305"});
}

TEST_CASE("doctor: releases of the driver that pass over a GPU") {
  Facts facts = without_gpu();
  facts.cards[0].device = kBattlemage;
  check_only("K0602", facts, State::problem);
  facts.drivers[0].build = 39122;
  CHECK(codes(facts) == Codes{"K0305"});
  facts.cards[0].device = kSkylake;
  check_only("K0602", facts, State::problem, "new");
  facts.drivers[0].build = 30872;
  CHECK(codes(facts) == Codes{"K0305"});
  facts.cards[0] = {"0000:03:00.0", 0x8086, kDg2, "xe", "renderD128"};
  facts.drivers[0].build = 24595;
  check_only("K0602", facts, State::problem, "xe");
}

TEST_CASE("doctor: the affinity mask") {
  for (const char* fine : {"0", "0,1", "0.1", "12", ""})
    CHECK(codes(with(healthy(), "ZE_AFFINITY_MASK", fine)).empty());
  for (const char* wrong : {"a", ",", "0,", ",0", "0..1", "-1", "0x0", " 0", "0;1", "."}) {
    CAPTURE(wrong);
    CHECK(codes(with(healthy(), "ZE_AFFINITY_MASK", wrong)) == Codes{"K0605"});
  }
  Facts facts = with(without_gpu(), "ZE_AFFINITY_MASK", "3");
  facts.loader.without_mask = facts.drivers[0].without_mask = 1;
  check_only("K0605", facts, State::problem);
  facts.environment["ZE_AFFINITY_MASK"] = "GPU-0";
  facts.loader.end = facts.drivers[0].end = {ChildEnd::Kind::signalled, SIGABRT, "stoul"};
  check_only("K0605", facts, State::problem, "words");
}

TEST_CASE("doctor: debug keys of Intel's driver") {
  const Facts keys = with(with(healthy(), "SetCommandStreamReceiver", "1"), "ProductFamilyOverride", "dg2");
  CHECK(codes(keys).empty());  // read only when NEOReadDebugKeys is set
  const Facts simulated = with(keys, "NEOReadDebugKeys", "1");
  check_only("K0606", simulated, State::problem);
  CHECK_FALSE(judge(simulated).gpu_usable);
  CHECK(codes(with(simulated, "SetCommandStreamReceiver", "0")) == Codes{"K0613"});
  CHECK(codes(with(with(healthy(), "NEOReadDebugKeys", "1"), "NEO_L0_SetCommandStreamReceiver", "2")) ==
        Codes{"K0606"});
  check_only("K0613", with(with(healthy(), "NEOReadDebugKeys", "1"), "UseAubStream", "0"), State::note);

  // A settings file hides the variables.
  Facts file = healthy();
  file.driver_settings = {{"igdrcl.config", false, {{"PrintDebugMessages", "1"}}}};
  check_only("K0614", file, State::note);
  file.environment = simulated.environment;
  CHECK(codes(file) == Codes{"K0613"});
  CHECK(judge(file).gpu_usable);
  file.driver_settings[0].keys["SetCommandStreamReceiver"] = "1";
  check_only("K0606", file, State::problem, "file");
  file.driver_settings[0].path = "neo.config";  // 22.43 does not ask for it
  file.driver_settings[0].keys = {{"SetCommandStreamReceiver", "0"}};
  CHECK(codes(file) == Codes{"K0606"});
  file.drivers[0].build = 39122;
  CHECK(codes(file) == Codes{"K0613"});
}

TEST_CASE("doctor: other variables") {
  check_only("K0609", with(healthy(), "ZE_ENABLE_ALT_DRIVERS", "/opt/libze_other.so"), State::note);
  Facts facts = with(healthy(), "LD_LIBRARY_PATH", "/opt/lib::/usr/lib/");
  check_only("K0611", facts, State::note);
  CHECK(codes(with(healthy(), "LD_LIBRARY_PATH", "/opt/lib:/usr")).empty());
  CHECK(codes(with(healthy(), "LD_PRELOAD", "/opt/libfake.so")) == Codes{"K0611"});
  facts = with(with(healthy(), "CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE", "8MB"), "ONEAPI_DEVICE_SELECTOR",
               "opencl:cpu");
  check_only("K0612", with(facts, "IGC_ShaderDumpEnable", "1"), State::note);
  CHECK(codes(with(healthy(), "KILN_DEVICE", "toaster")) == Codes{"K0307"});
  CHECK(judge(with(healthy(), "KILN_DEVICE", "toaster")).device.empty());
  CHECK(judge(with(healthy(), "KILN_DEVICE", "cpu:pvc")).device == "cpu:pvc");
}

TEST_CASE("doctor: what the environment holds does not reach the terminal as it is") {
  const std::string wild = "\x1b[31m\r\n" + std::string(100'000, 'x');
  for (const char* name : {"ZE_AFFINITY_MASK", "ZE_ENABLE_ALT_DRIVERS", "IGC_x", "KILN_DEVICE", "LD_PRELOAD"})
    for (const Finding& finding : judge(with(healthy(), name, wild)).findings) {
      CHECK(finding.text.find('\x1b') == std::string::npos);
      if (!finding.why) continue;
      const std::string text = to_text(*finding.why);
      CHECK(text.find('\x1b') == std::string::npos);
      CHECK(text.size() < 2000);
    }
}

TEST_CASE("doctor: files and caches") {
  Facts facts = healthy();
  facts.compiler_settings = Settings{"Options.txt", false, {{"ForceOCLSIMDWidth", "16"}}};
  check_only("K0615", facts, State::note);
  facts.compiler_settings->foreign = true;
  check_only("K0615", facts, State::problem, "foreign");
  facts = healthy();
  facts.ocloc_files = {"saxpy_internal_options.txt", "saxpy_options.txt"};
  check_only("K0616", facts, State::note);

  facts = healthy();
  facts.caches[0] = {"l0_cache", true, true, false, "root", false, 0, 0};
  check_only("K0617", facts, State::note);
  facts.drivers[0].build = 39122;  // its cache is elsewhere
  CHECK(codes(facts).empty());
  facts.environment["NEO_CACHE_DIR"] = "/nowhere";
  facts.caches[1] = {"/nowhere"};
  check_only("K0617", facts, State::note, "absent");
  facts.environment["NEO_CACHE_PERSISTENT"] = "0";
  CHECK(codes(facts).empty());
}

namespace {

class Tree {
 public:
  Tree() {
    std::string name = (fs::temp_directory_path() / "kiln-doctor-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    root_ = name;
  }
  Tree(Tree&&) = delete;
  ~Tree() { fs::remove_all(root_); }
  [[nodiscard]] const fs::path& root() const { return root_; }
  void file(const fs::path& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void link(const fs::path& name, const fs::path& target) const {
    fs::create_directories((root_ / name).parent_path());
    fs::create_symlink(target, root_ / name);
  }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("doctor: cards and nodes of a machine") {
  const Tree tree;
  const fs::path device = "sys/bus/pci/devices/0000:03:00.0";
  tree.file(device / "class", "0x030000\n");
  tree.file(device / "vendor", "0x8086\n");
  tree.file(device / "device", "0x56a0\n");
  tree.file(device / "drm/renderD128/dev", "226:128\n");
  tree.link(device / "driver", "../../../drivers/i915");
  tree.file("sys/bus/pci/devices/0000:00:1f.0/class", "0x060100\n");
  tree.link("sys/class/drm/renderD128/device", tree.root() / device);
  tree.file("dev/dri/renderD128", "");
  tree.file("dev/dri/card0", "");
  tree.link("dev/dri/renderD129", "nothing");
  Facts facts;
  gather_gpus({tree.root() / "sys", tree.root() / "dev"}, facts);
  REQUIRE(facts.cards.size() == 1);
  const Card& card = facts.cards[0];
  CHECK(card.address == "0000:03:00.0");
  CHECK(card.vendor == 0x8086);
  CHECK(card.device == 0x56a0);
  CHECK(card.kernel_driver == "i915");
  CHECK(card.node == "renderD128");
  REQUIRE(facts.nodes.size() == 2);
  CHECK(facts.nodes[0].error == 0);
  CHECK(facts.nodes[0].address == "0000:03:00.0");
  CHECK(facts.nodes[0].vendor == 0x8086);
  CHECK(facts.nodes[1].error == ENOENT);
  CHECK(facts.accelerators.empty());
}

TEST_CASE("doctor: files that are read unasked") {
  const Tree tree;
  tree.file("current/igdrcl.config", "SetCommandStreamReceiver = 1\n\n lonely \n=\nA=b=c");
  tree.file("current/saxpy_options.txt", "");
  tree.file("current/saxpy.cl", "");
  tree.file("current/meson_options.txt", "");  // of no input of ocloc
  tree.file("current/options.txt", "");
  tree.file("current/l0_cache/one", "12345");
  REQUIRE(mkfifo((tree.root() / "current/neo.config").c_str(), 0600) == 0);  // nobody writes: must not block
  tree.file("temporary/IntelIGC/debugFlags/Options.txt", "ForceOCLSIMDWidth=16\n");
  Facts facts;
  const Places places{{}, {}, tree.root() / "current", tree.root() / "temporary"};
  gather_files(places, facts);
  REQUIRE(facts.driver_settings.size() == 1);
  CHECK(facts.driver_settings[0].keys ==
        std::map<std::string, std::string>{{"SetCommandStreamReceiver", "1"}, {"lonely", ""}, {"A", "b=c"}});
  REQUIRE(facts.compiler_settings);
  CHECK(facts.compiler_settings->keys.at("ForceOCLSIMDWidth") == "16");
  CHECK(facts.ocloc_files == std::vector<std::string>{"saxpy_options.txt"});

  gather_caches(places, facts);
  REQUIRE(facts.caches.size() == 2);
  CHECK(facts.caches[0].files == 1);
  CHECK(facts.caches[0].bytes == 5);
  CHECK(facts.caches[1].path.empty());  // no HOME
  facts.caches.clear();
  facts.environment = {{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}};
  gather_caches(places, facts);
  CHECK(facts.caches[1].path == "/x/neo_compiler_cache");
}

TEST_CASE("doctor: child processes that crash, hang, print and leave others behind") {
  using Kind = ChildEnd::Kind;
  const ChildOutput good = in_child([](int result) { CHECK(write(result, "fine", 4) == 4); }, 20);
  CHECK(good.result == "fine");
  CHECK((good.end.kind == Kind::exited && good.end.number == 0));
  const ChildOutput crashed = in_child(
      [](int result) {
        CHECK(write(result, "some", 4) == 4);
        std::fputs("words\n", stderr);
        std::signal(SIGABRT, SIG_DFL);  // doctest's own handler
        std::abort();
      },
      20);
  CHECK(crashed.result == "some");
  CHECK((crashed.end.kind == Kind::signalled && crashed.end.number == SIGABRT));
  CHECK(crashed.end.printed == "words\n");
  const auto wait_for_ever = [](int) {
    for (;;) pause();
  };
  CHECK(in_child(wait_for_ever, 1).end.kind == Kind::timed_out);
  const ChildOutput orphan = in_child(
      [&](int result) {
        if (fork() == 0) wait_for_ever(result);
      },
      1);
  CHECK(orphan.end.kind == Kind::timed_out);
  CHECK(run_program({"/nowhere/program"}, "/", 20).end.number == 127);
  CHECK(run_program({"pwd"}, "/", 20).end.printed == "/\n");
}
