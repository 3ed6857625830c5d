// SPDX-License-Identifier: MIT
// Instructions by families: assembled by libiga64 with random types, regions, masks and modifiers, and
// compared with plain C++ that shares no code with the execution unit.
#include <array>
#include <chrono>
#include <cmath>

#include "xe/assembled.hpp"

namespace {

using namespace kiln;
using namespace kiln::test;
__extension__ using Wide = __int128;

struct Integer {
  const char* name;
  std::uint32_t size;
  bool is_signed;
};
constexpr std::array<Integer, 6> kIntegers{
    {{"ub", 1, false}, {"b", 1, true}, {"uw", 2, false}, {"w", 2, true}, {"ud", 4, false}, {"d", 4, true}}};

Wide cut(Wide value, const Integer& type) {
  const Wide modulus = Wide{1} << 8 * type.size;
  Wide low = ((value % modulus) + modulus) % modulus;
  return type.is_signed && low >= modulus / 2 ? low - modulus : low;
}
Wide clamp(Wide value, const Integer& type) {
  const Wide modulus = Wide{1} << 8 * type.size;
  const Wide least = type.is_signed ? -modulus / 2 : 0, most = type.is_signed ? modulus / 2 - 1 : modulus - 1;
  return std::min(std::max(value, least), most);
}

struct Region {
  std::uint32_t v, w, h;
};
constexpr std::array<Region, 6> kRegions{{{1, 1, 0}, {0, 1, 0}, {2, 1, 0}, {4, 4, 1}, {8, 4, 2}, {4, 2, 1}}};

/// A random source in registers `first` and behind, and its lanes.
struct Source {
  std::string text;
  std::vector<Wide> lanes;
};

Source source(const Machine& machine, std::uint32_t first, const Integer& type, std::uint32_t lanes) {
  const Region region = kRegions[random_number() % kRegions.size()];
  const std::uint32_t element = random_number() % 4;
  Source made;
  made.text = "r" + std::to_string(first) + "." + std::to_string(element) + "<" + std::to_string(region.v) +
              ";" + std::to_string(region.w) + "," + std::to_string(region.h) + ">:" + type.name;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const std::uint32_t at =
        first * kGrf + (element + i / region.w * region.v + i % region.w * region.h) * type.size;
    Wide value = 0;
    for (std::uint32_t byte = type.size; byte-- > 0;)
      value = value * 256 + std::to_integer<int>(machine.registers[at + byte]);
    made.lanes.push_back(cut(value, type));
  }
  return made;
}

Wide get(const Machine& machine, std::uint32_t at, const Integer& type) {
  Wide value = 0;
  for (std::uint32_t byte = type.size; byte-- > 0;)
    value = value * 256 + std::to_integer<int>(machine.registers[at + byte]);
  return cut(value, type);
}

const Integer& any_integer() { return kIntegers[random_number() % kIntegers.size()]; }

/// `count` sources of random integer types, one function a lane; results of random types and steps, masks,
/// saturation.
template <class F>
void integers(const std::string& opcode, std::uint32_t count, F function, bool may_saturate = true,
              bool words_only = false) {
  for (int trial = 0; trial < 40; ++trial) {
    Machine machine;
    fill(machine);
    machine.active = random_number() & 0xffff;
    const std::uint32_t lanes = 1U << random_number() % 5, step = 1U << random_number() % 2;
    const bool all = random_number() % 3 == 0, saturates = may_saturate && random_number() % 3 == 0;
    const Integer& to = words_only ? kIntegers[4 + random_number() % 2] : any_integer();
    std::string text = std::string(all ? "(W) " : "") + opcode + " (" + std::to_string(lanes) + "|M0) " +
                       (saturates ? "(sat)" : "") + "r2.0<" + std::to_string(step) + ">:" + to.name;
    std::vector<Source> sources;
    std::vector<Integer> types;
    for (std::uint32_t i = 0; i < count; ++i) {
      types.push_back(words_only ? kIntegers[4 + random_number() % 2] : any_integer());
      sources.push_back(source(machine, 30 + 16 * i, types.back(), lanes));
      text += " " + sources.back().text;
    }
    const Machine before = machine;
    machine.run(text + "\n");
    for (std::uint32_t i = 0; i < lanes; ++i) {
      const std::uint32_t at = 2 * kGrf + i * step * to.size;
      std::vector<Wide> values;
      for (const Source& each : sources) values.push_back(each.lanes[i]);
      const Wide exact = function(values, types);
      const Wide expected = !all && !(machine.active >> i & 1) ? get(before, at, to)
                            : saturates                        ? clamp(exact, to)
                                                               : cut(exact, to);
      CHECK_MESSAGE(get(machine, at, to) == expected, (text + " in lane " + std::to_string(i)));
    }
  }
}

