// SPDX-License-Identifier: MIT
// Native code: libiga64's text as values, messages, loops, live registers and lines. Texts are those of
// kernels that ocloc 22.43 and 26.27 compiled.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "binary/native_sections.hpp"
#include "kiln/binary.hpp"
#include "unit/golden.hpp"
#include "unit/test_file.hpp"
#include "xe/analysis.hpp"
#include "xe/lines.hpp"

namespace {

using namespace kiln;
using namespace kiln::xe;

Instruction read_one(const std::string& line) {
  const bool compacted = line.find("Compacted") != line.npos;
  const auto read = read_instructions("L0:\n" + line + "\n", compacted ? 8 : 16);
  REQUIRE_MESSAGE(read, line);
  REQUIRE(read->size() == 1);
  return read->front();
}

Message message(const std::string& line) { return message_of(read_one(line)); }

std::string shape(const std::string& line) { return message(line).text(); }

/// A program: each line of 16 bytes.
std::vector<Instruction> program(const std::string& text) {
  std::uint64_t size = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    size += text[at] == 'L' ? 0 : text.find("Compacted", at) < text.find('\n', at) ? 8 : 16;
  const auto read = read_instructions(text, size);
  REQUIRE_MESSAGE(read, (read ? "" : read.error().reason));
  return *read;
}

/// Native files of the samples, with their products' instruction sets.
std::vector<std::pair<std::filesystem::path, std::uint32_t>> native_files() {
  std::vector<std::pair<std::filesystem::path, std::uint32_t>> files;
  for (const auto& each : std::filesystem::directory_iterator(KILN_TEST_NATIVE)) {
    const std::string name = each.path().filename();
    if (!name.ends_with(".bin")) continue;
    const auto first = name.find('.') + 1;
    if (const Target* target = find_target(name.substr(first, name.size() - 4 - first)))
      files.emplace_back(each.path(), instruction_set(*target));
  }
  return files;
}

}  // namespace

TEST_CASE("an instruction is read whole") {
  const auto mad = read_one(
      "(W&~f0.1.any16h) mad (16|M16)  (lt)f1.0  (sat)r20.3<2>:f   -r20.0<1;0>:f  (abs)r16.0<0;0>:hf  8:w  "
      "{Compacted,$3.dst}");
  CHECK(mad.size == 8);
  CHECK(mad.opcode == "mad");
  CHECK(mad.all_lanes);
  REQUIRE(mad.predicate);
  CHECK((mad.predicate->inverted && mad.predicate->flag == 0 && mad.predicate->element == 1));
  CHECK(mad.predicate->rule == "any16h");
  CHECK((mad.lanes == 16 && mad.first_lane == 16));
  CHECK((mad.condition == "lt" && mad.condition_flag == 1));
  CHECK((mad.result.saturated && mad.result.number == 20 && mad.result.element == 3 &&
         mad.result.region.horizontal == 2));
  CHECK((mad.sources[0].negated && mad.sources[0].type == Type::f));
  CHECK((mad.sources[0].region.vertical == 1 && mad.sources[0].region.width == 1));
  CHECK((mad.sources[1].absolute && mad.sources[1].type == Type::hf));
  CHECK((mad.sources[2].file == File::immediate && mad.sources[2].value == 8 &&
         mad.sources[2].type == Type::w));
  CHECK(mad.has_option("$3.dst"));

  const auto indirect = read_one("        mov (8|M0)  r[a0.0,32]<1>:d  r8.0<8;8,1>:d  {@4}");
  CHECK((indirect.result.indirect && indirect.sources[0].region.vertical == 8));
  // A shuffle of a sub-group: each lane has an address of its own.
  const auto gathered = read_one("        mov (16|M0)  r24.0<1>:d  r[a0.0]<1,0>:d  {$0.dst}");
  CHECK((gathered.sources[0].indirect && gathered.sources[0].region.width == 1 &&
         gathered.sources[0].region.horizontal == 0));
  CHECK(read_one("        sync.allrd                           ($0,$2)").control == "allrd");
  CHECK(read_one("(W)     mov (1|M0)  r4.6<1>:hf    -qnan(0x1FF):hf").sources[0].file == File::immediate);
  CHECK(read_one("        bfn.0x6C (16|M0)  r1.0<1>:ud  r2.0<1;0>:ud  r3.0<1;0>:ud  r4.0<1>:ud").control ==
        "0x6C");
  const auto jump = read_one("(f0.0)  goto.b (32|M0)                         L416                  L256");
  CHECK((jump.is_branch() && jump.sources[0].value == 416 && jump.sources[1].value == 256));
  const auto send = read_one(
      "        send.ugm (16|M16)        null     r14     r22:2   0x1000000            0x640E0504           "
      "{EOT,@1,$8} // wr:2+2, rd:0; store.ugm.d32.a32.wb.wb.bti[1]");
  CHECK((send.is_send() && send.ends_thread() && send.result.file == File::null));
  CHECK((send.sources[1].registers == 2 && send.descriptor.value == 0x640E0504 &&
         send.extended.value == 0x1000000));
  CHECK_FALSE(read_one("        send.ugm (32|M0)  null  r78  r6:2  a0.2  0x440E0504  {ExBSO,$4} // wr:2+2, "
                       "rd:0; store.ugm.d32.a32.wb.wb.ss[a0.2]")
                  .extended.value);
}

