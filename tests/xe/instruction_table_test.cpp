// SPDX-License-Identifier: MIT
// One row an instruction, against plain C++ that shares no code with the execution unit; matrices, and lanes
// that part and meet.
#include <bit>
#include <cmath>
#include <functional>

#include "xe/assembled.hpp"

namespace {

using namespace kiln;
using namespace kiln::test;

/// r2 of eight lanes, made of r30, r40 and r50. Of what is not exact, `near` says by how much of itself.
template <class T>
struct Row {
  const char* text;
  std::function<T(T, T, T)> expected;
  double near = 0;
};

template <class T>
void check(const std::vector<Row<T>>& rows, const char* product, const std::function<T()>& value) {
  for (const Row<T>& row : rows)
    for (int trial = 0; trial < 40; ++trial) {
      Machine machine(product);
      for (std::uint32_t i = 0; i < 8; ++i)
        for (const std::uint32_t at : {30U, 40U, 50U})
          machine.put<T>(at * machine.grf + static_cast<std::uint32_t>(sizeof(T)) * i, value());
      const Machine before = machine;
      machine.run(std::string(row.text) + "\n");
      for (std::uint32_t i = 0; i < 8; ++i) {
        const auto at = [&](std::uint32_t r) {
          return r * machine.grf + static_cast<std::uint32_t>(sizeof(T)) * i;
        };
        const T expected = row.expected(before.get<T>(at(30)), before.get<T>(at(40)), before.get<T>(at(50)));
        const T got = machine.get<T>(at(2));
        if constexpr (std::is_floating_point_v<T>)
          CHECK_MESSAGE((got == expected || std::fabs(got - expected) <= row.near * std::fabs(expected)),
                        row.text);
        else
          CHECK_MESSAGE(got == expected, row.text);
      }
    }
}

using Word = std::uint32_t;
using Long = std::uint64_t;

Word any_word() {
  return random_number() % 4 ? static_cast<Word>(random_number()) >> random_number() % 32 : 0;
}
Long any_long() { return (Long{random_number()} << 32 | random_number()) >> random_number() % 64; }

std::int32_t as_signed(Word value) { return static_cast<std::int32_t>(value); }

}  // namespace

TEST_CASE("instructions: a row each, words") {
  const auto rotated = [](Word a, Word count) {
    Word result = 0;
    for (Word bit = 0; bit < 32; ++bit) result |= (a >> bit & 1U) << ((bit + count) % 32);
    return result;
  };
  const auto first_other = [](Word a, bool of) {
    for (Word bit = 0; bit < 32; ++bit)
      if ((a >> (31 - bit) & 1U) == (of ? 1U : 0U)) return bit;
    return ~Word{0};
  };
  check<Word>(
      {{"rol (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud",
        [&](Word a, Word b, Word) { return rotated(a, b % 32); }},
       {"ror (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud",
        [&](Word a, Word b, Word) { return rotated(a, 32 - b % 32); }},
       {"fbh (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud", [&](Word a, Word, Word) { return first_other(a, true); }},
       {"fbh (8|M0) r2.0<1>:ud r30.0<1;1,0>:d",
        [&](Word a, Word, Word) { return first_other(a, a < 0x80000000U); }},
       {"bfi1 (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud",
        [](Word a, Word b, Word) {
          Word mask = 0;
          for (Word bit = b % 32; bit < b % 32 + a % 32 && bit < 32; ++bit) mask |= Word{1} << bit;
          return mask;
        }},
       {"bfe (8|M0) r2.0<1>:d r30.0<1;0>:d r40.0<1;0>:d r50.0<1>:d",
        [](Word a, Word b, Word c) {
          const Word width = a % 32, offset = b % 32;
          Word result = 0;
          for (Word bit = 0; bit < 32 && width != 0; ++bit)  // behind the field its highest bit
            result |= (c >> std::min({31U, offset + width - 1, offset + bit}) & 1U) << bit;
          return result;
        }},
       {"avg (8|M0) r2.0<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d",
        [](Word a, Word b, Word) {
          const double half = std::ceil((double{0} + as_signed(a) + as_signed(b)) / 2);
          return static_cast<Word>(static_cast<std::int32_t>(half));
        }},
       {"add3 (8|M0) r2.0<1>:d r30.0<1;0>:d -r40.0<1;0>:d r50.0<1>:d",
        [](Word a, Word b, Word c) { return a - b + c; }},
       {"dp4a (8|M0) r2.0<1>:ud r30.0<1;0>:ud r40.0<1;0>:ud r50.0<1>:ud",
        [](Word a, Word b, Word c) {
          for (int i = 0; i < 32; i += 8) a += (b >> i & 255U) * (c >> i & 255U);
          return a;
        }},
       {"mov (8|M0) acc0.0<1>:d r50.0<1;1,0>:d\nmac (8|M0) r2.0<1>:d r30.0<2;1,0>:w r40.0<2;1,0>:w",
        [](Word a, Word b, Word c) {
          return c + static_cast<Word>(static_cast<std::int16_t>(a) * static_cast<std::int16_t>(b));
        }}},
      "dg2", any_word);
}

