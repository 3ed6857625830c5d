// SPDX-License-Identifier: MIT
// What `kiln run FILE` makes of the arguments it is given: types, numbers, files of NumPy, and all that is
// wrong with them.
#include <doctest/doctest.h>

#include <cmath>

#include "tool/kernel/case_file.hpp"
#include "tool/kernel/match.hpp"
#include "tool/kernel/npy.hpp"
#include "tool/kernel/shape.hpp"
#include "tool/kernel/summary.hpp"
#include "unit/golden.hpp"
#include "unit/test_file.hpp"

namespace kiln::tool {
namespace {

using Form = Specification::Form;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Signature of_sample(const std::string& family, const std::string& kernel) {
  const auto file = test::read_file(std::filesystem::path(KILN_TEST_SPIRV) / (family + ".spv"));
  const auto facts = read_spirv(file);
  REQUIRE(facts);
  REQUIRE(facts->find(kernel));
  return signature_of(*facts->find(kernel), file);
}

std::vector<Specification> parsed(const std::vector<std::string>& texts) {
  std::vector<Specification> all;
  for (const std::string& each : texts) {
    const auto one = parse_specification(each);
    REQUIRE_MESSAGE(one, each);
    all.push_back(*one);
  }
  return all;
}

Result<KernelFile> no_file(const std::string& path) {
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "read", {"K0201", path, {}, {}}));
}

Result<std::vector<Bound>> bound(const Signature& signature, const std::vector<std::string>& texts) {
  return bind_arguments(signature, parsed(texts), 1, no_file);
}

Diagnostic why(const auto& result) {
  REQUIRE(!result);
  REQUIRE(result.error().diagnostic());
  return *result.error().diagnostic();
}

std::string npy_text(const std::string& header, std::string_view data, char version = 1) {
  std::string text("\x93NUMPY");
  text += {version, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version > 1) text += std::string(2, '\0');
  return text + header + std::string(data);
}

}  // namespace

TEST_CASE("types by the names of OpenCL C") {
  CHECK(parse_type("float") == ElementType{Scalar::f32});
  CHECK(parse_type("float16") == ElementType{Scalar::f32, 16});  // sixteen floats, not a half
  CHECK(parse_type("uchar4") == ElementType{Scalar::u8, 4});
  CHECK(parse_type("unsigned int") == ElementType{Scalar::u32});
  CHECK(parse_type("size_t") == ElementType{Scalar::u64});
  for (const char* none : {"", "float5", "int6", "4", "float32", "floa", "float 4", "struct s"})
    CHECK(!parse_type(none));
  CHECK(ElementType{Scalar::f32, 3}.size() == 16);
  for (const char* name : {"char", "ushort", "int8", "ulong2", "half", "double3"})
    CHECK(type_name(*parse_type(name)) == name);
}

TEST_CASE("numbers in every type") {
  const auto put = [](const char* type, const char* text) -> std::string {
    Array one{*parse_type(type), {}, std::vector<std::byte>(8)};
    return put_text(one, 0, text) ? number_text(one, 0) : "none";
  };
  CHECK(put("uchar", "255") == "255");
  CHECK(put("uchar", "256") == "none");
  CHECK(put("uchar", "-1") == "none");
  CHECK(put("char", "-128") == "-128");
  CHECK(put("char", "-129") == "none");
  CHECK(put("char", "128") == "none");
  CHECK(put("char", "0xff") == "-1");
  CHECK(put("long", "-9223372036854775808") == "-9223372036854775808");
  CHECK(put("ulong", "18446744073709551615") == "18446744073709551615");
  CHECK(put("ulong", "18446744073709551616") == "none");
  CHECK(put("int", "2.5") == "none");
  CHECK(put("int", "") == "none");
  CHECK(put("float", "2.5f") == "2.5");
  CHECK(put("float", "0.1") == "0.1");
  CHECK(put("float", "1e39") == "none");
  CHECK(put("float", "-inf") == "-inf");
  CHECK(put("double", "0.1") == "0.1");
  CHECK(put("half", "65504") == "65504");
  // What prints so is nearest to the largest.
  CHECK(put("half", "65519") == "65504");
  CHECK(put("half", "65520") == "none");
  CHECK(put("float", "3.4028235e38") == "3.4028235e+38");
  CHECK(put("float", "3.4028236e38") == "none");
  CHECK(put("float", "-nan") != "none");
  CHECK(put("half", "0.1") == "0.099975586");
}