TEST_CASE("text that does not agree with itself is refused") {
  const auto refuses = [](const std::string& text, std::uint64_t size) {
    const auto read = read_instructions(text, size);
    return !read && read.error().kind == NoText::Kind::unexpected_text && !read.error().reason.empty();
  };
  CHECK(refuses("nop\n", 32));  // code that the text does not have
  CHECK(refuses("nop\nnop\n", 16));
  CHECK(refuses("nop\nL8:\nnop\n", 32));  // a label that lies elsewhere
  CHECK(refuses("what is this?\n", 16));
  CHECK(refuses("mov (0|M0) r1.0<1>:d r2.0<1;1,0>:d\n", 16));
  CHECK(refuses("mov (8|M0) r1.0<1>:d r2.0<1;0,0>:d\n", 16));
  CHECK(refuses("mov (8|M0) r9999.0<1>:d r2.0<1;1,0>:d\n", 16));
  CHECK(refuses("send.ugm (16|M0) r1 r2\n", 16));
  CHECK(refuses("mov (8|M0) r1 r2 r3 r4 r5\n", 16));
  CHECK(read_instructions("nop\n", 24));  // padding that is no instruction
  CHECK(read_instructions("", 0)->empty());
}

TEST_CASE("messages have a unit, an action and a shape") {
  const std::string lsc =
      "        send.ugm (16|M0)  r16  r12  null:0  0x0  0x64280500  {$3} // wr:2+0, rd:2; ";
  CHECK(shape(lsc + "load.ugm.d32.a32.ca.ca.bti[0]") == "global load of 32 bits for each of 16 lanes");
  CHECK(shape(lsc + "load.ugm.d32x4.a64.ca.ca") == "global load of 4 x 32 bits for each of 16 lanes");
  CHECK(shape(lsc + "load.ugm.d32x16t.a64.flat[A+0x20]") == "global load, a block of 16 x 32 bits");
  CHECK(shape(lsc + "load.ugm.d8u32.a32.ca.ca.bss[a0.0]") == "global load of 8 bits for each of 16 lanes");
  CHECK(shape(lsc + "load.ugm.d32x8t.a32.ca.cc.bti[255]") == "arguments load, a block of 8 x 32 bits");
  CHECK(shape(lsc + "store.ugm.d32.a32.wb.wb.ss[a0.2]") == "scratch store of 32 bits for each of 16 lanes");
  CHECK(shape(lsc + "atomic_iadd.ugm.d32.a64") == "global atomic of 32 bits for each of 16 lanes");
  CHECK(message(lsc + "load.ugm.d32x4.a64").bytes() == 256);
  CHECK(message(lsc + "load.ugm.d32x4.a64").sent == 2);
  CHECK(message(lsc + "load.ugm.d32x4.a64").received == 2);
  const std::string slm =
      "        send.slm (16|M0)  r16  r12  null:0  0x0  0x64280500  {$3} // wr:2+0, rd:2; ";
  CHECK(shape(slm + "load.slm.d32.a32") == "SLM load of 32 bits for each of 16 lanes");
  CHECK(message(slm + "fence.slm.none.group").unit == Unit::fence);

  const auto port = [](const char* unit, const char* descriptor, const std::string& words) {
    return shape(std::string("        send.") + unit + " (16|M0)  r21  r16  null  0x0  " + descriptor +
                 "  {$0} // wr:2+0, rd:2; " + words);
  };
  CHECK(port("dc1", "0x04205E00", "untyped surface read with xyzw") ==
        "global load of 4 x 32 bits for each of 16 lanes");
  CHECK(port("dc1", "0x04205EFE", "untyped surface write with x") ==
        "SLM store of 32 bits for each of 16 lanes");
  CHECK(port("dc1", "0x04205EFF", "untyped surface read with x") ==
        "scratch load of 32 bits for each of 16 lanes");
  CHECK(port("dc0", "0x024844FD", "oword aligned block read x8") ==
        "arguments load, a block of 8 x 128 bits");
  CHECK(port("dc0", "0x020F2100", "hword scratch block write x4") ==
        "scratch store, a block of 4 x 256 bits");
  CHECK(port("dc0", "0x04205E02", "byte gathering read 16b") ==
        "global load of 16 bits for each of 16 lanes");
  CHECK(port("dc1", "0x04205E02", "untyped a64 atomic int32 integer add") ==
        "global atomic of 32 bits for each of 16 lanes");
  CHECK(port("gtwy", "0x02000004", "signal barrier") == "barrier");
}