using Values = std::vector<Wide>;
using Types = std::vector<Integer>;

}  // namespace

TEST_CASE("instructions: integer moves and sums") {
  integers("mov", 1, [](const Values& v, const Types&) { return v[0]; });
  integers("add", 2, [](const Values& v, const Types&) { return v[0] + v[1]; });
  integers(
      "mul", 2, [](const Values& v, const Types&) { return v[0] * v[1]; }, false);
  integers(
      "avg", 2, [](const Values& v, const Types&) { return (v[0] + v[1] + 1) >> 1; }, false);
}

TEST_CASE("instructions: logic, shifts, bits") {
  integers(
      "and", 2, [](const Values& v, const Types&) { return v[0] & v[1]; }, false);
  integers(
      "or", 2, [](const Values& v, const Types&) { return v[0] | v[1]; }, false);
  integers(
      "xor", 2, [](const Values& v, const Types&) { return v[0] ^ v[1]; }, false);
  integers(
      "not", 1, [](const Values& v, const Types&) { return ~v[0]; }, false);
  integers(
      "shl", 2, [](const Values& v, const Types&) { return v[0] << static_cast<int>(v[1] & 31); }, false,
      true);
  integers(
      "asr", 2, [](const Values& v, const Types&) { return v[0] >> static_cast<int>(v[1] & 31); }, false,
      true);
  integers(
      "shr", 2,
      [](const Values& v, const Types&) {
        return static_cast<Wide>(static_cast<std::uint32_t>(v[0]) >> static_cast<int>(v[1] & 31));
      },
      false, true);
  const auto bits = [](Wide value) { return static_cast<std::uint32_t>(value); };
  integers(
      "cbit", 1,
      [&](const Values& v, const Types&) {
        Wide count = 0;
        for (int i = 0; i < 32; ++i) count += bits(v[0]) >> i & 1;
        return count;
      },
      false, true);
  integers(
      "bfrev", 1,
      [&](const Values& v, const Types&) {
        Wide turned = 0;
        for (int i = 0; i < 32; ++i) turned |= Wide{bits(v[0]) >> i & 1} << (31 - i);
        return turned;
      },
      false, true);
  integers(
      "lzd", 1,
      [&](const Values& v, const Types&) {
        Wide zeros = 0;
        while (zeros < 32 && !(bits(v[0]) >> (31 - static_cast<int>(zeros)) & 1)) ++zeros;
        return zeros;
      },
      false, true);
  integers(
      "fbl", 1,
      [&](const Values& v, const Types&) {
        for (int i = 0; i < 32; ++i)
          if (bits(v[0]) >> i & 1) return Wide{i};
        return Wide{-1};
      },
      false, true);
}

TEST_CASE("instructions: three sources") {
  for (int trial = 0; trial < 60; ++trial) {
    Machine machine;
    fill(machine);
    const std::uint32_t table = random_number() % 256;
    char name[16];
    std::snprintf(name, sizeof name, "0x%02X", table);
    const Machine before = machine;
    machine.run(
        "add3 (8|M0) r2.0<1>:d r30.0<1;0>:d r40.0<1;0>:d -r50.0<1>:d\n"
        "mad (8|M0) r4.0<1>:d r30.0<1;0>:d r40.0<1;0>:w r50.0<0>:w\n"
        "bfn." +
        std::string(name) +
        " (8|M0) r6.0<1>:ud r30.0<1;0>:ud r40.0<1;0>:ud r50.0<1>:ud\n"
        "dp4a (8|M0) r8.0<1>:d r30.0<1;0>:d r40.0<1;0>:d r50.0<1>:ud\n"
        "bfe (8|M0) r10.0<1>:ud r30.0<1;0>:ud r40.0<1;0>:ud r50.0<1>:ud\n"
        "bfi2 (8|M0) r12.0<1>:ud r30.0<1;0>:ud r40.0<1;0>:ud r50.0<1>:ud\n");
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto a = before.get<std::uint32_t>(30 * kGrf + 4 * i),
                 b = before.get<std::uint32_t>(40 * kGrf + 4 * i),
                 c = before.get<std::uint32_t>(50 * kGrf + 4 * i);
      const auto got = [&](std::uint32_t r) { return machine.get<std::uint32_t>(r * kGrf + 4 * i); };
      CHECK(got(2) == a + b - c);
      CHECK(got(4) == a + static_cast<std::uint32_t>(int{before.get<std::int16_t>(40 * kGrf + 2 * i)} *
                                                     int{before.get<std::int16_t>(50 * kGrf)}));
      std::uint32_t logic = 0, dot = a;
      for (std::uint32_t bit = 0; bit < 32; ++bit)
        logic |= (table >> ((a >> bit & 1) + 2 * (b >> bit & 1) + 4 * (c >> bit & 1)) & 1) << bit;
      for (std::uint32_t byte = 0; byte < 4; ++byte)
        dot += static_cast<std::uint32_t>(int{static_cast<std::int8_t>(b >> 8 * byte)} *
                                          static_cast<int>(c >> 8 * byte & 255));
      CHECK(got(6) == logic);
      CHECK(got(8) == dot);
      std::uint32_t taken = 0;
      for (std::uint32_t bit = 0; bit < (a & 31) && bit + (b & 31) < 32; ++bit)
        taken |= (c >> (bit + (b & 31)) & 1) << bit;
      CHECK(got(10) == taken);
      CHECK(got(12) == ((a & b) | (~a & c)));
    }
  }
}

