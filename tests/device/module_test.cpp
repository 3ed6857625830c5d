// SPDX-License-Identifier: MIT
// Modules and bundles: origins, build logs, damaged and foreign files.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "device_test.hpp"

namespace kiln::test {
namespace {

std::string code_of(const Error& error) { return error.diagnostic() ? error.diagnostic()->code : ""; }

}  // namespace

TEST_CASE("SPIR-V is built, and says which kernels it has") {
  const KernelFile file = test_kernel("limits.spv");
  const ModuleBuild built = build(ModuleFormat::spirv, file.bytes);
  INFO(built.log);
  REQUIRE(built.code() == ZE_RESULT_SUCCESS);
  const auto names = need(built.module->kernel_names());
  CHECK(std::ranges::count(names, "fixed_group") == 1);
  CHECK(!built.module->kernel("nothing"));
}

TEST_CASE("what a module's native binary says agrees with the driver's properties") {
  const KernelFile file = test_kernel("limits.spv");
  const auto from_source = read_spirv(file.bytes);
  REQUIRE(from_source.has_value());
  Bundle bundle = need(Bundle::load(device(), {file}));
  CHECK(bundle.origin() == BinaryOrigin::jit);
  for (const KernelFacts& source : from_source->kernels) {
    CAPTURE(source.name);
    const CheckedKernel& kernel = *need(bundle.kernel(source.name));
    const KernelProperties properties = need(kernel.kernel().properties());
    CHECK(properties.arguments == source.arguments.size());
    CHECK(kernel.facts().arguments.size() == source.arguments.size());
    CHECK(kernel.facts().required_group_size == source.required_group_size);
    CHECK(properties.required_group_size == source.required_group_size);
    CHECK(kernel.facts().static_slm == source.static_slm);
  }
}

TEST_CASE("a bundle has the first kernel of many before the others are compiled, where the driver can") {
  if (device().kind != DeviceKind::cpu || !device().driver.entry_point("zexKilnModuleGetInfo")) {
    MESSAGE("this driver compiles all at once, or cannot be asked for less");
    return;
  }
  const auto compilers = [] {  // seconds of processor time of child processes
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
  };
  const double before = compilers();
  BundleOptions options;
  options.flags = "-cl-mad-enable -w";  // that no other test has
  CacheOptions no_cache;
  no_cache.mode = CacheMode::off;
  Cache off = Cache::open(no_cache);
  Cache* cache = nullptr;
  SUBCASE("without a cache") {}
  SUBCASE("with one that is off") {
    cache = &off;
    options.flags += " -cl-no-signed-zeros";
  }
  Bundle bundle =
      need(Bundle::load(device(), {test_kernel("../../../bench/cache/fifty.spv")}, options, cache));
  const CheckedKernel& kernel = *need(bundle.kernel("k33"));
  const double first = compilers() - before;
  const auto native = read_zebin(need(bundle.module().native_binary()));
  const double others = compilers() - before - first;
  CHECK(first * 4 < others);
  REQUIRE(native.has_value());
  for (const KernelFacts& compiled : native->kernels) {
    CAPTURE(compiled.name);
    const KernelFacts* told = bundle.facts().find(compiled.name);
    REQUIRE(told != nullptr);
    CHECK(told->simd_size == compiled.simd_size);
    CHECK(told->barrier_count == compiled.barrier_count);
    CHECK(told->static_slm == compiled.static_slm);
    CHECK(told->has_4gb_buffers == compiled.has_4gb_buffers);
    CHECK(told->arguments.size() == compiled.arguments.size());
  }
  CHECK(kernel.facts().simd_size == bundle.facts().find("k33")->simd_size);
  CHECK(kernel.facts().arguments[0].name == "in");
}

TEST_CASE("a native binary is taken as it is, and says so") {
  const KernelFile source = test_kernel("limits.spv");
  const ModuleBuild built = build(ModuleFormat::spirv, source.bytes);
  REQUIRE(built.code() == ZE_RESULT_SUCCESS);
  const KernelFile native{"limits.bin", need(built.module->native_binary())};
  if (identify(native.bytes) != BinaryFormat::elf) {
    MESSAGE("this driver still writes patch tokens; the native samples cover its zebins");
    return;
  }
  Bundle bundle = need(Bundle::load(device(), {source, native}));
  if (!read_zebin(native.bytes)->has_ir) {
    CHECK(bundle.origin() == BinaryOrigin::native);
    CHECK(bundle.file() == "limits.bin");
  }
  CHECK(need(bundle.kernel("both"))->facts().static_slm == 4096);
  CHECK(need(bundle.kernel("values"))->facts().arguments.size() == 9);
}

TEST_CASE("a path is a family of kernels, or a file") {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "kiln-path-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()));
  const fs::path folder = name;
  const fs::path spirv = fs::path(KILN_SAMPLE_KERNELS) / "saxpy.spv";
  fs::copy(spirv, folder / "saxpy.spv");
  fs::copy(spirv, folder / "kernels.dat");
  fs::copy(spirv, folder / "matmul.bin");  // whatever it is called, it is what it holds
  std::ofstream(folder / "saxpy") << "a program of the same name";
  std::ofstream(folder / "text") << "no kernels";
  const auto file_of = [](const Result<Bundle>& bundle) {
    return bundle ? bundle->file() : code_of(bundle.error());
  };
  CHECK(file_of(Bundle::load(device(), folder / "saxpy")) == "saxpy.spv");
  CHECK(file_of(Bundle::load(device(), folder / "saxpy.spv")) == "saxpy.spv");
  CHECK(file_of(Bundle::load(device(), folder / "kernels.dat")) == "kernels.dat");
  CHECK(file_of(Bundle::load(device(), folder / "matmul")) == "matmul.bin");
  CHECK(file_of(Bundle::load(device(), folder / "text")) == "K0202");
  for (const fs::path& nothing : {folder, folder / "", folder / "saxpi", folder / "saxpy.ar", fs::path()})
    CHECK(file_of(Bundle::load(device(), nothing)) == "K0201");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  CHECK(file_of(Bundle::load(device(), "saxpy")) == "saxpy.spv");
  CHECK(file_of(Bundle::load(device(), "matmul.bin")) == "matmul.bin");
  fs::current_path(before);
  fs::remove_all(folder);
}

TEST_CASE("a kernel that is not there is named together with those that are") {
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  const auto missing = bundle.kernel("saxpi");
  REQUIRE(!missing);
  CHECK(missing.error().code() == ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
  CHECK(code_of(missing.error()) == "K0208");
  CHECK(missing.error().diagnostic()->rows.at(0).text == "saxpy");
}

TEST_CASE("files that hold no kernels are refused by name") {
  const KernelFile whole = sample_kernel("saxpy.spv");
  std::vector<KernelFile> bad;
  bad.push_back({"empty", {}});
  bad.push_back({"text", std::vector<std::byte>(100, std::byte{'x'})});
  bad.push_back({"truncated.spv", {whole.bytes.begin(), whole.bytes.begin() + 101}});
  bad.push_back({"header.spv", {whole.bytes.begin(), whole.bytes.begin() + 20}});
  for (const KernelFile& file : bad) {
    CAPTURE(file.name);
    const auto result = Bundle::load(device(), {file});
    REQUIRE(!result);
    CHECK(code_of(result.error()) == "K0202");
    CHECK(result.error().diagnostic()->rows.at(0).label == file.name);
  }
  // A good file beside a bad one still serves.
  std::vector<KernelFile> mixed = bad;
  mixed.push_back(whole);
  const Bundle bundle = need(Bundle::load(device(), mixed));
  CHECK(bundle.file() == "saxpy.spv");
  CHECK(bundle.passed_over().size() == bad.size());
}

TEST_CASE("a binary for another device is passed over, or refused when alone") {
  // The other half of the matrix of targets: on the CPU device each of them is foreign, but for its
  // profile's.
  if (!is_kilns_own()) return;
  const auto files = need(find_kernel_files(KILN_NATIVE_KERNELS, "saxpy"));
  std::vector<KernelFile> native;
  for (const KernelFile& file : files)
    if (!file.name.ends_with(".spv") &&
        device().properties.name.find("(" + file.name.substr(sizeof "saxpy." - 1, 3)) == std::string::npos)
      native.push_back(file);
  if (native.empty()) {
    MESSAGE("ocloc was not found when this was built: no native kernels");
    return;
  }
  const auto alone = Bundle::load(device(), native);
  REQUIRE(!alone);
  CHECK(alone.error().code() == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  CHECK(alone.error().diagnostic()->rows.size() == native.size() + 1);
  const Bundle bundle = need(Bundle::load(device(), files));
  CHECK(bundle.origin() == BinaryOrigin::jit);
}

TEST_CASE("SPIR-V for CPUs is theirs alone, and goes before other SPIR-V") {
  const bool is_cpu = device().properties.type == ZE_DEVICE_TYPE_CPU;
  const auto files = need(find_kernel_files(KILN_SAMPLE_KERNELS, "slm_lookup"));
  REQUIRE(files.size() == 2);
  CHECK(need(find_kernel_files(KILN_SAMPLE_KERNELS, "slm_lookup.cpu")).size() == 1);  // a family of that name
  BundleOptions only_spirv;
  only_spirv.only_spirv = true;
  const Bundle bundle = need(Bundle::load(device(), files, only_spirv));
  CHECK(bundle.file() == (is_cpu ? "slm_lookup.cpu.spv" : "slm_lookup.spv"));
  CHECK(bundle.target() == (is_cpu ? "cpu" : ""));
  CHECK(bundle.fit() == BinaryFit::spirv);
  const auto alone = Bundle::load(device(), {sample_kernel("slm_lookup.cpu.spv")});
  CHECK(alone.has_value() == is_cpu);
  if (is_cpu) return;
  REQUIRE(bundle.passed_over().size() == 1);
  CHECK(bundle.passed_over()[0].label == "slm_lookup.cpu.spv");
  CHECK(code_of(alone.error()) == "K0202");
}

TEST_CASE("a fat binary that Kiln wrote: drivers take it whole, a bundle the member for the device") {
  const auto files = need(find_kernel_files(KILN_NATIVE_KERNELS, "saxpy"));
  std::vector<ArchiveMember> members;
  std::vector<std::byte> wrapped;
  for (const KernelFile& file : files) {
    if (identify(file.bytes) == BinaryFormat::spirv) {
      wrapped = wrap_spirv(file.bytes);
      continue;
    }
    const auto facts = read_zebin(file.bytes);
    REQUIRE(facts);
    // ocloc 22.43 writes no version; these are what it compiles for.
    std::uint32_t version = facts->ip_version;
    if (!version && file.name == "saxpy.tgllp.bin") version = 12 << 22;
    if (!version && file.name == "saxpy.dg2-g10.bin") version = 12 << 22 | 55 << 14 | 8;
    if (!version && file.name == "saxpy.pvc.bin") version = 12 << 22 | 60 << 14 | 7;
    REQUIRE(version != 0);
    members.push_back({"64." + ip_version_text(version), file.bytes});
  }
  members.push_back({"generic_ir", wrapped});
  const auto written = write_archive(members);
  REQUIRE(written);

  const Bundle bundle = need(Bundle::load(device(), {{"saxpy.ar", *written}}));
  CHECK(bundle.facts().find("saxpy"));
  CHECK(bundle.file() == "saxpy.ar");
  const bool intel = device().kind == DeviceKind::capture || device().kind == DeviceKind::simulated;
  const bool native = intel && members.size() > 1;
  CHECK(bundle.origin() == (native ? BinaryOrigin::native : BinaryOrigin::jit));
  CHECK((bundle.fit() == BinaryFit::spirv) == !native);
  CHECK((bundle.member() == "generic_ir") == !native);
  CHECK(bundle.target().empty() == !native);
  if (intel) CHECK(build(ModuleFormat::native, *written).code() == ZE_RESULT_SUCCESS);

  // One member that cannot be read does not spoil the others.
  const std::vector<std::byte> junk(16, std::byte{1});
  members.insert(members.begin(), {"64.12.60.7", junk});
  const Bundle other = need(Bundle::load(device(), {{"saxpy.ar", *write_archive(members)}}));
  CHECK(other.member() == bundle.member());
  REQUIRE(!other.passed_over().empty());
  CHECK(other.passed_over()[0].label == "saxpy.ar, member 64.12.60.7");
}

TEST_CASE("damaged native binaries of the CPU device are refused, never run") {
  if (!is_kilns_own()) return;
  const ModuleBuild built = build(ModuleFormat::spirv, sample_kernel("saxpy.spv").bytes);
  REQUIRE(built.code() == ZE_RESULT_SUCCESS);
  const auto good = need(built.module->native_binary());
  REQUIRE(build(ModuleFormat::native, good).code() == ZE_RESULT_SUCCESS);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    auto bad = good;
    bad[random() % bad.size()] ^= static_cast<std::byte>(1u << random() % 8);
    const ModuleBuild result = build(ModuleFormat::native, bad);
    REQUIRE(result.code() == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    REQUIRE(!result.log.empty());
  }
  for (std::size_t size = 0; size < good.size(); size += good.size() / 97 + 1)
    REQUIRE(build(ModuleFormat::native, std::span(good).first(size)).code() != ZE_RESULT_SUCCESS);
}

TEST_CASE("damaged SPIR-V is refused or built, never a crash") {
  const KernelFile good = test_kernel("limits.spv");
  std::mt19937 random(11 + device().properties.device_id);  // each product has damage of its own
  int refused = 0;
  for (int i = 0; i < (is_kilns_own() ? 60 : 8); ++i) {
    KernelFile bad = good;
    bad.bytes[random() % bad.bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    const auto result = Bundle::load(device(), {bad});
    if (!result) ++refused;
    if (!result) REQUIRE(result.error().diagnostic() != nullptr);
  }
  CHECK(refused > 0);
}

TEST_CASE("too much static SLM refuses the module, and the kernel to blame is named") {
  const auto result = Bundle::load(device(), {test_kernel("over_static.spv")});
  REQUIRE(!result);
  CHECK(result.error().code() == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  REQUIRE(code_of(result.error()) == "K0109");
  CHECK(result.error().diagnostic()->message.find("too_much") != std::string::npos);
  CHECK(result.error().diagnostic()->rows.at(0).value == 204800);
}

TEST_CASE("several inputs are linked, or refused in words") {
  const KernelFile main = test_kernel("link_main.spv"), part = test_kernel("link_part.spv");
  const std::array<ModuleInput, 2> inputs{ModuleInput{ModuleFormat::spirv, main.bytes},
                                          ModuleInput{ModuleFormat::spirv, part.bytes}};
  const auto build_all = [&](std::span<const ModuleInput> all) {
    return build_module(device().driver, context(), device().device, all);
  };
  const ModuleBuild linked = build_all(inputs);
  INFO(linked.log);
  REQUIRE(linked.code() == ZE_RESULT_SUCCESS);
  CHECK(linked.module->kernel("doubled"));
  const std::array<ModuleInput, 2> mixed{inputs[0], ModuleInput{ModuleFormat::native, part.bytes}};
  CHECK(build_all(mixed).code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const std::array<ModuleInput, 2> damaged{inputs[0],
                                           ModuleInput{ModuleFormat::spirv, std::span(part.bytes).first(60)}};
  CHECK(build_all(damaged).code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  CHECK(build_all(damaged).log.starts_with("input 2: "));
}

}  // namespace kiln::test