TEST_CASE("images, lanes with addresses of their own, and blocks of the stack are not taken for others") {
  const auto line = [](const char* unit, const char* descriptor, const std::string& words) {
    return std::string("        send.") + unit + " (16|M0)  r21  r16  null  0x0  " + descriptor +
           "  {$0} // wr:2+0, rd:2; " + words;
  };
  // img.cl for pvc, and a kernel that spills for dg2, both by ocloc 22.43.
  CHECK(shape(line("dc1", "0x02035001", "typed surface write with xyzw; u")) == "image store");
  CHECK(message(line("dc1", "0x02035001", "media block read")).unit == Unit::image);
  CHECK(message(line("dc1", "0x04205E00", "untyped surface read with x")).unit == Unit::global);
  CHECK(shape(line("dc1", "0x082411FF", "a64 dword gathering read")) ==
        "global load of 32 bits for each of 16 lanes");
  CHECK(shape(line("dc1", "0x080691FF", "a64 dword scattering write")) ==
        "global store of 32 bits for each of 16 lanes");
  CHECK(message(line("dc1", "0x080691FF", "a64 qword scattering write")).bytes() == 128);
  CHECK(message(line("dc1", "0x080691FF", "a64 byte gathering read")).bytes() == 16);
  // Only what is read there are arguments.
  CHECK(message(line("ugm", "0x6218D500", "store.ugm.d32x16t.a32.wb.wb.bti[255]")).unit == Unit::scratch);
  CHECK(message(line("dc0", "0x020A44FF", "oword aligned block write x8")).unit == Unit::scratch);
  CHECK(message(line("dc0", "0x024844FD", "oword aligned block read x8")).unit == Unit::arguments);
  // Width and height of such a block stand in a register.
  CHECK(message(line("ugm", "0x02000003", "load_block2d.ugm.d32.a64.ca.ca")).bytes() == 0);
  CHECK(message(line("ugm", "0x02000003", "load_block2d.ugm.d32.a64.ca.ca")).unit == Unit::global);
}

