// SPDX-License-Identifier: MIT
// Products of matrices: dpas of all types, against its definition read bit by bit. Source: the instruction's
// page in the documentation of Intel's vISA.
#include <cmath>

#include "xe/assembled.hpp"

namespace {

using namespace kiln;
using namespace kiln::test;

struct Number {
  const char* name;
  std::uint32_t bits, exponent = 0;  ///< of floats: bits of the exponent
  bool is_signed = false;
};
constexpr Number kHalf{"hf", 16, 5}, kShort{"bf", 16, 8}, kTf32{"tf32", 32, 8};
constexpr std::array<Number, 6> kWholeNumbers{
    {{"ub", 8}, {"b", 8, 0, true}, {"u4", 4}, {"s4", 4, 0, true}, {"u2", 2}, {"s2", 2, 0, true}}};

/// The number whose bits come from `bit` (from the lowest one on).
template <class F>
double number(const Number& of, F bit) {
  const auto whole = [&](std::uint32_t from, std::uint32_t count) {
    double value = 0;
    for (std::uint32_t i = 0; i < count; ++i)
      value += std::ldexp(bit(from + i) ? 1.0 : 0.0, static_cast<int>(i));
    return value;
  };
  if (of.exponent == 0)
    return whole(0, of.bits) -
           (of.is_signed && bit(of.bits - 1) ? std::ldexp(1, static_cast<int>(of.bits)) : 0);
  const std::uint32_t fraction = of.bits - 1 - of.exponent;
  const int exponent = static_cast<int>(whole(fraction, of.exponent)) - (1 << (of.exponent - 1)) + 1;
  const double value = std::ldexp(1 + std::ldexp(whole(0, fraction), -static_cast<int>(fraction)), exponent);
  return bit(of.bits - 1) ? -value : value;
}

/// Bits of a float that is 1 to 15, or -15 to -1.
std::uint32_t any_small(const Number& of) {
  const std::uint32_t value = 1 + random_number() % 15, fraction = of.bits - 1 - of.exponent;
  const auto top = static_cast<std::uint32_t>(std::log2(value));
  const std::uint32_t bias = (1U << (of.exponent - 1)) - 1;
  return (random_number() & 1) << (of.bits - 1) | (bias + top) << fraction |
         (value ^ 1U << top) << (fraction - top);
}

void multiply(const char* product, const Number& b, const Number& c, std::uint32_t rows) {
  Machine machine(product);
  fill(machine);
  const std::uint32_t grf = machine.grf, lanes = grf / 4, b_at = 30 * grf, c_at = 40 * grf, sum_at = 20 * grf;
  if (b.exponent != 0)
    for (std::uint32_t at = b_at; at < 60 * grf; at += b.bits / 8) {
      const std::uint32_t bits = any_small(b);
      std::memcpy(machine.registers.data() + at, &bits, b.bits / 8);
    }
  for (std::uint32_t i = 0; i < rows * lanes; ++i)
    if (b.exponent != 0)
      machine.put(sum_at + 4 * i, static_cast<float>(i));
    else
      machine.put(sum_at + 4 * i, 1000 * i);
  const Machine before = machine;
  const char* const result = b.exponent != 0 ? "f" : "d";
  const std::string text = "dpas.8x" + std::to_string(rows) + " (" + std::to_string(lanes) +
                           "|M0) r2:" + result + " r20:" + result + " r30:" + b.name + " r40.0:" + c.name;
  machine.run(text + "\n");

  const auto bit_of = [&](std::uint32_t at, std::uint32_t bit) {
    return (std::to_integer<unsigned>(before.registers[at + bit / 8]) >> bit % 8 & 1U) != 0;
  };
  // In each of eight steps as many products as the wider of both has numbers in a word, but no more than
  // eight.
  const std::uint32_t inner = 8 * std::min(8U, 32 / std::max(b.bits, c.bits));
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      double sum = (b.exponent != 0 ? 1 : 1000) * (row * lanes + lane);
      for (std::uint32_t k = 0; k < inner; ++k) {
        // A column goes down its lane's words, a row lies in one piece.
        const double of_b = number(b, [&](std::uint32_t i) {
          const std::uint32_t bit = k * b.bits + i;
          return bit_of(b_at + bit / 32 * grf + 4 * lane, bit % 32);
        });
        const double of_c =
            number(c, [&](std::uint32_t i) { return bit_of(c_at, (row * inner + k) * c.bits + i); });
        sum += of_b * of_c;
      }
      const std::uint32_t at = 2 * grf + (row * lanes + lane) * 4;
      const double got = b.exponent != 0 ? machine.get<float>(at) : machine.get<std::int32_t>(at);
      CHECK_MESSAGE(got == sum, (text + " on " + product));
    }
}

}  // namespace

TEST_CASE("instructions: products of matrices") {
  for (const char* const product : {"dg2", "pvc"})
    for (const std::uint32_t rows : {1U, 3U, 8U}) {
      for (const Number& b : kWholeNumbers)
        for (const Number& c : kWholeNumbers) multiply(product, b, c, rows);
      multiply(product, kHalf, kHalf, rows);
      multiply(product, kShort, kShort, rows);
    }
  for (const std::uint32_t rows : {1U, 3U, 8U}) multiply("pvc", kTf32, kTf32, rows);
}
