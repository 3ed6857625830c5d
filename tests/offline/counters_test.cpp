// SPDX-License-Identifier: MIT
// Counters as values: their JSON is read whole, or refused by name.
#include "kiln/counters.hpp"

#include <doctest/doctest.h>

using namespace kiln;

namespace {

const std::string kCounters = R"({"kernel": "sum", "sub_group_size": 16, "launches": 2, "groups": 8,
  "work_items": 512, "complete": false,
  "totals": {"global_reads": {"accesses": 9, "bytes": 36, "sub_group_accesses": 3, "lines": 4},
             "private_writes": {"accesses": 5, "bytes": 20}, "barriers": 128},
  "instructions": [
    {"id": 41, "line": null, "kind": "read", "memory": "global", "accesses": 9, "bytes": 36, "width": 4,
     "argument": 1, "argument_name": "in", "sub_group_accesses": 3, "lines": {"1": 2, "12": 1},
     "neighbours": {"accesses": 4, "bytes": 16},
     "example": {"group": 2, "sub_group": 1, "lanes": [{"lane": 3, "offset": 64}], "lines": 12}},
    {"id": null, "line": 7, "kind": "barrier", "memory": "none", "accesses": 128}],
  "defects": [{"defect": "global_out_of_bounds", "text": "reads", "at": {"id": 41, "line": 9, "kind": "read"},
    "group": [1, 2, 3], "work_item": 5, "offset": -4, "bytes": 4, "available": 1024, "times": 6,
    "address": 4096, "argument": null}]})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kCounters;
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("counters: every field") {
  const Counters all = parse_counters(kCounters).value();
  CHECK(all.kernel == "sum");
  CHECK(all.sub_group_size == 16);
  CHECK(all.launches == 2);
  CHECK(all.groups == 8);
  CHECK(all.work_items == 512);
  CHECK_FALSE(all.complete);
  CHECK(all.barriers == 128);
  CHECK(all.json == kCounters);
  REQUIRE(all.totals.size() == 2);
  CHECK(all.totals[0].memory == MemorySpace::global);
  CHECK(all.totals[0].kind == AccessKind::read);
  CHECK(all.totals[0].lines == 4);
  CHECK(all.totals[1].memory == MemorySpace::private_memory);
  CHECK(all.totals[1].kind == AccessKind::write);
  CHECK(all.totals[1].bytes == 20);
  REQUIRE(all.instructions.size() == 2);
  const InstructionCount& read = all.instructions[0];
  CHECK(read.at.id == 41);
  CHECK(read.at.line == 0);
  CHECK(read.argument == 1);
  CHECK(read.argument_name == "in");
  CHECK(read.lines == std::map<std::uint64_t, std::uint64_t>{{1, 2}, {12, 1}});
  CHECK(read.neighbours == 4);
  CHECK(read.neighbour_bytes == 16);
  REQUIRE(read.example);
  CHECK(read.example->lanes.at(0).offset == 64);
  CHECK(read.example->lines == 12);
  CHECK(all.instructions[1].at.kind == AccessKind::barrier);
  CHECK_FALSE(all.instructions[1].example);
  CHECK(all.instructions[1].neighbours == 1);
  REQUIRE(all.defects.size() == 1);
  CHECK(all.defects[0].group == std::array<std::uint64_t, 3>{1, 2, 3});
  CHECK(all.defects[0].offset == -4);
  CHECK_FALSE(all.defects[0].argument);
}

TEST_CASE("K0409: counters of another form") {
  const auto refused = [](const std::string& text, const std::string& why) {
    CAPTURE(text);
    const auto counters = parse_counters(text);
    REQUIRE_FALSE(counters);
    CHECK(counters.error().code() == ZE_RESULT_ERROR_UNKNOWN);
    REQUIRE(counters.error().diagnostic());
    CHECK(counters.error().diagnostic()->code == "K0409");
    CHECK_MESSAGE(counters.error().text().find(why) != std::string::npos, counters.error().text());
  };
  refused("", "no JSON");
  refused("[]", "");
  refused(with("\"read\"", "\"swap\""), "`swap`");
  refused(with("\"global\"", "\"tape\""), "`tape`");
  refused(with("global_out_of_bounds", "too_slow"), "`too_slow`");
  refused(with("global_reads", "globalreads"), "`globalreads`");
  refused(with("\"12\": 1", "\"12x\": 1"), "`12x`");
  refused(with("\"launches\": 2", "\"launches\": -2"), "");
  refused(with("[1, 2, 3]", "[1, 2]"), "");
  refused(with("\"argument\": 1", "\"argument\": 4294967296"), "");
}

TEST_CASE("counters: text that was cut off is refused, whatever its length") {
  for (std::size_t length = 0; length < kCounters.size(); ++length)
    CHECK_FALSE(parse_counters(std::string_view(kCounters).substr(0, length)));
}
