// SPDX-License-Identifier: MIT
// Changes one input of a compilation at a time: true inputs must change the key, all others must not.

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cache/identity_world.hpp"
#include "support/build_id.hpp"
#include "unit/golden.hpp"

namespace kiln::cache {
namespace {

struct Mutation {
  const char* name;
  void (*change)(World&);
};

detail::SettingsFile settings(const char* name, const char* content) {
  return {name, std::string("/somewhere/") + name, content, {}};
}

void debug_key(World& world, const char* variable) {
  world.variable("NEOReadDebugKeys=1");
  world.variable(variable);
}

const Mutation kInputs[] = {
    {"Kiln", [](World& w) { w.libraries[1].build_id = "ff"; }},
    {"driver", [](World& w) { w.libraries[2].build_id = "ff"; }},
    {"compiler", [](World& w) { w.libraries[3].build_id = "ff"; }},
    {"front end", [](World& w) { w.libraries[4].build_id = "ff"; }},
    {"LLVM of the compiler", [](World& w) { w.libraries[5].build_id = "ff"; }},
    {"translator", [](World& w) { w.libraries[6].build_id = "ff"; }},
    {"clang", [](World& w) { w.libraries[7].build_id = "ff"; }},
    {"libm, with which LLVM folds", [](World& w) { w.libraries[8].build_id = "ff"; }},
    {"compiler's major version", [](World& w) { w.libraries[3].name = "libigc.so.2"; }},
    {"one compiler more",
     [](World& w) {
       w.libraries.push_back({"/opt/libigc.so.9", "libigc.so.9", "0c"});
     }},
    {"two libraries exchanged",
     [](World& w) { std::swap(w.libraries[3].build_id, w.libraries[5].build_id); }},
    {"IGC variable", [](World& w) { w.variable("IGC_ForceOCLSIMDWidth=16"); }},
    {"IGC variable's value", [](World& w) { w.snapshot.environment[2] = "IGC_EnableA=2"; }},
    {"IGC variable gone", [](World& w) { w.snapshot.environment.pop_back(); }},
    {"LLVM's command line", [](World& w) { w.variable("IGC_LLVMCommandLine=-x"); }},
    {"printf's buffer", [](World& w) { w.variable("IGC_PrintfBufferSize=64"); }},
    {"emulated double precision", [](World& w) { w.variable("NEO_FP64_EMULATION=1"); }},
    {"send workaround", [](World& w) { w.variable("ONEAPI_PVC_SEND_WAR_WA=0"); }},
    {"debugger", [](World& w) { w.variable("ZET_ENABLE_PROGRAM_DEBUGGING=1"); }},
    {"key without gate", [](World& w) { w.variable("OverrideDefaultFP64Settings=1"); }},
    {"the same with prefix", [](World& w) { w.variable("NEO_L0_OverrideDefaultFP64Settings=1"); }},
    {"debug key", [](World& w) { debug_key(w, "ForceLargeGrfCompilationMode=1"); }},
    {"debug key with prefix", [](World& w) { debug_key(w, "NEO_UseBindlessMode=1"); }},
    {"debug key of one capital", [](World& w) { debug_key(w, "Enable64kbpages=1"); }},
    {"igdrcl.config", [](World& w) { w.snapshot.driver_files = {settings("igdrcl.config", "A = 1")}; }},
    {"neo.config", [](World& w) { w.snapshot.driver_files = {settings("neo.config", "A = 1")}; }},
    {"Options.txt", [](World& w) { w.snapshot.compiler_files = {settings("Options.txt", "A=1")}; }},
    {"driver's version", [](World& w) { ++w.driver_version; }},
    {"native format", [](World& w) { w.native_format[15] = 1; }},
    {"vendor", [](World& w) { ++w.device.vendor_id; }},
    {"device", [](World& w) { ++w.device.device_id; }},
    {"stepping", [](World& w) { *w.device.ip_version += 1; }},
    {"no stepping", [](World& w) { w.device.ip_version.reset(); }},
    {"kind of device", [](World& w) { w.device.type = ZE_DEVICE_TYPE_CPU; }},
    {"code", [](World& w) { w.inputs[0].code = w.second; }},
    {"code cut by a byte", [](World& w) { w.inputs[0].code = w.inputs[0].code.first(4); }},
    {"format", [](World& w) { w.inputs[0].format = "native"; }},
    {"flags", [](World& w) { w.inputs[0].flags = "-cl-opt-disable "; }},
    {"no flags", [](World& w) { w.inputs[0].flags = ""; }},
    {"constant's value", [](World& w) { w.inputs[0].constants[0].second = 11; }},
    {"constant's number", [](World& w) { w.inputs[0].constants[0].first = 3; }},
    {"constants exchanged",
     [](World& w) { std::swap(w.inputs[0].constants[0].second, w.inputs[0].constants[1].second); }},
    {"no constants", [](World& w) { w.inputs[0].constants.clear(); }},
    {"second input",
     [](World& w) {
       w.inputs.push_back({"spirv", w.second, "", {}});
     }},
};

const Mutation kOthers[] = {
    {"folder of the compiler", [](World& w) { w.libraries[3].path = "/opt/intel/libigc.so.1"; }},
    {"file name of the compiler", [](World& w) { w.libraries[3].path = "/usr/lib/libigc.so.1.0.12504"; }},
    {"where it is mapped", [](World& w) { w.libraries[3].base = 0x7000; }},
    {"order of libraries", [](World& w) { std::ranges::reverse(w.libraries); }},
    {"another program", [](World& w) { w.libraries[0].build_id = "ff"; }},
    {"the program's own LLVM", [](World& w) { w.libraries[10].build_id = "ff"; }},
    {"zlib", [](World& w) { w.libraries[9].build_id = "ff"; }},
    {"memory manager", [](World& w) { w.libraries[11].build_id = "ff"; }},
    {"one library more",
     [](World& w) {
       w.libraries.push_back({"/usr/lib/libX11.so.6", "libX11.so.6", "0d"});
     }},
    {"the application's own libclang",
     [](World& w) {
       w.libraries.push_back({"/opt/libclang.so.17", "libclang.so.17", "0d", {"libLLVM-17.so.1"}, 17});
     }},
    {"its clang and linker",
     [](World& w) {
       w.libraries.push_back({"/opt/libclang-cpp.so.17", "libclang-cpp.so.17", "0d"});
       w.libraries.push_back({"/opt/liblldELF.so.17", "liblldELF.so.17", "0e"});
       w.libraries.push_back({"/opt/libopencl-clang.so.17", "libopencl-clang.so.17", "0f"});
       w.libraries.push_back({"/opt/libigcore.so", "libigcore.so", "10"});
     }},
    {"HOSTNAME", [](World& w) { w.variable("HOSTNAME=node17"); }},
    {"PBS", [](World& w) { w.variable("PBS_JOBID=17"); }},
    {"PALS", [](World& w) { w.variable("PALS_RANKID=3"); }},
    {"PMIX", [](World& w) { w.variable("PMIX_RANK=3"); }},
    {"SLURM", [](World& w) { w.variable("SLURM_PROCID=3"); }},
    {"TMPDIR", [](World& w) { w.variable("TMPDIR=/scratch"); }},
    {"PWD", [](World& w) { w.variable("PWD=/home/me/work"); }},
    {"HOME", [](World& w) { w.snapshot.environment[0] = "HOME=/home/you"; }},
    {"LD_LIBRARY_PATH", [](World& w) { w.variable("LD_LIBRARY_PATH=/opt/intel"); }},
    {"ZE_AFFINITY_MASK", [](World& w) { w.variable("ZE_AFFINITY_MASK=0"); }},
    {"ZE_FLAT_DEVICE_HIERARCHY", [](World& w) { w.variable("ZE_FLAT_DEVICE_HIERARCHY=FLAT"); }},
    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", [](World& w) { w.variable("ZE_ENABLE_PCI_ID_DEVICE_ORDER=1"); }},
    {"ZE_ENABLE_VALIDATION_LAYER", [](World& w) { w.variable("ZE_ENABLE_VALIDATION_LAYER=1"); }},
    {"ZES_ENABLE_SYSMAN", [](World& w) { w.variable("ZES_ENABLE_SYSMAN=1"); }},
    {"NEO_CACHE_DIR", [](World& w) { w.variable("NEO_CACHE_DIR=/scratch"); }},
    {"NEO_CACHE_PERSISTENT", [](World& w) { w.variable("NEO_CACHE_PERSISTENT=0"); }},
    {"KILN_CACHE_DIR", [](World& w) { w.variable("KILN_CACHE_DIR=/scratch"); }},
    {"KILN_DEVICE", [](World& w) { w.variable("KILN_DEVICE=cpu"); }},
    {"KILN_CPU_THREADS", [](World& w) { w.variable("KILN_CPU_THREADS=1"); }},
    {"a variable that only looks like a debug key", [](World& w) { debug_key(w, "ApiToken=secret"); }},
    {"the same with prefix", [](World& w) { debug_key(w, "NEO_ApiToken=secret"); }},
    {"debug key behind a closed gate", [](World& w) { w.variable("ForceLargeGrfCompilationMode=1"); }},
    {"the gate is shut", [](World& w) { w.variable("NEOReadDebugKeys=0"); }},
    {"dump that is off", [](World& w) { w.variable("IGC_ShaderDumpEnable=0"); }},
    {"order of variables", [](World& w) { std::ranges::reverse(w.snapshot.environment); }},
    {"double that getenv does not find", [](World& w) { w.snapshot.environment.push_back("IGC_EnableA=7"); }},
    {"no variable", [](World& w) { w.variable("IGC_NoValue"); }},
    {"what a driver is told for OpenCL", [](World& w) { w.variable("NEO_CACHE_MAX_SIZE=1"); }},
    {"device's name", [](World& w) { w.device.name = "Arc A770"; }},
    {"free memory", [](World& w) { w.device.usable_memory = 1; }},
    {"topology", [](World& w) { w.device.slices = 4; }},
    {"timer", [](World& w) { w.device.timer_ticks_per_second = 1; }},
    {"order of constants", [](World& w) { std::ranges::reverse(w.inputs[0].constants); }},
    {"where the code lies", [](World& w) { w.second = w.code, w.inputs[0].code = w.second; }},
};

TEST_CASE("a true input changes the key") {
  const CacheKey before = key(make_world());
  std::vector<CacheKey> keys{before};
  for (const Mutation& mutation : kInputs) {
    CAPTURE(mutation.name);
    World world = make_world();
    mutation.change(world);
    const CacheKey after = key(world);
    CHECK(after == key(world));
    CHECK_MESSAGE(std::ranges::find(keys, after) == keys.end(),
                  "the same key as before, or as another change");
    keys.push_back(after);
  }
  CHECK(std::size(kInputs) >= 25);
  MESSAGE((keys.size() - 1) << " changed inputs, each a miss");
}

TEST_CASE("what is no input leaves the key alone") {
  const CacheKey before = key(make_world());
  std::size_t hits = 0;
  for (const Mutation& mutation : kOthers) {
    CAPTURE(mutation.name);
    World world = make_world();
    mutation.change(world);
    CHECK(key(world) == before);
    hits += key(world) == before;
  }
  CHECK(std::size(kOthers) >= 15);
  MESSAGE(std::size(kOthers) << " changes that are none, " << hits << " hits");
}

TEST_CASE("behind an open gate only debug keys count") {
  World open = make_world();
  for (const char* variable :
       {"NEOReadDebugKeys=1", "NEO_CACHE_DIR=/scratch", "HOSTNAME=node", "no_key=1", "Key-=1"})
    open.variable(variable);
  CHECK(key(open) == key(make_world()));
  open.variable("UseBindlessMode=1");
  CHECK(key(open) != key(make_world()));
}

TEST_CASE("values that are no numbers stand by their digest") {
  World world = make_world();
  for (const char* variable : {"IGC_A=1", "IGC_B=-0x1F", "IGC_C=", "IGC_D=-cl-opt-disable", "IGC_E=0x",
                               "IGC_F=123456789012345678901", "NEOReadDebugKeys=1", "UseBindlessMode=hunter2",
                               "NEO_ForceLargeGrfCompilationMode=1"})
    world.variable(variable);
  const Manifest fields = identity_of(world).fields;
  const auto value = [&](const char* name) { return *fields.find(std::string("env.") + name); };
  CHECK(value("IGC_A") == "1");
  CHECK(value("IGC_B") == "-0x1F");
  CHECK(value("IGC_C").empty());
  CHECK(value("IGC_D") == "sha256:" + digest(bytes("-cl-opt-disable")));
  CHECK(value("IGC_E").starts_with("sha256:"));
  CHECK(value("IGC_F").starts_with("sha256:"));
  CHECK(value("NEO_ForceLargeGrfCompilationMode") == "1");
  CHECK(encode(fields).find("hunter2") == std::string::npos);
}

TEST_CASE("an encoded identity tells what differs") {
  World world = make_world();
  const Identity identity = identity_of(world);
  CHECK(first_difference(identity, encode(identity)).empty());
  world.libraries[3].build_id = "ff";
  CHECK(first_difference(identity, encode(identity_of(world))) == "library.libigc.so.1 differs");
  world.variable("IGC_A=1");
  CHECK(first_difference(identity, encode(identity_of(world))) == "env.IGC_A is there");
  CHECK(!first_difference(identity, "").empty());
  world = make_world();
  world.libraries[0].kiln = true;  // linked into the program, which the helper is not
  CHECK(first_difference(identity_of(world), encode(identity)).empty());
}

#if !defined(__SANITIZE_ADDRESS__)  // which keeps bytes between constants that nobody may read
TEST_CASE("names are found in the constants of the libraries asked, and nowhere else") {
  static constexpr const char* kText = "KilnTestsNameInConstants";
  CHECK(kText[0] == 'K');
  Dl_info self{}, library{};
  REQUIRE(dladdr(&kText, &self) != 0);
  REQUIRE(dladdr(reinterpret_cast<const void*>(&names_in), &library) != 0);
  const auto place = [](const Dl_info& info) { return reinterpret_cast<std::uintptr_t>(info.dli_fbase); };
  const std::vector<std::string> names{std::string("KilnTestsName") + "InConstants",
                                       std::string("KilnTestsName") + "Elsewhere"};
  const std::uintptr_t program[] = {place(self)}, kiln[] = {place(library)};
  CHECK(names_in(program, names) == std::vector{names[0]});
  CHECK(names_in(kiln, names).empty());
  CHECK(names_in({}, names).empty());
}
#endif

TEST_CASE("fields keep their boundaries") {
  World left = make_world(), right = make_world();
  left.inputs.push_back({"spirv", left.second, "-a", {}});
  left.inputs[0].flags = "-b";
  right.inputs.push_back({"spirv", right.second, "", {}});
  right.inputs[0].flags = "-b-a";
  CHECK(key(left) != key(right));

  left = right = make_world();
  left.variable("IGC_A=1 IGC_B=2");
  right.variable("IGC_A=1");
  right.variable("IGC_B=2");
  CHECK(key(left) != key(right));

  left = right = make_world();
  left.inputs = {{"spirv", left.code, "", {{1, 2}, {3, 4}}}};
  right.inputs = {{"spirv", right.code, "", {{1, 23}, {4, 4}}}};
  CHECK(key(left) != key(right));

  left = right = make_world();
  left.inputs = {{"spirv", left.code, "", {}}, {"spirv", left.second, "", {}}};
  right.inputs = {{"spirv", right.second, "", {}}, {"spirv", right.code, "", {}}};
  CHECK(key(left) != key(right));

  left = right = make_world();  // a variable that is named like the field of another
  left.variable("IGC_=x");
  right.variable("IGC_x=");
  CHECK(key(left) != key(right));
}

TEST_CASE("side effects and unknown code keep the cache out") {
  const auto bypass = [](const char* variable) {
    World world = make_world();
    world.variable("NEOReadDebugKeys=1");
    world.variable(variable);
    return identity_of(world).bypass;
  };
  for (const char* variable :
       {"IGC_ShaderDumpEnable=1", "IGC_ShaderDumpEnableAll=1", "IGC_DumpToCurrentDir=1",
        "IGC_DumpToCustomDir=/x", "IGC_PrintDebugSettings=1", "IGC_ShaderOverride=1", "IGC_ElfDumpEnable=1",
        "ZET_ENABLE_PROGRAM_INSTRUMENTATION=1", "KILN_CPU_FAULT=build"})
    CHECK_MESSAGE(!bypass(variable).empty(), variable);
  CHECK(bypass("IGC_PrintfBufferSize=1").empty());
  CHECK(bypass("ZET_ENABLE_PROGRAM_INSTRUMENTATION=0").empty());

  World world = make_world();
  debug_key(world, "IgcLibraryName=/opt/libother.so");
  CHECK(!identity_of(world).unknown.empty());
  world = make_world();
  world.libraries.erase(world.libraries.begin() + 3);
  CHECK(identity_of(world).unknown == "the driver has not loaded its compiler");
  world = make_world();
  world.libraries[2].driver = false;
  CHECK(identity_of(world).unknown == "no driver is loaded");
  world = make_world();
  world.libraries[5].build_id = {};
  CHECK(identity_of(world).unknown.starts_with("no build-id in libLLVM-14.so.1"));
}

TEST_CASE("a library that is linked by its path counts") {
  World world = make_world();
  world.libraries.push_back({"/opt/libown.so", "libown.so", "0c", {}, 13});
  CHECK_FALSE(identity_of(world).fields.find("library.libown.so"));
  world.libraries[3].needed.push_back("/opt/libown.so");
  CHECK(identity_of(world).fields.find("library.libown.so"));
}

TEST_CASE("a file stands in for a build-id") {
  World world = make_world();
  world.libraries[5].build_id = {};
  const auto one = library_inputs(
      world.libraries, [](const Library& library) { return std::optional("1" + std::string(library.name)); });
  CHECK(one.unknown.empty());
  CHECK(*one.fields.find("library.libLLVM-14.so.1") == "sha256:1libLLVM-14.so.1");
  const auto two =
      library_inputs(world.libraries, [](const Library&) { return std::optional<std::string>("2"); });
  CHECK(one.fields != two.fields);
}

TEST_CASE("the CPU driver needs no compiler of Intel's, and through the loader every driver counts") {
  std::vector<Library> mapped = make_world().libraries;
  const auto no_file = [](const Library&) { return std::optional<std::string>(); };
  mapped[2].driver = false;
  mapped.push_back(
      {"/lib/libze_kiln_cpu.so", "libze_kiln_cpu.so", "20", {"libLLVM-17.so.1"}, 20, false, true});
  const LibraryInputs cpu = library_inputs(mapped, no_file);
  CHECK(cpu.unknown.empty());
  CHECK(cpu.fields.find("library.libze_kiln_cpu.so"));
  CHECK(cpu.fields.find("library.libLLVM-17.so.1"));
  CHECK(!cpu.fields.find("library.libigc.so.1"));
  CHECK(!cpu.fields.find("library.libze_intel_gpu.so.1"));

  CHECK(!cpu.intel);
  World with_file = make_world();
  with_file.variable("IGC_ShaderDumpEnable=1");
  with_file.variable("NEO_FP64_EMULATION=1");
  with_file.snapshot.driver_files = {settings("neo.config", "A=1")};
  with_file.snapshot.compiler_files = {{"Options.txt", "/somewhere/Options.txt", {}, "belongs to another"}};
  const Identity plain = make_identity(cpu, sampled(make_world().snapshot), nullptr, {}),
                 beside = make_identity(cpu, sampled(with_file.snapshot), nullptr, {});
  CHECK(beside.usable());
  CHECK(beside.warnings.empty());
  CHECK(beside.fields == plain.fields);
  with_file.variable("KILN_CPU_FAULT=build");
  CHECK(!make_identity(cpu, sampled(with_file.snapshot), nullptr, {}).bypass.empty());
  CHECK(!make_identity(library_inputs(make_world().libraries, no_file), sampled(with_file.snapshot), nullptr,
                       {})
             .usable());

  mapped.back().driver = false;
  mapped.push_back({"/lib/libze_loader.so.1", "libze_loader.so.1", "21", {}, 21, false, true});
  const LibraryInputs all = library_inputs(mapped, no_file);
  CHECK(all.unknown.empty());
  CHECK(all.intel);
  for (const char* name : {"libze_kiln_cpu.so", "libze_intel_gpu.so.1", "libigc.so.1", "libLLVM-14.so.1"})
    CHECK_MESSAGE(all.fields.find("library." + std::string(name)), name);
  CHECK(!all.fields.find("library.libze_loader.so.1"));

  // `kiln exec` before the CPU driver: a program's cache holds what it holds without.
  for (const bool loader : {true, false}) {
    std::vector<Library> layered{
        {"/lib/libze_loader.so.1", "libze_loader.so.1", "21", {}, 21, false, loader},
        {"/lib/libze_kiln_layer.so", "libze_kiln_layer.so", "23", {}, 23, false, !loader},
        {"/lib/libze_kiln_cpu.so", "libze_kiln_cpu.so", "20", {"libLLVM-17.so.1"}, 20}};
    const LibraryInputs behind = library_inputs(layered, no_file);
    CHECK(behind.unknown.empty());
    CHECK(!behind.intel);
    CHECK(behind.fields.find("library.libze_kiln_cpu.so"));
    CHECK(!behind.fields.find("library.libze_kiln_layer.so"));
  }

  mapped.push_back({"/other/libLLVM-14.so.1", "libLLVM-14.so.1", "22", {}, 22});
  CHECK(*library_inputs(mapped, no_file).fields.find("library.libLLVM-14.so.1") == "3035 3232");
}

TEST_CASE("what the compiler reads late must not have changed") {
  const World world = make_world();
  const auto libraries =
      library_inputs(world.libraries, [](const Library&) { return std::optional<std::string>(); });
  const auto unknown = [&](auto&& change) {
    detail::EnvironmentSnapshot later = world.snapshot;
    change(later);
    later = sampled(later);
    return make_identity(libraries, sampled(world.snapshot), &later, {}).unknown;
  };
  using Moment = detail::EnvironmentSnapshot;
  CHECK(unknown([](Moment&) {}).empty());
  CHECK(unknown([](Moment& m) { m.environment.push_back("IGC_ForceOCLSIMDWidth=16"); }) ==
        "env.IGC_ForceOCLSIMDWidth changed after the driver was loaded");
  CHECK(unknown([](Moment& m) { m.environment.pop_back(); }) ==
        "env.IGC_EnableA changed after the driver was loaded");
  CHECK(unknown([](Moment& m) { m.compiler_files = {settings("Options.txt", "A=1")}; }) ==
        "file.Options.txt changed after the driver was loaded");
  // The driver has read these already.
  CHECK(unknown([](Moment& m) { m.environment.push_back("OverrideDefaultFP64Settings=1"); }).empty());
  CHECK(unknown([](Moment& m) { m.driver_files = {settings("neo.config", "A=1")}; }).empty());
}

TEST_CASE("a driver that was there before Kiln read an environment that nobody knows") {
  World world = make_world();
  const CacheKey before = key(world);
  world.snapshot.started = detail::environment_inputs(world.snapshot.environment);
  world.variable("HOSTNAME=node");
  CHECK(key(world) == before);
  world.variable("OverrideDefaultFP64Settings=1");
  CHECK(identity_of(world).unknown ==
        "env.OverrideDefaultFP64Settings was changed, and a driver loaded, before Kiln began");
  world.snapshot.started.reset();
  CHECK(identity_of(world).usable());
}

/// One note of an ELF file.
std::vector<std::byte> note(std::uint32_t type, std::string_view name, std::string_view content,
                            std::size_t align = 4) {
  std::vector<std::byte> all;
  const auto append = [&](const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    all.insert(all.end(), begin, begin + size);
    all.resize((all.size() + align - 1) / align * align);
  };
  const std::uint32_t header[] = {static_cast<std::uint32_t>(name.size()),
                                  static_cast<std::uint32_t>(content.size()), type};
  const auto* begin = reinterpret_cast<const std::byte*>(header);
  all.insert(all.end(), begin, begin + sizeof header);
  append(name.data(), name.size());
  append(content.data(), content.size());
  return all;
}

TEST_CASE("build-ids are read within the bounds of their notes") {
  constexpr std::string_view kGnu("GNU\0", 4);
  const auto same = [](std::span<const std::byte> found, std::string_view wanted) {
    return std::ranges::equal(found, bytes(wanted));
  };
  const auto id = note(3, kGnu, "\x12\xab\xcd");
  CHECK(same(detail::build_id(id, 4), "\x12\xab\xcd"));
  auto two = note(5, kGnu, "property");
  two.insert(two.end(), id.begin(), id.end());
  CHECK(same(detail::build_id(two, 4), "\x12\xab\xcd"));
  CHECK(detail::build_id(note(3, std::string_view("XNU\0", 4), "\x12"), 4).empty());
  CHECK(detail::build_id({}, 4).empty());
  for (std::size_t size = 0; size + 1 < id.size(); ++size) {
    const std::vector<std::byte> cut(id.begin(), id.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(detail::build_id(cut, 4).empty());
  }
  // Sizes up to the largest in every field, which must neither wrap nor loop.
  for (std::size_t at = 0; at < 12; ++at)
    for (const unsigned value : {0U, 1U, 127U, 128U, 255U}) {
      auto wrong = two;
      wrong[at] = static_cast<std::byte>(value);
      (void)detail::build_id(wrong, 4);
      for (std::size_t rest = at; rest < 12; ++rest) wrong[rest] = std::byte{255};
      CHECK(detail::build_id(wrong, 8).empty());
    }
}

}  // namespace
}  // namespace kiln::cache
