// SPDX-License-Identifier: MIT
// One row an instruction, against plain C++ that shares no code with the execution unit.
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

TEST_CASE("instructions: a row each, quotients of whole numbers") {
  // Bit by bit, as on paper. Of a divisor that is 0 the quotient is all ones and the rest the dividend.
  const auto divided = [](Long a, Long b, bool rest) {
    Long left = 0, quotient = 0;
    for (int bit = 31; bit >= 0; --bit) {
      left = left << 1 | (a >> bit & 1U);
      quotient <<= 1;
      if (left >= b) left -= b, quotient |= 1;
    }
    return static_cast<Word>(rest ? left : quotient);
  };
  const auto magnitude = [](Word a) { return a >> 31 ? 0 - a : a; };
  check<Word>({{"math.iqot (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud",
                [&](Word a, Word b, Word) { return divided(a, b, false); }},
               {"math.irem (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud",
                [&](Word a, Word b, Word) { return divided(a, b, true); }}},
              "tgllp", any_word);
  check<Word>({{"math.iqot (8|M0) r2.0<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d",
                [&](Word a, Word b, Word) {
                  const Word quotient = divided(magnitude(a), magnitude(b), false);
                  return (a ^ b) >> 31 ? 0 - quotient : quotient;
                }},
               {"math.irem (8|M0) r2.0<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d",
                [&](Word a, Word b, Word) {
                  const Word rest = divided(magnitude(a), magnitude(b), true);
                  return a >> 31 ? 0 - rest : rest;
                }}},
              "tgllp", [] {
                const Word of = any_word();
                return of == 0 ? Word{3} : random_number() % 2 ? 0 - of : of;
              });
}

TEST_CASE("instructions: a row each, first steps of macros for quotients and roots") {
  // The flag says that the result is final, exactly rounded: its neighbours are further away.
  const auto nearest = [](float of, auto error) {
    CHECK(error(of) <= error(std::nextafter(of, 0.0F)));
    CHECK(error(of) <= error(std::nextafter(of, 2 * of)));
  };
  for (const char* const product : {"tgllp", "dg2", "pvc"})
    for (int trial = 0; trial < 40; ++trial) {
      Machine machine(product);
      const auto place = [&](std::uint32_t number, std::uint32_t lane) {
        return number * machine.grf + 4 * lane;
      };
      for (std::uint32_t lane = 0; lane < 8; ++lane)
        for (const std::uint32_t number : {30U, 40U})
          machine.put(place(number, lane), 1 + static_cast<float>(random_number() % 100000) / 64);
      machine.active = random_number() & 0xff;
      const std::uint32_t flag = machine.run(
          "math.invm (8|M0) (eo)f0.0 r2.mme0:f r30.nomme:f r40.nomme:f\n"
          "math.rsqtm (8|M0) (eo)f0.0 r4.mme0:f r30.nomme:f\n");
      CHECK(flag == machine.active);
      for (std::uint32_t lane = 0; lane < 8; ++lane) {
        if (!(machine.active >> lane & 1)) continue;
        const double a = machine.get<float>(place(30, lane)), b = machine.get<float>(place(40, lane));
        nearest(machine.get<float>(place(2, lane)), [&](double of) { return std::fabs(of * b - a); });
        nearest(machine.get<float>(place(4, lane)),
                [&](double of) { return std::fabs(of * std::sqrt(a) - a); });
      }
    }
}