TEST_CASE("instructions: wide products and carries through the accumulator") {
  for (int trial = 0; trial < 60; ++trial) {
    Machine machine;
    fill(machine);
    const Machine before = machine;
    machine.run(
        "mul (8|M0) acc0.0<1>:ud r30.0<1;1,0>:ud r40.0<2;1,0>:uw\n"
        "mach (8|M0) r2.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud {AccWrEn}\n"
        "mov (8|M0) r3.0<1>:ud acc0.0<1;1,0>:ud\n"
        "mul (8|M0) acc0.0<1>:d r30.0<1;1,0>:d r40.0<2;1,0>:uw\n"
        "mach (8|M0) r4.0<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d {AccWrEn}\n"
        "mul (8|M0) acc0.0<1>:d r30.0<1;1,0>:d r40.0<2;1,0>:uw\n"
        "mach (8|M0) r5.0<1>:d r30.0<1;1,0>:d r40.0<1;1,0>:d\n"
        "addc (8|M0) r6.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud {AccWrEn}\n"
        "mov (8|M0) r7.0<1>:ud acc0.0<1;1,0>:ud\n"
        "subb (8|M0) r8.0<1>:ud r30.0<1;1,0>:ud r40.0<1;1,0>:ud {AccWrEn}\n"
        "mov (8|M0) r9.0<1>:ud acc0.0<1;1,0>:ud\n");
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto a = before.get<std::uint32_t>(30 * kGrf + 4 * i),
                 b = before.get<std::uint32_t>(40 * kGrf + 4 * i);
      const auto got = [&](std::uint32_t r) { return machine.get<std::uint32_t>(r * kGrf + 4 * i); };
      const std::uint64_t product = std::uint64_t{a} * b;
      CHECK(got(2) == product >> 32);
      CHECK(got(3) == static_cast<std::uint32_t>(product));
      CHECK(got(4) == static_cast<std::uint32_t>(
                          (std::int64_t{static_cast<std::int32_t>(a)} * static_cast<std::int32_t>(b)) >> 32));
      CHECK(got(5) == a * b);
      CHECK(got(6) == a + b);
      CHECK(got(7) == (a > UINT32_MAX - b));
      CHECK(got(8) == a - b);
      CHECK(got(9) == (a < b));
    }
  }
}

