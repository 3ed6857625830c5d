// SPDX-License-Identifier: MIT
// Fat binaries and the parts of kernel files: real ones of ocloc, and archives made to deceive.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "kiln/binary.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

Bytes data(const char* name) { return read_file(std::filesystem::path(KILN_TEST_DATA) / "data" / name); }

/// One member as ar writes it; `size` is what the header claims.
std::string member(std::string name, const std::string& content, const std::string& size) {
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(width, ' ');
    return text;
  };
  return padded(std::move(name), 16) + padded("0", 12) + padded("0", 6) + padded("0", 6) + padded("644", 8) +
         padded(size, 10) + "`\n" + content + (content.size() % 2 ? "\n" : "");
}
std::string member(const std::string& name, const std::string& content) {
  return member(name, content, std::to_string(content.size()));
}

auto archive(const std::string& members) {
  static Bytes kept;  // the members' contents lie in it
  kept = bytes_of("!<arch>\n" + members);
  return read_archive(kept);
}

std::string text_of(std::span<const std::byte> content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

}  // namespace

TEST_CASE("a fat binary of ocloc 26.27: two targets and SPIR-V") {
  const Bytes file = data("saxpy.ocloc-26.27.ar");
  const auto parts = read_parts(file);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].name == "64.12.60.7");
  CHECK(parts[1].name == "64.20.1.0");
  CHECK(parts[2].name == "generic_ir");
  CHECK(parts[2].format == BinaryFormat::spirv);
  for (const BinaryPart& part : parts) {
    REQUIRE(part.facts);
    REQUIRE(part.facts->kernels.size() == 1);
    CHECK(part.facts->kernels[0].name == "saxpy");
    CHECK(part.facts->kernels[0].arguments.size() == 4);
  }
  CHECK(ip_version_text(parts[0].facts->ip_version) == "12.60.7");
  CHECK(target_name(parts[0].facts->ip_version) == "pvc");
  CHECK(target_name(parts[1].facts->ip_version) == "bmg-g21");
  CHECK(parts[0].facts->info_version == "1.73");
  CHECK(parts[0].facts->kernels[0].has_4gb_buffers);
  CHECK_FALSE(parts[0].facts->has_ir);
}

TEST_CASE("memory of hardware threads, hints, globals: what ocloc 22.43 wrote for pvc") {
  const auto parts = read_parts(data("memory.pvc.bin"));
  REQUIRE(parts.size() == 1);
  REQUIRE(parts[0].facts);
  const ModuleFacts& facts = *parts[0].facts;
  CHECK(facts.global_data == 4);
  CHECK(facts.constant_data == 20);  // the table and the format string
  CHECK(facts.ip_version == 0);
  CHECK(family_name(facts.product_family) == "pvc");
  REQUIRE(facts.kernels.size() == 4);  // and not the compiler's symbol table
  const KernelFacts& spills = *facts.find("spills");
  CHECK(spills.simd_size == 16);
  CHECK(spills.required_sub_group_size == 16);
  CHECK(spills.group_size_hint == std::array<std::uint32_t, 3>{32, 2, 1});
  CHECK(spills.private_per_thread == 1200 * 16);
  CHECK(facts.find("private_array")->private_per_thread == 80000 * 32);
  CHECK(facts.find("prints")->has_printf);
  CHECK_FALSE(facts.find("spills")->has_printf);
  CHECK(facts.find("atomics")->has_global_atomics);
}

TEST_CASE("scratch is counted by slot, the largest of each, times the width where it is an item's") {
  const auto facts = read_ze_info(
      "kernels:\n"
      " - name: k\n"
      "   execution_env: {simd_size: 8, require_sync_buffer: true, has_stack_calls: true}\n"
      "   user_attributes: {invalid_kernel: why}\n"
      "   per_thread_memory_buffers:\n"
      "    - {type: scratch, usage: spill_fill_space, size: 100}\n"
      "    - {type: scratch, usage: private_space, size: 64, is_simt_thread: true}\n"
      "    - {type: scratch, usage: private_space, size: 70, slot: 1}\n"
      "    - {type: slm, usage: private_space, size: 9}\n");
  REQUIRE(facts);
  const KernelFacts& kernel = facts->kernels.at(0);
  CHECK(kernel.scratch_per_thread == std::array<std::uint64_t, 2>{512, 70});
  CHECK(kernel.private_per_thread == 0);
  CHECK(kernel.needs_sync_buffer);
  CHECK(kernel.has_stack_calls);
  CHECK(kernel.is_invalid);
  CHECK_FALSE(
      read_ze_info("kernels:\n - name: k\n   execution_env: {simd_size: 8}\n"
                   "   per_thread_memory_buffers: [{type: scratch, size: 4, slot: 2}]\n"));
}

