// SPDX-License-Identifier: MIT
// Statements over a few variables. Numbers are unsigned but for what counts loops, so that nothing overflows.
#include "differential/lane_generator.hpp"

#include <array>
#include <initializer_list>
#include <random>
#include <string_view>
#include <vector>

namespace kiln::test {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string run(const std::string& name) {
    const bool sub_groups = chance(4);
    sub_group_ = sub_groups ? 8u << below(3) : 0;
    text_ = "kernel " +
            (sub_groups ? "__attribute__((intel_reqd_sub_group_size(" + number(sub_group_) + "))) " : "") +
            "void " + name + "(global const int* in, global int* out, int n, local int* tile) {\n";
    line("const uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);");
    line(
        "const uint item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * "
        "get_local_id(2));");
    line(
        "const uint group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * "
        "get_group_id(2));");
    line("const uint total = items * get_num_groups(0) * get_num_groups(1) * get_num_groups(2);");
    line("const uint i = group * items + item;");
    for (unsigned each = 0; each < kVariables; ++each)
      line({"uint v", std::to_string(each), " = ",
            (chance(2) ? "(uint)in[(i + " + constant() + ") & 63]" : linear()), ";"});
    line("float f0 = (float)(item & 31u), f1 = (float)in[item & 63];");
    line("ulong w0 = (ulong)i << 20;");
    if (chance(2)) {
      array_ = true;
      line("uint own[8];");
      line({"for (uint k = 0; k < 8; ++k) own[k] = ", chance(3) ? "0" : "item * 3 + k", ";"});
    }
    apart_ = chance(2);
    line("tile[item] = in[(item * 3 + 1) & 63];");
    line("for (uint k = 0; k < 4; ++k) tile[items * 4 + k * items + item] = 0;");
    line("barrier(CLK_LOCAL_MEM_FENCE);");
    for (std::uint64_t left = 1 + below(6); left > 0; --left) statement(0, true);
    line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    behind_barriers_ = true;
    if (chance(3)) {
      for (std::uint64_t left = 1 + below(3); left > 0; --left) statement(0, false);
    }
    for (unsigned each = 0; each < kVariables; ++each)
      line({"out[total * 8 + i * 6 + ", number(each), "] = (int)v", std::to_string(each), ";"});
    line("out[total * 8 + i * 6 + 4] = (int)f0 * 3 + (int)f1 + tile[items * 4 + (item & 7u) % items];");
    if (array_) line("for (uint k = 0; k < 8; ++k) w0 = w0 * 5 + own[k];");
    line("out[total * 8 + i * 6 + 5] = (int)(w0 ^ w0 >> 32);");
    return text_ + "}\n";
  }

 private:
  static constexpr unsigned kVariables = 4;

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  static std::string number(std::uint64_t value) { return std::to_string(value) + "u"; }
  std::string constant() {
    constexpr std::array kBounds{1, 3, 8, 20, 64};
    return number(below(kBounds[below(kBounds.size())] + 1));
  }
  /// Parts in braces are drawn from left to right.
  static std::string join(std::initializer_list<std::string_view> parts) {
    std::string all;
    for (const std::string_view part : parts) all += part;
    return all;
  }
  void line(std::string_view what) { line({what}); }
  void line(std::initializer_list<std::string_view> parts) {
    text_ += std::string(2 * indent_, ' ') + join(parts) + "\n";
  }
  std::string variable() { return "v" + std::to_string(below(kVariables)); }

  // Numbers: the same for all, a step more from item to item, and any.

  std::string uniform() {
    switch (below(9)) {
      case 0:
      case 1:
        return "(uint)n";
      case 2:
        return join({"((uint)n * ", number(1 + below(20)), ")"});
      case 3:
        return join({"(uint)in[", (counters_.empty() ? constant() + " & 63" : counter() + " & 63"), "]"});
      case 4:
        return chance(2) ? "items" : "group";
      case 5:
        return join({"(uint)get_local_size(", number(below(2)), ")"});
      case 6:
        return counters_.empty() ? "(uint)n" : "(uint)" + counter();
      case 7:
        return join({"((uint)n + ", constant(), ")"});
      default:
        return constant();
    }
  }