TEST_CASE("instructions: a row each, floats") {
  const auto value = [] { return std::ldexp(static_cast<float>(random_number() % 4001) - 2000, -9); };
  check<float>(
      {{"rndu (8|M0) r2.0<1>:f r30.0<1;1,0>:f", [](float a, float, float) { return std::ceil(a); }},
       {"rndd (8|M0) r2.0<1>:f -r30.0<1;1,0>:f", [](float a, float, float) { return std::floor(-a); }},
       {"rndz (8|M0) r2.0<1>:f (abs)r30.0<1;1,0>:f",
        [](float a, float, float) { return std::trunc(std::fabs(a)); }},
       {"frc (8|M0) r2.0<1>:f r30.0<1;1,0>:f", [](float a, float, float) { return a - std::floor(a); }},
       {"mov (8|M0) acc0.0<1>:f r50.0<1;1,0>:f\nmac (8|M0) r2.0<1>:f r30.0<1;1,0>:f r40.0<1;1,0>:f",
        [](float a, float b, float c) { return c + a * b; }, 0x1p-20},
       {"math.inv (8|M0) r2.0<1>:f r30.0<1;1,0>:f", [](float a, float, float) { return 1 / a; }, 0x1p-22},
       {"math.exp (8|M0) r2.0<1>:f r30.0<1;1,0>:f",
        [](float a, float, float) { return static_cast<float>(std::pow(2.0, double{a})); }, 0x1p-20},
       {"math.log (8|M0) r2.0<1>:f (abs)r30.0<1;1,0>:f",
        [](float a, float, float) {
          return static_cast<float>(std::log(std::fabs(double{a})) / std::log(2.0));
        },
        0x1p-20},
       {"math.sqt (8|M0) r2.0<1>:f (abs)r30.0<1;1,0>:f",
        [](float a, float, float) { return static_cast<float>(std::pow(std::fabs(double{a}), 0.5)); },
        0x1p-22},
       {"math.rsqt (8|M0) r2.0<1>:f (abs)r30.0<1;1,0>:f",
        [](float a, float, float) { return static_cast<float>(std::pow(std::fabs(double{a}), -0.5)); },
        0x1p-22},
       {"math.sin (8|M0) r2.0<1>:f r30.0<1;1,0>:f",
        [](float a, float, float) { return static_cast<float>(std::sin(double{a})); }, 0x1p-20},
       {"math.cos (8|M0) r2.0<1>:f r30.0<1;1,0>:f",
        [](float a, float, float) { return static_cast<float>(std::cos(double{a})); }, 0x1p-20}},
      "dg2", [&] {
        const float of = value();
        return of == 0 ? 1.0F : of;
      });
}

TEST_CASE("instructions: a row each, 64 bits") {
  check<Word>({{"mul (8|M0) acc0.0<1>:ud r30.0<1;1,0>:ud r40.0<2;1,0>:uw\nmacl (8|M0) r2.0<1>:ud "
                "r30.0<1;1,0>:ud r40.0<1;1,0>:ud",
                [](Word a, Word b, Word) { return a * b; }}},
              "pvc", any_word);
  check<Long>(
      {{"mov (8|M0) r2.0<1>:q r30.0<1;1,0>:q", [](Long a, Long, Long) { return a; }},
       {"add (8|M0) r2.0<1>:q r30.0<1;1,0>:q -r40.0<1;1,0>:q", [](Long a, Long b, Long) { return a - b; }},
       {"shl (8|M0) r2.0<1>:q r30.0<1;1,0>:q r40.0<1;1,0>:q",
        [](Long a, Long b, Long) { return a << b % 64; }},
       {"shr (8|M0) r2.0<1>:uq r30.0<1;1,0>:uq r40.0<1;1,0>:uq",
        [](Long a, Long b, Long) { return a >> b % 64; }},
       {"asr (8|M0) r2.0<1>:q r30.0<1;1,0>:q r40.0<1;1,0>:q",
        [](Long a, Long b, Long) { return static_cast<Long>(static_cast<std::int64_t>(a) >> b % 64); }},
       {"mov (8|M0) r2.0<1>:q r30.0<2;1,0>:d",
        [](Long a, Long, Long) { return static_cast<Long>(std::int64_t{static_cast<std::int32_t>(a)}); }},
       {"cmp (8|M0) (lt)f0.0 null<1>:uq r30.0<1;1,0>:uq r40.0<1;1,0>:uq\n"
        "(f0.0) sel (8|M0) r2.0<1>:uq r30.0<1;1,0>:uq r40.0<1;1,0>:uq",
        [](Long a, Long b, Long) { return std::min(a, b); }}},
      "pvc", any_long);
  check<double>({{"add (8|M0) r2.0<1>:df r30.0<1;1,0>:df -r40.0<1;1,0>:df",
                  [](double a, double b, double) { return a - b; }},
                 {"mul (8|M0) r2.0<1>:df r30.0<1;1,0>:df r40.0<1;1,0>:df",
                  [](double a, double b, double) { return a * b; }},
                 {"mad (8|M0) r2.0<1>:df r30.0<1;0>:df r40.0<1;0>:df r50.0<1>:df",
                  [](double a, double b, double c) { return std::fma(b, c, a); }},
                 {"sel (8|M0) (ge)f0.0 r2.0<1>:df r30.0<1;1,0>:df r40.0<1;1,0>:df",
                  [](double a, double b, double) { return std::fmax(a, b); }}},
                "pvc", [] { return std::ldexp(static_cast<double>(random_number()), -20) - 1000; });
}