TEST_CASE("halves are rounded to nearest, and every one of them is read back") {
  Array half{{Scalar::f16}, {}, std::vector<std::byte>(2)};
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    put_whole(half, 0, bits);
    const double value = number_at(half, 0);
    put_number(half, 0, value);
    std::uint16_t again = 0;
    std::memcpy(&again, half.bytes.data(), 2);
    REQUIRE(again == bits);
    // The middle to the next goes to the even one of the two.
    put_whole(half, 0, bits + 1);
    const double next = bits + 1 == 0x7c00 ? 65536 : number_at(half, 0);
    put_number(half, 0, (value + next) / 2);
    std::memcpy(&again, half.bytes.data(), 2);
    REQUIRE(again == (bits % 2 == 0 ? bits : bits + 1));
  }
}

TEST_CASE("specifications") {
  const auto x = *parse_specification("x=random:float:1000:7:-2..3.5");
  CHECK((x.argument == "x" && x.form == Form::random && x.type == ElementType{Scalar::f32}));
  CHECK((x.count() == 1000 && x.seed == 7 && x.low == "-2" && x.high == "3.5"));
  CHECK(parse_specification("0=zeros:64x128")->shape == std::vector<std::uint64_t>{64, 128});
  CHECK(parse_specification("y=out:int:10:a:b.npy")->path == "a:b.npy");
  CHECK(parse_specification("y=data.npy")->form == Form::npy);
  CHECK(parse_specification("y=file:a:b")->path == "a:b");
  CHECK(parse_specification("n=uint:7")->type == ElementType{Scalar::u32});
  CHECK(parse_specification("v=1,2,3,4")->text == "1,2,3,4");
  CHECK(parse_specification("a=-2.5")->form == Form::scalar);
  CHECK(parse_specification("p=null")->form == Form::null);
  CHECK(parse_specification("t=local:0x10").error().diagnostic()->code == "K0430");
  CHECK(parse_local("t=4096")->shape == std::vector<std::uint64_t>{4096});
  for (const char* wrong :
       {"", "x", "=3", "x=", "x=random", "x=random:", "x=random:float", "x=random:float:0", "x=random:1:2:3",
        "x=random:float:10:1..1", "x=zeros:10:1", "x=zeros:99999999999999999999", "x=zeros:1048576x1048576x2",
        "x=out:10:y.txt", "x=file:", "x=words", "x=float:", "x=a:b:1"}) {
    CAPTURE(wrong);
    CHECK(why(parse_specification(wrong)).code == "K0430");
  }
  CHECK(parse_extent_option("--group", "16,4")->y == 4);
  CHECK(parse_extent_option("--group", "16x4x2")->z == 2);
  for (const char* wrong : {"", "0", "16,", "1,2,3,4", "4294967296", "-1", "a"})
    CHECK(!parse_extent_option("--group", wrong));
  test::check_diagnostic("K0430", why(parse_specification("x=radnom:float:10")));
}

TEST_CASE("data that are made are the same on every machine") {
  const auto made = [](const char* text, const char* type) {
    const Array array = *make_array(*parse_specification(text), *parse_type(type), 1);
    std::string all;
    for (std::uint64_t i = 0; i < array.numbers(); ++i) all += (i ? " " : "") + number_text(array, i);
    return all;
  };
  CHECK(made("x=iota:4", "uchar") == "0 1 2 3");
  CHECK(made("x=iota:2", "float2") == "0 1 2 3");
  CHECK(made("x=ones:2", "half") == "1 1");
  CHECK(made("x=random:4", "int") == "13 13 45 2");
  CHECK(made("x=random:3:5", "float") == made("x=random:3:5", "float"));
  CHECK(made("x=random:3:5", "float") != made("x=random:3:6", "float"));
  const Array range = *make_array(*parse_specification("x=random:1000:1:3..5"), {Scalar::i32}, 1);
  bool seen[6]{};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double value = number_at(range, i);
    REQUIRE((value >= 3 && value <= 5));
    seen[static_cast<int>(value)] = true;
  }
  CHECK((seen[3] && seen[4] && seen[5]));
}

