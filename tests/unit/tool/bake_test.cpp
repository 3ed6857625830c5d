// SPDX-License-Identifier: MIT
// What baking is made of: options, includes, rules for make, and its diagnostics.
#include <doctest/doctest.h>

#include "offline/bake/parts.hpp"
#include "support/private_folder.hpp"
#include "tool/common/session.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::offline;
using namespace kiln::test;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("options: the folders are the front end's alone, and absolute there") {
  const BakeFlags flags = parse_flags(" -cl-mad-enable -I/a -I \"/b c\" -D X=\"1 2\" -DY  -g");
  CHECK(flags.front_end == "-cl-mad-enable -I \"/a\" -I \"/b c\" -DX=\"1 2\" -DY -g");
  CHECK(flags.back_end == "-cl-mad-enable -g");
  CHECK(flags.debug);
  CHECK_FALSE(parse_flags("-g -s \"k.cl\"").debug);
  REQUIRE(flags.include_folders.size() == 2);
  CHECK(flags.include_folders[1] == "/b c");
  const BakeFlags relative = parse_flags("-Iinclude");
  CHECK(relative.include_folders[0] == "include");
  CHECK(relative.front_end == "-I \"" + (std::filesystem::current_path() / "include").string() + "\"");
  CHECK(parse_flags("").front_end.empty());
}

TEST_CASE("includes: nested ones, each once, as the compiler looks for them") {
  const detail::PrivateFolder folder = detail::PrivateFolder::make().value();
  const std::filesystem::path root = folder.path();
  write(root / "source/a.h", "#include \"sub/b.h\"\n#include \"a.h\"\n");
  write(root / "source/sub/b.h", "# include <c.h>\n#include \"d.h\"");
  write(root / "source/sub/d.h", "");
  write(root / "include/c.h", "");
  write(root / "include/a.h", "");
  const std::string text =
      "#include \"none.h\"\n  #  include\t\"sub/b.h\" // why\n#include NAME\n#include \"open\n#includes "
      "\"sub/d.h\"\n";
  BakeSource source{(root / "source/k.cl").string(), SourceLanguage::opencl_c, bytes_of(text)};
  const BakeFlags flags = parse_flags("-I " + (root / "include").string());
  const std::vector<std::string> wanted{(root / "source/sub/b.h").string(), (root / "include/c.h").string(),
                                        (root / "source/sub/d.h").string()};
  CHECK(included_files(source, flags) == wanted);
  source.bytes = bytes_of("#include \"a.h\"");
  CHECK(included_files(source, flags) == std::vector{(root / "include/a.h").string()});
  CHECK(included_files(source, {}).size() == 3);
  source.language = SourceLanguage::spirv;
  CHECK(included_files(source, flags).empty());
}

TEST_CASE("a rule for make") {
  CHECK(make_rule("o.ar", {"a.cl", "b c#$.h"}) == "o.ar: \\\n  a.cl \\\n  b\\ c\\#$$.h\n");
}

TEST_CASE("an output is whole or what it was, and a link to it stays one") {
  const detail::PrivateFolder folder = detail::PrivateFolder::make().value();
  const std::string real = (folder.path() / "real").string(), link = (folder.path() / "link").string();
  REQUIRE(write_output(real, bytes_of("one")));
  std::filesystem::create_symlink(real, link);
  REQUIRE(check_output(link));
  REQUIRE(write_output(link, bytes_of("two")));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_file(real) == bytes_of("two"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("K0420 to K0422: sources, outputs, the CPU device") {
  const detail::PrivateFolder folder = detail::PrivateFolder::make().value();
  write(folder.path() / "notes.txt", "text");
  const auto old = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  check_diagnostic("K0420", ZE_RESULT_ERROR_INVALID_ARGUMENT, read_sources({"notes.txt"}));
  std::filesystem::current_path(old);
  check_diagnostic("K0421", ZE_RESULT_ERROR_INVALID_ARGUMENT, check_output("/nonexistent/kernels.ar"));
  CHECK_FALSE(write_output("/nonexistent/kernels.ar", {}));
  const Error failed = cpu_failure(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "error: images are not supported");
  check_diagnostic("K0422", tool::in_options(*failed.diagnostic()));
}