TEST_CASE("a loop is a branch backwards, with what one walk through it costs") {
  const auto code = program(
      "L0:\n"
      "(W) mov (8|M0) r1.0<1>:ud 0x0:ud\n"
      "L16:\n"
      "    add (8|M0) r2.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f\n"
      "L32:\n"
      "    add (8|M0) r2.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f\n"
      "(W&f0.0) jmpi L32\n"
      "    send.slm (8|M0) r4 r5 null:0 0x0 0x02100500 {$0} // wr:1+0, rd:1; load.slm.d32.a32\n"
      "(f0.0) while (8|M0) L16\n"
      "(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n"
      "    nop\n"
      "    illegal\n");
  const auto analysis = analyze(code, 32);
  CHECK(analysis.instructions == 7);
  CHECK(analysis.bytes == 112);
  REQUIRE(analysis.loops.size() == 2);
  CHECK((analysis.loops[0].begin == 16 && analysis.loops[0].end == 96 && analysis.loops[0].depth == 1));
  CHECK(analysis.loops[0].instructions == 5);
  CHECK(analysis.loops[0].messages.size() == 1);
  CHECK(
      (analysis.loops[1].begin == 32 && analysis.loops[1].depth == 2 && analysis.loops[1].instructions == 2));
  CHECK(analysis.largest_loop() == 5);
  CHECK(analysis.count(Kind::arithmetic) == 2);
  CHECK(analysis.count(Kind::control) == 2);
  CHECK(analysis.count(Unit::slm) == 1);
  CHECK(analysis.count(Unit::slm, Action::store) == 0);
  CHECK(analysis.count(Unit::thread) == 1);
}

TEST_CASE("a call backwards is no loop") {
  const auto analysis = analyze(
      program("L0:\n"
              "    mov (8|M0) r2.0<1>:f 0x1:f\n"
              "    ret (8|M0) r4.0\n"
              "    call (8|M0) r4.0 L0\n"
              "    send.ugm (8|M0) null r2 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n"),
      32);
  CHECK(analysis.loops.empty());
}

TEST_CASE("what lives across a subroutine lives in it, and comes back from it") {
  // r2 to r5 live while the subroutine has r10 to r12: seven, and the register with the way back.
  const std::string begin =
      "    mov (8|M0) r2.0<1>:f 0x1:f\n"
      "    mov (8|M0) r3.0<1>:f 0x1:f\n"
      "    mov (8|M0) r4.0<1>:f 0x1:f\n"
      "    mov (8|M0) r5.0<1>:f 0x1:f\n"
      "    call (8|M0) r6.0 L192\n";
  const std::string behind =
      "    add (8|M0) r2.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f\n"
      "    add (8|M0) r2.0<1>:f r2.0<1;1,0>:f r4.0<1;1,0>:f\n"
      "    add (8|M0) r2.0<1>:f r2.0<1;1,0>:f r5.0<1;1,0>:f\n";
  const std::string end =
      "    add (8|M0) r2.0<1>:f r2.0<1;1,0>:f r13.0<1;1,0>:f\n"
      "    mov (8|M0) r20.0<1>:f r2.0<1;1,0>:f\n"
      "    mov (8|M0) r20.0<1>:f r2.0<1;1,0>:f\n"
      "    send.ugm (8|M0) null r2 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n";
  const std::string subroutine =
      "L192:\n"
      "    mov (8|M0) r10.0<1>:f 0x1:f\n"
      "    mov (8|M0) r11.0<1>:f 0x1:f\n"
      "    add (8|M0) r13.0<1>:f r10.0<1;1,0>:f r11.0<1;1,0>:f\n";
  const auto live = live_registers(program(begin + behind + end + subroutine + "    ret (8|M0) r6.0\n"), 32);
  CHECK(live.peak == 8);  // r2 to r6, r10, r11, r13
  // Where not all lanes come back at once, the rest goes on.
  const auto partly = live_registers(
      program(begin + behind + end + subroutine +
              "(f0.0) ret (8|M0) r6.0\n"
              "    send.ugm (8|M0) null r10 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n"),
      32);
  CHECK(partly.peak == 8);
  CHECK(partly.at == 224);
}