TEST_CASE("ranges of random numbers are within their type, to its ends") {
  const auto made = [](const char* range, const char* type) {
    const std::string text = std::string("x=random:1000:1:") + range;
    auto specification = parse_specification(text);
    REQUIRE_MESSAGE(specification, text);
    return make_array(*specification, *parse_type(type), 1);
  };
  for (const auto& [range, type] :
       {std::pair("0..1000", "uchar"), std::pair("-1..1", "uint"), std::pair("0..0.5", "int"),
        std::pair("0..1e39", "float"), std::pair("0..70000", "half"),
        std::pair("0..18446744073709551616", "ulong")}) {
    CAPTURE(range);
    CHECK(why(made(range, type)).code == "K0430");
  }
  const Array wide = *made("-1e308..1e308", "double");
  bool below = false, above = false;
  for (std::uint64_t i = 0; i < wide.numbers(); ++i) {
    REQUIRE(std::fabs(number_at(wide, i)) <= 1e308);
    below = below || number_at(wide, i) < -1e307;
    above = above || number_at(wide, i) > 1e307;
  }
  CHECK((below && above));
  // More than 2^24 numbers, and those above 63 bits.
  const Array whole = *made("0..18446744073709551615", "ulong");
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < whole.numbers(); ++i) bits |= whole_at(whole, i);
  CHECK(bits == UINT64_MAX);
  const Array negative = *made("-128..127", "char");
  CHECK(summary_json(negative)["min"] == -128);
  CHECK(summary_json(negative)["max"] == 127);
}

TEST_CASE("files of NumPy: what is written is read back") {
  for (const char* type :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"}) {
    const Array array = *make_array(*parse_specification("x=random:3x5"), *parse_type(type), 1);
    const auto file = write_npy(array);
    CHECK(file.size() % 64 == array.bytes.size() % 64);
    const auto again = read_npy(file, "a.npy");
    REQUIRE(again);
    CHECK((again->type == array.type && again->shape == array.shape && again->bytes == array.bytes));
  }
  const Array vectors = *make_array(*parse_specification("x=iota:2"), {Scalar::f32, 3}, 1);
  CHECK(read_npy(write_npy(vectors), "a.npy")->shape == std::vector<std::uint64_t>{2, 4});
  // As numpy.save wrote it, versions 1.0 and 2.0.
  const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }          \n";
  for (const char version : {'\1', '\2'}) {
    const auto read =
        read_npy(bytes_of(npy_text(header, std::string_view("\1\0\2\0\3\0", 6), version)), "a.npy");
    REQUIRE(read);
    CHECK(number_text(*read, 2) == "3");
  }
}