TEST_CASE("instructions: comparisons, selections, predicates") {
  const std::vector<std::pair<std::string, bool (*)(double, double)>> conditions{
      {"eq", [](double a, double b) { return a == b; }}, {"ne", [](double a, double b) { return a != b; }},
      {"lt", [](double a, double b) { return a < b; }},  {"le", [](double a, double b) { return a <= b; }},
      {"gt", [](double a, double b) { return a > b; }},  {"ge", [](double a, double b) { return a >= b; }}};
  for (const auto& [name, holds] : conditions)
    for (int trial = 0; trial < 20; ++trial) {
      Machine machine;
      machine.active = random_number() & 0xffff;
      for (std::uint32_t i = 0; i < 16; ++i) {
        for (const std::uint32_t r : {30U, 40U})
          machine.put(r * kGrf + 4 * i,
                      random_number() % 5 ? static_cast<float>(random_number() % 5) - 2 : NAN);
        machine.put(50 * kGrf + 4 * i, random_number() % 4 - 2);
        machine.put(54 * kGrf + 4 * i, random_number() % 4 - 2);
      }
      const Machine before = machine;
      const std::uint32_t flag = machine.run(
          "(W) mov (1|M0) f0.0<1>:ud 0xFFFF0000:ud\n"
          "cmp (16|M0) (" +
          name +
          ")f0.0 null<1>:f r30.0<1;1,0>:f r40.0<1;1,0>:f\n"
          "(f0.0) sel (16|M0) r2.0<1>:d r50.0<1;1,0>:d r54.0<1;1,0>:d\n"
          "(~f0.0) mov (16|M0) r4.0<1>:d 77:w\n"
          "cmp (16|M0) (" +
          name +
          ")f1.0 r6.0<1>:ud r50.0<1;1,0>:ud r54.0<1;1,0>:ud\n"
          "(W&f0.0.any16h) mov (1|M0) r8.0<1>:d 5:w\n"
          "sel (16|M0) (" +
          name +
          ")f0.0 r10.0<1>:f r30.0<1;1,0>:f r40.0<1;1,0>:f\n"
          "csel (16|M0) (" +
          name + ")f0.0 r12.0<1>:f r30.0<1;0>:f r40.0<1;0>:f r40.0<1>:f\n");
      std::uint32_t expected = 0xffff0000;
      for (std::uint32_t i = 0; i < 16; ++i) {
        const float a = before.get<float>(30 * kGrf + 4 * i), b = before.get<float>(40 * kGrf + 4 * i);
        const auto x = before.get<std::uint32_t>(50 * kGrf + 4 * i),
                   y = before.get<std::uint32_t>(54 * kGrf + 4 * i);
        const auto got = [&](std::uint32_t r) { return machine.get<std::uint32_t>(r * kGrf + 4 * i); };
        if (!(machine.active >> i & 1)) {
          CHECK(got(2) == 0);
          CHECK(got(6) == 0);
          continue;
        }
        const bool is = holds(a, b);
        expected |= static_cast<std::uint32_t>(is) << i;
        CHECK(got(2) == (is ? x : y));
        CHECK(got(4) == (is ? 0U : 77U));
        CHECK(got(6) == (holds(x, y) ? ~0U : 0U));
        const auto same = [](float c, float d) { return c == d || (std::isnan(c) && std::isnan(d)); };
        const bool numbers = !std::isnan(a) && !std::isnan(b);
        CHECK(same(machine.get<float>(10 * kGrf + 4 * i), name == "ge"             ? std::fmax(a, b)
                                                          : name == "lt"           ? std::fmin(a, b)
                                                          : numbers && holds(a, b) ? a
                                                                                   : b));
        CHECK(same(machine.get<float>(12 * kGrf + 4 * i), holds(b, 0) ? a : b));
      }
      CHECK(flag == expected);
      CHECK(machine.get<std::uint32_t>(8 * kGrf) == ((expected & 0xffff) ? 5 : 0));
    }
}

TEST_CASE("instructions: floats, rounding, denormals, halves") {
  for (int trial = 0; trial < 60; ++trial) {
    Machine machine;
    for (std::uint32_t i = 0; i < 8; ++i)
      for (const std::uint32_t r : {30U, 40U, 50U})
        machine.put(r * kGrf + 4 * i,
                    std::ldexp(static_cast<float>(static_cast<int>(random_number() % 20001) - 10000),
                               static_cast<int>(random_number() % 12) - 14));
    machine.put(30 * kGrf, 1e-40F);  // a denormal
    const Machine before = machine;
    machine.run(
        "add (8|M0) r2.0<1>:f r30.0<1;1,0>:f -r40.0<1;1,0>:f\n"
        "mul (8|M0) (sat)r3.0<1>:f r30.0<1;1,0>:f (abs)r40.0<1;1,0>:f\n"
        "mad (8|M0) r4.0<1>:f r30.0<1;0>:f r40.0<1;0>:f -r50.0<1>:f\n"
        "rndd (8|M0) r5.0<1>:f r30.0<1;1,0>:f\n"
        "rnde (8|M0) r6.0<1>:f r30.0<1;1,0>:f\n"
        "mov (8|M0) r7.0<1>:d r30.0<1;1,0>:f\n"
        "mov (8|M0) r8.0<2>:hf r30.0<1;1,0>:f\n"
        "mov (8|M0) r9.0<1>:f r8.0<2;1,0>:hf\n"
        "(W) xor (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x30:uw\n"
        "add (8|M0) r10.0<1>:f r30.0<1;1,0>:f r40.0<1;1,0>:f\n"
        "(W) xor (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0xB0:uw\n"
        "add (8|M0) r11.0<1>:f r30.0<1;1,0>:f 0x0:f\n"
        "mov (8|M0) r12.0<1>:w r30.0<1;1,0>:f\n");
    for (std::uint32_t i = 0; i < 8; ++i) {
      const float a = before.get<float>(30 * kGrf + 4 * i), b = before.get<float>(40 * kGrf + 4 * i),
                  c = before.get<float>(50 * kGrf + 4 * i);
      const auto got = [&](std::uint32_t r) { return machine.get<float>(r * kGrf + 4 * i); };
      CHECK(got(2) == a - b);
      CHECK(got(3) == std::min(1.0F, std::max(0.0F, a * std::fabs(b))));
      CHECK(got(4) == std::fma(b, -c, a));
      CHECK(got(5) == std::floor(a));
      CHECK(got(6) == std::nearbyint(a));
      CHECK(machine.get<std::int32_t>(7 * kGrf + 4 * i) == static_cast<std::int32_t>(a));
      // A half has 11 bits: within half of its last place.
      const float unit = std::max(0x1p-24F, std::ldexp(1.0F, std::ilogb(a == 0 ? 1 : a) - 10));
      CHECK((std::fabs(a) > 65504 || std::fabs(got(9) - a) <= unit / 2));
      const double exact = double{a} + double{b};
      CHECK(std::fabs(double{got(10)}) <= std::fabs(exact));  // towards zero
      CHECK(std::fabs(double{got(10)} - exact) <= std::fabs(exact) * 0x1p-23);
      CHECK(got(11) == (i == 0 ? 0.0F : a));
      CHECK(machine.get<std::int16_t>(12 * kGrf + 2 * i) ==
            static_cast<std::int16_t>(std::max(-32768.0F, std::min(32767.0F, std::trunc(a)))));
    }
  }
}

