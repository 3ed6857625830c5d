// SPDX-License-Identifier: MIT
// Native binaries: `.ze_info` and the ELF around it, real ones where ocloc is there, damage and malice.
#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sstream>

#include "binary/ze_info_lines.hpp"
#include "kiln/binary.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr double kSlow = 20;  // s; generous, the machine may be busy

std::string ze_info_text() {
  const Bytes file = read_file(std::filesystem::path(KILN_TEST_DATA) / "slm_limit.ze_info");
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

template <class T>
void put(Bytes& file, std::size_t offset, const T& value) {
  if (file.size() < offset + sizeof(T)) file.resize(offset + sizeof(T));
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

template <class T>
T get(const Bytes& file, std::size_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

Elf64_Shdr section_header(std::uint32_t name, std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
  Elf64_Shdr header{};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size;
  return header;
}

/// An ELF file with the sections null, .ze_info and the names, headers behind the data as ocloc writes them.
Bytes elf_with(std::string_view info, std::string_view section_name = ".ze_info") {
  Bytes file(sizeof(Elf64_Ehdr));
  const auto add = [&](std::string_view text) {
    const std::size_t offset = file.size();
    const Bytes data = bytes_of(text);
    file.insert(file.end(), data.begin(), data.end());
    return offset;
  };
  const std::string names = std::string(1, '\0') + std::string(section_name) + '\0' + ".strtab" + '\0';
  Elf64_Shdr sections[3]{};
  sections[1] = section_header(1, 0xff000011, add(info), info.size());
  sections[2] = section_header(std::uint32_t(2 + section_name.size()), SHT_STRTAB, add(names), names.size());
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  put(file, 0, header);
  for (const Elf64_Shdr& section : sections) put(file, file.size(), section);
  return file;
}

/// Changes one field of the ELF header or of a section header.
template <class Change>
Bytes elf_changed(Change change) {
  Bytes file = elf_with(ze_info_text());
  auto header = get<Elf64_Ehdr>(file, 0);
  const std::size_t at = header.e_shoff;
  Elf64_Shdr sections[3];
  for (int i = 0; i < 3; ++i) sections[i] = get<Elf64_Shdr>(file, at + std::size_t(i) * sizeof(Elf64_Shdr));
  change(header, sections);
  for (int i = 0; i < 3; ++i) put(file, at + std::size_t(i) * sizeof(Elf64_Shdr), sections[i]);
  put(file, 0, header);
  return file;
}

/// Of this process's work: other programs on the machine do not count.
double seconds_of(auto&& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void check_sample_info(const ModuleFacts& facts) {
  REQUIRE(facts.kernels.size() == 1);
  const KernelFacts& kernel = facts.kernels[0];
  CHECK(kernel.name == "dynamic_tile");
  CHECK(kernel.static_slm == 2048);
  CHECK(kernel.slm_mode == SlmMode::compiler_resolved);
  CHECK(kernel.simd_size == 16);
  CHECK(kernel.grf_count == 128);
  CHECK(kernel.barrier_count == 1);
  CHECK(kernel.required_sub_group_size == 16);
  CHECK(kernel.required_group_size == std::array<std::uint32_t, 3>{64, 2, 1});
  CHECK(kernel.private_size == 96);
  CHECK(kernel.spill_size == 512);
  CHECK(kernel.arguments_known);
  REQUIRE(kernel.arguments.size() == 5);
  CHECK(kernel.arguments[0].kind == ArgumentKind::global_pointer);
  CHECK(kernel.arguments[0].name == "in");
  CHECK(kernel.arguments[1].kind == ArgumentKind::global_pointer);  // unused, so only in kernels_misc_info
  CHECK(kernel.arguments[1].size == 8);
  CHECK(kernel.arguments[2].size == 4);
  CHECK(kernel.arguments[3].kind == ArgumentKind::value);
  CHECK(kernel.arguments[3].size == 12);  // two parts of 4 bytes, the source type says 12
  CHECK(kernel.arguments[4].kind == ArgumentKind::local_pointer);
  CHECK(kernel.arguments[4].local_alignment == 4);
  CHECK(kernel.arguments[4].name == "tile");
}

/// Real binaries: `FAMILY.TARGET.bin`, where the build made them.
std::vector<std::string> native_targets() {
  std::istringstream stream(KILN_TEST_TARGETS);
  std::vector<std::string> targets;
  for (std::string target; stream >> target;) targets.push_back(target);
  return targets;
}
const char* const kFamilies[] = {"access",    "bank_conflict", "coalescing",  "convolution",
                                 "histogram", "matmul",        "saxpy",       "share",
                                 "slm_limit", "slm_lookup",    "slm_scatter", "slm_table"};
/// Those that are damaged in every place: time grows with the square of their size.
const char* const kDamaged[] = {"saxpy", "slm_limit", "matmul", "slm_table"};
Bytes native(const std::string& family, const std::string& target) {
  return read_file(std::filesystem::path(KILN_TEST_NATIVE) / (family + "." + target + ".bin"));
}

}  // namespace

TEST_CASE("the sample .ze_info, alone and in an ELF file") {
  const auto alone = read_ze_info(ze_info_text());
  REQUIRE(alone);
  check_sample_info(*alone);
  const auto inside = read_zebin(elf_with(ze_info_text()));
  REQUIRE(inside);
  check_sample_info(*inside);
}

TEST_CASE("without kernels_misc_info the list of arguments is not complete") {
  std::string text = ze_info_text();
  text.resize(text.find("kernels_misc_info"));
  const auto facts = read_ze_info(text);
  REQUIRE(facts);
  CHECK_FALSE(facts->kernels[0].arguments_known);
  CHECK(facts->kernels[0].arguments[1].kind == ArgumentKind::other);
  CHECK(facts->kernels[0].arguments[3].size == 8);
}

TEST_CASE("native binaries of the samples agree with their SPIR-V") {
  for (const std::string& target : native_targets())
    for (const char* family : kFamilies) {
      CAPTURE(target);
      CAPTURE(family);
      const auto facts = read_zebin(native(family, target));
      const auto source =
          read_spirv(read_file(std::filesystem::path(KILN_TEST_SPIRV) / (std::string(family) + ".spv")));
      REQUIRE(facts);
      REQUIRE(source);
      CHECK(facts->kernels.size() == source->kernels.size());
      for (const KernelFacts& wanted : source->kernels) {
        CAPTURE(wanted.name);
        const KernelFacts* kernel = facts->find(wanted.name);
        REQUIRE(kernel);
        CHECK(kernel->static_slm == wanted.static_slm);
        CHECK((kernel->simd_size == 8 || kernel->simd_size == 16 || kernel->simd_size == 32));
        CHECK(kernel->grf_count >= 32);  // Xe3 gives each kernel as many as it uses
        const bool uses_slm =
            wanted.static_slm > 0 ||
            std::ranges::count(wanted.arguments, ArgumentKind::local_pointer, &ArgumentFacts::kind) > 0;
        // `share` has the one kernel that waits for writes to global memory.
        const bool waits = uses_slm || wanted.name == "global_memory";
        CHECK(kernel->barrier_count == (waits ? 1 : 0));
        CHECK(kernel->arguments_known);
        REQUIRE(kernel->arguments.size() == wanted.arguments.size());
        for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
          CAPTURE(i);
          CHECK(kernel->arguments[i].kind == wanted.arguments[i].kind);
          CHECK(kernel->arguments[i].name == wanted.arguments[i].name);
          if (wanted.arguments[i].kind == ArgumentKind::local_pointer)
            CHECK(kernel->arguments[i].local_alignment == wanted.arguments[i].local_alignment);
          else
            CHECK(kernel->arguments[i].size == wanted.arguments[i].size);
        }
      }
    }
}

TEST_CASE("an indexed array of a work-item costs memory, the same in scalars does not") {
  for (const std::string& target : native_targets()) {
    CAPTURE(target);
    const auto facts = read_zebin(native("access", target));
    REQUIRE(facts);
    const auto memory = [&](const char* name) {
      const KernelFacts* kernel = facts->find(name);
      REQUIRE(kernel);
      return kernel->private_per_thread + kernel->scratch_per_thread[0] + kernel->scratch_per_thread[1];
    };
    CHECK(memory("private_array") > 0);
    CHECK(memory("private_scalars") == 0);
  }
}

TEST_CASE("four times as many bins do not fit registers of 32 bytes") {
  for (const std::string& target : native_targets()) {
    if (!target.starts_with("tgllp") && !target.starts_with("dg2")) continue;
    CAPTURE(target);
    const auto facts = read_zebin(native("histogram", target));
    REQUIRE(facts);
    const KernelFacts* kernel = facts->find("registers_1024");
    REQUIRE(kernel);
    CHECK(kernel->simd_size == 16);
    CHECK(kernel->private_per_thread + kernel->scratch_per_thread[0] + kernel->scratch_per_thread[1] >= 4096);
  }
}

TEST_CASE("the bins that a sub-group holds in registers are nowhere else") {
  for (const std::string& target : native_targets()) {
    CAPTURE(target);
    const auto facts = read_zebin(native("histogram", target));
    REQUIRE(facts);
    const KernelFacts* kernel = facts->find("registers_256");
    REQUIRE(kernel);
    CHECK(kernel->simd_size == 16);
    CHECK(kernel->required_sub_group_size == 16);
    CHECK(kernel->private_per_thread + kernel->scratch_per_thread[0] + kernel->scratch_per_thread[1] == 0);
    CHECK(kernel->static_slm == 0);
  }
}

TEST_CASE("a kernel that may follow pointers is known by its compiler's count and by wide values") {
  const auto facts = read_zebin(read_file(std::filesystem::path(KILN_TEST_DATA) / "data/pointers.dg2.bin"));
  REQUIRE(facts);
  for (const char* name : {"list", "number", "stored", "atomic", "called", "wide"}) {
    CAPTURE(name);
    CHECK(facts->find(name)->may_follow_pointers);
  }
  for (const char* name : {"plain", "vectors"}) {
    CAPTURE(name);
    CHECK_FALSE(facts->find(name)->may_follow_pointers);
  }
  const auto follows = [](const std::string& version, const std::string& environment,
                          const std::string& rest = {}) {
    const auto info = read_ze_info("version: '" + version +
                                   "'\nkernels:\n  - name: k\n    execution_env:\n      simd_size: 16\n" +
                                   environment + rest);
    REQUIRE(info);
    return info->kernels.at(0).may_follow_pointers;
  };
  CHECK_FALSE(follows("1.21", ""));
  CHECK(follows("1.20", ""));  // said nothing of it yet
  CHECK(follows("", ""));
  CHECK(follows("1.21", "      indirect_stateless_count: 1\n"));
  CHECK(follows("1.73", "      has_stack_calls: true\n"));
  CHECK(follows("1.73", "      has_indirect_calls: true\n"));
  CHECK(follows("1.73", "", "    experimental_properties:\n      - has_non_kernel_arg_store: 1\n"));
  CHECK_FALSE(follows("1.73", "", "    experimental_properties:\n      - has_non_kernel_arg_store: 0\n"));
}

TEST_CASE("truncated ELF files are errors") {
  std::vector<Bytes> files{elf_with(ze_info_text())};
  for (const std::string& target : native_targets())
    for (const char* family : kDamaged) files.push_back(native(family, target));
  for (const Bytes& file : files)
    truncate_everywhere(file, [](const Bytes& cut) { REQUIRE_FALSE(read_zebin(cut)); });
}

TEST_CASE("every truncation of .ze_info is survived") {
  const std::string text = ze_info_text();
  for (std::size_t size = 0; size < text.size(); ++size) (void)read_ze_info(std::string(text.data(), size));
}

TEST_CASE("ELF headers that lie") {
  const auto refused = [](auto change) { return !read_zebin(elf_changed(change)).has_value(); };
  using Header = Elf64_Ehdr;
  using Sections = Elf64_Shdr(&)[3];
  CHECK(refused([](Header& h, Sections) { h.e_ident[EI_CLASS] = ELFCLASS32; }));
  CHECK(refused([](Header& h, Sections) { h.e_ident[EI_DATA] = ELFDATA2MSB; }));
  CHECK(refused([](Header& h, Sections) { h.e_shentsize = 0; }));
  CHECK(refused([](Header& h, Sections) { h.e_shoff = UINT64_MAX; }));
  CHECK(refused([](Header& h, Sections) { h.e_shoff = UINT64_MAX - 63; }));
  CHECK(refused([](Header& h, Sections) { h.e_shnum = 0; }));
  CHECK(refused([](Header& h, Sections) { h.e_shstrndx = 0xffff; }));
  CHECK(refused([](Header&, Sections s) { s[1].sh_offset = UINT64_MAX - 8; }));
  CHECK(refused([](Header&, Sections s) { s[1].sh_size = UINT64_MAX; }));
  CHECK(refused([](Header&, Sections s) { s[1].sh_size += 1 << 20; }));
  CHECK(refused([](Header&, Sections s) { s[1].sh_name = UINT32_MAX; }));
  CHECK(refused([](Header&, Sections s) { s[2].sh_offset = UINT64_MAX; }));
  CHECK(refused([](Header&, Sections s) { s[2].sh_size = 0; }));
  CHECK_FALSE(refused([](Header&, Sections) {}));
  CHECK(refused([](Header& h, Sections) { h.e_shnum = 0xffff; }));
}

TEST_CASE("an ELF file that is no kernel binary") {
  CHECK(read_zebin({}).error().message == "file is empty");
  CHECK_FALSE(read_zebin(elf_with("kernels: []", ".ze_infos")));
  CHECK_FALSE(read_zebin(elf_with("kernels: []", ".ze_inf")));
  CHECK_FALSE(read_zebin(read_file("/proc/self/exe")));
}

TEST_CASE("many sections that share one long name take no square time") {
  constexpr std::uint32_t kSections = 65'000, kName = 4u << 20;
  Bytes file(sizeof(Elf64_Ehdr) + kName, std::byte{'x'});
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  put(file, 0, header);
  const Elf64_Shdr section = section_header(0, SHT_STRTAB, sizeof(Elf64_Ehdr), kName);
  file.resize(file.size() + kSections * sizeof section);
  for (std::uint32_t i = 0; i < kSections; ++i) put(file, header.e_shoff + i * sizeof section, section);
  CHECK(seconds_of([&] { CHECK_FALSE(read_zebin(file)); }) < kSlow);
}

TEST_CASE("many sections that share one long list of notes take no square time") {
  constexpr std::uint32_t kSections = 60'000, kNotes = 2u << 20;
  constexpr std::string_view kName = ".note.intelgt.compat";
  Bytes file(sizeof(Elf64_Ehdr) + kNotes);  // zeros: notes without name and value
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = file.size() + kName.size() + 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  put(file, 0, header);
  for (const char letter : kName) file.push_back(std::byte(letter));
  file.push_back(std::byte{0});
  file.resize(file.size() + kSections * sizeof(Elf64_Shdr));
  for (std::uint32_t i = 0; i < kSections; ++i) {
    const Elf64_Shdr notes = section_header(0, SHT_NOTE, sizeof header, kNotes);
    put(file, header.e_shoff + i * sizeof notes,
        i ? notes : section_header(0, SHT_STRTAB, sizeof header + kNotes, kName.size() + 1));
  }
  CHECK(seconds_of([&] { CHECK_FALSE(read_zebin(file)); }) < kSlow);
}

TEST_CASE("20,000 flipped bits in .ze_info and in an ELF file") {
  int read = 0;
  flip_bits(bytes_of(ze_info_text()), 20'000, [&](const Bytes& damaged) {
    read += read_ze_info({reinterpret_cast<const char*>(damaged.data()), damaged.size()}).has_value();
  });
  CHECK(read > 0);
  CHECK(read < 20'000);
  flip_bits(elf_with("kernels: []"), 20'000, [](const Bytes& damaged) { (void)read_zebin(damaged); });
}

TEST_CASE("20,000 flipped bits in real native binaries") {
  if (native_targets().empty()) return;
  // The smaller ones: their text is parsed each time.
  for (const char* family : {"saxpy", "slm_limit"})
    flip_bits(native(family, native_targets()[0]), 20'000,
              [](const Bytes& damaged) { (void)read_zebin(damaged); });
}

TEST_CASE("YAML that is no .ze_info") {
  for (const char* text : {"",
                           "---",
                           "42",
                           "[1, 2]",
                           "kernels: 1",
                           "kernels: {a: b}",
                           "kernels: [1, [2], {}]",
                           "kernels:\n  - name: [1]\n    execution_env: {}",
                           "kernels:\n - name: k\n",
                           "kernels:\n - name: k\n   execution_env: 7\n",
                           "a: &x [*x]",
                           "*nothing",
                           "\t",
                           "%YAML 9.9",
                           "? ? ? ?",
                           "!!binary x",
                           "- - - - -\n a",
                           "'",
                           "\"\\u12",
                           "\xff\xfe\x00",
                           "{{{{",
                           "&a &b c",
                           "kernels: &k [*k]",
                           "kernels: &k\n  - *k\n"})
    (void)read_ze_info(text);
  const auto numbers = [](const char* value) {
    return read_ze_info(std::string("kernels:\n - name: k\n   execution_env: {slm_size: ") + value + "}\n");
  };
  CHECK(numbers("16384")->kernels[0].static_slm == 16384);
  CHECK_FALSE(numbers("-1"));
  CHECK_FALSE(numbers("1e99"));
  CHECK_FALSE(numbers("99999999999999999999999"));
  CHECK_FALSE(numbers("[1]"));
  CHECK_FALSE(numbers("many"));
}

TEST_CASE("arguments with hostile numbers") {
  const auto with = [](const std::string& argument) {
    return read_ze_info(
        "kernels:\n - name: k\n   execution_env: {simd_size: 8}\n   payload_arguments:\n    - {" + argument +
        "}\n");
  };
  CHECK(with("arg_type: arg_byvalue, arg_index: 0, size: 4"));
  CHECK_FALSE(with("arg_type: arg_byvalue, arg_index: 4294967295, size: 4"));
  CHECK_FALSE(with("arg_type: arg_byvalue, arg_index: -1, size: 4"));
  CHECK_FALSE(read_ze_info("kernels:\n - {name: k, execution_env: {simd_size: 4294967295}}\n"));
  CHECK(with("arg_type: arg_byvalue, arg_index: 0, size: 4294967295, source_offset: 4294967295"));
  CHECK(with("arg_type: arg_bypointer, addrmode: slm, arg_index: 0, slm_alignment: 0")
            ->kernels[0]
            .arguments[0]
            .local_alignment == 1);
}

TEST_CASE("deep nesting ends") {
  for (const char* open : {"[", "{a: ", "- ", "? ", "a:\n"}) {
    CAPTURE(open);
    std::string text, indent;
    for (int i = 0; i < 100'000; ++i) text += open;
    CHECK(seconds_of([&] { (void)read_ze_info(text); }) < kSlow);
  }
  std::string blocks;
  for (int i = 0; i < 2'000; ++i) blocks += std::string(std::size_t(i), ' ') + "a:\n";
  CHECK(seconds_of([&] { (void)read_ze_info(blocks); }) < kSlow);
}

TEST_CASE("anchors do not multiply the work") {
  // Each line names the one before it ten times: 10^9 kernels when followed.
  std::string laughs = "a0: &a0 {name: k, execution_env: {simd_size: 8}}\n";
  for (int i = 1; i < 10; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) laughs += (j ? ", *a" : "*a") + std::to_string(i - 1);
    laughs += "]\n";
  }
  CHECK(seconds_of([&] { (void)read_ze_info(laughs + "kernels: *a9\n"); }) < kSlow);

  // One kernel with many arguments, named many times.
  std::string many = "x: &x\n  name: k\n  execution_env: {simd_size: 8}\n  payload_arguments:\n";
  for (int i = 0; i < 2'000; ++i) many += "   - {arg_type: arg_byvalue, arg_index: 4095, size: 4}\n";
  many += "kernels: [";
  for (int i = 0; i < 20'000; ++i) many += i ? ", *x" : "*x";
  CHECK(seconds_of([&] { CHECK_FALSE(read_ze_info(many + "]\n")); }) < kSlow);
}

TEST_CASE("aliases are refused, whatever they stand for; anchors alone and ampersands are not") {
  const std::string kernel = "{name: k, execution_env: {simd_size: 8}}";
  CHECK_FALSE(read_ze_info("a: &a " + kernel + "\nkernels: [*a]\n"));
  CHECK(read_ze_info("kernels: [&a " + kernel + "]\n"));
  CHECK(read_ze_info("kernels: [" + kernel + "]\nkernels_misc_info: [{name: '*k & l'}]\n"));

  // One kernel with a long list of keys, named often: each time all of the keys would be looked through.
  std::string keys = "x: &x\n  name: k\n  execution_env: {simd_size: 8}\n";
  for (int i = 0; i < 20'000; ++i) keys += "  key" + std::to_string(i) + ": 0\n";
  keys += "kernels: [";
  for (int i = 0; i < 20'000; ++i) keys += i ? ", *x" : "*x";
  CHECK(seconds_of([&] { CHECK_FALSE(read_ze_info(keys + "]\n")); }) < kSlow);
}

TEST_CASE("a kernel that synchronizes work-groups is known by its flag and by its argument") {
  const auto needs = [](const std::string& environment, const std::string& argument) {
    return read_ze_info("kernels: [{name: k, execution_env: {simd_size: 16" + environment +
                        "}, payload_arguments: [{arg_type: " + argument + ", offset: 0, size: 8}]}]\n")
        .value()
        .kernels[0]
        .needs_sync_buffer;
  };
  CHECK(needs(", require_sync_buffer: true", "local_size"));
  CHECK(needs("", "sync_buffer"));
  CHECK_FALSE(needs("", "printf_buffer"));
}

TEST_CASE("a required group that is zero in some dimension is told") {
  const auto malformed = [](const std::string& size) {
    const auto facts = read_ze_info(
        "kernels:\n  - name: k\n    execution_env:\n      required_work_group_size: " + size + "\n");
    REQUIRE(facts);
    return !facts->kernels[0].malformed.empty();
  };
  CHECK_FALSE(malformed("[4, 1, 1]"));
  CHECK_FALSE(malformed("[0, 0, 0]"));
  CHECK(malformed("[4, 0, 1]"));
  CHECK(malformed("[4, 1, 0]"));
}

TEST_CASE("lines that no compiler writes, though they are YAML, are told") {
  const std::string good =
      "---\nversion: '1.8'\nkernels:\n  - name: \"k\"\n    # a comment\n    execution_env:\n"
      "      simd_size: 16\n      required_work_group_size: [ 4, 1, 1 ]\n      list:\n        - 1\n        - "
      "-2\n...\n";
  CHECK_FALSE(detail::irregular_line(good));
  CHECK_FALSE(detail::irregular_line(good + std::string(3, '\0')));
  for (const char* bad :
       {"key\n", ": value\n", "- key:\n", "- one\n  below: 1\n", "a: [ 1, 2\n", "a: 1 ]\n", "a: [ [ 1 ] ]\n",
        "a: [ ]\n", "a: { b: 1 }\n", "a: b: c\n", "\ta: 1\n", "a: 'b\n", "a: 'b'c'\n", "a: &b 1\n",
        "- [ 1 ]\n", "1a: 2\n", "-\n", "a\x01: 1\n", "a: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]\n"}) {
    CHECK_MESSAGE(detail::irregular_line(bad).has_value(), bad);
    CHECK_MESSAGE(detail::irregular_line(good + bad).has_value(), bad);
  }
}

TEST_CASE("a thousand kernels are read in a moment, ten thousand in a few") {
  const auto text_of = [](int kernels) {
    std::string text = "kernels:\n", misc = "kernels_misc_info:\n";
    for (int i = 0; i < kernels; ++i) {
      text += " - {name: kernel_" + std::to_string(i) + ", execution_env: {simd_size: 16, slm_size: 64}}\n";
      misc += " - {name: kernel_" + std::to_string(i) +
              ", args_info: [{index: 0, name: a, address_qualifier: __global, access_qualifier: NONE, "
              "type_name: 'int*;8'}]}\n";
    }
    return text + misc;
  };
  const auto facts = read_ze_info(text_of(1'000));
  REQUIRE(facts);
  CHECK(facts->kernels.size() == 1'000);
  CHECK(facts->kernels[999].arguments_known);
  CHECK(facts->kernels[999].arguments[0].name == "a");
  CHECK(seconds_of([&] { CHECK(read_ze_info(text_of(10'000))); }) < kSlow);
}

TEST_CASE("formats are told apart by their first bytes") {
  using namespace std::string_view_literals;
  const auto format = [](std::string_view text) { return identify(bytes_of(text)); };
  CHECK(format("\x03\x02\x23\x07"sv) == BinaryFormat::spirv);
  CHECK(format("\x07\x23\x02\x03"sv) == BinaryFormat::spirv);
  CHECK(format("\x7f"
               "ELF"sv) == BinaryFormat::elf);
  CHECK(format("!<arch>\n64.12.60.7"sv) == BinaryFormat::archive);
  CHECK(format("CTNI\x36\x04"sv) == BinaryFormat::patch_tokens);
  CHECK(format("CTN"sv) == BinaryFormat::unknown);
  CHECK(format(""sv) == BinaryFormat::unknown);
  CHECK(format("kernel void f() {}"sv) == BinaryFormat::unknown);
}
