// SPDX-License-Identifier: MIT
// Expressions over variables of all types. Random numbers are drawn in statements of their own, so that a
// seed means the same whatever compiled this.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "differential/generator.hpp"

namespace kiln::test {

struct Type {
  const char* name;
  const char* word;  ///< unsigned, to compute in: not narrower than int; null: a float
  unsigned bits;
  bool is_signed;
};
constexpr std::array kTypes{
    Type{"char", "uint", 8, true},     Type{"uchar", "uint", 8, false},   Type{"short", "uint", 16, true},
    Type{"ushort", "uint", 16, false}, Type{"int", "uint", 32, true},     Type{"uint", "uint", 32, false},
    Type{"long", "ulong", 64, true},   Type{"ulong", "ulong", 64, false}, Type{"float", nullptr, 32, true},
    Type{"half", nullptr, 16, true},   Type{"double", nullptr, 64, true}};
constexpr std::size_t kInt = 4, kUint = 5, kUlong = 7, kFloat = 8, kHalf = 9, kIntegers = 8;

struct Variable {
  std::string name;
  std::size_t type;
};

/// Draws, text, and expressions without side effects.
class Expressions {
 protected:
  Expressions(std::uint64_t seed, const GeneratorOptions& options)
      : random_(seed), types_(options.portable ? kHalf : kTypes.size() - (options.doubles ? 0 : 1)) {}

  // Draws.
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  const Variable& variable() { return variables_[below(variables_.size())]; }
  /// Of one type if there is one, else nothing.
  const Variable* variable_of(bool integer) {
    for (int i = 0; i < 20; ++i) {
      const Variable& each = variable();
      if ((kTypes[each.type].word != nullptr) == integer) return &each;
    }
    return nullptr;
  }

  // Text.
  template <class... T>
  static std::string format(const char* how, const T&... values) {
    std::array<char, 4096> buffer;
    if constexpr (sizeof...(T) == 0)
      return how;
    else
      std::snprintf(buffer.data(), buffer.size(), how, values...);
    return buffer.data();
  }
  template <class... T>
  void line(const char* how, const T&... values) {
    text_ += std::string(2 * indent_, ' ') + format(how, values...) + "\n";
  }
  void declare(std::size_t type) {
    const std::string name = format("v%zu", variables_.size());
    const std::string input =
        format("in[at * %uu + %zuu]", kInputs, static_cast<std::size_t>(below(kInputs)));
    const Type& as = kTypes[type];
    if (as.word) {
      // 22.43 with -cl-opt-disable gets 64 bits shifted by a constant 0 wrong: the upper half is or'ed to the
      // lower.
      const std::size_t shift = below(65 - as.bits);
      line("%s %s = (%s)%s;", as.name, name.c_str(), as.name,
           shift == 0 ? input.c_str() : format("(%s >> %zu)", input.c_str(), shift).c_str());
    } else if (type == kHalf) {
      line("half %s = convert_half((short)%s) * 0.125h;", name.c_str(), input.c_str());
    } else {
      line("%s %s = convert_%s((%s)%s);", as.name, name.c_str(), as.name, below(2) ? "int" : "short",
           input.c_str());
    }
    variables_.push_back({name, type});
  }

  /// A float's bits if it is a number other than 0.
  static std::string bits(std::size_t type, const std::string& value) {
    const Type& of = kTypes[type];
    if (of.word) return "(ulong)" + value;
    const char* as = of.bits == 16 ? "ushort" : of.bits == 32 ? "uint" : "ulong";
    return "(isnan(" + value + ") ? (ulong)1 : " + value + " == 0 ? (ulong)0 : (ulong)as_" + as + "(" +
           value + "))";
  }

  std::string constant(std::size_t type) {
    const Type& of = kTypes[type];
    if (!of.word) {
      const long value = static_cast<long>(below(4001)) - 2000;
      const unsigned part = static_cast<unsigned>(below(8));
      return format("(%s)(%ld.%03u%s)", of.name, value, part * 125, of.bits == 64 ? "" : "f");
    }
    const std::uint64_t all = of.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << of.bits) - 1;
    std::uint64_t value = below(6) == 0   ? all
                          : below(5) == 0 ? all >> 1
                          : below(5) == 0 ? (all >> 1) + 1
                                          : random_();
    value = (value & all) >> (chance(2) ? below(of.bits) : 0);
    return format("(%s)0x%llx%s", of.name, static_cast<unsigned long long>(value),
                  of.bits == 64 ? "UL" : "U");
  }