TEST_CASE("live registers are those that are read later") {
  // Four registers are loaded, then summed one after another into r10.
  const auto live = live_registers(
      program("    mov (8|M0) r2.0<1>:f 0x1:f\n"
              "    mov (8|M0) r3.0<1>:f 0x1:f\n"
              "    mov (8|M0) r4.0<1>:f 0x1:f\n"
              "    mov (8|M0) r5.0<1>:f 0x1:f\n"
              "    mov (8|M0) r20.0<1>:f 0x1:f\n"  // read by nobody
              "    add (8|M0) r10.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f\n"
              "    add (8|M0) r10.0<1>:f r10.0<1;1,0>:f r4.0<1;1,0>:f\n"
              "    add (8|M0) r10.0<1>:f r10.0<1;1,0>:f r5.0<1;1,0>:f\n"
              "    send.ugm (8|M0) null r10 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n"),
      32);
  CHECK(live.peak == 5);
  CHECK(live.at == 64);
  CHECK_FALSE(live.indirect);
  // Halves of a register are one register; a predicated write keeps what was there.
  CHECK(
      live_registers(
          program("    mov (8|M0) r2.0<1>:w 0x1:w\n"
                  "    mov (8|M0) r2.8<1>:w 0x1:w\n"
                  "(f0.0) mov (16|M0) r2.0<1>:w 0x2:w\n"
                  "    send.ugm (8|M0) null r2 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n"),
          32)
          .peak == 1);
  // What a loop reads in its next walk lives through all of it.
  const auto around = live_registers(
      program("    mov (8|M0) r2.0<1>:f 0x1:f\n"
              "    mov (8|M0) r3.0<1>:f 0x1:f\n"
              "L32:\n"
              "    add (8|M0) r4.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f\n"
              "    send.ugm (8|M0) null r4 null:0 0x0 0x02000010 {$1} // wr:1+0, rd:0; store.ugm.d32.a64\n"
              "    mov (8|M0) r6.0<1>:f 0x1:f\n"
              "    mov (8|M0) r7.0<1>:f r6.0<1;1,0>:f\n"
              "(f0.0) while (8|M0) L32\n"
              "    send.ugm (8|M0) null r7 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread\n"),
      32);
  CHECK(around.peak == 4);  // r2, r3, r6 and r7
}

TEST_CASE("code that is made to branch without end is not followed without end") {
  // Each block may go to the one before and the one behind it.
  const auto chain = [](std::size_t blocks) {
    std::string text = "    mov (8|M0) r2.0<1>:f r3.0<1;1,0>:f\n";
    for (std::size_t i = 1; i <= blocks; ++i)
      text += "L" + std::to_string(16 * i) + ":\n(f0.0) goto (8|M0) L" + std::to_string(16 * i) + " L" +
              std::to_string(16 * (i - 1)) + "\n";
    const auto read = read_instructions(text, 16 * (blocks + 1));
    REQUIRE(read);
    return analyze(*read, 32);
  };
  const auto small = chain(1000);
  CHECK((small.live.known && small.live.peak == 2));
  CHECK((small.loops_known && small.loops.size() == 1001));
  const auto large = chain(20000);
  CHECK_FALSE(large.live.known);
  CHECK_FALSE(large.loops_known);
  CHECK(large.instructions == 20001);
}