TEST_CASE("instructions: flags of a move are those of what is written") {
  Machine machine;
  const std::array<std::uint32_t, 4> values{0x00018000, 0xffff0001, 0x00010000, 0x80007fff};
  for (std::uint32_t i = 0; i < 16; ++i) machine.put(2 * kGrf + 4 * i, values[i % 4]);
  // As words -32768, 1, 0 and 32767.
  CHECK((machine.run("mov (16|M0) (lt)f0.0 r4.0<2>:w r2.0<1;1,0>:d\n") & 0xffff) == 0x1111);
  CHECK((machine.run("mov (16|M0) (eq)f0.0 r4.0<2>:w r2.0<1;1,0>:d\n") & 0xffff) == 0x4444);
  CHECK((machine.run("mov (16|M0) (gt)f0.0 r4.0<2>:w r2.0<1;1,0>:d\n") & 0xffff) == 0xaaaa);
  CHECK((machine.run("mov (16|M0) (lt)f0.0 r4.0<2>:uw r2.0<1;1,0>:d\n") & 0xffff) == 0);
  // Where it is saturated, too: 32767, -32768, 32767, -32768.
  CHECK((machine.run("mov (16|M0) (lt)f0.0 (sat)r4.0<2>:w r2.0<1;1,0>:d\n") & 0xffff) == 0xaaaa);
}

TEST_CASE("instructions: flags of a float's move to an integer are those of what is written") {
  Machine machine;
  const std::array<float, 4> values{0.75F, -0.25F, -3.0F, 2.5F};  // 0, 0, -3 or 0, 2
  for (std::uint32_t i = 0; i < 16; ++i) machine.put(2 * kGrf + 4 * i, values[i % 4]);
  for (const char* const result : {"null<1>:d", "r4.0<1>:d"}) {
    const auto flags = [&](const char* condition, const char* type) {
      std::string to = result;
      to.replace(to.find(':') + 1, 1, type);
      return machine.run("mov (16|M0) (" + std::string(condition) + ")f0.0 " + to + " r2.0<1;1,0>:f\n") &
             0xffff;
    };
    CHECK(flags("eq", "d") == 0x3333);
    CHECK(flags("eq", "ud") == 0x7777);
    CHECK(flags("lt", "d") == 0x4444);
    CHECK(flags("gt", "ud") == 0x8888);
  }
}

TEST_CASE("instructions: flags of a sum are those of what is written") {
  Machine machine;
  const std::array<std::uint32_t, 4> values{0x7fffffff, 0x80000000, 0xffffffff, 5};
  for (std::uint32_t i = 0; i < 16; ++i) {
    machine.put(2 * kGrf + 4 * i, values[i % 4]);
    machine.put(6 * kGrf + 4 * i, i % 4 == 1 ? 0xffffffffU : 1U);
  }
  // 0x80000000, 0x7fffffff, 0, 6.
  const auto flags = [&](const std::string& condition, const std::string& type) {
    return machine.run("add (16|M0) (" + condition + ")f0.0 r10.0<1>:" + type + " r2.0<1;1,0>:" + type +
                       " r6.0<1;1,0>:" + type + "\n") &
           0xffff;
  };
  CHECK(flags("lt", "d") == 0x1111);
  CHECK(flags("gt", "d") == 0xaaaa);
  CHECK(flags("eq", "d") == 0x4444);
  CHECK(flags("eq", "ud") == 0x4444);
  CHECK((machine.run("add3 (16|M0) (lt)f0.0 r10.0<1>:d r2.0<1;0>:d r6.0<1;0>:d 0:w\n") & 0xffff) == 0x1111);
}

