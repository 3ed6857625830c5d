// SPDX-License-Identifier: MIT
// What guides claim of instructions, held against the native code of the samples: width of messages, loops,
// branches.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "binary/native_sections.hpp"
#include "kiln/product.hpp"
#include "unit/test_file.hpp"
#include "xe/analysis.hpp"
#include "xe/instruction.hpp"

namespace {

using namespace kiln;
using namespace kiln::xe;

/// The kernels of a family for one product, by name.
using Codes = std::map<std::string, CodeAnalysis>;

/// Of each product that ocloc compiled for and libiga64 knows.
std::vector<std::pair<std::string, Codes>> codes_of(const std::string& family) {
  std::vector<std::pair<std::string, Codes>> all;
  const auto library = Disassembler::open();
  if (!library) {
    MESSAGE("skipped: libiga64 is not installed");
    return all;
  }
  for (const auto& each : std::filesystem::directory_iterator(KILN_TEST_NATIVE)) {
    const std::string name = each.path().filename();
    if (!name.starts_with(family + ".") || !name.ends_with(".bin")) continue;
    const std::string product = name.substr(family.size() + 1, name.size() - family.size() - 5);
    const Target* target = find_target(product);
    if (!target) continue;
    const auto file = test::read_file(each.path());
    Codes codes;
    for (const auto& section : detail::native_sections(file)) {
      if (!section.name.starts_with(".text.")) continue;
      const auto text = library->text(section.content, instruction_set(*target));
      if (!text) break;  // an older library
      const auto instructions = read_instructions(*text, section.content.size());
      REQUIRE(instructions);
      codes[std::string(section.name.substr(6))] = analyze(*instructions, 32);
    }
    if (!codes.empty()) all.emplace_back(product, std::move(codes));
  }
  return all;
}

/// Bytes that each lane moves by the widest message of a unit that serves many lanes.
std::uint64_t widest(const CodeAnalysis& code, Unit unit, Action action) {
  std::uint64_t bytes = 0;
  for (const MessageEntry& each : code.messages)
    if (each.message.unit == unit && each.message.action == action && !each.message.block &&
        each.message.lanes >= 8)
      bytes = std::max<std::uint64_t>(bytes, each.message.elements * each.message.bits / 8);
  return bytes;
}

std::uint64_t in_loops(const CodeAnalysis& code, Unit unit, Action action) {
  std::uint64_t count = 0;
  for (const Loop& loop : code.loops)
    for (const MessageEntry& each : loop.messages)
      if (each.message.unit == unit && each.message.action == action) count += each.count;
  return count;
}

}  // namespace

TEST_CASE("claim: four neighbours are one access, in global memory and in SLM; through offsets four") {
  for (const auto& [product, codes] : codes_of("coalescing")) {
    CAPTURE(product);
    for (const Action action : {Action::load, Action::store}) {
      for (const char* joined : {"contiguous", "vector", "vector_pointer"})
        CHECK_MESSAGE(widest(codes.at(joined), Unit::global, action) == 16, joined);
      CHECK(widest(codes.at("indirect"), Unit::global, action) == 4);
      for (const char* joined : {"slm_contiguous", "slm_vector"})
        CHECK_MESSAGE(widest(codes.at(joined), Unit::slm, action) == 16, joined);
      CHECK(widest(codes.at("slm_indirect"), Unit::slm, action) == 4);
    }
    // Copying in and out is four accesses each, whatever the middle is.
    CHECK(codes.at("slm_indirect").count(Unit::slm) > codes.at("slm_contiguous").count(Unit::slm));
  }
}

TEST_CASE("claim: four steps an iteration pay for the loop once, by pragma and by macro") {
  for (const auto& [product, codes] : codes_of("access")) {
    CAPTURE(product);
    const std::uint64_t one = codes.at("unrolled_loop").largest_loop();
    REQUIRE(one > 0);
    CHECK(codes.at("unrolled").largest_loop() == 0);
    CHECK(codes.at("unrolled_macro").largest_loop() > 0);
    for (const char* four : {"unrolled_4", "unrolled_macro"})
      CHECK_MESSAGE(codes.at(four).largest_loop() < 4 * one, four);
  }
}

TEST_CASE("claim: what is read before a loop costs no messages in it") {
  for (const auto& [product, codes] : codes_of("access")) {
    CAPTURE(product);
    CHECK(in_loops(codes.at("loop_reload"), Unit::global, Action::load) > 0);
    CHECK(in_loops(codes.at("loop_reload"), Unit::global, Action::store) > 0);
    CHECK(in_loops(codes.at("loop_hoisted"), Unit::global, Action::load) == 0);
    CHECK(in_loops(codes.at("loop_hoisted"), Unit::global, Action::store) == 0);
    // The copy of the table is in registers: an element costs its own read and write.
    const CodeAnalysis& kept = codes.at("same_element_private");
    CHECK(in_loops(kept, Unit::global, Action::load) == in_loops(kept, Unit::global, Action::store));
    CHECK(kept.count(Unit::scratch) == 0);
  }
}

TEST_CASE("claim: a branch is control flow that computing both sides does without") {
  for (const auto& [product, codes] : codes_of("access")) {
    CAPTURE(product);
    CHECK(codes.at("branch_divergent").count(Kind::control) > codes.at("branch_free").count(Kind::control));
    CHECK(codes.at("branch_divergent").count(Unit::global, Action::store) >
          codes.at("branch_free").count(Unit::global, Action::store));
  }
}

TEST_CASE("claim: neighbours of a sub-group share values without memory or barriers") {
  for (const auto& [product, codes] : codes_of("share")) {
    CAPTURE(product);
    const CodeAnalysis &registers = codes.at("sub_group"), &slm = codes.at("slm"),
                       &global = codes.at("global_memory");
    CHECK(registers.count(Unit::slm) + registers.count(Unit::barrier) == 0);
    CHECK(in_loops(registers, Unit::global, Action::load) == 0);
    CHECK(in_loops(slm, Unit::slm, Action::load) > 0);
    CHECK(in_loops(slm, Unit::global, Action::load) == 0);
    CHECK(slm.count(Unit::barrier) > 0);
    CHECK(in_loops(global, Unit::global, Action::load) > 0);
    CHECK(in_loops(global, Unit::global, Action::store) > 0);
    CHECK(global.count(Unit::barrier) > 0);
  }
}