  std::string condition(int depth) {
    const std::size_t type = below(types_);
    constexpr std::array kHow{"<", "<=", ">", ">=", "==", "!="};
    const std::string left = expression(type, depth - 1);
    std::string right = expression(type, depth - 1);
    // Of a comparison with -1 ocloc 22.43 may make the carry of a sum that stands behind it.
    if (right.ends_with(")0xffffffffU") || right.ends_with(")0xffffffffffffffffUL"))
      right = format("(%s)(%s ^ at >> 16)", kTypes[type].name, right.c_str());
    const std::string plain = "(" + left + " " + kHow[below(6)] + " " + right + ")";
    if (depth <= 0 || !chance(3)) return plain;
    const bool both = chance(2);
    return "(" + plain + (both ? " && " : " || ") + condition(depth - 1) + ")";
  }

  /// Of that type; no side effects.
  std::string expression(std::size_t type, int depth) {
    if (depth <= 0) {
      const std::uint64_t what = below(5);
      if (what == 0) return constant(type);
      if (what == 1 && kTypes[type].word) {
        constexpr std::array kIds{"at", "item", "lane", "get_group_id(0)", "get_sub_group_id()"};
        return format("(%s)%s", kTypes[type].name, kIds[below(kIds.size())]);
      }
      for (int i = 0; i < 30; ++i)
        if (const Variable& each = variable(); each.type == type) return each.name;
      return constant(type);
    }
    return kTypes[type].word ? integer(type, depth) : floating(type, depth);
  }

  std::string converted(std::size_t type, int depth) {
    const std::size_t from = below(types_);
    const std::string value = expression(from, depth - 1);
    const Type &to = kTypes[type], &of = kTypes[from];
    constexpr std::array kRounding{"", "_rte", "_rtz", "_rtp", "_rtn"};
    if (to.word) {
      if (!of.word) {
        // Within the type's numbers: where the value goes round a loop, ocloc 22.43 writes SPIR-V that does
        // not saturate.
        const char* const wide = of.bits == 64 ? "double" : "float";
        const double most = std::ldexp(1.0, static_cast<int>(to.bits) - 2);
        return format("convert_%s_sat%s(fmin(fmax(convert_%s(%s), (%s)%.1f), (%s)%.1f))", to.name,
                      kRounding[below(5)], wide, value.c_str(), wide, to.is_signed ? -most : 0.0, wide, most);
      }
      return format(chance(2) ? "convert_%s_sat(%s)" : "convert_%s(%s)", to.name, value.c_str());
    }
    // To what is wider without rounding, else to the nearest. Where halves that were floats become floats
    // again, ocloc 22.43 computes in float and rounds nothing to half.
    if (type == kHalf && !of.word && from != kHalf)
      return format("as_half((ushort)(as_ushort(convert_half(%s)) ^ get_group_id(0) >> 8))", value.c_str());
    // Of 64 bits that it knows to be negative ocloc 22.43 converts the complement, without the sign.
    if (of.word && of.bits == 64 && of.is_signed)
      return format("convert_%s(%s ^ (long)(at >> 16) << 48)", to.name, value.c_str());
    return format("convert_%s(%s)", to.name, value.c_str());
  }