TEST_CASE("files of NumPy that are hostile, or not for kernels, are refused with the reason") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const auto refused = [](const std::string& file) {
    const auto diagnostic = why(read_npy(bytes_of(file), "a.npy"));
    CHECK(diagnostic.code == "K0432");
    CHECK(!diagnostic.help.empty());
    return diagnostic.message;
  };
  CHECK(read_npy(bytes_of(npy_text(good, "12345678")), "a.npy"));
  for (std::size_t size = 0; size < npy_text(good, "12345678").size(); ++size)
    refused(npy_text(good, "12345678").substr(0, size));
  CHECK(refused(npy_text(good, "123456789")).find("9 are there") != std::string::npos);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string header = good;
    header.replace(header.find(from), from.size(), to);
    return refused(npy_text(header, "12345678"));
  };
  CHECK(with("<f4", ">f4").find(">f4") != std::string::npos);
  CHECK(with("<f4", "|O").find("|O") != std::string::npos);
  CHECK(with("'<f4'", "[('a', '<f4')]").find("records") != std::string::npos);
  with("(2,)", "(0,)");
  with("(2,)", "(-2,)");
  with("(2,)", "(18446744073709551615, 18446744073709551615)");
  with("(2,)", "(4294967296, 4294967296, 4)");
  with("(2,)", "(2");
  with("(2,)", "2");
  with("'shape'", "'shapes'");
  with("'fortran_order': False, ", "");
  with("False", "Maybe");
  with("{", "");
  with("False, 'shape': (2,)", "True, 'shape': (2, 1)");
  refused(npy_text(good, "12345678", 4));
  refused(npy_text(std::string(60000, ' '), ""));
  test::check_diagnostic("K0432", why(read_npy(bytes_of(npy_text(good, "1234")), "data.npy")));
}

TEST_CASE("signatures say types and access") {
  const Signature saxpy = of_sample("saxpy", "saxpy");
  REQUIRE(saxpy.parameters.size() == 4);
  CHECK(shown_type(saxpy.parameters[0]) == "float");
  CHECK(shown_type(saxpy.parameters[1]) == "float* (read)");
  CHECK(shown_type(saxpy.parameters[2]) == "float* (read and written)");
  CHECK(shown_type(saxpy.parameters[3]) == "uint");
  const Signature matmul = of_sample("matmul", "tiled");
  CHECK(shown_type(matmul.parameters[2]) == "float* (written)");
  CHECK(shown_type(matmul.parameters[7]) == "__local float*");
  CHECK(shown_signature(saxpy) == "saxpy(float a, float* x (read), float* y (read and written), uint n)");
  CHECK(call_line("saxpy.cl", saxpy) ==
        "kiln run saxpy.cl:saxpy --arg a=1 --arg x=random:float:N --arg y=random:float:N --arg n=1 --group X "
        "--groups X");
  // Native code alone does not say what a number is.
  CHECK(example_value({{ArgumentKind::value, 4, 0, "a"}, "", std::nullopt}) == "TYPE:1");
  CHECK(example_value({{ArgumentKind::value, 12, 0, "a"}, "", std::nullopt}) == "file:VALUE.bin");
  CHECK(example_value({{ArgumentKind::value, 8, 0, "a"}, "struct S", std::nullopt}) == "file:VALUE.bin");
  // Damage to the SPIR-V is no reason to fall.
  auto file = test::read_file(std::filesystem::path(KILN_TEST_SPIRV) / "matmul.spv");
  const auto known = read_spirv(file);
  for (std::size_t i = 20; i < file.size(); i += 3) {
    const std::byte before = file[i];
    file[i] ^= std::byte{0x5a};
    (void)signature_of(known->kernels.front(), file);
    file[i] = before;
  }
}

