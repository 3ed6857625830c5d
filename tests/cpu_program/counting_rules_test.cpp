// SPDX-License-Identifier: MIT
// The counting rules as pure functions: cache lines, turns of SLM banks, data races, and the list of places.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "drivers/cpu/compiler/instrument/places.hpp"
#include "drivers/cpu/counting/access_rules.hpp"
#include "drivers/cpu/counting/slm_shadow.hpp"

namespace kiln::cpu::test {
namespace {

/// 16 work-items, `bytes` each, `stride` bytes apart.
std::vector<Touch> row(std::uint64_t first, std::uint64_t stride, std::uint32_t bytes,
                       std::size_t items = 16) {
  std::vector<Touch> touches;
  for (std::size_t i = 0; i < items; ++i) touches.push_back({first + i * stride, bytes});
  return touches;
}

Turns turns(const std::vector<Touch>& touches, bool atomic = false) { return slm_turns(touches, atomic); }

}  // namespace

TEST_CASE("cache lines of an access") {
  CHECK(lines_of({}) == 0);
  CHECK(lines_of(row(0, 4, 4)) == 1);
  CHECK(lines_of(row(4, 4, 4)) == 2);
  CHECK(lines_of(row(0, 0, 4)) == 1);
  CHECK(lines_of(row(0, 16, 4)) == 4);
  CHECK(lines_of(row(0, 64, 4)) == 16);
  CHECK(lines_of(row(0, 16, 16)) == 4);
  CHECK(lines_of(std::vector{Touch{63, 1}}) == 1);
  CHECK(lines_of(std::vector{Touch{63, 2}}) == 2);
  CHECK(lines_of(std::vector{Touch{0, 256}}) == 4);
  CHECK(lines_of(std::vector{Touch{~std::uint64_t{0} - 3, 4}}) == 1);
}

TEST_CASE("turns of every stride of words") {
  for (std::uint64_t stride = 1; stride <= 32; ++stride) {
    CAPTURE(stride);
    CHECK(turns(row(0, 4 * stride, 4)).taken == std::gcd(stride, 16u));
    CHECK(turns(row(4, 4 * stride, 4)).least == 1);
  }
}

TEST_CASE("turns of other accesses") {
  CHECK(turns(row(0, 0, 4)).taken == 1);    // one word for all
  CHECK(turns(row(0, 1, 1)).taken == 1);    // bytes of four words
  CHECK(turns(row(0, 16, 16)).taken == 4);  // 64 words, each bank has four
  CHECK(turns(row(0, 16, 16)).least == 4);
  CHECK(turns(row(2, 4, 4)).taken == 2);      // each access in two words, 17 in all
  CHECK(turns(row(0, 4, 4, 32)).taken == 2);  // 16 by 16
  CHECK(turns(row(0, 64, 4, 8)).taken == 8);
  CHECK(turns(row(0, 0, 4), true).taken == 16);  // atomics of one word
  CHECK(turns(row(0, 4, 4), true).taken == 1);
  CHECK(turns({}).taken == 0);
}

TEST_CASE("data races") {
  const auto at = [](std::uint32_t item, std::uint32_t phase = 1, std::uint32_t sub_phase = 0) {
    return SlmAccess{item, 0, phase, sub_phase, item / 16};
  };
  using enum SlmUse;
  const auto races = [&](SlmUse first, SlmAccess one, SlmUse second, SlmAccess other) {
    SlmShadow shadow(16);
    CHECK_FALSE(shadow.note(4, 4, first, one));
    return shadow.note(7, 2, second, other).has_value();
  };
  for (const SlmUse first : {read, write, atomic})
    for (const SlmUse second : {read, write, atomic}) {
      CAPTURE(static_cast<int>(first));
      CAPTURE(static_cast<int>(second));
      CHECK(races(first, at(1), second, at(2)) == (first != second || first == write));
      CHECK_FALSE(races(first, at(1), second, at(1)));
      CHECK_FALSE(races(first, at(1), second, at(2, 2)));
      CHECK_FALSE(races(first, at(1), second, at(2, 1, 1)));  // a barrier of the sub-group
      CHECK(races(first, at(1), second, at(20, 1, 1)) == (first != second || first == write));
    }
}

TEST_CASE("a race names both accesses, and the same value is none") {
  SlmShadow shadow(16);
  const SlmAccess one{1, 10, 1, 0, 0}, two{2, 20, 1, 0, 0}, three{3, 30, 1, 0, 0};
  CHECK_FALSE(shadow.note(0, 4, SlmUse::write, one));
  const bool same[] = {true, true, true, true};
  CHECK_FALSE(shadow.note(0, 4, SlmUse::write, two, same));
  const auto race = shadow.note(2, 1, SlmUse::read, three);
  REQUIRE(race);
  CHECK(race->offset == 2);
  CHECK(race->before == one);
  // Two readers: at least one of them is not the writer.
  CHECK_FALSE(shadow.note(8, 1, SlmUse::read, one));
  CHECK_FALSE(shadow.note(8, 1, SlmUse::read, two));
  CHECK(shadow.note(8, 1, SlmUse::write, one)->before == two);
  CHECK_FALSE(shadow.note(100, 4, SlmUse::write, one));  // outside: another check's business
}

TEST_CASE("bytes that nobody has written since the group began") {
  SlmShadow shadow(16);
  const SlmAccess before{1, 10, 1, 0, 0}, now{1, 10, 5, 0, 0};
  const auto count = [&](std::uint64_t offset, std::uint64_t bytes) {
    return shadow.unwritten(offset, bytes, 3).bytes;
  };
  CHECK(count(0, 4) == 4);
  shadow.note(0, 4, SlmUse::write, before);  // by another group
  shadow.note(4, 4, SlmUse::read, now);
  CHECK(count(0, 8) == 8);
  shadow.note(1, 1, SlmUse::write, now);
  CHECK(count(0, 4) == 3);
  CHECK(shadow.unwritten(1, 3, 3).offset == 2);
  shadow.note(4, 4, SlmUse::atomic, now);
  CHECK(count(4, 4) == 0);
  CHECK(count(12, 100) == 4);  // what lies outside is another check's business
}

TEST_CASE("accesses noted together are remembered as those noted one by one") {
  constexpr std::uint64_t kWord = 4, kWords = 3 * kCountedLanes + 5;
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
  int together = 0, races = 0, unwritten = 0;
  for (int run = 0; run < 300; ++run) {
    SlmShadow joined(kWords * kWord), single(kWords * kWord);
    for (SlmShadow* shadow : {&joined, &single})
      shadow->note(0, kWords * kWord, SlmUse::write, {0, 0, 1, 0, 0});
    std::uint32_t phase = 2, since = 1;
    for (int step = 0; step < 60; ++step) {
      if (below(3) == 0) ++phase;
      if (below(60) == 0) since = ++phase;
      const std::uint32_t sub_group = below(2);
      SlmAccess first{sub_group * 16, below(9), phase, below(2), sub_group};
      const SlmUse use = std::array{SlmUse::read, SlmUse::write, SlmUse::atomic}[below(12) * 2 / 11];
      const std::uint32_t needed = use == SlmUse::read ? since : 0;
      std::array<std::uint64_t, kCountedLanes> offsets;
      const bool rows = run % 2 == 0 && below(10) != 0;
      const std::uint64_t by =
          std::array<std::uint64_t, 5>{kWord, kWord, 0, 2 * kWord, 3 * kWord}[rows ? 0 : below(5)];
      const std::uint64_t last = by * (kCountedLanes - 1) / kWord;
      const std::uint64_t begin =
          rows || (below(2) == 0 && by <= kWord) ? 16 * below(3) : below(kWords - last);
      for (std::size_t lane = 0; lane < offsets.size(); ++lane) offsets[lane] = begin * kWord + lane * by;
      if (!rows && below(8) == 0) std::ranges::shuffle(offsets, random);
      if (!rows && below(8) == 0) std::ranges::reverse(offsets);
      const bool even = offsets[1] - offsets[0] == by && offsets[15] - offsets[0] == 15 * by && by <= kWord;
      const bool at_once = even ? joined.note_together(offsets[0], by, use, first, needed)
                                : joined.note_together(offsets, use, first, needed);
      together += at_once ? 1 : 0;
      for (const std::uint64_t offset : offsets) {
        CAPTURE(run);
        CAPTURE(step);
        const auto missing = single.unwritten(offset, kWord, needed).bytes;
        const auto race = single.note(offset, kWord, use, first);
        if (at_once) {
          REQUIRE_FALSE(race);
          REQUIRE(missing == 0);
        } else {
          REQUIRE(joined.unwritten(offset, kWord, needed).bytes == missing);
          const auto other = joined.note(offset, kWord, use, first);
          REQUIRE(other.has_value() == race.has_value());
          if (race) REQUIRE(other->offset == race->offset);
          if (race) REQUIRE(other->before == race->before);
        }
        races += race ? 1 : 0;
        unwritten += missing != 0 ? 1 : 0;
        ++first.item;
      }
    }
  }
  CHECK(together > 1000);
  CHECK(races > 1000);
  CHECK(unwritten > 1000);
}

TEST_CASE("places survive, and cut or foreign bytes are refused") {
  Place place;
  place.id = 7;
  place.kind = PlaceKind::atomic;
  place.memory = PlaceMemory::slm;
  const std::vector<KernelPlaces> kernels{{place, Place{}}, {}, {place}};
  const std::string bytes = write_places(kernels);
  CHECK(read_places(bytes, 3) == kernels);
  CHECK(read_places(bytes, 2).empty());
  CHECK(read_places(bytes, 4).empty());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(read_places(bytes.substr(0, size), 3).empty());
  std::string wrong = bytes;
  wrong[8 + 8] = 77;  // the kind of the first place
  CHECK(read_places(wrong, 3).empty());
  wrong = bytes;
  wrong[8 + 22] = 77;  // what it needs
  CHECK(read_places(wrong, 3).empty());
}

}  // namespace kiln::cpu::test
