// SPDX-License-Identifier: MIT
// One golden text a diagnostic code, made by the code that makes it in earnest, and the JSON form.
// `KILN_UPDATE_GOLDEN=1 diagnose_tests` writes the texts anew; read the difference before committing it.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "kiln/bundle.hpp"
#include "level_zero/discovery.hpp"
#include "level_zero/open/simulated.hpp"
#include "support/printable.hpp"
#include "support/stub_driver.hpp"
#include "unit/golden.hpp"
#include "unit/test_file.hpp"
#ifdef KILN_TEST_SAMPLES
#include "tool/samples/counters.hpp"
#include "tool/samples/samples.hpp"
#endif

using namespace kiln;
using namespace kiln::test;

namespace {

KernelFacts matmul_facts() {
  KernelFacts kernel;
  kernel.name = "tiled";
  kernel.arguments_known = true;
  kernel.arguments = {{ArgumentKind::global_pointer, 8, 16, "a"},
                      {ArgumentKind::value, 4, 16, "m"},
                      {ArgumentKind::local_pointer, 0, 4, "a_tile"},
                      {ArgumentKind::local_pointer, 0, 4, "b_tile"}};
  return kernel;
}

LaunchLimits limits() { return {131072, 512, 1024, {1024, 1024, 64}, {65535, 65535, 65535}}; }

void check_launch_diagnostic(const char* code, const KernelFacts& kernel, const LaunchShape& shape,
                             std::vector<LaunchArgument> arguments, const std::string& variant = "") {
  const LaunchVerdict verdict = check_launch(kernel, limits(), shape, arguments);
  REQUIRE(verdict != LaunchVerdict::fits);
  check_diagnostic(code, explain_launch(verdict, kernel, limits(), shape, arguments), variant);
}

const std::uint64_t kWord = 0;
const LaunchArgument kAddress{ArgumentKind::global_pointer, 8, &kWord};
const LaunchArgument kFour{ArgumentKind::value, 4, &kWord};
LaunchArgument tile(std::uint64_t bytes) { return {ArgumentKind::local_pointer, bytes, nullptr}; }

OpenDevice stub_device(StubDriver& stub) {
  std::snprintf(stub.device_properties.name, sizeof stub.device_properties.name, "Fake GPU");
  auto device = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(device);
  return *std::move(device);
}

KernelFile sample_file(const char* name) {
  return {name, read_file(std::filesystem::path(KILN_TEST_SPIRV) / name)};
}

}  // namespace

TEST_CASE("K0101 to K0109: launches") {
  const KernelFacts matmul = matmul_facts();
  const std::uint64_t big = 181 * 181 * 4, small = 64;
  check_launch_diagnostic("K0101", matmul, {{}, {16, 16, 1}}, {kAddress, kFour, tile(big), tile(big)});

  KernelFacts mixed = matmul;
  mixed.static_slm = 2048;
  check_launch_diagnostic("K0101", mixed, {{}, {128, 1, 1}},
                          {kAddress, kFour, tile(128 * 1024), tile(128 * 2)}, "group");
  mixed.static_slm = 140'000;
  check_launch_diagnostic("K0101", mixed, {}, {kAddress, kFour, tile(small), tile(small)}, "static");

  check_launch_diagnostic("K0102", matmul, {{}, {32, 32, 1}}, {kAddress, kFour, tile(small), tile(small)});
  check_launch_diagnostic("K0102", matmul, {{}, {1, 1, 65}}, {kAddress, kFour, tile(small), tile(small)},
                          "dimension");
  KernelFacts required = matmul;
  required.required_group_size = {16, 16, 1};
  check_launch_diagnostic("K0103", required, {{}, {32, 8, 1}}, {kAddress, kFour, tile(small), tile(small)});
  check_launch_diagnostic("K0104", matmul, {{}, {32, 0, 1}}, {kAddress, kFour, tile(small), tile(small)});
  check_launch_diagnostic("K0105", matmul, {{1, 65536, 1}, {}}, {kAddress, kFour, tile(small), tile(small)});
  check_launch_diagnostic("K0106", matmul, {}, {kAddress, kFour, tile(small)});
  check_launch_diagnostic("K0107", matmul, {}, {kAddress, kFour, tile(small), kAddress});
  check_launch_diagnostic("K0108", matmul, {},
                          {kAddress, {ArgumentKind::value, 8, &kWord}, tile(small), tile(small)});
  KernelFacts vector = matmul;
  vector.arguments[1].size = 16;
  check_launch_diagnostic("K0108", vector, {},
                          {kAddress, {ArgumentKind::value, 12, &kWord}, tile(small), tile(small)}, "three");
  mixed.static_slm = 200'000;
  check_diagnostic("K0109", explain_static_slm(mixed, 131072));
}

