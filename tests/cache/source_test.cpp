// SPDX-License-Identifier: MIT
// OpenCL C and its headers: what a compiler gets is one text, and changes wherever a preprocessor would see
// another.
#include <doctest/doctest.h>

#include <map>

#include "build/front_end.hpp"
#include "build/source/lexer.hpp"
#include "build/source/text.hpp"
#include "bundle/compile_log.hpp"
#include "cache/fixture.hpp"
#include "cache/identity_world.hpp"
#include "identity/library_files.hpp"
#include "unit/golden.hpp"

namespace kiln::detail {
namespace {

/// A source and the folders that it finds headers in.
struct Files {
  Source source{
      "main.cl",
      "#include \"tile.h\"\n#include <math/fast.h>\n#if __has_include(\"extra.h\")\n#include \"extra.h\"\n"
      "#endif\nkernel void f(global int* p) { p[0] = TILE + FAST + N; }\n",
      {{"memory.h", "int memory;\n"}},
      {"one", "two"},
      {{"N", "1"}, {"M", "2"}}};
  std::map<std::string, std::string> disk{
      {"two/tile.h", "#pragma once\n#include \"size.h\"\n#define TILE SIZE\n"},
      {"two/size.h", "#ifndef SIZE_H\n#define SIZE_H\n#define SIZE 8\n#endif\n"},
      {"two/math/fast.h", "#define FAST 3\n"},
      {"two/unused.h", "#define UNUSED\n"}};
};

auto flat(const Files& files) {
  return flatten(
      files.source,
      [&](const std::filesystem::path& path) -> std::optional<tl::expected<std::string, std::string>> {
        const auto file = files.disk.find(path.lexically_normal().string());
        if (file == files.disk.end()) return std::nullopt;
        if (file->second == "unreadable") return tl::unexpected(std::string("Permission denied"));
        return file->second;
      });
}

CacheKey key(const Files& files, const std::string& flags = "-cl-std=CL1.2") {
  const auto text = flat(files);
  REQUIRE(text);
  const auto code = cache::bytes(text->text);
  const cache::InputFacts input{"opencl_c", code, flags, {}};
  return key_of(encode(cache::input_fields({&input, 1})));
}

struct Mutation {
  const char* name;
  void (*change)(Files&);
};

const Mutation kInputs[] = {
    {"source", [](Files& f) { f.source.text += "// more\n"; }},
    {"source's name, which __FILE__ gives", [](Files& f) { f.source.name = "other.cl"; }},
    {"header", [](Files& f) { f.disk["two/tile.h"] = "#define TILE 8\n"; }},
    {"header of a header", [](Files& f) { f.disk["two/size.h"] = "#define SIZE 9\n"; }},
    {"header in a branch that may not count",
     [](Files& f) { f.source.text = "#if 0\n#include \"unused.h\"\n#endif\n" + f.source.text; }},
    {"header that shadows, in a folder before", [](Files& f) { f.disk["one/tile.h"] = "#define TILE 9\n"; }},
    {"the same text in a folder before, where it has another name",
     [](Files& f) {
       f.disk["one/tile.h"] = f.disk["two/tile.h"];
       f.disk["one/size.h"] = f.disk["two/size.h"];
     }},
    {"header of memory that shadows",
     [](Files& f) {
       f.source.headers.push_back({"tile.h", "#define TILE 9\n"});
     }},
    {"header that shadows one that a header includes",
     [](Files& f) {
       f.disk["two/tile.h"] = "#include <size.h>\n";
       f.disk["one/size.h"] = "#define SIZE 9\n";
     }},
    {"header beside the one that includes it",
     [](Files& f) { f.disk["two/math/fast.h"] = "#include \"size.h\"\n"; }},
    {"the same, shadowed",
     [](Files& f) {
       f.disk["two/math/fast.h"] = "#include \"size.h\"\n";
       f.disk["two/math/size.h"] = "#define SIZE 9\n";
     }},
    {"header that was not there", [](Files& f) { f.disk["two/extra.h"] = "\n"; }},
    {"header gone", [](Files& f) { f.disk.erase("two/tile.h"); }},
    {"folders exchanged, a header in each",
     [](Files& f) {
       f.disk["one/tile.h"] = "#define TILE 9\n";
       std::swap(f.source.folders[0], f.source.folders[1]);
       f.disk["two/tile.h"] = "#define TILE 10\n";
     }},
    {"macro's value", [](Files& f) { f.source.macros[0].value = "2"; }},
    {"macro's name", [](Files& f) { f.source.macros[0].name = "K"; }},
    {"macro gone", [](Files& f) { f.source.macros.pop_back(); }},
    {"macro more", [](Files& f) { f.source.macros.push_back({"K"}); }},
    {"macro twice, the last counts",
     [](Files& f) {
       f.source.macros.push_back({"N", "7"});
     }},
    {"value that could be two macros",
     [](Files& f) {
       f.source.macros = {{"N", "1 #define M 2"}};
     }},
};

const Mutation kOthers[] = {
    {"header that nobody includes", [](Files& f) { f.disk["two/unused.h"] = "#define UNUSED 2\n"; }},
    {"one more of those", [](Files& f) { f.disk["one/other.h"] = "\n"; }},
    {"header of memory that nobody includes", [](Files& f) { f.source.headers[0].text = "int other;\n"; }},
    {"header in a folder behind",
     [](Files& f) {
       f.source.folders.emplace_back("three");
       f.disk["three/tile.h"] = "\n";
     }},
    {"folder without headers", [](Files& f) { f.source.folders.insert(f.source.folders.begin(), "none"); }},
    {"ends of lines", [](Files& f) { f.disk["two/math/fast.h"] = "#define FAST 3\r\n"; }},
    {"byte order mark", [](Files& f) { f.disk["two/math/fast.h"] = "\xef\xbb\xbf#define FAST 3\n"; }},
    {"a macro's value before the last",
     [](Files& f) {
       f.source.macros.insert(f.source.macros.begin(), {"N", "5"});
     }},
};

TEST_CASE("source: whatever a preprocessor would see changes the key") {
  std::vector<CacheKey> keys{key(Files())};
  for (const Mutation& mutation : kInputs) {
    CAPTURE(mutation.name);
    Files files;
    mutation.change(files);
    const auto after = key(files);
    CHECK(after == key(files));
    CHECK_MESSAGE(std::ranges::find(keys, after) == keys.end(),
                  "the same key as before, or as another change");
    keys.push_back(after);
  }
  CHECK(key(Files(), "-cl-std=CL2.0") != keys[0]);
  CHECK(key(Files(), "-DA -DB") != key(Files(), "-DB -DA"));
}

TEST_CASE("source: the order of macros is that of their lines") {
  Files files;
  std::swap(files.source.macros[0], files.source.macros[1]);
  CHECK(key(files) != key(Files()));
}

TEST_CASE("source: what no preprocessor would see leaves the key alone") {
  for (const Mutation& mutation : kOthers) {
    CAPTURE(mutation.name);
    Files files;
    mutation.change(files);
    CHECK(key(files) == key(Files()));
  }
}

TEST_CASE("source: no include is left for the compiler to follow") {
  const auto text = flat(Files());
  REQUIRE(text);
  CHECK(text->text.find("include") == text->text.npos);
  CHECK(text->text.find("#define SIZE 8") != text->text.npos);
  REQUIRE(text->files.size() == 4);
  CHECK(text->files[1].name == "two/tile.h");
  CHECK(text->files[1].included_at == "main.cl:1");
  CHECK(text->files[2].included_at == "two/tile.h:2");
  CHECK(text->line("two/size.h", 3) == "#define SIZE 8");
  CHECK(text->line("main.cl", 6)->starts_with("kernel void f"));
  CHECK(!text->line("main.cl", 9));
  CHECK(!text->line("none.h", 1));
}

TEST_CASE("source: directives are found as the compiler finds them") {
  struct Case {
    const char* text;
    std::vector<std::string> included;
  };
  const Case cases[] = {
      {"#include \"a\"", {"a"}},
      {"  #  include <a> // b", {"a"}},
      {"%:include <a>", {"a"}},
      {"/* x */ # /* y */ include /* z */ <a>", {"a"}},
      {"#inc\\\nlude \"a\"", {"a"}},
      {"#include \\  \n \"a\"", {"a"}},
      {"// #include <a>", {}},
      {"// \\\n#include <a>", {}},
      {"/*\n#include <a>\n*/", {}},
      {"/\\\n*\n#include <a>\n*\\\n/\n#include <b>", {"b"}},
      {"int x; #include <a>", {}},
      {"\"\\\"\n#include <a>", {"a"}},
      {"#if 0\ndon't /* \"\n#include <a>\n#endif\n#include <b>", {"a", "b"}},
      {"#define A #include <a>", {}},
      {"char c = '\"'; /* '\n#include <a>\n*/\n#include <b>", {"b"}},
      {"#include <it's//a>\n#include <b>", {"it's//a", "b"}},
      {"#error what's this\n#include <a>", {"a"}},
      {"#include_not <a>", {}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    const auto lexed = lex_source(each.text);
    REQUIRE(lexed);
    std::vector<std::string> included;
    for (const FileDirective& directive : lexed->directives) included.push_back(directive.name);
    CHECK(included == each.included);
  }
  struct Bad {
    const char* text;
    std::size_t line;
  };
  const Bad bad[] = {{"\n#include NAME", 2},
                     {"#include \"a", 1},
                     {"#include_next <a>", 1},
                     {"#import <a>", 1},
                     {"\n\n#embed <a>", 3},
                     {"#define H __has_include(<a>)", 1},
                     {"#if __has_include(NAME)\n#endif", 1},
                     {"#if __has_include_next(<a>)\n#endif", 1},
                     {"int a; /* no end", 1},
                     {"?"
                      "?=include <a>",
                      1},
                     {"a ?"
                      "?/\n",
                      1},
                     {"const char* a = R\"(\n#include <a>)\";", 1},
                     {"#if 1\n", 1},
                     {"\n#endif", 2}};
  for (const Bad& each : bad) {
    CAPTURE(each.text);
    const auto lexed = lex_source(each.text);
    REQUIRE_FALSE(lexed);
    CHECK(lexed.error().line == each.line);
  }
  CHECK(lex_source("/* x */\n#ifndef A_H\n#define A_H\nint a;\n#if 1\n#endif\n#endif // A\n")->guard ==
        "A_H");
  for (const char* text :
       {"int a;\n#ifndef A\n#define A\n#endif\n", "#ifndef A\n#define B\n#endif\n",
        "#ifndef A\n#define A\n#endif\nint a;\n", "#ifndef A\n#include \"a\"\n#define A\n#endif\n",
        "#ifndef A\n#define A\n#else\nint a;\n#endif\n", "#ifndef A\n#define A\n#endif\n#if 1\n#endif\n"}) {
    CAPTURE(text);
    CHECK(lex_source(text)->guard.empty());
  }
  CHECK(lex_source("int a = __TIME__ [0];")->asks_time);
  CHECK(!lex_source("int a = 1; // __TIME__")->asks_time);
}

TEST_CASE("source: what asks for the time is not kept") {
  Files files;
  files.disk["two/size.h"] += "constant char built[] = __DATE__;\n";
  CHECK(!flat(files)->not_kept.empty());
  CHECK(flat(Files())->not_kept.empty());
}

TEST_CASE("source: headers that include themselves or each other") {
  Files files;
  files.disk["two/size.h"] = "#ifndef S\n#define S\n#include \"tile.h\"\n#define SIZE 8\n#endif\n";
  REQUIRE(flat(files));
  CHECK(flat(files)->text.find("#ifndef KILN_ONCE_1\n#error \"two/tile.h\" includes itself") !=
        std::string::npos);
  files.disk["two/size.h"] = "#include \"size.h\"\n";
  REQUIRE_FALSE(flat(files));
  // Each is in place twice a level: what would be larger than memory is refused.
  files.disk.clear();
  files.source.text = "#include \"0.h\"\n";
  for (int i = 0; i < 60; ++i) {
    const std::string next = "#include \"" + std::to_string(i + 1) + ".h\"\n";
    files.disk["one/" + std::to_string(i) + ".h"] = next + next;
  }
  REQUIRE_FALSE(flat(files));
}

TEST_CASE("source: what cannot be read, and macros that are none") {
  Files files;
  files.disk["one/tile.h"] = "unreadable";
  REQUIRE_FALSE(flat(files));
  for (const SourceMacro& macro :
       {SourceMacro{"1A"}, SourceMacro{""}, SourceMacro{"A\nB"}, SourceMacro{"A", "1\n#include <x>"},
        SourceMacro{"A", "\\"}, SourceMacro{"A", "/*"}, SourceMacro{"A", "__has_include(<x>)"}}) {
    CAPTURE(macro.name);
    CAPTURE(macro.value);
    Files with;
    with.source.macros = {macro};
    CHECK_FALSE(flat(with));
  }
  for (const char* text : {"#include \"/etc/passwd\"\n", "#include \"\"\n"}) {
    Files with;
    with.source.text = text;
    CHECK_FALSE(flat(with));
  }
  Files zero;
  zero.source.text.push_back('\0');
  CHECK_FALSE(flat(zero));
}

TEST_CASE("K0250, K0251: sources that cannot be followed or compiled") {
  using kiln::test::check_diagnostic;
  Files files;
  files.source.text = "#define TILE \"tile.h\"\n#include TILE\n";
  check_diagnostic("K0250", flat(files).error());
  Files itself;
  itself.disk["two/size.h"] = "#include \"size.h\"\n";
  check_diagnostic("K0250", flat(itself).error(), "itself");
  const auto text = flat(Files());
  check_diagnostic("K0251",
                   explain_source_failure("main.cl", *text,
                                          "two/size.h:3:15: error: use of undeclared identifier 'x'\n"
                                          "#define SIZE 8\n              ^\n"
                                          "main.cl:6:41: warning: unused\n"
                                          "main.cl:6:47: error: expected ';'\n"));
  check_diagnostic("K0251", explain_source_failure("main.cl", *text, "\nUnrecognized build options: -foo"),
                   "options");
}

TEST_CASE("the log of a compiler, by place") {
  const auto messages = read_compile_log(
      "dir/a:b.cl:7:34: error: use of 'x'\n  p = x;\n      ^\na.cl:3: fatal error: no\n1:2:2: warning: w\n"
      "a.cl:3:1: note: here\n: error: nowhere\nerror: nothing\na.cl:x: error: nothing\n");
  REQUIRE(messages.size() == 4);
  CHECK(messages[0].file == "dir/a:b.cl");
  CHECK(messages[0].line == 7);
  CHECK(messages[0].column == 34);
  CHECK(messages[0].text == "use of 'x'");
  CHECK(messages[1].file == "a.cl");
  CHECK(messages[1].line == 3);
  CHECK(messages[1].column == 0);
  CHECK(messages[2].kind == CompileMessage::Kind::warning);
  CHECK(messages[3].kind == CompileMessage::Kind::note);
}

TEST_CASE("build options for the front end, and for what follows") {
  const auto split =
      split_options("-cl-std=CL2.0 -D A=\"x y\" -DB -cl-mad-enable -ze-opt-large-register-file -w");
  CHECK(split.front_end == "-cl-std=CL2.0 -D A=\"x y\" -DB -cl-mad-enable -w");
  CHECK(split.back_end == "-cl-mad-enable -ze-opt-large-register-file");
  CHECK(split.refused.empty());
  CHECK(split_options("-ze-exp-register-file-size 256").back_end == "-ze-exp-register-file-size 256");
  CHECK(split_options("-ze-exp-register-file-size 256").front_end.empty());
  CHECK(split_options("-library-compilation -DA").back_end == "-library-compilation");
  CHECK(split_options("-library-compilation -DA").front_end == "-DA");
  for (const char* flags : {"-I include", "-Iinclude", "-include a.h", "-isystem x", "-cl-mad-enable -I x"})
    CHECK(!split_options(flags).refused.empty());
}

/// The libraries of a machine, by name.
using Machine = std::map<std::string, cache::LibraryFile>;

Machine machine() {
  return {{"libocloc.so", {"/usr/lib/libocloc.so", "01", {"libc.so.6"}}},
          {"libigdfcl.so.1", {"/usr/lib/libigdfcl.so.1", "02", {"libopencl-clang.so.14", "libLLVM-14.so.1"}}},
          {"libopencl-clang.so.14", {"/usr/lib/libopencl-clang.so.14", "03", {"libclang-cpp.so.14"}}},
          {"libclang-cpp.so.14", {"/usr/lib/libclang-cpp.so.14", "04", {"libLLVM-14.so.1"}}},
          {"libLLVM-14.so.1", {"/usr/lib/libLLVM-14.so.1", "05", {"libz.so.1"}}},
          {"libz.so.1", {"/usr/lib/libz.so.1", "06", {}}},
          {"libX11.so.6", {"/usr/lib/libX11.so.6", "07", {}}}};
}

std::string front_end_key(const Machine& machine) {
  const auto fields =
      cache::front_end_fields([&](const std::string& name) -> std::optional<cache::LibraryFile> {
        const auto found = machine.find(name);
        return found == machine.end() ? std::nullopt : std::optional(found->second);
      });
  REQUIRE(fields.unknown.empty());
  return encode(fields.fields);
}

TEST_CASE("the front end is told by the builds of its libraries, and none is opened") {
  const std::string before = front_end_key(machine());
  for (const char* name :
       {"libocloc.so", "libigdfcl.so.1", "libopencl-clang.so.14", "libclang-cpp.so.14", "libLLVM-14.so.1"}) {
    CAPTURE(name);
    Machine other = machine();
    other[name].build_id = "ff";
    CHECK(front_end_key(other) != before);
    other.erase(name);
    CHECK(front_end_key(other) != before);
  }
  Machine second = machine();
  second["libigdfcl.so.2"] = {"/usr/lib/libigdfcl.so.2", "08", {}};
  CHECK(front_end_key(second) != before);
  Machine moved = machine();
  for (auto& [name, library] : moved) library.path = "/opt/" + name;
  moved["libz.so.1"].build_id = moved["libX11.so.6"].build_id = "ff";
  CHECK(front_end_key(moved) == before);
}

TEST_CASE("a library without build-id, and other libraries than were told") {
  Machine without = machine();
  without["libclang-cpp.so.14"].build_id.clear();
  const auto fields =
      cache::front_end_fields([&](const std::string& name) -> std::optional<cache::LibraryFile> {
        const auto found = without.find(name);
        return found == without.end() ? std::nullopt : std::optional(found->second);
      });
  CHECK(!fields.unknown.empty());
  Manifest told, mapped;
  told.set("front_end.libocloc.so", "01");
  mapped.set("front_end.libocloc.so", "01");
  mapped.set("front_end.libLLVM-17.so.1", "02");  // the application's own
  CHECK(cache::other_front_end(told, mapped).empty());
  mapped.set("front_end.libigdfcl.so.1", "03");
  CHECK(!cache::other_front_end(told, mapped).empty());
  told.set("front_end.libigdfcl.so.1", "04");
  CHECK(!cache::other_front_end(told, mapped).empty());
}

TEST_CASE("a library's file is found as the dynamic linker finds it, with its build-id") {
  // What is mapped here was found by the dynamic linker.
  const cache::MappedLibraries mapped(nullptr);
  std::size_t compared = 0;
  for (const cache::Library& library : mapped.all()) {
    if (library.kiln || library.path.empty() || library.build_id.empty()) continue;
    const auto file = cache::find_library(std::string(library.name), "");
    if (!file ||
        std::filesystem::path(file->path).parent_path() != std::filesystem::path(library.path).parent_path())
      continue;
    CAPTURE(library.path);
    CHECK(file->build_id == library.build_id);
    ++compared;
  }
  CHECK(compared > 0);
  CHECK(!cache::find_library("libkiln-none.so", ""));
  const test::TestFolder scratch;
  const auto libc = cache::find_library("libc.so.6", "");
  REQUIRE(libc);
  std::filesystem::copy_file(libc->path, scratch / "libc.so.6");
  const auto shadow = cache::find_library("libc.so.6", "/nonexistent:" + scratch.path().string());
  REQUIRE(shadow);
  CHECK(shadow->path == (scratch / "libc.so.6").string());
  CHECK(shadow->build_id == libc->build_id);
  CHECK(shadow->needed == libc->needed);
}

}  // namespace
}  // namespace kiln::detail