TEST_CASE("arguments are matched with the kernel's") {
  const Signature saxpy = of_sample("saxpy", "saxpy");
  const auto good = bound(saxpy, {"n=10", "y=zeros:10", "0=2.5", "x=iota:float:10"});
  REQUIRE(good);
  CHECK(number_text((*good)[0].data, 0) == "2.5");
  CHECK(number_text((*good)[1].data, 9) == "9");
  CHECK(!(*good)[1].is_output());
  CHECK((*good)[2].is_output());
  CHECK((*good)[3].data.type == ElementType{Scalar::u32});
  CHECK((*bound(saxpy, {"n=10", "y=1,2,3.5", "0=2.5", "x=zeros:3"}))[2].data.numbers() == 3);
  CHECK(bound(saxpy, {"n=10", "y=null", "0=2.5", "x=random:uchar:40"}));  // bytes may be anything
  const auto wrong = [&](std::vector<std::string> texts) {
    const auto diagnostic = why(bound(saxpy, texts));
    CHECK(diagnostic.code == "K0431");
    CHECK(diagnostic.rows.size() == 4);
    CHECK(!diagnostic.help.empty());
    return diagnostic;
  };
  wrong({"n=10", "y=zeros:10", "0=2.5"});
  wrong({"n=10", "y=zeros:10", "0=2.5", "x=iota:10", "1=iota:10"});
  wrong({"n=10", "y=zeros:10", "0=2.5", "z=iota:10"});
  wrong({"n=10", "y=zeros:10", "0=2.5", "x=3"});
  wrong({"n=10", "y=zeros:10", "0=2.5", "x=local:16"});
  wrong({"n=2.5", "y=zeros:10", "0=2.5", "x=iota:10"});
  wrong({"n=-1", "y=zeros:10", "0=2.5", "x=iota:10"});
  wrong({"n=1,2", "y=zeros:10", "0=2.5", "x=iota:10"});
  wrong({"n=ulong:1", "y=zeros:10", "0=2.5", "x=iota:10"});
  wrong({"n=zeros:1", "y=zeros:10", "0=2.5", "x=iota:10"});
  wrong({"n=1", "y=zeros:uchar:7", "0=2.5", "x=iota:10"});
  test::check_diagnostic("K0431", wrong({"n=10", "y=zeros:10", "a=2.5", "x=random:int:10"}));
  test::check_diagnostic("K0431", wrong({"m=10", "y=zeros:10", "a=2.5", "x=zeros:10"}), "unknown");
  test::check_diagnostic("K0431", wrong({"n=10", "a=2.5"}), "missing");
}

TEST_CASE("the launch covers the longest buffer to the last work-item") {
  const Signature saxpy = of_sample("saxpy", "saxpy");
  const auto arguments = bound(saxpy, {"n=10", "y=zeros:1000", "0=2.5", "x=iota:float:10"});
  REQUIRE(arguments);
  KernelFacts kernel;
  LaunchLimits limits;
  limits.max_group_size = 512;
  const auto chosen = [&](ShapeRequest request) {
    return choose_shape(request, kernel, limits, *arguments, saxpy);
  };
  const auto own = chosen({});
  REQUIRE(own);
  CHECK((own->groups.x == 4 && own->group_size.x == 250));
  CHECK(chosen({{}, {}, Extent{1024}})->group_size.x == 256);
  CHECK(chosen({{}, {}, Extent{997}})->group_size.x == 1);
  CHECK(chosen({{}, Extent{8, 2}, Extent{16, 4}})->groups.y == 2);
  CHECK(chosen({Extent{7}, Extent{64}, {}})->groups.x == 7);
  CHECK(why(chosen({{}, Extent{256}, {}})).code == "K0431");
  CHECK(why(chosen({Extent{7}, {}, {}})).code == "K0431");
  CHECK(why(chosen({Extent{7}, {}, Extent{7}})).code == "K0431");
  kernel.required_group_size = {8, 1, 1};
  CHECK(chosen({})->groups.x == 125);
}

