// SPDX-License-Identifier: MIT
// Statements, and the kernel around them.
#include "differential/generator.hpp"

#include "differential/expressions.hpp"

namespace kiln::test {
namespace {

class Generator : Expressions {
 public:
  Generator(std::uint64_t seed, const GeneratorOptions& options)
      : Expressions(seed, options),
        sub_group_8_(options.sub_group_8),
        portable_(options.portable),
        statements_(options.statements) {}

  GeneratedKernel run() {
    sub_group_ = sub_group_8_ ? 8u << below(3) : 16u << below(2);
    helper();
    const std::string helper_text = std::move(text_);
    text_.clear();
    for (std::size_t type = 0; type < types_; ++type) declare(type);
    for (int i = 0; i < 4; ++i) declare(below(types_));
    const std::size_t wide = chance(4) ? 100 + below(80) : 0;
    array_ = below(types_);
    line("%s array[%u];", kTypes[array_].name, kArray);
    line("for (uint k = 0; k < %uu; ++k) array[k] = (%s)(in[at * %uu + k %% %uu] >> k);", kArray,
         kTypes[array_].word ? kTypes[array_].name : "int", kInputs, kInputs);
    if (wide) spill_begin(wide);
    const std::size_t count =
        1 + below(1 + below(statements_));  // short ones often: their differences are soon explained
    for (std::size_t i = 0; i < count; ++i) statement(0, true);
    if (wide) spill_end(wide);
    GeneratedKernel kernel;
    for (const Variable& each : variables_) {
      line("out[at * OUTPUTS + %zuu] = %s;", kernel.outputs.size(), bits(each.type, each.name).c_str());
      kernel.outputs.push_back(std::string(kTypes[each.type].name) + " " + each.name);
    }
    line("ulong sum = 0;");
    line("for (uint k = 0; k < %uu; ++k) sum = sum * 31 + %s;", kArray, bits(array_, "array[k]").c_str());
    line("out[at * OUTPUTS + %zuu] = sum;", kernel.outputs.size());
    kernel.outputs.push_back("all of array");
    kernel.text = head(helper_text, kernel.outputs.size()) + text_ + "}\n";
    return kernel;
  }

 private:
  static constexpr unsigned kArray = 24;

  std::string head(const std::string& helper_text, std::size_t outputs) const {
    std::string all =
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "#pragma OPENCL EXTENSION cl_intel_subgroups : enable\n"
        "#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable\n";
    if (portable_)
      all = format(
          "#define get_sub_group_id() ((uint)get_local_id(0) / %uu)\n"
          "#define get_sub_group_local_id() ((uint)get_local_id(0) %% %uu)\n",
          sub_group_, sub_group_);
    if (types_ == kTypes.size()) all += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    return all + "#pragma OPENCL FP_CONTRACT OFF\n" + format("#define OUTPUTS %zuu\n", outputs) +
           "constant int table[16] = {1, -1, 0, 7, 255, -128, 32767, 65536, -2147483647, 2147483647, 12345, "
           "-99, 31, 64, 1000000007, 42};\n" +
           helper_text +
           format(
               "kernel __attribute__((intel_reqd_sub_group_size(%u), reqd_work_group_size(%u, 1, 1)))\n"
               "void test(global const ulong* in, global ulong* out, global int* atomics, global uchar* "
               "scratch) {\n"
               "  const uint at = get_global_id(0), item = get_local_id(0), lane = "
               "get_sub_group_local_id();\n"
               "  scratch += at * %uu;\n",
               sub_group_, kGroupItems, kScratch) +
           locals_;
  }

  // Statements. `uniform`: all work-items of the group come here.
  void block(int depth, bool uniform) {
    ++indent_;
    const std::size_t count = 1 + below(3);
    for (std::size_t i = 0; i < count; ++i) statement(depth + 1, uniform);
    --indent_;
  }

  void assign() {
    const Variable& to = variable();
    line("%s = %s;", to.name.c_str(), expression(to.type, 3).c_str());
  }

  void statement(int depth, bool uniform) {
    const std::uint64_t what = below(uniform ? 20 : 14);
    if (depth < 3 && what < 5) return flow(depth, uniform, what);
    switch (what) {
      case 5: {
        const std::string index = expression(kUint, 2);
        if (chance(2)) {
          line("array[%s %% %uu] = %s;", index.c_str(), kArray, expression(array_, 2).c_str());
        } else {
          for (const Variable& each : variables_)
            if (each.type == array_)
              return line("%s = array[%s %% %uu];", each.name.c_str(), index.c_str(), kArray);
        }
        return;
      }
      case 6:
        return atomic();
      case 7:
        return vector();
      case 8:
        return in_scratch();
      case 9: {
        const std::string a = expression(kInt, 2), b = expression(kUlong, 1), c = expression(kFloat, 2);
        const Variable& to = variable();
        // Lanes that wait while others call find their flags overwritten: ocloc 22.43 keeps them where the
        // called function writes those of all lanes.
        const char* const name = uniform ? "helper" : "inlined";
        if (kTypes[to.type].word)
          return line("%s = (%s)%s(%s, %s, %s);", to.name.c_str(), kTypes[to.type].name, name, a.c_str(),
                      b.c_str(), c.c_str());
        return line("%s = convert_%s(%s(%s, %s, %s));", to.name.c_str(), kTypes[to.type].name, name,
                    a.c_str(), b.c_str(), c.c_str());
      }
      case 14:
      case 15:
      case 16:
        return exchange();
      case 17:
      case 18:
      case 19:
        return portable_ ? assign() : sub_group();
      default:
        return assign();
    }
  }