  std::string linear() {
    constexpr std::array kIds{"item",
                              "item",
                              "item",
                              "i",
                              "(uint)get_global_id(0)",
                              "(uint)get_local_id(0)",
                              "(uint)get_local_id(1)"};
    std::string id = kIds[below(kIds.size())];
    if (!steps_.empty() && chance(2)) id = steps_[below(steps_.size())];
    switch (below(8)) {
      case 0:
        return join({"(", id, " + ", uniform(), ")"});
      case 1:
        return join({"(", id, " - ", uniform(), ")"});
      case 2:
        return join({"(", uniform(), " - ", id, ")"});
      case 3:
        return join({"(", id, " * ", number(1 + below(5)), " + ", uniform(), ")"});
      case 4:
        return join({"(", id, (chance(2) ? " / " : " % "), divisor(), ")"});
      case 5: {
        const std::string width = divisor();
        return join({"((", id, " / ", width, " + ", constant(), ") * ", width, " + ", id, " % ", width, ")"});
      }
      default:
        return id;
    }
  }

  std::string divisor() {
    switch (below(4)) {
      case 0:
        return number(1 + below(17));
      case 1:
        return number(1u << below(6));
      case 2:
        return join({"((uint)n + ", number(below(9)), ")"});
      default:
        return join({"((uint)n * ", number(1 + below(9)), ")"});
    }
  }

  std::string load(int depth) {
    const std::string at = chance(2) ? linear() : value(depth - 1), step = uniform();
    switch (below(12)) {
      case 0:
        return join({"(uint)in[", at, " & 63u]"});
      case 1:
        return join({"(uint)tile[", at, " % items]"});
      case 2:
        return join({"(item >= ", step, " ? (uint)tile[item - ", step, "] : ", constant(), ")"});
      case 3:
        return join({"(item + ", step, " < items ? (uint)tile[item + ", step, "] : ", variable(), ")"});
      case 4: {
        const std::string place = linear();
        return join({"(", place, " < 64u ? (uint)in[", place, "] : ", uniform(), ")"});
      }
      case 5:
        return join({"(uint)((global const uchar*)in)[", at, " & 255u]"});
      case 6:
        return join({"(uint)((global const short*)in)[", at, " & 127u]"});
      case 7:
        return join({"(uint)(((global const ulong*)in)[", at, " & 31u] >> 7)"});
      case 8:
        return join({"(uint)vload4(", at, " & 15u, in).", std::string(1, "xyzw"[below(4)])});
      case 9:
        return array_ ? "own[" + (chance(2) ? uniform() : at) + " & 7u]" : "(uint)in[" + at + " & 63u]";
      case 10:
        return join({"(uint)in[(", at, " + ", step, ") & 63u]"});
      default:
        return join({"(uint)in[", uniform(), " & 63u]"});
    }
  }

  std::string value(int depth) {
    if (depth <= 0) {
      switch (below(5)) {
        case 0:
          return uniform();
        case 1:
          return linear();
        default:
          return variable();
      }
    }
    const auto part = [&] { return value(depth - 1); };
    switch (below(18)) {
      case 0:
      case 1:
      case 2: {
        constexpr std::array kHow{" + ", " - ", " * ", " & ", " | ", " ^ "};
        const std::string a = part();
        return join({"(", a, kHow[below(kHow.size())], part(), ")"});
      }
      case 3:
      case 4:
      case 5:
      case 6:
        return load(depth);
      case 7: {
        const std::string a = part();
        return join(
            {"(", a, (chance(2) ? " / " : " % "), (chance(4) ? "(" + part() + " | 1u)" : divisor()), ")"});
      }
      case 8: {
        const std::string a = part();
        return join({"(", a, (chance(2) ? " << (" : " >> ("), part(), " & 31u))"});
      }
      case 9: {
        const std::string when = condition(depth - 1), a = part();
        return join({"(", when, " ? ", a, " : ", part(), ")"});
      }
      case 10: {
        constexpr std::array kHow{"min", "max", "abs_diff", "mul_hi", "rotate", "hadd", "add_sat", "sub_sat"};
        const std::string a = part();
        return join({kHow[below(kHow.size())], "(", a, ", ", part(), ")"});
      }
      case 11:
        return join({(chance(2) ? "popcount(" : "clz("), part(), ")"});
      case 12:
        return join({"(uint)((int)", part(), " >> ", number(below(32)), ")"});
      case 13:
        return join({"(uint)(w0 >> ", number(below(33)), ")"});
      case 14:
        return chance(2) ? "(uint)(int)f0" : "as_uint(f1)";
      case 15:
        return join({"(uint)(", chance(2) ? "(char)" : "(ushort)", part(), ")"});
      default:
        return part();
    }
  }