TEST_CASE("description files") {
  const auto good = parse_case(
      "kernel: saxpy.cl:saxpy\noptions: -DN=4\ngroups: [4, 2]\ngroup: 16,4\narguments:\n  a: 2.5\n  x: "
      "random:float:1000\n  v: [1, 2]\n"
      "local: {tile: 4096}\nexpect:\n  y: y.npy\nsave: {y: out.npy}\ntolerance: 1e-5\nseed: 7\ndevice: "
      "cpu:dg2\n",
      "cases/a.yaml", {});
  REQUIRE(good);
  CHECK((good->kernel == "cases/saxpy.cl:saxpy" && good->flags == "-DN=4" && good->groups == "4,2" &&
         good->group_extent == "16,4"));
  CHECK(good->arguments == std::vector<std::string>{"a=2.5", "x=random:float:1000", "v=1,2"});
  CHECK((good->locals[0] == "tile=4096" && good->expects[0] == "y=npy:cases/y.npy" &&
         good->saves[0] == "y=cases/out.npy"));
  CHECK((good->tolerance == 1e-5 && good->seed == 7 && good->device == "cpu:dg2"));
  RunOptions own;
  own.device = "gpu";  // the command line's own goes before
  CHECK(parse_case("kernel: a.cl\ndevice: cpu", "a.yaml", own)->device == "gpu");
  for (const char* wrong :
       {"", "a", "[1]", "kernel: [a]", "kernel: a.yaml", "arguments: {}", "kernel: a.cl\narguments: 3",
        "kernel: a.cl\ntolerance: -1", "kernel: a.cl\ntolerance: x", "kernel: a.cl\nx: &a [1]\ny: *a",
        "kernel: a.cl\nkernel: b.cl", "kernel: a.cl\nseed: 1.5", "kernel: a.cl\n---\n",
        "kernel: a.cl\narguments: {x: 1, x: 2}", "kernel: &a b.cl", "kernel: a.cl\n\t- x", "{",
        "kernel: \"a"}) {
    CAPTURE(wrong);
    CHECK(why(parse_case(wrong, "a.yaml", {})).code == "K0433");
  }
  CHECK(why(parse_case(std::string(100000, '['), "a.yaml", {})).code == "K0433");
  test::check_diagnostic("K0433", why(parse_case("kernel: a.cl\nargument: {a: 1}\n", "cases/a.yaml", {})));
}

TEST_CASE("K0434, K0436: after the run") {
  test::check_diagnostic("K0434", *written_behind("saxpy", "y", 4000, 4000).diagnostic());
  test::check_diagnostic(
      "K0437", *failed_other_run("device=cpu:dg2", "exit status 3", "K0101: kernel `tiled` asks for too much")
                    .diagnostic());
  test::check_diagnostic("K0438", *faulted_kernel("filter", true).diagnostic());
  test::check_diagnostic("K0438", *faulted_kernel("filter", false).diagnostic(), "division");
  test::check_diagnostic("K0438", *faulted_kernel("filter", false, {"groups of 32"}).diagnostic(), "advise");
  test::check_diagnostic("K0438", *faulted_kernel("filter", true, {.swept = 32}).diagnostic(), "sweep");
  test::check_diagnostic("K0436",
                         *unwritable_data("y", "/full/y.npy", "No space left on device").diagnostic());
}

TEST_CASE("what was written is summed up and compared") {
  const auto of = [](const char* type, std::initializer_list<const char*> numbers) {
    Array array{*parse_type(type),
                {numbers.size()},
                std::vector<std::byte>(numbers.size() * parse_type(type)->size())};
    std::uint64_t i = 0;
    for (const char* each : numbers) REQUIRE(put_text(array, i++, each));
    return array;
  };
  const Array got = of("float", {"1", "nan", "-3", "4"});
  const auto json = summary_json(got);
  CHECK((json["nan"] == 1 && json["min"] == -3.0 && json["max"] == 4.0));
  CHECK(compare_arrays(got, got, {}).count == 0);
  const Difference difference = compare_arrays(got, of("float", {"1", "0", "-3.5", "4"}), {});
  CHECK((difference.count == 2 && difference.first == 1 && difference.got == "nan"));
  CHECK(std::isinf(difference.largest));
  CHECK(compare_arrays(of("float", {"100.5"}), of("float", {"100"}), {0.005}).count == 0);
  CHECK(compare_arrays(of("float", {"100.6"}), of("float", {"100"}), {0.005}).count == 1);
  CHECK(compare_arrays(of("float", {"inf"}), of("float", {"100"}), {1e30}).count == 1);
  CHECK(compare_arrays(of("float", {"nan"}), of("float", {"0"}), {1e30}).count == 1);
  // Above 53 bits a double does not tell them apart.
  CHECK(compare_arrays(of("ulong", {"18446744073709551615"}), of("ulong", {"18446744073709551614"}), {})
            .count == 1);
  CHECK(summary_text(of("int", {"3", "-1"})).starts_with("2 int: 3, -1; from -1 to 3; sha256 "));
}

}  // namespace kiln::tool