  void flow(int depth, bool uniform, std::uint64_t what) {
    const unsigned number = loops_++;
    if (what == 4 && uniform) {  // the same turns for all
      line("for (uint k%u = 0; k%u < %zuu; ++k%u) {", number, number, static_cast<std::size_t>(1 + below(4)),
           number);
      block(depth, true);
      return line("}");
    }
    switch (what) {
      case 0:
      case 1:
        line("if %s {", condition(2).c_str());
        block(depth, false);
        if (chance(2)) {
          line("} else {");
          block(depth, false);
        }
        return line("}");
      case 2: {
        line("for (uint k%u = 0; k%u < (%s & 7u); ++k%u) {", number, number, expression(kUint, 2).c_str(),
             number);
        block(depth, false);
        if (chance(2)) {
          ++indent_;
          line("if %s %s;", condition(1).c_str(), chance(2) ? "break" : "continue");
          --indent_;
          block(depth, false);
        }
        return line("}");
      }
      case 3: {
        line("switch (%s & 3u) {", expression(kUint, 2).c_str());
        for (unsigned each = 0; each < 3; ++each) {
          line(each == 2 ? "  default: {" : "  case %u: {", each);
          ++indent_;
          block(depth, false);
          --indent_;
          if (!chance(3)) line("    break;");
          line("  }");
        }
        return line("}");
      }
      default:
        line("uint k%u = %s & 15u;", number, expression(kUint, 2).c_str());
        line("do {");
        block(depth, false);
        line("} while (k%u-- > 3u && %s);", number, condition(1).c_str());
    }
  }

  void atomic() {
    // The operation follows from the word.
    constexpr std::array kHow{"add", "min", "max", "and", "or", "xor"};
    const std::size_t place = below(kAtomics);
    const std::string value = expression(kInt, 2);
    line("atomic_%s(atomics + %zu, %s);", kHow[place % kHow.size()], place, value.c_str());
  }

  void vector() {
    const Variable& to = variable();
    const Type& of = kTypes[to.type];
    const std::string a = expression(to.type, 1), b = expression(to.type, 1), c = expression(to.type, 1);
    constexpr std::array kTurned{"wzyx", "yxwz", "xxzz", "zwxy"};
    const unsigned number = loops_++;
    line("%s4 x%u = (%s4)(%s, %s, %s, %s);", of.name, number, of.name, a.c_str(), b.c_str(), c.c_str(),
         to.name.c_str());
    const char* const turned = kTurned[below(4)];
    if (of.word && of.is_signed)
      line("x%u ^= x%u.%s;", number, number, turned);
    else
      line("x%u = x%u %s x%u.%s;", number, number, chance(2) ? "+" : "*", number, turned);
    line("%s = x%u.%c;", to.name.c_str(), number, "xyzw"[below(4)]);
  }

  // What ocloc 22.43 knows to have been stored where it loads it does not cut to the bytes that are loaded.
  void in_scratch() {
    const Variable& to = variable();
    const Type& of = kTypes[to.type];
    const std::size_t elements = kScratch / (of.bits / 8);
    const std::string index = expression(kUint, 2);
    std::string value = expression(to.type, 2);
    if (!of.word) {  // other types see its bits
      line("%s = %s;", to.name.c_str(), value.c_str());
      line("if (isnan(%s) || %s == 0) %s = 0;", to.name.c_str(), to.name.c_str(), to.name.c_str());
      value = to.name;
    }
    if (chance(2)) {
      line("((global %s*)scratch)[%s %% %zuu] = %s;", of.name, index.c_str(), elements, value.c_str());
      line("%s = ((global %s*)scratch)[(%s ^ at >> 16) %% %zuu];", to.name.c_str(), of.name,
           expression(kUint, 1).c_str(), elements);
    } else {
      // Vectors need only their elements' alignment.
      line("vstore3((%s3)(%s, %s, %s), 0, (global %s*)scratch + %s %% %zuu);", of.name, value.c_str(),
           to.name.c_str(), value.c_str(), of.name, index.c_str(), elements - 3);
      line("%s = vload4(0, (global %s*)scratch + (%s ^ at >> 16) %% %zuu).%c;", to.name.c_str(), of.name,
           expression(kUint, 1).c_str(), elements - 4, "xyzw"[below(4)]);
    }
    // What is read as a float may be none.
    if (!of.word) line("if (isnan(%s)) %s = 0;", to.name.c_str(), to.name.c_str());
  }

