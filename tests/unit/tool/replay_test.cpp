// SPDX-License-Identifier: MIT
// What `kiln exec --capture` wrote, read and doubted, and the program in C that is made of it.
#include "tool/replay/replay.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "kiln/binary.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::tool;
using namespace kiln::test;

namespace {

const std::string kLaunch =
    R"({"format":"kiln capture 1","what":"launch","call":"zeCommandListAppendLaunchKernel","result":0,)"
    R"("module":{"file":"m1","format":"spirv","flags":"-g","constants":[{"id":3,"value":7}]},)"
    R"("device":"a GPU","kernel":"k","launch":2,"groups":[4,1,1],"group_size":[8,1,1],"offset":[0,0,0],)"
    R"("cooperative":false,"indirect_access":0,"ended":true,"arguments":[{"value":"0a0b"},{"memory":0,"offset":2},)"
    R"({"local":64},{"null":true},{}],"memory":[{"kind":"shared","size":4,"before":"1-0.b","after":"1-0.a"}]})";

KernelFile archive_with(const std::string& description, const std::string& after = "bbbb") {
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const std::string code = "code", before = "aaaa";
  const ArchiveMember members[] = {
      {"m1", bytes(code)}, {"1-0.b", bytes(before)}, {"1-0.a", bytes(after)}, {"1.json", bytes(description)}};
  auto made = write_archive(members);
  REQUIRE(made);
  return {"run.ar", *std::move(made)};
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a launch is read with all that it had") {
  const auto capture = parse_capture(archive_with(kLaunch));
  REQUIRE(capture);
  REQUIRE(capture->entries.size() == 1);
  const CaptureEntry& entry = capture->entries[0];
  CHECK(entry.is_launch);
  CHECK(entry.kernel == "k");
  CHECK(entry.launch == 2);
  CHECK(entry.groups == Extent{4, 1, 1});
  CHECK(entry.flags == "-g");
  REQUIRE(entry.constants.size() == 1);
  CHECK(entry.constants[0].value == 7);
  REQUIRE(entry.arguments.size() == 5);
  using Form = CapturedArgument::Form;
  const Form forms[] = {Form::value, Form::memory, Form::local, Form::null, Form::unset};
  for (std::size_t i = 0; i < 5; ++i) CHECK(entry.arguments[i].form == forms[i]);
  CHECK(entry.arguments[0].value == std::vector{std::byte{0x0a}, std::byte{0x0b}});
  CHECK(entry.arguments[1].offset == 2);
  REQUIRE(entry.memory.size() == 1);
  CHECK(static_cast<char>((*entry.memory[0].before)[0]) == 'a');
  CHECK(static_cast<char>((*entry.memory[0].after)[0]) == 'b');
}

TEST_CASE("a launch that a lost device left under way has its memory before it") {
  auto text = with(kLaunch, R"("result":0)", R"("result":1879048193)");  // DEVICE_LOST
  text = with(with(text, R"("ended":true)", R"("ended":false)"), R"(,"after":"1-0.a")", "");
  const auto capture = parse_capture(archive_with(text));
  REQUIRE(capture);
  CHECK(capture->entries[0].end == CaptureEntry::End::lost);
  CHECK(capture->entries[0].memory[0].before);
  CHECK_FALSE(capture->entries[0].memory[0].after);
}

TEST_CASE("memory is compared bit by bit, and told in what each argument counts") {
  CaptureEntry entry;
  using Form = CapturedArgument::Form;
  entry.arguments = {{Form::memory}, {Form::memory}};
  entry.arguments[1].offset = 16;
  // float3* x, whose fourth lane nobody looks at; int* y behind it, and a rest of three bytes.
  std::vector<std::byte> before(35), now(35);
  entry.memory = {{MemoryKind::shared, 35, before, before}};
  Signature signature;
  signature.parameters.resize(2);
  signature.parameters[0].element = ElementType{Scalar::f32, 3};
  signature.parameters[0].facts.name = "x";
  signature.parameters[1].element = ElementType{Scalar::i32};
  signature.parameters[1].facts.name = "y";
  const auto differences = [&](double tolerance = 0) {
    return compare_memory(entry, 0, now, signature, Tolerance{tolerance});
  };
  CHECK(differences().empty());
  const auto set = [&](std::size_t at, std::uint32_t value) { std::memcpy(&now[at], &value, sizeof value); };
  set(12, 99);  // the lane that fills up x[0]
  REQUIRE(differences().size() == 1);
  CHECK(differences()[0].label == "x");
  CHECK(differences(1e-6).empty());
  set(12, 0);
  set(0, 0x80000000);  // -0
  CHECK(differences().size() == 1);
  set(0, 0);
  set(20, 6000);
  REQUIRE(differences(1e-6).size() == 1);
  CHECK(differences(1e-6)[0].label == "y");
  CHECK(differences(1e-6)[0].difference.first == 1);
  CHECK(differences(1e-6)[0].difference.got == "6000");
  set(20, 0);
  now[34] = std::byte{1};
  CHECK(differences().size() == 1);
  CHECK(differences(1e-6).size() == 1);
}

TEST_CASE("memory that the launch left as it was is stored once") {
  const auto capture = parse_capture(archive_with(with(kLaunch, R"(,"after":"1-0.a")", "")));
  REQUIRE(capture);
  CHECK(capture->entries[0].memory[0].after->data() == capture->entries[0].memory[0].before->data());
}

TEST_CASE("K0453: what a description cannot say") {
  const std::string long_name = '"' + std::string(1 << 20, 'x') + '"';
  const std::pair<const char*, const char*> wrong[] = {
      {R"("memory":0,"offset":2)", R"("memory":1,"offset":2)"},
      {R"("memory":0,"offset":2)", R"("memory":0,"offset":4)"},
      {R"("memory":0,"offset":2)", R"("memory":-1,"offset":2)"},
      {R"("size":4)", R"("size":5)"},
      {R"("size":4)", R"("size":0)"},
      {R"("0a0b")", R"("0a0")"},
      {R"("0a0b")", R"("0a0X")"},
      {R"("groups":[4,1,1])", R"("groups":[4,1])"},
      {R"("groups":[4,1,1])", R"("groups":[4,1,4294967296])"},
      {R"("file":"m1")", R"("file":"m2")"},
      {R"("kernel":"k")", R"("kernel":"")"},
      {R"("kernel":"k")", R"("kernel":7)"},
      {R"("what":"launch")", R"("what":"lunch")"},
      {R"("kind":"shared")", R"("kind":"stolen")"},
      {R"("zeCommandListAppendLaunchKernel")", R"("*/ int x; /*")"},
      {R"("ended":true)", R"("ended":false)"},
      {R"("value":"0a0b")", R"("value":"")"},
      {R"("result":0)", R"("result":1)"},
      {R"("memory":[{"kind":"shared","size":4,)",
       R"("memory":[{"kind":"shared","size":4,"before":"1-0.b"},{"kind":"shared","size":4,"before":"1-0.b"},{"kind":"shared","size":4,"before":"1-0.b"},{"kind":"shared","size":4,"before":"1-0.b"},{"kind":"shared","size":4,"before":"1-0.b"},{"kind":"shared","size":4,"before":"1-0.b"},)"
       R"({"kind":"shared","size":600000,"before":"1-0.b"},{"kind":"shared","size":4,)"},
      {R"("a GPU")", long_name.c_str()},
      {R"("kiln capture 1")", R"("something")"},
      {R"({"format")", R"([{"format")"}};
  for (const auto& [from, to] : wrong) {
    CAPTURE(to);
    const auto capture = parse_capture(archive_with(with(kLaunch, from, to)));
    REQUIRE_FALSE(capture);
    CHECK(capture.error().diagnostic()->code == "K0453");
  }
  check_diagnostic(
      "K0453",
      *parse_capture(archive_with(with(kLaunch, R"("size":4)", R"("size":5)"))).error().diagnostic());
  const auto newer = parse_capture(archive_with(with(kLaunch, "capture 1", "capture 2")));
  check_diagnostic("K0453", *newer.error().diagnostic(), "newer");
}

TEST_CASE("K0453: a file cut off at any byte is read as far as it is whole, or refused") {
  const KernelFile whole = archive_with(kLaunch);
  for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
    KernelFile cut = whole;
    cut.bytes.resize(size);
    const auto capture = parse_capture(std::move(cut));
    if (!capture)
      CHECK(capture.error().diagnostic()->code == "K0453");
    else
      CHECK(capture->entries.size() == 1);  // but for the newline at its end
  }
}

TEST_CASE("K0455: what this device cannot do") {
  const auto capture = parse_capture(archive_with(kLaunch));
  REQUIRE(capture);
  const Error error =
      cannot_replay(capture->entries[0], "it has a global offset, which this driver does not take",
                    "replay it on the driver that it was captured from");
  check_diagnostic("K0455", *error.diagnostic());
}

TEST_CASE("names and options from the file stay text in the program") {
  auto entry = with(kLaunch, R"("kernel":"k")", R"("kernel":"a\"b\\??/\n*/")");
  entry = with(entry, R"("a GPU")", R"("*/ int x; /*")");
  const auto capture = parse_capture(archive_with(entry));
  REQUIRE(capture);
  const std::string program = c_program(capture->entries[0]);
  CHECK(program.find(R"("a\042b\134\077\077/\012*/")") != program.npos);
  CHECK(program.find("*/ int x") == program.npos);
}
