// SPDX-License-Identifier: MIT
// From an instruction's values to an op: which handler, in which type, on which lanes.
#include <algorithm>

#include "xe/unit/alu/alu.hpp"
#include "xe/unit/alu/systolic.hpp"
#include "xe/unit/flow.hpp"
#include "xe/unit/message/send.hpp"
#include "xe/unit/places.hpp"
#include "xe/unit/special.hpp"

namespace kiln::xe {
namespace {

std::optional<Condition> condition_of(std::string_view name) {
  if (name.empty()) return Condition::none;
  if (name == "eq" || name == "ze") return Condition::eq;
  if (name == "ne" || name == "nz") return Condition::ne;
  if (name == "gt") return Condition::gt;
  if (name == "ge") return Condition::ge;
  if (name == "lt") return Condition::lt;
  if (name == "le") return Condition::le;
  if (name == "un") return Condition::un;
  return std::nullopt;
}

/// "any16h", "all8h", "any": over how many lanes.
std::string read_rule(const std::string& rule, Op& op) {
  if (rule.empty()) return {};
  op.group_all = rule.starts_with("all");
  if (!op.group_all && !rule.starts_with("any")) return "the predicate " + rule;
  const std::string size = rule.substr(3);
  if (size.empty())
    op.group = std::max<std::uint8_t>(op.lanes, 2);
  else if (size == "2h")
    op.group = 2;
  else if (size == "4h")
    op.group = 4;
  else if (size == "8h")
    op.group = 8;
  else if (size == "16h")
    op.group = 16;
  else if (size == "32h")
    op.group = 32;
  else
    return "the predicate " + rule;
  return {};
}

std::string read_guards(const Instruction& from, Op& op) {
  op.lanes = from.lanes;
  op.first = from.first_lane;
  op.all = from.all_lanes;
  op.lane_mask = op.lanes >= 32 ? ~0U : (1U << op.lanes) - 1;
  if (op.lanes == 0 || op.lanes > 32 || op.first + op.lanes > 32) return "lanes beyond 32";
  if (from.predicate) {
    op.predicated = true;
    op.inverted = from.predicate->inverted;
    const std::uint32_t shift = from.predicate->element * 16U + op.first;
    if (from.predicate->flag >= 8 || shift > 31) return "a flag register";
    op.flag = from.predicate->flag;
    op.flag_shift = static_cast<std::uint8_t>(shift);
    if (auto why = read_rule(from.predicate->rule, op); !why.empty()) return why;
  }
  const bool is_macro = from.opcode == "math" && (from.control == "invm" || from.control == "rsqtm");
  const auto condition =
      is_macro && from.condition == "eo" ? std::optional(Condition::early) : condition_of(from.condition);
  if (!condition) return "the condition " + from.condition;
  op.condition = *condition;
  const std::uint32_t shift = from.condition_element * 16U + op.first;
  if (from.condition_flag >= 8 || shift > 31) return "a flag register";
  op.condition_flag = from.condition_flag;
  op.condition_shift = static_cast<std::uint8_t>(shift);
  return {};
}

std::optional<std::int64_t> distance_of(const Operand& operand) {
  if (operand.file != File::immediate && operand.file != File::label) return std::nullopt;
  const auto value = static_cast<std::int64_t>(operand.value);
  return operand.negated ? -value : value;
}

struct Branch {
  std::string_view name;
  Handler run;
  bool has_uip;
};
constexpr std::array<Branch, 12> kBranches{{{"if", flow_if, true},
                                            {"else", flow_else, true},
                                            {"endif", flow_join, false},
                                            {"join", flow_join, false},
                                            {"while", flow_while, false},
                                            {"break", flow_break, true},
                                            {"cont", flow_break, true},
                                            {"halt", flow_break, true},
                                            {"goto", flow_goto, true},
                                            {"jmpi", flow_jump, false},
                                            {"brd", flow_divergent, false},
                                            {"call", flow_call, false}}};

std::string resolve_branch(const Instruction& from, Code::Body& body, Op& op, Jumps& jumps) {
  // Two words of a register keep the way back and whose it is.
  const auto place_link = [&](const Operand& operand, Place& place) {
    const bool known = place_payload(operand, body, place).empty() && !place.null;
    place.at += 4U * operand.element;
    return known && place.at + 8 <= Registers::kGeneral * body.register_bytes;
  };
  if (from.opcode == "ret") {
    op.run = flow_return;
    return place_link(from.sources[0], op.sources[0]) ? std::string() : "a return from no register";
  }
  const auto branch =
      std::ranges::find_if(kBranches, [&](const Branch& each) { return each.name == from.opcode; });
  if (branch == kBranches.end()) return "the branch " + from.opcode;
  op.run = branch->run;
  op.backward = from.control == "b";
  op.loops = from.opcode == "while";
  op.breaks = from.opcode == "break";
  if (op.backward && from.opcode != "goto") return "a branch with branch control";
  if (from.opcode == "call") {
    if (!place_link(from.result, op.result)) return "a call without a register";
    op.resume = op.offset + from.size;
  }
  jumps.jip = distance_of(from.sources[0]);
  if (!jumps.jip) return "a branch to where a register says";
  if (branch->has_uip) {
    jumps.uip = distance_of(from.sources[1]);
    if (!jumps.uip) return "a branch to where a register says";
  }
  return {};
}

std::string resolve_send(const Instruction& from, Code::Body& body, Op& op) {
  for (auto why :
       {place_payload(from.result, body, op.result), place_payload(from.sources[0], body, op.sources[0]),
        place_payload(from.sources[1], body, op.sources[1])})
    if (!why.empty()) return why;
  const Function function = function_of(from.control);
  op.run = send;
  op.unit = static_cast<std::uint8_t>(function);
  op.ends = from.ends_thread();
  op.wide_offset = from.has_option("ExBSO");
  op.has_descriptor = from.descriptor.value.has_value();
  op.has_extended = from.extended.value.has_value();
  op.descriptor = from.descriptor.value.value_or(0);
  op.extended = from.extended.value.value_or(0);
  op.descriptor_address = static_cast<std::uint8_t>(from.descriptor.address);
  op.extended_address = static_cast<std::uint8_t>(from.extended.address);
  op.registers_more = from.sources[1].registers;
  const bool is_lsc = function == Function::ugm || function == Function::slm;
  op.has_offset = is_lsc && body.target.architecture >= 20;
  op.offset_bits = from.extended.beside;
  if (from.extended.beside != 0 && !op.has_offset) return "an immediate beside an extended descriptor";
  if (!op.has_descriptor || !op.has_extended) return {};
  Form form = decode_message(function, op.descriptor, op.extended, op.wide_offset, op.lanes,
                             body.register_bytes, body.older);
  if (op.has_offset) add_offset(form, op.extended, false);
  if (op.registers_more) form.sent_more = *op.registers_more;
  if (form.kind == Form::Kind::unknown) return "a message that it does not have: " + form.why;
  body.forms.push_back(std::move(form));
  op.form = &body.forms.back();
  return {};
}

Type bits_type(Type type) {
  switch (size_of(type)) {
    case 1:
      return Type::ub;
    case 2:
      return Type::uw;
    case 8:
      return Type::uq;
    default:
      return Type::ud;
  }
}

bool is_logic(std::string_view opcode) {
  return opcode == "and" || opcode == "or" || opcode == "xor" || opcode == "not" || opcode == "bfn";
}

struct Classes {
  bool floats = false, doubles = false, halves_only = true, wide = false, has_uq = false, has_q = false;
};
Classes classes_of(const Op& op, std::uint32_t sources) {
  Classes classes;
  for (std::uint32_t i = 0; i < sources; ++i) {
    const Type type = op.sources[i].type;
    classes.floats |= is_floating(type);
    classes.doubles |= type == Type::df;
    classes.halves_only &= type == Type::hf || type == Type::bf;
    classes.wide |= size_of(type) == 8;
    classes.has_uq |= type == Type::uq;
    classes.has_q |= type == Type::q;
  }
  classes.doubles |= classes.floats && op.result.type == Type::df;
  classes.wide |= size_of(op.result.type) == 8;
  return classes;
}

/// Kernels of 8 lanes that call functions set the upper bits of the dispatch mask, sr0.2: lanes that no
/// instruction of theirs has.
bool adds_lanes(const Instruction& from) {
  const Operand &to = from.result, &old = from.sources[0], &more = from.sources[1];
  return from.opcode == "or" && to.name == "sr" && to.number == 0 && to.element == 2 && to.type == Type::ud &&
         from.lanes == 1 && old.name == "sr" && old.number == 0 && old.element == 2 && old.type == Type::ud &&
         !old.negated && more.file == File::immediate && (more.value & 0xff) == 0;
}

/// A choice between a register and itself, into itself: compilers for Xe-HPC write it for the time that it
/// takes.
bool keeps_register(const Instruction& from) {
  const Operand& to = from.result;
  const auto is_result = [&](const Operand& source) {
    bool same = source.file == File::general && source.number == to.number && source.element == to.element &&
                source.type == to.type && !source.indirect && !source.negated && !source.absolute;
    for (std::uint32_t lane = 0; lane < from.lanes; ++lane)
      same = same && lane / source.region.width * source.region.vertical +
                             lane % source.region.width * source.region.horizontal ==
                         lane * to.region.horizontal;
    return same;
  };
  return from.opcode == "csel" && from.condition.empty() && to.file == File::general && !to.indirect &&
         !to.saturated && is_result(from.sources[0]) && is_result(from.sources[1]);
}

std::string resolve_arithmetic(const Instruction& from, Code::Body& body, Op& op) {
  const std::string_view opcode = from.opcode;
  std::uint32_t sources = 0;
  for (; sources < 3 && from.sources[sources].file != File::none; ++sources)
    if (auto why = place_source(from.sources[sources], op.lanes,
                                from.result.region.horizontal * size_of(from.result.type), body,
                                op.sources[sources], op.immediates[sources]);
        !why.empty())
      return why;
  for (std::uint32_t i = 0; i < sources; ++i)
    if (from.sources[i].file == File::immediate) op.is_immediate |= static_cast<std::uint8_t>(1U << i);
  Operand result = from.result;
  if (op.condition == Condition::early) result.macro.reset();  // it is final: nobody reads more of it
  if (auto why = place_result(result, op.lanes, body, op.result, adds_lanes(from)); !why.empty()) return why;
  op.writes_accumulator = from.has_option("AccWrEn");
  op.selects = opcode == "sel";
  // Up to Xe-HPG the upper half of a product is what is asked for with AccWrEn; from Xe-HPC on the lower one
  // has a name.
  op.upper_half = opcode == "mach" && (op.writes_accumulator || body.register_bytes == 64);
  for (std::uint32_t i = 0; i < sources; ++i) {
    const Type type = op.sources[i].type;
    if (is_floating(type) && type != Type::f && type != Type::df && type != Type::hf && type != Type::bf)
      return "a source of type " + std::string(to_string(type));
  }
  const bool plain = !op.result.saturated && op.condition == Condition::none;
  // What is copied keeps its bits, whatever they mean.
  if (opcode == "mov" && plain && is_floating(op.sources[0].type) && op.sources[0].type == op.result.type &&
      !op.sources[0].negated && !op.sources[0].absolute)
    op.sources[0].type = op.result.type = bits_type(op.result.type);
  if (opcode == "sel" && plain && is_floating(op.result.type) && op.sources[0].type == op.result.type &&
      op.sources[1].type == op.result.type &&
      std::none_of(op.sources.begin(), op.sources.begin() + 2,
                   [](const Place& each) { return each.negated || each.absolute; }))
    op.sources[0].type = op.sources[1].type = op.result.type = bits_type(op.result.type);
  const Classes classes = classes_of(op, sources);
  op.is_unsigned = classes.has_uq && !classes.has_q;

  Family family;
  std::uint32_t wanted = 2;
  if (opcode == "math") {
    family = math_family(from.control);
    wanted = from.control == "iqot" || from.control == "irem" ? 2 : 1;
    if ((from.control == "invm" || from.control == "rsqtm") != (op.condition == Condition::early))
      family = {};
    sources = std::min(sources, wanted);
  } else {
    const auto otherwise = [&](auto find) {
      if (!family.i32 && !family.i64 && !family.f && !family.df) family = find(opcode);
    };
    if (classes.floats) family = float_family(opcode);
    otherwise(compare_family);
    otherwise(wide_family);
    otherwise(integer_family);
    otherwise(float_family);
    if (opcode == "mul" && op.result.accumulator && !classes.floats) family = wide_family("mul.acc");
    constexpr std::array<std::string_view, 14> kOne{"mov", "not",  "bfrev", "cbit", "lzd",  "fbl",
                                                    "fbh", "rndd", "rndu",  "rndz", "rnde", "frc"};
    constexpr std::array<std::string_view, 8> kThree{"mad", "add3", "bfn", "bfe", "bfi2", "dp4a", "csel"};
    const auto is_in = [&](const auto& list) { return std::ranges::find(list, opcode) != list.end(); };
    wanted = is_in(kOne) ? 1 : is_in(kThree) ? 3 : 2;
  }
  if (opcode == "bfn") {
    std::uint32_t control = 0;
    for (const char c : from.control.substr(std::min<std::size_t>(2, from.control.size())))
      control = control * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    op.control = static_cast<std::uint8_t>(control);
  }
  const bool saturates_or_flags =
      op.result.saturated ||
      (op.condition != Condition::none &&
       !(is_logic(opcode) && (op.condition == Condition::eq || op.condition == Condition::ne)));
  if (classes.doubles)
    op.run = family.df;
  else if (classes.floats)
    op.run = classes.halves_only && opcode == "mad" ? family.df : family.f;
  else if (family.i32 && !classes.wide && !saturates_or_flags && !op.result.accumulator &&
           !op.writes_accumulator && !is_floating(op.result.type))
    op.run = family.i32;
  else
    op.run = family.i64;
  if (!op.run)
    return "the instruction " + from.opcode + (from.control.empty() ? "" : "." + from.control) +
           " on such operands";
  if (sources != wanted) return "an instruction with " + std::to_string(sources) + " sources";
  if ((opcode == "cmp" || opcode == "csel") && op.condition == Condition::none)
    return "a comparison without condition";
  return {};
}

}  // namespace

std::string resolve_op(const Instruction& from, Code::Body& body, Op& op, Jumps& jumps) {
  if (auto why = read_guards(from, op); !why.empty()) return why;
  if (from.is_branch()) return resolve_branch(from, body, op, jumps);
  if (from.is_send()) return resolve_send(from, body, op);
  if (from.opcode == "nop" || keeps_register(from)) {
    op.run = flow_nothing;
    return {};
  }
  if (from.opcode == "sync") return resolve_sync(from, op);
  if (from.opcode == "dpas" || from.opcode == "dpasw") return resolve_systolic(from, body, op);
  if (auto why = resolve_arithmetic(from, body, op); !why.empty()) return why;
  add_special(op);
  return {};
}

}  // namespace kiln::xe