TEST_CASE("instructions: flags of a product are those of what is written") {
  Machine machine;
  const std::array<std::uint32_t, 4> values{0x80, 0x10, 3, 0};
  for (std::uint32_t i = 0; i < 16; ++i) machine.put(2 * kGrf + 4 * i, values[i % 4]);
  // Bytes of what is multiplied by 80: 0, 0, -16, 0.
  for (const char* const result : {"null<4>:b", "r10.0<4>:b"}) {
    const auto flags = [&](const char* condition) {
      return machine.run("mul (16|M0) (" + std::string(condition) + ")f0.0 " + result +
                         " r2.0<2;1,0>:uw 80:uw\n") &
             0xffff;
    };
    CHECK(flags("ne") == 0x4444);
    CHECK(flags("lt") == 0x4444);
    CHECK(flags("eq") == 0xbbbb);
  }
}

TEST_CASE("instructions: flags of a shift to the left are those of the bits that are left") {
  Machine machine;
  machine.run("(W) mov (8|M0) r2.0<1>:ud 0x1:ud\n(W) mov (4|M0) r2.1<2>:ud 0x4:ud\n");
  CHECK((machine.run("shl (8|M0) (eq)f0.0 r3.0<1>:d r2.0<8;8,1>:d 30:w\n") & 0xff) == 0xaa);
  CHECK((machine.run("shl (8|M0) (ne)f0.0 r3.0<1>:ud r2.0<8;8,1>:ud 30:w\n") & 0xff) == 0x55);
}

TEST_CASE("instructions: flags of a shift to the right are those of what is written") {
  Machine machine;
  const std::array<std::uint32_t, 4> values{0x00100000, 0x00001000, 0xfff00fff, 0x0ff80000};
  for (std::uint32_t i = 0; i < 16; ++i) machine.put(2 * kGrf + 4 * i, values[i % 4]);
  // Bytes of what is shifted by 12: 0, 1, 0, -128.
  for (const char* const result : {"null<4>:b", "r4.0<4>:b"})
    for (const char* const opcode : {"shr", "asr"}) {
      const std::string behind = std::string(" ") + result +
                                 " r2.0<8;8,1>:" + (opcode == std::string("shr") ? "ud" : "d") + " 12:w\n";
      CHECK((machine.run(opcode + std::string(" (16|M0) (eq)f0.0") + behind) & 0xffff) == 0x5555);
      CHECK((machine.run(opcode + std::string(" (16|M0) (lt)f0.0") + behind) & 0xffff) == 0x8888);
    }
}

TEST_CASE("instructions: sources are negated in 32 bits, so that the least number stays itself") {
  Machine machine;
  machine.run(
      "(W) mov (1|M0) r2.0<1>:ud 0x80000000:ud\n"
      "(W) mov (1|M0) r3.0<1>:uw 0x8000:uw\n"
      "(W) asr (1|M0) r4.0<1>:d -r2.0<0;1,0>:d 24:w\n"
      "(W) asr (1|M0) r5.0<1>:d (abs)r2.0<0;1,0>:d 24:w\n"
      "(W) add (1|M0) (sat)r6.0<1>:d -r2.0<0;1,0>:d 0:w\n"
      "(W) asr (1|M0) r7.0<1>:d -r3.0<0;1,0>:w 4:w\n");
  CHECK(machine.get<std::int32_t>(4 * kGrf) == -128);
  CHECK(machine.get<std::int32_t>(5 * kGrf) == -128);
  CHECK(machine.get<std::uint32_t>(6 * kGrf) == 0x80000000);
  CHECK(machine.get<std::int32_t>(7 * kGrf) == 0x800);
}

TEST_CASE("instructions: packed integers are words beside the results") {
  Machine machine;
  machine.run(
      "(W) mov (8|M0) r2.0<1>:uw 0x76543210:uv\n"
      "(W) mov (8|M0) r3.0<1>:w 0xFE3210:v\n"
      "(W) mov (1|M0) r4.0<1>:ud 0x100:ud\n"
      "(W) add (2|M0) r5.0<1>:ud r4.0<0;1,0>:uw 0x400:uv\n"
      "(W) add (4|M0) r6.0<1>:ud r4.0<0;1,0>:uw 0xC080400:uv\n");
  constexpr std::array kSigned{0, 1, 2, 3, -2, -1, 0, 0};
  for (std::uint32_t i = 0; i < 8; ++i) {
    CHECK(machine.get<std::uint16_t>(2 * kGrf + 2 * i) == i);
    CHECK(machine.get<std::int16_t>(3 * kGrf + 2 * i) == kSigned[i]);
  }
  for (std::uint32_t i = 0; i < 2; ++i) CHECK(machine.get<std::uint32_t>(5 * kGrf + 4 * i) == 0x100 + 4 * i);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(machine.get<std::uint32_t>(6 * kGrf + 4 * i) == 0x100 + 4 * i);
}