TEST_CASE("instructions: products of matrices") {
  struct Kind {
    const char *name, *result;
    std::uint32_t bytes;
    std::function<double(const Machine&, std::uint32_t)> at;
  };
  const auto half = [](const Machine& machine, std::uint32_t at) {  // small whole numbers
    const auto bits = machine.get<std::uint16_t>(at);
    return (bits & 0x8000U ? -1 : 1) *
           std::ldexp(1 + (bits & 1023U) / 1024.0, static_cast<int>(bits >> 10 & 31U) - 15);
  };
  const auto short_float = [](const Machine& machine, std::uint32_t at) {
    return double{std::bit_cast<float>(std::uint32_t{machine.get<std::uint16_t>(at)} << 16)};
  };
  const std::vector<Kind> kinds{
      {"b", "d", 1, [](const Machine& m, std::uint32_t at) { return double{0} + m.get<std::int8_t>(at); }},
      {"ub", "ud", 1, [](const Machine& m, std::uint32_t at) { return double{0} + m.get<std::uint8_t>(at); }},
      {"hf", "f", 2, half},
      {"bf", "f", 2, short_float}};
  for (const Kind& kind : kinds)
    for (std::uint32_t rows = 1; rows <= 8; rows += rows == 1 ? 2 : 5) {
      Machine machine;
      fill(machine);
      if (kind.bytes == 2)
        for (std::uint32_t at = 30 * kGrf; at < 60 * kGrf; at += 2) {
          const auto number =
              static_cast<float>(1 + random_number() % 15) * (random_number() % 2 ? 1.0F : -1.0F);
          const auto bits = std::bit_cast<std::uint32_t>(number);
          machine.put(at,
                      static_cast<std::uint16_t>(kind.name[0] == 'b' ? bits >> 16
                                                                     : (bits >> 16 & 0x8000U) |
                                                                           ((bits >> 23 & 255U) - 112) << 10 |
                                                                           (bits >> 13 & 1023U)));
        }
      for (std::uint32_t i = 0; i < 64; ++i)
        machine.put(20 * kGrf + 4 * i,
                    kind.bytes == 1 ? i * 1000 : std::bit_cast<std::uint32_t>(static_cast<float>(i)));
      const Machine before = machine;
      machine.run(std::string("dpas.8x") + std::to_string(rows) + " (8|M0) r2:" + kind.result +
                  " r20:" + kind.result + " r30:" + kind.name + " r40.0:" + kind.name + "\n");
      for (std::uint32_t row = 0; row < rows; ++row)
        for (std::uint32_t lane = 0; lane < 8; ++lane) {
          double sum = row * 8 + lane;
          if (kind.bytes == 1) sum *= 1000;
          // Eight steps; each takes a word of the lane's column and one of the row.
          for (std::uint32_t step = 0; step < 8; ++step)
            for (std::uint32_t part = 0; part < 4; part += kind.bytes)
              sum += kind.at(before, (30 + step) * kGrf + 4 * lane + part) *
                     kind.at(before, 40 * kGrf + 32 * row + 4 * step + part);
          const std::uint32_t at = 2 * kGrf + 32 * row + 4 * lane;
          const double got = kind.bytes == 2         ? double{machine.get<float>(at)}
                             : kind.result[0] == 'd' ? double{0} + machine.get<std::int32_t>(at)
                                                     : double{0} + machine.get<std::uint32_t>(at);
          CHECK_MESSAGE(got == sum, (kind.name + std::string(" row ") + std::to_string(row)));
        }
    }
}

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