  void exchange() {
    const Variable& to = variable();
    const Type& of = kTypes[to.type];
    const unsigned number = loops_++;
    locals_ += format("  local %s l%u[%u];\n", of.name, number, kGroupItems);
    line("l%u[item] = %s;", number, expression(to.type, 2).c_str());
    line("barrier(CLK_LOCAL_MEM_FENCE);");
    const std::string index = chance(2) ? format("item ^ %zuu", static_cast<std::size_t>(below(kGroupItems)))
                                        : "(" + expression(kUint, 1) + ")";
    line("%s = l%u[(%s) %% %uu];", to.name.c_str(), number, index.c_str(), kGroupItems);
    line("barrier(CLK_LOCAL_MEM_FENCE);");
  }

  void sub_group() {
    const Variable& to = variable();
    const Type& of = kTypes[to.type];
    const std::uint64_t what = below(10);
    const std::string value = expression(to.type, 2);
    if (what == 0)
      return line("%s = sub_group_%s(%s) ? %s : %s;", to.name.c_str(), chance(2) ? "any" : "all",
                  condition(1).c_str(), value.c_str(), to.name.c_str());
    const bool wide = of.bits >= 32;
    if (what < 5 && wide && of.word) {
      constexpr std::array kWays{"reduce", "scan_inclusive", "scan_exclusive"};
      constexpr std::array kHow{"add", "min", "max"};
      const char *const way = kWays[below(3)], *const how = kHow[below(3)];
      // What is the same in all lanes ocloc 22.43 reads from the register of one, in branches too, where
      // lanes that went another way have written there: so each lane loads its own.
      return line(
          "((global %s*)scratch)[%uu] = sub_group_%s_%s(%s); %s = ((global %s*)scratch)[%uu ^ at >> 16];",
          of.name, 512 / of.bits - 1, way, how, value.c_str(), to.name.c_str(), of.name, 512 / of.bits - 1);
    }
    // So does it for a lane that it knows, and in bfn it reads each lane's own then.
    if (what < 7 && wide)
      return line("%s = sub_group_broadcast(%s, %zuu ^ get_group_id(0) >> 8);", to.name.c_str(),
                  value.c_str(), static_cast<std::size_t>(below(sub_group_)));
    if (of.bits == 8) return assign();
    if (what == 7)
      return line("%s = intel_sub_group_shuffle_xor(%s, %zuu);", to.name.c_str(), value.c_str(),
                  static_cast<std::size_t>(below(sub_group_)));
    if (what == 8) {
      const char* const way = chance(2) ? "up" : "down";
      return line("%s = intel_sub_group_shuffle_%s(%s, %s, %zuu);", to.name.c_str(), way, to.name.c_str(),
                  value.c_str(), static_cast<std::size_t>(below(sub_group_)));
    }
    line("%s = intel_sub_group_shuffle(%s, (%s ^ at >> 16) %% %uu);", to.name.c_str(), value.c_str(),
         expression(kUint, 1).c_str(), sub_group_);
  }

  /// More values than there are registers, all of them needed until spill_end().
  void spill_begin(std::size_t wide) {
    line("uint w[%zu];", wide);
    line(
        "__attribute__((opencl_unroll_hint(%zu))) for (uint k = 0; k < %zuu; ++k) w[k] = (uint)in[(at + k) "
        "%% %uu] * (2 * k + 1);",
        wide, wide, kItems * kInputs);
  }
  void spill_end(std::size_t wide) {
    line(
        "__attribute__((opencl_unroll_hint(%zu))) for (uint k = 0; k < %zuu; ++k) v%zu = v%zu * 31 + (w[k] ^ "
        "w[(k * 7 + 5) %% %zuu]);",
        wide, wide, kUint, kUint, wide);
  }

  void helper() {
    // A kernel that calls has sub-groups of 16 where it requires 32: ocloc 22.43 does not say so.
    line("%sint helper(int a, ulong b, float c) {", sub_group_ == 32 ? "" : "__attribute__((noinline)) ");
    const std::size_t begin = text_.size();
    line("  uint r = (uint)a;");
    line("  for (ulong k = b & 7; k != 0; --k) {");
    line("    r = r * %zuu + (uint)k;", static_cast<std::size_t>(below(1000)));
    line("    if ((r & %zuu) == 0) return (int)r;", static_cast<std::size_t>(1 + below(15)));
    line("  }");
    line("  return (int)(r ^ (c < %s ? (uint)(b >> 32) : 5u));", constant(kFloat).c_str());
    line("}");
    text_ += "  int inlined(int a, ulong b, float c) {\n" + text_.substr(begin);
  }

  bool sub_group_8_, portable_;
  std::size_t statements_;
  unsigned sub_group_ = 16, loops_ = 0;
  std::size_t array_ = 0;
  std::string locals_;
};

}  // namespace

GeneratedKernel generate_kernel(std::uint64_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace kiln::test