  std::string integer(std::size_t type, int depth) {
    const Type& of = kTypes[type];
    const char *name = of.name, *word = of.word;
    const unsigned word_bits = of.bits == 64 ? 64 : 32;
    const std::uint64_t what = below(24);
    if (what < 3) return converted(type, depth);
    const std::string a = expression(type, depth - 1), b = expression(type, depth - 1);
    if (what < 10) {
      constexpr std::array kHow{"+", "-", "*", "&", "|", "^", "+"};
      const char* how = kHow[what - 3];
      // Of (x << n | C) + y of 64 bits ocloc 22.43 makes a sum where the lower word of C is all ones.
      const char* hidden = of.bits == 64 && *how == '|' ? " ^ at >> 16" : "";
      return format("(%s)((%s)%s %s (%s)%s%s)", name, word, a.c_str(), how, word, b.c_str(), hidden);
    }
    switch (what) {
      case 10:
        return format("(%s)((%s)%s << ((uint)%s & %uu))", name, word, a.c_str(), b.c_str(), word_bits - 1);
      case 11:
        return format("(%s)(%s >> ((uint)%s & %uu))", name, a.c_str(), b.c_str(), of.bits - 1);
      case 12:
      case 13: {
        // The least number by -1 has no quotient. Of a divisor that it knows to be positive and no constant,
        // ocloc 22.43 takes signed quotients and remainders of up to 16 bits for unsigned. Where it knows of
        // an unsigned quotient that it is 0 or 1, what uses its bits may read a register that nobody wrote.
        std::string divisor = b;
        if (!of.is_signed) {
          divisor = format("(%s)((%s)%s >> 1 | 1)", name, name, b.c_str());
        } else {
          if (!b.starts_with(format("(%s)0x", name))) divisor = format("(%s)(%s ^ at)", name, b.c_str());
          divisor =
              format("(%s)((%s)%s + 1 > 1 ? %s : (%s)3)", name, word, divisor.c_str(), divisor.c_str(), name);
        }
        return format("(%s)(%s %s %s)", name, a.c_str(), what == 12 ? "/" : "%", divisor.c_str());
      }
      case 14:
        return format("(%s)~%s", name, a.c_str());
      case 15:
        return format("(%s)(%s ? %s : %s)", kTypes[type].name, condition(depth - 1).c_str(), a.c_str(),
                      b.c_str());
      case 16: {
        constexpr std::array kHow{"min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi"};
        const char* how = kHow[below(kHow.size())];
        // Of long ocloc 22.43 takes the wrong end.
        if (of.bits == 64 && of.is_signed && std::string_view(how).ends_with("_sat")) how = "min";
        // The library of ocloc multiplies unsigned ones of 16 bits as int, whose sign it takes for 0.
        if (of.bits == 16 && !of.is_signed && std::string_view(how) == "mul_hi") how = "hadd";
        // And loses the carry of a sum with the largest of 64 bits.
        if (of.bits == 64 && !of.is_signed && std::string_view(how) == "rhadd") how = "hadd";
        return format("%s(%s, %s)", how, a.c_str(), b.c_str());
      }
      case 17: {
        // ocloc 22.43 forgets signs before operands of a rotation, and takes what a comparison says, or a
        // quotient that is 0 or 1, for 0 or -1 with a sign before it.
        return format("rotate((%s)(%s ^ item), (%s)((%s ^ item) & %u))", name, a.c_str(), name, b.c_str(),
                      of.bits - 1);
      }
      case 18:
        return format(chance(2) ? "popcount(%s)" : "clz(%s)", a.c_str());
      case 19:
        // Of what the library of ocloc 22.43 computes the compiler knows that it is not negative, which holds
        // until it is taken for a signed number.
        return format(of.is_signed ? "(%s)(abs_diff(%s, %s) ^ in[at])" : "(%s)abs_diff(%s, %s)", name,
                      a.c_str(), b.c_str());
      case 20:
        return format("(%s)table[(uint)%s & 15u]", name, a.c_str());
      case 21:
        // Of 64 bits ocloc's library has wrong answers for 0 * -1 and for sums that overflow.
        if (of.bits == 64 && of.is_signed) return a;
        return format("mad_sat(%s, %s, %s)", a.c_str(), b.c_str(), constant(type).c_str());
      case 22:
        if (of.bits == 32)
          return format("(%s)mul24((%s)(%s & 0x7fffff), (%s)(%s & 0xff))", name, name, a.c_str(), name,
                        b.c_str());
        return a;  // no integer is negated: see rotations
      default: {
        const Variable* const of_float = variable_of(false);
        if (!of_float) return a;
        return format("(%s)%s", name, bits(of_float->type, of_float->name).c_str());
      }
    }
  }

  std::string floating(std::size_t type, int depth) {
    const std::uint64_t what = below(12);
    if (what < 2) return converted(type, depth);
    const std::string a = expression(type, depth - 1), b = expression(type, depth - 1);
    switch (what) {
      case 2:
      case 3:
        return "(" + a + " + " + b + ")";
      case 4:
        return "(" + a + " - " + b + ")";
      case 5:
      case 6:
        return "(" + a + " * " + b + ")";
      case 7:
        if (type != kHalf) return format("fma(%s, %s, %s)", a.c_str(), b.c_str(), constant(type).c_str());
        return "(- " + a + ")";
      case 8: {
        constexpr std::array kHow{"floor", "ceil", "trunc", "rint", "fabs", "-"};
        return format("%s(%s)", kHow[below(kHow.size())], a.c_str());
      }
      case 9:
        // LLVM 15 ends itself over eight least halves at once.
        if (type == kHalf) return "(" + a + " - " + b + ")";
        return format(chance(2) ? "fmin(%s, %s)" : "fmax(%s, %s)", a.c_str(), b.c_str());
      default:
        return format("(%s)(%s ? %s : %s)", kTypes[type].name, condition(depth - 1).c_str(), a.c_str(),
                      b.c_str());
    }
  }

  std::mt19937_64 random_;
  std::size_t types_, indent_ = 1;
  std::vector<Variable> variables_;
  std::string text_;
};

}  // namespace kiln::test