TEST_CASE("instructions: what nothing has written holds the byte that it is given") {
  for (const char* product : {"dg2", "pvc", "tgllp"})
    for (const unsigned byte : {0u, 0xa5u}) {
      Machine machine(product);
      fill(machine);
      machine.unwritten = static_cast<std::uint8_t>(byte);
      const Machine before = machine;
      CHECK(machine.run("(W) mov (8|M0) r2.0<1>:ud acc0.0<1;1,0>:ud\n") == 0x01010101 * byte);
      for (std::uint32_t i = 0; i < 8; ++i)
        CHECK(machine.get<std::uint32_t>(2 * machine.grf + 4 * i) == 0x01010101 * byte);
      CHECK(machine.get<std::uint64_t>(3 * machine.grf) == before.get<std::uint64_t>(3 * machine.grf));
    }
}

TEST_CASE("instructions: where a0 points for lanes that do not execute is no matter") {
  Machine machine;
  fill(machine);
  machine.active = 0x00f0;
  for (std::uint32_t i = 0; i < 16; ++i)
    machine.put<std::uint16_t>(
        26 * kGrf + 2 * i, i / 4 == 1 ? static_cast<std::uint16_t>(30 * kGrf + 4 * (i * 7 % 16)) : 0xfffe);
  const Machine before = machine;
  machine.run(
      "(W) mov (16|M0) a0.0<1>:uw r26.0<1;1,0>:uw\n"
      "mov (16|M0) r2.0<1>:ud r[a0.0]<1,0>:ud\n"
      "(W) mov (1|M0) a0.0<1>:uw 0x120:uw\n"  // r9
      "(W) mov (16|M0) r4.0<1>:ud r[a0.0]<1;1,0>:ud\n"
      "mov (16|M0) r[a0.0]<1>:ud r30.0<1;1,0>:ud\n");
  for (std::uint32_t i = 0; i < 16; ++i) {
    const bool runs = i / 4 == 1;
    CHECK(machine.get<std::uint32_t>(2 * kGrf + 4 * i) ==
          before.get<std::uint32_t>(runs ? 30 * kGrf + 4 * (i * 7 % 16) : 2 * kGrf + 4 * i));
    CHECK(machine.get<std::uint32_t>(4 * kGrf + 4 * i) == before.get<std::uint32_t>(9 * kGrf + 4 * i));
    CHECK(machine.get<std::uint32_t>(9 * kGrf + 4 * i) ==
          before.get<std::uint32_t>((runs ? 30 : 9) * kGrf + 4 * i));
  }
}

TEST_CASE("instructions: what compilers write for the machine alone") {
  Machine machine;
  for (std::uint32_t i = 0; i < 8; ++i)
    machine.put<std::uint32_t>(2 * kGrf + 4 * i, 0x7f800001 + i);  // no numbers
  // A choice between a register and itself, and lanes of the dispatch mask that no instruction has.
  machine.run(
      "(W) csel (4|M0) r2.0<1>:f r2.0<1;0>:f r2.0<1;0>:f r2.0<1>:f\n"
      "(W) or (1|M0) sr0.2<1>:ud sr0.2<0;1,0>:ud 0xFF0000:ud\n"
      "(W) mov (1|M0) r3.0<1>:ud sr0.2<0;1,0>:ud\n"
      "mov (16|M0) r4.0<1>:ud 7:ud\n");
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(machine.get<std::uint32_t>(2 * kGrf + 4 * i) == 0x7f800001 + i);
  CHECK(machine.get<std::uint32_t>(3 * kGrf) == 0xffffff);
  CHECK(machine.get<std::uint32_t>(5 * kGrf + 28) == 7);
  // Other writes to the state would be lanes that appear or go.
  const Target* target = find_target("dg2");
  FlatBus bus;
  const std::vector<xe::ThreadStart> starts{{.payload = {}, .dispatch_mask = 0xff}};
  const xe::Group group{.threads = starts};
  for (const char* each :
       {"(W) or (1|M0) sr0.2<1>:ud sr0.2<0;1,0>:ud 0xFF:ud\n", "(W) mov (1|M0) sr0.2<1>:ud 0xFF00:ud\n",
        "(W) or (1|M0) sr0.1<1>:ud sr0.1<0;1,0>:ud 0xFF00:ud\n"}) {
    const auto fault = xe::run_group(
        **xe::Code::decode(*target, assemble(each, xe::instruction_set(*target)), 0), group, bus);
    REQUIRE(fault);
    CHECK(fault->text.find("a write to sr") != fault->text.npos);
  }
}