TEST_CASE("without the library, and for damaged code, the cure is named") {
  test::check_diagnostic(
      "K0440",
      NoText{NoText::Kind::no_library, "libiga64.so.2: cannot open shared object file"}.diagnostic(""));
  test::check_diagnostic(
      "K0440",
      NoText{NoText::Kind::unknown_target, "libiga64 1.1.0 does not have its instructions"}.diagnostic(
          "kernel `saxpy` of `saxpy.bmg-g21.bin`"),
      "product");
  test::check_diagnostic("K0441",
                         NoText{NoText::Kind::undecodable,
                                "OP[]7d?:    fd 3f eb 3c 92 50 b7 97 : GED error decoding instruction"}
                             .diagnostic("kernel `saxpy` of `saxpy.pvc.bin`"));
  test::check_diagnostic("K0441",
                         NoText{NoText::Kind::unexpected_text, "at byte 16: what is this?"}.diagnostic(
                             "kernel `saxpy` of `saxpy.pvc.bin`"),
                         "text");
  test::check_diagnostic(
      "K0441",
      NoText{NoText::Kind::timed_out, "it was not decoded within the time limit of 120 s"}.diagnostic(
          "kernel `saxpy` of `saxpy.pvc.bin`"),
      "time");
}

TEST_CASE("every kernel of the samples is read, and damaged ones end nobody") {
  const auto library = Disassembler::open();
  if (!library) {
    MESSAGE("skipped: libiga64 is not installed");
    return;
  }
  CHECK_FALSE(library->version().empty());
  std::size_t kernels = 0;
  for (const auto& [path, set] : native_files()) {
    const auto file = test::read_file(path);
    for (const auto& section : detail::native_sections(file)) {
      if (!section.name.starts_with(".text.")) continue;
      const auto text = library->text(section.content, set);
      REQUIRE_MESSAGE(text, path.string());
      const auto instructions = read_instructions(*text, section.content.size());
      REQUIRE_MESSAGE(instructions, path.string() << " " << section.name << ": "
                                                  << (instructions ? "" : instructions.error().reason));
      const auto analysis = analyze(*instructions, set == 1 << 24 || set == (1 << 24 | 2) ? 32 : 64);
      CHECK(analysis.count(Unit::thread) == 1);
      CHECK(analysis.count(Unit::other) == 0);
      CHECK(analysis.live.peak > 0);
      CHECK(analysis.live.peak <= 256);
      for (const auto& each : analysis.messages)
        if (each.message.action == Action::load || each.message.action == Action::store)
          CHECK_MESSAGE(each.message.bytes() != 0, path.string() << ": " << each.message.text());
      ++kernels;
      if (section.content.size() > 4096 || kernels % 8 != 0) continue;
      const test::Bytes code(section.content.begin(), section.content.end());
      test::flip_bits(code, 20, [&](const test::Bytes& damaged) {
        if (const auto said = library->text(damaged, set))
          if (const auto read = read_instructions(*said, damaged.size())) (void)analyze(*read, 32);
      });
    }
  }
  CHECK(kernels > 0);
  const auto refused = library->text({}, 99 << 24);
  CHECK((!refused && refused.error().kind == NoText::Kind::unknown_target));
}

TEST_CASE("lines are those of the kernel's own code") {
  // tests/unit/data/lines.cl by ocloc 22.43 for dg2, with -g.
  const auto file = test::read_file(std::string(KILN_TEST_DATA) + "/data/lines.dg2.bin");
  const auto tables = read_lines(file);
  REQUIRE(tables.files.size() == 1);
  CHECK(tables.files[0].ends_with("lines.cl"));
  REQUIRE(tables.lines.contains(".text.sums"));
  std::vector<std::uint32_t> lines;
  for (const SourceLine& each : tables.lines.at(".text.sums"))
    if (each.line != 0 && std::ranges::find(lines, each.line) == lines.end()) lines.push_back(each.line);
  CHECK(lines.size() >= 3);
  for (const std::uint32_t line : lines) CHECK((line >= 3 && line <= 7));
  REQUIRE(tables.find(".text.sums", 0));
  CHECK(tables.find(".text.sums", 0)->line == 3);  // where the kernel begins
  CHECK_FALSE(tables.find(".text.sums", 1 << 20));
  CHECK_FALSE(tables.find(".text.others", 0));
  test::flip_bits(file, 500, [](const test::Bytes& damaged) { (void)read_lines(damaged); });
  test::truncate_everywhere(file, [](const test::Bytes& part) { (void)read_lines(part); });
}
