// SPDX-License-Identifier: MIT
// Lanes that part and meet: control flow, against loops in plain C++.
#include "xe/assembled.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("instructions: lanes part and meet") {
  for (int trial = 0; trial < 40; ++trial) {
    Machine machine;
    machine.active = random_number() & 0xffff;
    for (std::uint32_t i = 0; i < 16; ++i) {
      machine.put(30 * kGrf + 4 * i, random_number() % 12);
      machine.put(40 * kGrf + 4 * i, random_number() % 12);
    }
    const Machine before = machine;
    machine.run(
        // Once or twice nested.
        "cmp (16|M0) (lt)f0.0 null<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "(f0.0) if (16|M0) L_ELSE L_END\n"
        "mov (16|M0) r2.0<1>:d 1:w\n"
        "cmp (16|M0) (lt)f0.0 null<1>:d r30.0<1;1,0>:d 3:w\n"
        "(f0.0) if (16|M0) L_IN L_IN\n"
        "mov (16|M0) r2.0<1>:d 2:w\n"
        "L_IN:\nendif (16|M0) L_IN_END\n"
        "L_IN_END:\nelse (16|M0) L_END L_END\n"
        "L_ELSE:\nmov (16|M0) r2.0<1>:d 3:w\n"
        "L_END:\nendif (16|M0) L_LOOP0\n"
        // A loop whose odd turns are short.
        "L_LOOP0:\nmov (16|M0) r6.0<1>:d 0:w\n"
        "L_LOOP:\n"
        "add (16|M0) r4.0<1>:d r4.0<1;1,0>:d 1:w\n"
        "and (16|M0) (ne)f0.0 null<1>:d r4.0<1;1,0>:d 1:w\n"
        "(f0.0) cont (16|M0) L_NEXT L_NEXT\n"
        "add (16|M0) r6.0<1>:d r6.0<1;1,0>:d r4.0<1;1,0>:d\n"
        "cmp (16|M0) (gt)f0.0 null<1>:d r6.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "(f0.0) break (16|M0) L_NEXT L_WHILE\n"
        "L_NEXT:\ncmp (16|M0) (lt)f0.0 null<1>:d r4.0<1;1,0>:d r30.0<1;1,0>:d\n"
        "L_WHILE:\n(f0.0) while (16|M0) L_LOOP\n"
        // Forward and back by goto.
        "L_BACK:\nadd (16|M0) r8.0<1>:d r8.0<1;1,0>:d 2:w\n"
        "cmp (16|M0) (eq)f0.0 null<1>:d r8.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "(f0.0) goto (16|M0) L_STAY L_JOIN\n"
        "cmp (16|M0) (lt)f0.0 null<1>:d r8.0<1;1,0>:d r30.0<1;1,0>:d\n"
        "(f0.0) goto.b (16|M0) L_STAY L_BACK\n"
        "L_STAY:\njoin (16|M0) L_JOIN\n"
        "add (16|M0) r8.0<1>:d r8.0<1;1,0>:d 100:w\n"
        "L_JOIN:\njoin (16|M0) L_CALL\n"
        // A function for some.
        "L_CALL:\ncmp (16|M0) (ge)f0.0 null<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "(f0.0) call (16|M0) r60.0 L_FUNCTION\n"
        "add (16|M0) r10.0<1>:d r10.0<1;1,0>:d 1:w\n"
        "(W) jmpi L_LAST\n"
        "L_FUNCTION:\nmov (16|M0) r10.0<1>:d r30.0<1;1,0>:d\n"
        "ret (16|M0) r60.0\n"
        "L_LAST:\nmov (16|M0) r12.0<1>:d 7:w\n");
    for (std::uint32_t i = 0; i < 16; ++i) {
      const auto a = before.get<std::int32_t>(30 * kGrf + 4 * i),
                 b = before.get<std::int32_t>(40 * kGrf + 4 * i);
      const auto got = [&](std::uint32_t r) { return machine.get<std::int32_t>(r * kGrf + 4 * i); };
      if (!(machine.active >> i & 1)) {
        CHECK((got(2) | got(4) | got(6) | got(8) | got(10) | got(12)) == 0);
        continue;
      }
      CHECK(got(2) == (a >= b ? 3 : a < 3 ? 2 : 1));
      std::int32_t turns = 0, sum = 0, steps = 0;
      do {
        ++turns;
        if (turns % 2) continue;
        sum += turns;
        if (sum > b) break;
      } while (turns < a);
      CHECK(got(4) == turns);
      CHECK(got(6) == sum);
      for (;;) {
        steps += 2;
        if (steps == b) break;
        if (steps < a) continue;
        steps += 100;
        break;
      }
      CHECK(got(8) == steps);
      CHECK(got(10) == (a >= b ? a : 0) + 1);
      CHECK(got(12) == 7);
    }
  }
}