TEST_CASE("instructions: what is not known ends the group with a text") {
  const Target* target = find_target("dg2");
  const auto code =
      assemble("nop\nline (8|M0) r2.0<1>:f r30.0<0;1,0>:f r40.0<1;1,0>:f\n", xe::instruction_set(*target));
  const auto refused = assemble("(W) mov (1|M0) r2.0<1>:ud sp.0<0;1,0>:uq\n", xe::instruction_set(*target));
  FlatBus bus;
  const std::vector<xe::ThreadStart> starts{{.payload = {}, .dispatch_mask = 0xff}};
  xe::Group group{.threads = starts};
  for (const auto& each : {code, refused}) {
    if (each.empty()) continue;  // this assembler has it not
    const auto decoded = xe::Code::decode(*target, each, 0);
    REQUIRE(decoded);
    const auto fault = xe::run_group(**decoded, group, bus);
    REQUIRE(fault);
    CHECK(fault->text.find("at offset 0x") != std::string::npos);
    CHECK_FALSE(fault->disassembly.empty());
  }
  // A loop without end is told, by its bound.
  const auto loop = assemble("L0:\n(W) jmpi L0\n", xe::instruction_set(*target));
  REQUIRE(!loop.empty());
  group.most_instructions = 1000;
  const auto fault = xe::run_group(**xe::Code::decode(*target, loop, 0), group, bus);
  REQUIRE(fault);
  CHECK(fault->kind == xe::Fault::Kind::hang);
  // And by the clock.
  group.most_instructions = 0;
  group.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  const auto late = xe::run_group(**xe::Code::decode(*target, loop, 0), group, bus);
  REQUIRE(late);
  CHECK(late->kind == xe::Fault::Kind::hang);
  CHECK(std::chrono::steady_clock::now() >= group.deadline);
}

TEST_CASE("instructions: offsets in the extended descriptors of Xe2") {
  const Target* target = find_target("bmg");
  const auto disassembler = xe::Disassembler::open();
  REQUIRE(disassembler);
  if (!disassembler->line(std::array<std::byte, 16>{}, xe::instruction_set(*target))) {
    MESSAGE("not tried: this libiga64 does not know Xe2");
    return;
  }
  FlatBus bus;
  const std::uint64_t memory = bus.add(256), out = bus.add(64), counter = bus.add(64);
  for (std::uint32_t i = 0; i < 64; ++i) std::memcpy(bus.bytes(memory).data() + 4 * i, &i, 4);
  bus.bind(xe::SurfaceKind::table, 3, {.base = memory, .size = 256});
  // From word 8 on: 0, -2 (flat, 20 bits with a sign), 1 (an entry of the binding table, 12 bits).
  const auto code = assemble(
      "(W) send.ugm (1|M0) r10 r2 null:0 0x0 0x02108580 {$0}\n"
      "(W) send.ugm (1|M0) r11 r2 null:0 0xFFFF8000 0x02108580 {$1}\n"
      "(W) send.ugm (1|M0) r12 r3 null:0 0x03004000 0x62108500 {$2}\n"
      "(W) send.ugm (1|M0) null r4 r10:1 0x0 0x02008584 {$3}\n"
      "(W) send.ugm (1|M0) null r4 r11:1 0x4000 0x02008584 {$4}\n"
      "(W) send.ugm (1|M0) null r4 r12:1 0x8000 0x02008584 {$5}\n"
      // One lane whose registers are those of sixteen: the data stand in the second part.
      "(W) send.ugm (1|M0) null r6 r3:1 0x0 0x0400058C {$6}\n"
      "(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT}\n",
      xe::instruction_set(*target));
  REQUIRE(!code.empty());
  const auto decoded = xe::Code::decode(*target, code, 0);
  REQUIRE(decoded);
  std::vector<std::byte> payload(7 * 64);
  std::memcpy(payload.data() + 6 * 64, &counter, 8);
  const std::uint64_t word_8 = memory + 32, within = 32;
  std::memcpy(payload.data() + 2 * 64, &word_8, 8);
  std::memcpy(payload.data() + 3 * 64, &within, 8);
  std::memcpy(payload.data() + 4 * 64, &out, 8);
  const std::vector<xe::ThreadStart> starts{{.payload = payload, .dispatch_mask = 0xff}};
  const xe::Group group{.register_bytes = 64, .threads = starts};
  const auto fault = xe::run_group(**decoded, group, bus);
  REQUIRE_MESSAGE(!fault, (fault ? fault->text : ""));
  std::array<std::uint32_t, 3> got{};
  std::memcpy(got.data(), bus.bytes(out).data(), sizeof got);
  CHECK(got == std::array<std::uint32_t, 3>{8, 6, 9});
  std::uint32_t added = 0;
  std::memcpy(&added, bus.bytes(counter).data(), sizeof added);
  CHECK(added == 32);
}

int main(int count, char** words) {
  if (!kiln::xe::Disassembler::open()) {
    std::printf("skipped: libiga64 is not installed\n");
    return 77;
  }
  return doctest::Context(count, words).run();
}