TEST_CASE("K0201: files") {
  check_diagnostic("K0201", ZE_RESULT_ERROR_INVALID_ARGUMENT, read_kernel_file("/nowhere/saxpy.spv"));
  check_diagnostic("K0201", ZE_RESULT_ERROR_INVALID_ARGUMENT, read_kernel_file("/"), "folder");
  check_diagnostic("K0201", ZE_RESULT_ERROR_INVALID_ARGUMENT, find_kernel_files("/nowhere", "saxpy"),
                   "family");
  check_diagnostic("K0201", ZE_RESULT_ERROR_INVALID_ARGUMENT, Bundle::load(OpenDevice(), "/saxpy"), "path");
}

TEST_CASE("a family's files are its own: what stands before .bin is a target") {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-family-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()));
  for (const char* name :
       {"saxpy.spv", "saxpy.ar", "saxpy.bin", "saxpy.pvc.bin", "saxpy.dg2-g10.bin", "saxpy.12.60.7.bin",
        "saxpy.cpu.bin", "saxpy.v2.bin", "saxpy.v2.pvc.bin", "saxpy.v2.spv", "saxpy.pvc.bin.old",
        "saxpy2.pvc.bin", "saxpy..bin", "saxpy.pvc.", "bin"})
    std::ofstream(std::filesystem::path(folder) / name) << "x";
  const auto names = [&](const char* family) {
    std::vector<std::string> found;
    if (const auto files = find_kernel_files(folder, family))
      for (const KernelFile& file : *files) found.push_back(file.name);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names("saxpy") == Names{"saxpy.12.60.7.bin", "saxpy.ar", "saxpy.bin", "saxpy.cpu.bin",
                                "saxpy.dg2-g10.bin", "saxpy.pvc.bin", "saxpy.spv"});
  CHECK(names("saxpy.v2") == Names{"saxpy.v2.bin", "saxpy.v2.pvc.bin", "saxpy.v2.spv"});
  std::filesystem::remove_all(folder);
}

TEST_CASE("K0209: files without kernels") {
  const auto part = read_parts(bytes_of("no kernel")).at(0);
  check_diagnostic("K0209", *unreadable_part("text.bin", part).diagnostic());
  check_diagnostic("K0209", *unreadable_part("text.cl", part).diagnostic(), "source");
  check_diagnostic("K0209",
                   *unreadable_part("a.ar", {"64.12.60.7", BinaryFormat::elf,
                                             tl::unexpected(BinaryError{"it is truncated", 17})})
                        .diagnostic(),
                   "member");
}