TEST_CASE("instructions: lanes that halt") {
  for (int trial = 0; trial < 40; ++trial) {
    Machine machine;
    machine.active = random_number() & 0xffff;
    const bool none_stays = trial % 4 == 0;
    for (std::uint32_t i = 0; i < 16; ++i) {
      machine.put(30 * kGrf + 4 * i, random_number() % 12);
      machine.put(40 * kGrf + 4 * i, none_stays ? 100 : random_number() % 12);
    }
    const Machine before = machine;
    machine.run(
        "mov (16|M0) r2.0<1>:d 1:w\n"
        "cmp (16|M0) (lt)f0.0 null<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "(f0.0) halt (16|M0) L_SECOND L_OUT\n"
        "add (16|M0) r2.0<1>:d r2.0<1;1,0>:d 10:w\n"
        "cmp (16|M0) (gt)f0.0 null<1>:d r30.0<1;1,0>:d 8:w\n"
        "L_SECOND:\n(f0.0) halt (16|M0) L_OUT L_OUT\n"
        "add (16|M0) r2.0<1>:d r2.0<1;1,0>:d 100:w\n"
        "(W) mov (16|M0) r4.0<1>:d 5:w\n"  // not executed where nobody stays
        "L_OUT:\nadd (16|M0) r2.0<1>:d r2.0<1;1,0>:d 1000:w\n");
    bool any = false;
    for (std::uint32_t i = 0; i < 16; ++i) {
      const auto a = before.get<std::int32_t>(30 * kGrf + 4 * i),
                 b = before.get<std::int32_t>(40 * kGrf + 4 * i);
      const bool active = machine.active >> i & 1;
      any |= active && a >= b && a <= 8;
      CHECK(machine.get<std::int32_t>(2 * kGrf + 4 * i) == (!active ? 0
                                                            : a < b ? 1001
                                                            : a > 8 ? 1011
                                                                    : 1111));
    }
    CHECK(machine.get<std::int32_t>(4 * kGrf) == (any ? 5 : 0));
  }
}

TEST_CASE("instructions: branches that diverge") {
  for (int trial = 0; trial < 40; ++trial) {
    Machine machine;
    machine.active = random_number() & 0xffff;
    const bool all_branch = trial % 4 == 0;
    for (std::uint32_t i = 0; i < 16; ++i) {
      machine.put(30 * kGrf + 4 * i, random_number() % 12);
      machine.put(40 * kGrf + 4 * i, all_branch ? 100 : random_number() % 12);
    }
    const Machine before = machine;
    machine.run(
        "cmp (16|M0) (lt)f0.0 null<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "(f0.0) brd (16|M0) L_TAKEN\n"
        "add (16|M0) r2.0<1>:d r2.0<1;1,0>:d 10:w\n"
        "(W) mov (16|M0) r4.0<1>:d 5:w\n"  // passed over where all branch
        "L_TAKEN:\nadd (16|M0) r2.0<1>:d r2.0<1;1,0>:d 1:w\n"
        // Back together, three times.
        "L_BACK:\nadd (16|M0) r6.0<1>:d r6.0<1;1,0>:d 1:w\n"
        "cmp (16|M0) (lt)f0.0 null<1>:d r6.0<1;1,0>:d 3:w\n"
        "(f0.0) brd (16|M0) L_BACK\n");
    bool any = false;
    for (std::uint32_t i = 0; i < 16; ++i) {
      const auto a = before.get<std::int32_t>(30 * kGrf + 4 * i),
                 b = before.get<std::int32_t>(40 * kGrf + 4 * i);
      const bool active = machine.active >> i & 1;
      any |= active && a >= b;
      CHECK(machine.get<std::int32_t>(2 * kGrf + 4 * i) == (!active ? 0 : a < b ? 1 : 11));
      CHECK(machine.get<std::int32_t>(6 * kGrf + 4 * i) == (active ? 3 : 0));
    }
    CHECK(machine.get<std::int32_t>(4 * kGrf) == (any ? 5 : 0));
  }
}