  std::string condition(int depth) {
    constexpr std::array kHow{" < ", " <= ", " > ", " >= ", " == ", " != "};
    const std::string how = kHow[below(kHow.size())];
    std::string plain;
    switch (below(10)) {
      case 0:
      case 1:
        plain = join({linear(), how, uniform()});
        break;
      case 9: {  // of which the ends tell little
        const std::string id = linear();
        plain = join({id, chance(2) ? " > " : " < ", uniform(), chance(3) ? " || " : " && ",
                      chance(2) ? id : linear(), how, uniform()});
        break;
      }
      case 2:
        plain = join({"(int)", linear(), how, "(int)", uniform(), " - ", std::to_string(below(9))});
        break;
      case 3:
        plain = join({"(item & ", number((1u << below(6)) - 1), ") == ", constant()});
        break;
      case 4:
        plain = join({"i % ", divisor(), how, constant()});
        break;
      case 5:
        plain = join({uniform(), how, uniform()});
        break;
      case 6:
        plain = "f0" + how + std::to_string(below(200)) + ".5f";
        break;
      default:
        plain = join({value(depth), how, chance(2) ? value(depth - 1) : uniform()});
    }
    plain = "(" + plain + ")";
    if (chance(4)) return join({"(", plain, (chance(2) ? " && " : " || "), condition(depth - 1), ")"});
    return plain;
  }

  // Statements. `together`: all items of the group come here.

  void block(int depth, bool together, bool in_loop) {
    ++indent_;
    for (std::uint64_t left = 1 + below(3); left > 0; --left) {
      statement(depth + 1, together);
      if (in_loop && chance(5)) line({"if ", condition(1), (chance(2) ? " break;" : " continue;")});
    }
    --indent_;
  }

  void assign(int depth = 3) {
    switch (below(8)) {
      case 0:
        return line({"f0 = f0 * 0.5f + (float)(", value(depth), " & 0xfffu);"});
      case 1:
        return line({"f1 = fmax(f1 - f0 * 0.25f, (float)(", value(depth), " & 0xffu)) * 0.75f;"});
      case 2:
        return line({"w0 = w0 * 3 + (ulong)", value(depth), ";"});
      default: {
        const std::string to = variable();
        constexpr std::array kHow{" = ", " += ", " ^= ", " = "};
        return line({to, kHow[below(kHow.size())], value(depth), ";"});
      }
    }
  }

  void statement(int depth, bool together) {
    const std::uint64_t what = below(depth < 3 ? 22 : 13);
    switch (what) {
      case 0:
        return line({"out[i + total * ", number(below(4)), "] = (int)", value(2), ";"});
      case 1:
        return line({"out[total * 4 + i * 4 + ", (chance(2) ? number(below(4)) : "(" + value(1) + " & 3u)"),
                     "] = (int)", value(2), ";"});
      case 2:
        return line({"tile[items * 2u + item", apart_ ? " * 2u] = (int)" : "] = (int)", value(2), ";"});
      case 3:
        return line({"atomic_add(out + total * 14 + (", value(1), " & 15u), (int)", value(1), ");"});
      case 4:
        return line({"atomic_add(out + total * 14 + 16u + item, (int)", value(1), ");"});
      case 5: {
        constexpr std::array kHow{"add", "sub", "xor", "and", "or", "min", "max", "xchg"};
        const std::string to = variable(), how = kHow[below(kHow.size())];
        return line({to, " += (uint)atomic_", how, "(out + i + total * ", number(below(4)), ", (int)",
                     value(1), ");"});
      }
      case 6:
        if (behind_barriers_) return assign();
        return line({"atomic_add(tile + items * 4 + (", value(1), " & 7u) % items, (int)", value(1), ");"});
      case 7:
        if (array_) return line({"own[", (chance(2) ? uniform() : value(2)), " & 7u] = ", value(2), ";"});
        return assign();
      case 8:
        if (behind_barriers_ && chance(2))
          return line({"if ", condition(1), " { out[i] = (int)", value(1), "; return; }"});
        return assign();
      case 9:
      case 10:
        return line({"if ", condition(1), " out[i + total * ", number(below(4)), "] = (int)", value(1), ";"});
      case 13:
      case 14:
      case 15:
        return branch(depth);
      case 16:
      case 17:
      case 18:
      case 19:
        return loop(depth, together);
      case 20:
      case 21:
        return together ? exchange() : assign();
      default:
        return assign();
    }
  }