TEST_CASE("K0202, K0203, K0208: bundles") {
  StubDriver stub;
  const OpenDevice device = stub_device(stub);
  check_diagnostic("K0202", ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
                   Bundle::load(device, {{"empty.spv", {}}, {"text.bin", bytes_of("no kernel")}}));
  CHECK(stub.calls(Call::zeModuleCreate) == 0);

  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  stub.build_log = "error: undefined reference to `f`";
  stub.last_error_of_next = "IGC said no";
  check_diagnostic("K0203", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                   Bundle::load(device, {sample_file("saxpy.spv")}));
  stub.fail(Call::zeModuleCreate, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
  stub.build_log.clear();
  check_diagnostic("K0203", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                   Bundle::load(device, {sample_file("saxpy.spv")}), "no-compiler");

  auto bundle = Bundle::load(device, {sample_file("slm_table.spv")});
  REQUIRE(bundle);
  stub.kernel_names = {"every_item", "strided"};
  stub.fail(Call::zeKernelCreate, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
  check_diagnostic("K0208", ZE_RESULT_ERROR_INVALID_KERNEL_NAME, bundle->kernel("stridden"));
}

TEST_CASE("K0204 to K0207: memory") {
  StubDriver stub;
  const OpenDevice device = stub_device(stub);
  const ContextRef context = device.context.get();
  check_diagnostic("K0204", ZE_RESULT_ERROR_UNSUPPORTED_SIZE, context.allocate_device(device.device, 0));
  check_diagnostic("K0205", ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                   context.allocate_host(64, {.alignment = 48}));
  CHECK(stub.calls(Call::zeMemAllocDevice) + stub.calls(Call::zeMemAllocHost) == 0);

  stub.forget();
  const auto small = context.allocate_host(64), large = context.allocate_host(100);
  const auto list = CommandListRef::create(context, device.device);
  REQUIRE((small && large && list));
  check_diagnostic("K0206", ZE_RESULT_ERROR_UNSUPPORTED_SIZE, list->get().copy(*small, *large));
  CHECK(stub.calls(Call::zeCommandListAppendMemoryCopy) == 0);

  check_diagnostic("K0207", ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                   context.allocate_device(device.device, (1u << 30) + 1));
  CHECK(stub.calls(Call::zeMemAllocDevice) == 0);
  stub.fail(Call::zeMemAllocHost, ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  check_diagnostic("K0207", ZE_RESULT_ERROR_UNSUPPORTED_SIZE, context.allocate_host(4096), "driver");
}

TEST_CASE("K0301 to K0311: devices") {
  check_diagnostic(
      "K0301",
      *detail::explain_missing_loader("libze_loader.so.1: cannot open shared object file").diagnostic());
  const auto missing = [](detail::GpuSurvey survey) {
    return *detail::explain_missing_gpu(ZE_RESULT_ERROR_UNINITIALIZED, "zeInit", survey).diagnostic();
  };
  const std::string no_driver = "libze_intel_gpu.so.1: cannot open shared object file";
  check_diagnostic("K0302", missing({"", no_driver, {}}));
  check_diagnostic("K0303", missing({"", {}, {}}));
  check_diagnostic("K0303", missing({"/opt/libze_other.so", no_driver, {}}), "alternative");
  check_diagnostic("K0304", missing({"", {}, {{"/dev/dri/renderD128", EACCES}}}));
  check_diagnostic("K0305", missing({"", {}, {{"/dev/dri/renderD128", 0}}}));
  check_diagnostic("K0306", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, load_driver("/nowhere/libze_none.so"));
  check_diagnostic("K0306", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, load_driver("libm.so.6"), "no-driver");
  check_diagnostic("K0307", ZE_RESULT_ERROR_INVALID_ARGUMENT, parse_device_request("toaster"));
  const std::pair<const char*, const char*> meant[] = {
      {"gpuu", "gpu"}, {"cpu:pvcc", "cpu:pvc"}, {"pvc", "cpu:pvc"}, {"captrue:dg2", "capture:dg2"}};
  for (const auto& [word, near] : meant)
    CHECK(parse_device_request(word).error().diagnostic()->help.front() ==
          std::string("did you mean `") + near + "`?");
  check_diagnostic("K0308", *detail::explain_unknown_product("bmg").diagnostic());
  check_diagnostic("K0309", *detail::explain_taken_driver("gpu", "capture:dg2").diagnostic());
  check_diagnostic("K0310", *detail::explain_empty_driver("/opt/libze_other.so").diagnostic());
  check_diagnostic("K0311", *detail::explain_mute_driver("libze_intel_gpu.so.1",
                                                         "zeInit gave ZE_RESULT_ERROR_UNINITIALIZED")
                                 .diagnostic());
}

#ifdef KILN_TEST_SAMPLES
TEST_CASE("K0401: the tool") {
  check_diagnostic(
      "K0401",
      *samples::bad_choice("there is no sample kernel `saxpi`", "`kiln run --list` names them").diagnostic());
}

TEST_CASE("K0409, K0801 to K0804, K0810: counting") {
  StubDriver stub;
  check_diagnostic("K0409", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, can_count(stub_device(stub)));
  const auto counters = parse_counters(R"({"kernel": "sum", "defects": [
      {"defect": "slm_out_of_bounds", "at": {"id": 41, "line": 12, "kind": "write"}, "group": [1, 0, 0],
       "work_item": 63, "offset": 256, "bytes": 4, "available": 256, "times": 3},
      {"defect": "global_out_of_bounds", "at": {"id": 41, "line": null, "kind": "read"}, "group": [0, 0, 0],
       "work_item": 0, "offset": -4, "bytes": 4, "available": 1024, "times": 1, "address": 4096, "argument": 2},
      {"defect": "slm_race", "at": {"id": 41, "line": 12, "kind": "read"}, "group": [0, 2, 0], "work_item": 7,
       "offset": 28, "bytes": 4, "available": 256, "times": 64,
       "other": {"id": null, "line": null, "kind": "atomic"}, "other_work_item": 8},
      {"defect": "global_out_of_bounds", "at": {"id": 41, "line": null, "kind": "read"}, "group": [0, 0, 0],
       "work_item": 0, "offset": 4096, "bytes": 4, "available": 0, "times": 1, "address": 4096, "argument": null},
      {"defect": "indirect_access", "at": {"id": 41, "line": 12, "kind": "write"}, "group": [0, 0, 0],
       "work_item": 3, "offset": 64, "bytes": 4, "available": 1024, "times": 8, "address": 4160,
       "memory": "device"},
      {"defect": "slm_unwritten", "at": {"id": 41, "line": 12, "kind": "read"}, "group": [0, 2, 0],
       "work_item": 63, "offset": 252, "bytes": 4, "available": 256, "times": 64}]})")
                            .value();
  const std::pair<const char*, const char*> codes[] = {{"K0801", ""},     {"K0802", ""}, {"K0803", ""},
                                                       {"K0802", "none"}, {"K0804", ""}, {"K0810", ""}};
  for (std::size_t i = 0; i < std::size(codes); ++i)
    check_diagnostic(codes[i].first, to_diagnostic(counters, counters.defects[i]), codes[i].second);
}
#endif

TEST_CASE("every code in the sources has a golden text") {
  std::set<std::string> codes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(KILN_TEST_SOURCES)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    const Bytes file = read_file(entry.path());
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    for (auto at = text.find("\"K0"); at != text.npos; at = text.find("\"K0", at + 1))
      if (text.find('"', at + 1) == at + 6) codes.emplace(text.substr(at + 1, 5));
  }
  CHECK(codes.size() >= 25);
  for (const std::string& code : codes) {
    CAPTURE(code);
    CHECK(std::filesystem::exists(golden_path(code)));
  }
}

