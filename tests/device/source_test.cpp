// SPDX-License-Identifier: MIT
// OpenCL C at run time: compiled, run, found in the cache, and refused with its place in the source.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cache/fixture.hpp"
#include "device_test.hpp"

namespace kiln::test {
namespace {

constexpr const char* kScale =
    "#include \"scale.h\"\n"
    "kernel void scale(global int* values, int by, uint n) {\n"
    "  const uint i = get_global_id(0);\n"
    "  if (i < n) values[i] = values[i] * by + OFFSET + PLUS(1);\n"
    "}\n";

Source scale_source() {
  return {"scale.cl",
          kScale,
          {{"scale.h", "#pragma once\n#define OFFSET 7\n"}},
          {},
          {{"PLUS(x)", "((x) + N)"}, {"N", "10"}}};
}

/// Nothing: no compiler for OpenCL C is installed here, which the error says.
std::optional<Bundle> compile(const Source& source, Cache* cache = nullptr, const std::string& flags = "") {
  auto bundle = Bundle::compile(device(), source, {flags}, cache);
  if (!bundle && bundle.error().diagnostic() && bundle.error().diagnostic()->code == "K0405") {
    CHECK(bundle.error().code() == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    MESSAGE("no compiler for OpenCL C: " << bundle.error().text());
    return std::nullopt;
  }
  return need(std::move(bundle));
}

Cache cache_in(const TestFolder& scratch) {
  CacheOptions options;
  options.folder = scratch.path();
  options.memory_size = 0;
  return Cache::open(options);
}

void run(Bundle& bundle, int by, int plus) {
  CheckedKernel* kernel = need(bundle.kernel("scale"));
  CHECK(kernel->facts().arguments.size() == 3);
  HostBuffer values = need(context().allocate_shared(device().device, 100 * sizeof(int)));
  if (executes())
    for (int i = 0; i < 100; ++i) values.span<int>()[static_cast<std::size_t>(i)] = i;
  CommandList list = immediate_list();
  need(launch(list.get(), *kernel, {{4}, {32}}, values, by, 100u));
  finish(list.get());
  if (!executes()) return;
  for (int i = 0; i < 100; ++i) CHECK(values.span<int>()[static_cast<std::size_t>(i)] == i * by + plus);
}

}  // namespace

TEST_CASE("source: OpenCL C is compiled and run") {
  auto bundle = compile(scale_source());
  if (!bundle) return;
  CHECK(bundle->origin() == BinaryOrigin::jit);
  CHECK(bundle->file() == "scale.cl");
  run(*bundle, 3, 18);
  // Not native code or SPIR-V alone is checked before a launch.
  CheckedKernel* kernel = need(bundle->kernel("scale"));
  HostBuffer values = need(context().allocate_shared(device().device, 4));
  CommandList list = immediate_list();
  const auto refused = launch(list.get(), *kernel, {{1}, {1 << 20}}, values, 1, 1u);
  CHECK_FALSE(refused);
}

TEST_CASE("source: options of Level Zero are for what compiles behind the front end") {
  const Source global{
      "global.cl", "global uint counter = 5;\nkernel void next(global uint* out) { out[0] = counter++; }\n"};
  const auto bundle = compile(global, nullptr, "-cl-std=CL2.0 -ze-take-global-address");
  if (!bundle) return;
  CHECK(need(bundle->module().global("counter")).size == sizeof(std::uint32_t));
  auto main =
      compile({"main.cl", "int twice(int);\nkernel void doubled(global int* v) { v[0] = twice(v[0]); }\n"},
              nullptr, "-library-compilation");
  const auto part =
      compile({"part.cl", "int twice(int v) { return 2 * v; }\n"}, nullptr, "-library-compilation");
  REQUIRE((main && part));
  const ModuleRef both[] = {main->module(), part->module()};
  const auto linked = link_modules(both);
  if (!linked && linked.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    return;  // an old loader that intercepts
  need(linked);
  CheckedKernel* const kernel = need(main->kernel("doubled"));
  const HostBuffer value = need(context().allocate_shared(device().device, sizeof(int)));
  if (executes()) value.span<int>()[0] = 21;
  const CommandList list = immediate_list();
  need(launch(list, *kernel, {{1}, {1}}, value));
  finish(list.get());
  if (executes()) CHECK(value.span<int>()[0] == 42);
  const auto unknown = Bundle::compile(device(), global, {"-no-such-option"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().diagnostic()->code == "K0251");
  for (const char* text : {"", "// nothing yet\n", "int twice(int v) { return 2 * v; }\n"}) {
    const auto none = Bundle::compile(device(), {"none.cl", text});
    REQUIRE_FALSE(none);
    REQUIRE(none.error().diagnostic());
    CHECK(none.error().diagnostic()->message == "OpenCL C in `none.cl` compiles, and has no kernel");
  }
}

TEST_CASE("source: the cache knows it by all that it is made of") {
  const TestFolder scratch, folder;
  const auto header = [&](const char* name, const char* text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  Source source = scale_source();
  source.headers.clear();
  source.folders = {folder / "first", folder / "second"};
  header("second/scale.h", "#define OFFSET 7\n");
  Cache cache = cache_in(scratch);
  if (!compile(source, &cache)) return;
  REQUIRE(cache.counts().stored == 1);
  const auto origin = [&](int plus, const std::string& flags = "") {
    auto bundle = compile(source, &cache, flags);
    REQUIRE(bundle);
    run(*bundle, 2, plus);
    return bundle->origin();
  };
  CHECK(origin(18) == BinaryOrigin::cache);
  header("second/scale.h", "#define OFFSET 8\n");
  CHECK(origin(19) == BinaryOrigin::jit);
  header("first/scale.h", "#define OFFSET 9\n");
  CHECK(origin(20) == BinaryOrigin::jit);
  std::filesystem::remove(folder / "first/scale.h");
  CHECK(origin(19) == BinaryOrigin::cache);
  source.macros.push_back({"N", "20"});
  CHECK(origin(29) == BinaryOrigin::jit);
  source.macros.pop_back();
  CHECK(origin(19, "-cl-mad-enable") == BinaryOrigin::jit);
  CHECK(origin(19) == BinaryOrigin::cache);
  CHECK(cache.counts().compilations == 5);
}

TEST_CASE("source: an error has its file, its line and the text there, also when it is remembered") {
  const TestFolder scratch;
  Cache cache = cache_in(scratch);
  Source source = scale_source();
  if (!compile(source)) return;
  source.headers[0].text = "#define OFFSET 7\nint broken(void) { return missing; }\n";
  for (int time = 0; time < 2; ++time) {
    const auto failed = Bundle::compile(device(), source, {}, &cache);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    const Diagnostic& diagnostic = *failed.error().diagnostic();
    CHECK(diagnostic.code == "K0251");
    REQUIRE(diagnostic.rows.size() >= 4);
    CHECK(diagnostic.rows[0].text.starts_with("scale.h:2:27: "));
    CHECK(diagnostic.rows[1].text == "int broken(void) { return missing; }");
    CHECK(diagnostic.rows[2].text == std::string(26, ' ') + "^");
    CHECK(diagnostic.rows[3].text == "scale.cl:1");
  }
  CHECK(cache.counts().compilations == 1);
  CHECK(cache.counts().remembered_failures == 1);
}

TEST_CASE("source: what the compiler must not look for by itself") {
  Source source = scale_source();
  source.headers.clear();
  const auto missing = Bundle::compile(device(), source);
  REQUIRE_FALSE(missing);
  const auto refused = Bundle::compile(device(), scale_source(), {"-I /usr/include"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().diagnostic()->code == "K0250");
  source.text = "#define NAME \"scale.h\"\n#include NAME\n";
  CHECK(Bundle::compile(device(), source).error().diagnostic()->code == "K0250");
}

TEST_CASE("source: without libocloc the error says what to install") {
  if (!is_kilns_own()) return;  // a driver may take OpenCL C by itself
  const char* before = std::getenv("KILN_OCLOC");
  const std::string kept = before ? before : "";
  setenv("KILN_OCLOC", "/nonexistent/libocloc.so", 1);
  const auto failed = Bundle::compile(device(), scale_source());
  setenv("KILN_OCLOC", kept.c_str(), 1);  // empty is as good as none
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
  CHECK(failed.error().diagnostic()->code == "K0405");
  CHECK(failed.error().diagnostic()->rows[0].text.find("/nonexistent/libocloc.so") != std::string::npos);
}

TEST_CASE("source: a file, with the headers beside it") {
  const TestFolder folder;
  std::ofstream(folder / "scale.cl") << kScale;
  std::ofstream(folder / "scale.h") << "#define OFFSET 1\n#define PLUS(x) (x)\n";
  auto bundle = compile(need(read_source(folder / "scale.cl")));
  if (bundle) run(*bundle, 2, 2);
  CHECK_FALSE(read_source(folder / "none.cl"));
}

}  // namespace kiln::test