  void branch(int depth) {
    line({"if ", condition(2), " {"});
    block(depth, false, in_loop_);
    if (chance(3)) {
      line("} else {");
      block(depth, false, in_loop_);
    }
    line("}");
  }

  // At most 16 turns.
  void loop(int depth, bool together) {
    const std::string k = "k" + std::to_string(loops_++);
    const bool outer = in_loop_;
    const std::uint64_t what = below(7);
    bool same = true;
    switch (what) {
      case 0:
      case 1:
        line({"for (int ", k, " = ", std::to_string(below(3)), "; ", k, " < n; ",
              (chance(4) ? k + " += 2" : "++" + k), ") {"});
        break;
      case 2:
        line({"for (int ", k, " = (int)(", uniform(), " & 7u); ", k, " > 0; --", k, ") {"});
        break;
      case 3:
        line({"for (int ", k, " = 0; ", k, " < (int)(", uniform(), " & 7u) + 1; ++", k, ") {"});
        break;
      case 4:
        same = false;
        line({"for (int ", k, " = ", std::to_string(below(3)), "; ", k, " < (int)", linear(), " && ", k,
              " < 9; ++", k, ") {"});
        break;
      case 5:
        same = false;
        line({"for (int ", k, " = 0; ", k, " < (int)(", value(2), " & 7u); ++", k, ") {"});
        break;
      default: {
        same = false;
        steps_.push_back(k);
        line({"for (uint ", k, " = item; ", k, " < items * 3u; ", k, " += items) {"});
      }
    }
    // Barriers only where each turn is everybody's.
    const bool meets = together && same && chance(2);
    if (same) counters_.push_back(k);
    in_loop_ = !meets;
    block(depth, meets, in_loop_);
    in_loop_ = outer;
    if (same) counters_.pop_back();
    if (what == 6) steps_.pop_back();
    line("}");
  }

  std::string counter() { return counters_[below(counters_.size())]; }

  void exchange() {
    if (sub_group_ != 0 && chance(2)) {
      constexpr std::array kHow{"reduce_add", "reduce_max", "scan_inclusive_add", "scan_exclusive_add"};
      const std::string to = variable();
      return line({to, " = sub_group_", kHow[below(kHow.size())], "(", value(2), ");"});
    }
    const std::string given = value(2), to = variable();
    line({to, " ^= ", given, ";"});
    line("barrier(CLK_LOCAL_MEM_FENCE);");
    line({chance(2) ? "tile[item]" : "tile[items - 1u - item]", " = (int)", to, ";"});
    line("barrier(CLK_LOCAL_MEM_FENCE);");
    line({to, " += ", load(2), ";"});
  }

  std::mt19937_64 random_;
  std::string text_;
  std::size_t indent_ = 1;
  unsigned loops_ = 0, sub_group_ = 0;
  bool array_ = false, apart_ = false, in_loop_ = false, behind_barriers_ = false;
  std::vector<std::string> counters_,
      steps_;  // of loops: the same for all, and a step more from item to item
};

}  // namespace

std::string generate_lane_kernel(const std::string& name, std::uint64_t seed) {
  return Generator(seed).run(name);
}

}  // namespace kiln::test