TEST_CASE("text: labels in a column, numbers with their unit") {
  const Diagnostic diagnostic{
      "K0999", "something", {{"a", "", 1, "B"}, {"longer", "", 22, ""}, {"t", "text"}}, {"do this"}};
  CHECK(to_text(diagnostic) ==
        "error[K0999]: something\n"
        "  = a:      1 B\n"
        "  = longer: 22\n"
        "  = t:      text\n"
        "  help: do this\n");
  CHECK(to_text({"K0999", "bare", {}, {}}) == "error[K0999]: bare\n");
  CHECK(to_text({"K0999", "bare", {}, {}, Severity::warning}) == "warning[K0999]: bare\n");
}

TEST_CASE("control characters in names do nothing on a terminal") {
  const std::string name = "k\x1b[2J\n\r\x7f";
  CHECK(to_text({"K0999", name, {{name, name + "\tlog"}}, {name}}) ==
        "error[K0999]: k\\x1b[2J\\x0a\\x0d\\x7f\n"
        "  = k\\x1b[2J\\x0a\\x0d\\x7f: k\\x1b[2J\n\\x0d\\x7f\tlog\n"
        "  help: k\\x1b[2J\\x0a\\x0d\\x7f\n");
}

TEST_CASE("text that a terminal obeys, or that shows as what it is not, is escaped by its code points") {
  using detail::printable;
  CHECK(printable("a\x1b[2Jb\x7f") == "a\\x1b[2Jb\\x7f");
  CHECK(printable("\xc2\x9b 31m\xc2\x80\xc2\x9f") == "\\u{9b} 31m\\u{80}\\u{9f}");  // C1: CSI, PAD, APC
  CHECK(printable("\x9b") == "\\x9b");                                              // not UTF-8
  CHECK(printable("\xe2\x80\xae txt.exe\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f") ==
        "\\u{202e} txt.exe\\u{2066}\\u{2069}\\u{61c}\\u{200f}");
  CHECK(printable("\xe2\x80\xa8\xe2\x80\xa9") == "\\u{2028}\\u{2029}");
  // Overlong, a surrogate, above 10FFFF, cut off, and a tail without a head: byte by byte.
  CHECK(printable("\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82") ==
        "\\xc0\\xaf \\xe0\\x80\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xe2\\x82");
  CHECK(printable("\xff\xfe\xf5") == "\\xff\\xfe\\xf5");
  const std::string fine =
      "gr\xc3\xb6\xc3\x9f"
      "e \xe6\x97\xa5 \xf0\x9f\x98\x80 \xef\xbf\xbd \xc2\xa0";
  CHECK(printable(fine) == fine);
  CHECK(printable("a\n\tb", "\n\t") == "a\n\tb");
  // Whatever the bytes are, nothing is left to escape the second time.
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string wild(random() % 24, 0);
    for (char& each : wild)
      each = static_cast<char>(random() % 3 ? random() : "\xe2\x80\xc2\xed"[random() % 4]);
    const std::string once = printable(wild);
    CHECK(printable(once) == once);
  }
}

TEST_CASE("JSON keeps 64 bits, and replaces what is not UTF-8") {
  const std::string odd = "ker\xff\xfenel\xc3\x28 \"quoted\" \n\t\x01";
  const Diagnostic diagnostic{"K0999", odd, {{odd, "", UINT64_MAX, "B"}, {"empty", ""}, {"t", odd}}, {odd}};
  const auto json = nlohmann::json::parse(to_json(diagnostic));
  CHECK(json["severity"] == "error");
  CHECK(json["rows"][0]["value"] == UINT64_MAX);
  CHECK(json["rows"][0]["unit"] == "B");
  CHECK(json["rows"][1]["value"] == 0);
  CHECK_FALSE(json["rows"][1].contains("unit"));
  const std::string replaced = json["message"];
  CHECK(replaced.starts_with("ker\xef\xbf\xbd\xef\xbf\xbdnel\xef\xbf\xbd("));
  CHECK(replaced.ends_with(" \"quoted\" \n\t\x01"));
  CHECK(json["rows"][0]["label"] == replaced);
  CHECK(json["rows"][2]["text"] == replaced);
  CHECK(json["help"][0] == replaced);
}