TEST_CASE("patch tokens, text and nothing are told, not read") {
  const auto tokens = read_parts(data("saxpy.patch_tokens.bin"));
  REQUIRE(tokens.size() == 1);
  CHECK(tokens[0].format == BinaryFormat::patch_tokens);
  REQUIRE_FALSE(tokens[0].facts);
  CHECK(tokens[0].facts.error().message.find("-cl-intel-allow-zebin") != std::string::npos);
  CHECK_FALSE(read_parts(bytes_of("text"))[0].facts);
  CHECK_FALSE(read_parts({})[0].facts);
  CHECK_FALSE(read_parts(bytes_of("!<arch>\n"))[0].facts);
  CHECK_FALSE(read_parts(bytes_of("!<arch>\n" + member("inner/", "!<arch>\n")))[0].facts);
}

TEST_CASE("names of members: short, long, padding and index") {
  const auto members =
      archive(member("/", "symbols") + member("//", "a very long name of a member/\nsecond/\n") +
              member("pad_0/", "        ") + member("64.12.60.7/", "one") + member("/0", "two") +
              member("/30", "three") + member("bare", ""));
  REQUIRE(members);
  REQUIRE(members->size() == 4);
  CHECK((*members)[0].name == "64.12.60.7");
  CHECK(text_of((*members)[0].content) == "one");
  CHECK((*members)[1].name == "a very long name of a member");
  CHECK((*members)[2].name == "second");
  CHECK(text_of((*members)[2].content) == "three");
  CHECK((*members)[3].name == "bare");
}

TEST_CASE("names of members are at most as long as those of files") {
  const auto named = [](std::size_t length) {
    return archive(member("//", std::string(length, 'n') + "/\n") + member("/0", "x"));
  };
  REQUIRE(named(255));
  CHECK((*named(255))[0].name == std::string(255, 'n'));
  CHECK_FALSE(named(256));
  CHECK_FALSE(named(1 << 20));  // many members could share it
}

TEST_CASE("archives that lie are errors") {
  for (const std::string& bad :
       {member("a/", "x", "99"), member("a/", "x", "18446744073709551615"), member("a/", "x", "-1"),
        member("a/", "x", "0x1"), member("a/", "x", ""), member("a/", "x", "99999999999"), member("/7", "x"),
        member("/-1", "x"), std::string("short"), std::string(60, ' ')}) {
    CAPTURE(bad);
    CHECK_FALSE(archive(bad));
  }
}

TEST_CASE("what ocloc wrote is written again byte for byte") {
  const Bytes file = data("saxpy.ocloc-26.27.ar");
  const auto members = read_archive(file);
  REQUIRE(members);
  const auto again = write_archive(*members);
  REQUIRE(again);
  CHECK(*again == file);
  const auto spirv = embedded_spirv(members->back().content);
  CHECK(std::ranges::equal(wrap_spirv(spirv), members->back().content));
}

TEST_CASE("an archive of any members: odd sizes, none, and names that cannot be") {
  const Bytes odd = bytes_of("odd");
  const std::vector<ArchiveMember> members{{"kiln-cpu", odd}, {"64.12.60.7", {}}, {"123456789012345", odd}};
  const auto written = write_archive(members);
  REQUIRE(written);
  const auto read = read_archive(*written);
  REQUIRE(read);
  REQUIRE(read->size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    CHECK((*read)[i].name == members[i].name);
    CHECK(text_of((*read)[i].content) == text_of(members[i].content));
    CHECK(((*read)[i].content.data() - written->data()) % 8 == 0);
  }
  CHECK(write_archive({})->size() == 8);
  for (const char* name : {"", "1234567890123456", "a/b", "a b", "pad_0", "a\nb"}) {
    CAPTURE(name);
    const ArchiveMember member{name, odd};
    CHECK_FALSE(write_archive({&member, 1}));
  }
}

TEST_CASE("versions in the names of members") {
  CHECK(member_ip_version("64.12.60.7") == (12u << 22 | 60u << 14 | 7u));
  CHECK(member_ip_version("64.12.60") == (12u << 22 | 60u << 14));
  for (const char* name : {"", "64.", "64.12", "32.12.60.7", "12.60.7", "64.12.60.7.1", "64.12.x.7",
                           "64.1024.0.0", "64.12.256.0", "64.12.60.16384", "kiln-cpu", "generic_ir"}) {
    CAPTURE(name);
    CHECK_FALSE(member_ip_version(name));
  }
}

TEST_CASE("every truncation and flipped bits of a real fat binary") {
  const Bytes whole = data("saxpy.ocloc-26.27.ar");
  for (std::size_t size = 0; size < whole.size(); size += 13)
    for (const BinaryPart& part : read_parts(std::span(whole).first(size)))
      CHECK((part.facts || !part.facts.error().message.empty()));
  std::mt19937 random(3);
  for (int i = 0; i < 5'000; ++i) {
    Bytes damaged = whole;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << random() % 8);
    const auto parts = read_parts(damaged);
    REQUIRE_FALSE(parts.empty());
  }
}

TEST_CASE("SPIR-V: version, capabilities and hints") {
  const auto facts = read_spirv(read_file(std::filesystem::path(KILN_TEST_SPIRV) / "saxpy.spv"));
  REQUIRE(facts);
  CHECK((facts->spirv_version >> 16) == 1);
  CHECK(std::ranges::count(facts->capabilities, 6u) == 1);  // Kernel
}
