// SPDX-License-Identifier: MIT
// Reads libiga64's text of an instruction, a word at a time.
#include "xe/instruction.hpp"

#include <algorithm>

#include "support/digits.hpp"

namespace kiln::xe {
namespace {

struct TypeName {
  std::string_view name;
  std::uint8_t size;
};
// In the order of Type.
constexpr std::array<TypeName, 24> kTypes{
    {{"", 0},   {"ub", 1}, {"b", 1},  {"uw", 2}, {"w", 2},  {"ud", 4},   {"d", 4},   {"uq", 8},
     {"q", 8},  {"hf", 2}, {"bf", 2}, {"f", 4},  {"df", 8}, {"tf32", 4}, {"bf8", 1}, {"hf8", 1},
     {"u1", 0}, {"u2", 0}, {"s2", 0}, {"u4", 0}, {"s4", 0}, {"u8", 1},   {"s8", 1},  {"", 0}}};

Type type_of(std::string_view name) {
  const auto found = std::find_if(kTypes.begin() + 1, kTypes.end() - 1,
                                  [&](const TypeName& each) { return each.name == name; });
  return static_cast<Type>(found - kTypes.begin());  // the end stands for `other`
}

/// Takes words from the front of a line.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) { skip(); }
  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] char first() const { return left_.empty() ? '\0' : left_.front(); }
  /// Up to the next blank that stands in no bracket.
  std::string_view take() {
    std::size_t end = 0;
    int depth = 0;
    for (; end < left_.size() && (depth > 0 || left_[end] != ' '); ++end) {
      const char c = left_[end];
      if (c == '[' || c == '<' || c == '(' || c == '{') ++depth;
      if (c == ']' || c == '>' || c == ')' || c == '}') --depth;
    }
    const auto word = left_.substr(0, end);
    left_.remove_prefix(end);
    skip();
    return word;
  }
  [[nodiscard]] std::string_view rest() const { return left_; }

 private:
  void skip() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t"), left_.size())); }
  std::string_view left_;
};

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// A number at the front, up to `most`.
template <class T>
bool take_number(std::string_view& text, T& value, std::uint64_t most) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = detail::parse_digits(text.substr(0, end));
  if (!number || *number > most) return false;
  value = static_cast<T>(*number);
  text.remove_prefix(end);
  return true;
}

/// "f0.1"
bool take_flag(std::string_view& text, std::uint8_t& flag, std::uint8_t& element) {
  return take_prefix(text, "f") && take_number(text, flag, 255) && take_prefix(text, ".") &&
         take_number(text, element, 255);
}

/// "W&~f0.0.any16h" without its brackets.
bool read_guard(std::string_view text, Instruction& to) {
  to.all_lanes = take_prefix(text, "W");
  if (to.all_lanes && text.empty()) return true;
  if (to.all_lanes && !take_prefix(text, "&")) return false;
  Predicate predicate;
  predicate.inverted = take_prefix(text, "~");
  if (!take_flag(text, predicate.flag, predicate.element)) return false;
  if (!text.empty() && !take_prefix(text, ".")) return false;
  predicate.rule = text;
  to.predicate = std::move(predicate);
  return true;
}

/// "16|M8" without its brackets.
bool read_lanes(std::string_view text, Instruction& to) {
  return take_number(text, to.lanes, 32) && to.lanes != 0 && take_prefix(text, "|M") &&
         take_number(text, to.first_lane, 31) && text.empty();
}

/// "<8;8,1>", "<8;1>", "<1>", and "<1,0>" of a register whose rows a0 addresses one by one.
bool take_region(std::string_view& text, Operand& operand, bool is_result) {
  Region& region = operand.region;
  if (!take_prefix(text, "<")) return true;
  std::uint8_t first = 0, second = 0;
  if (!take_number(text, first, 64)) return false;
  if (take_prefix(text, ";")) {
    if (!take_number(text, second, 64)) return false;
    if (take_prefix(text, ",")) {
      region = {first, second, 0};
      if (!take_number(text, region.horizontal, 64)) return false;
    } else {  // of three-source forms, where the width follows
      const std::uint8_t width =
          second == 0 || first < second ? 1 : static_cast<std::uint8_t>(first / second);
      region = {first, width, second};
    }
  } else if (take_prefix(text, ",")) {
    region = {0, first, 0};
    operand.rows = true;
    if (!take_number(text, region.horizontal, 64)) return false;
  } else {
    region = is_result ? Region{0, 32, first} : Region{first, 1, 0};
  }
  return region.width != 0 && take_prefix(text, ">");
}

struct FileName {
  std::string_view name;
  File file;
};
// Longer names first: "acc" begins as "a" does. iga_types_ext.hpp has them.
constexpr std::array<FileName, 17> kFiles{{{"acc", File::accumulator},
                                           {"mme", File::accumulator},
                                           {"null", File::null},
                                           {"msg", File::other},
                                           {"dbg", File::other},
                                           {"tdr", File::other},
                                           {"ce", File::other},
                                           {"cr", File::other},
                                           {"fc", File::other},
                                           {"ip", File::other},
                                           {"sp", File::other},
                                           {"sr", File::other},
                                           {"tm", File::other},
                                           {"a", File::address},
                                           {"f", File::flag},
                                           {"n", File::other},
                                           {"s", File::other}}};

bool read_register(std::string_view text, Operand& operand, bool is_result) {
  if (take_prefix(text, "r[")) {  // r[a0.2,16]
    operand.file = File::general;
    operand.indirect = true;
    if (!take_prefix(text, "a0.") || !take_number(text, operand.address, 31)) return false;
    if (take_prefix(text, ",")) {
      const bool is_minus = take_prefix(text, "-");
      if (!take_number(text, operand.displacement, INT16_MAX)) return false;
      if (is_minus) operand.displacement = static_cast<std::int16_t>(-operand.displacement);
    }
    if (!take_prefix(text, "]")) return false;
  } else if (text.size() > 1 && text[0] == 'r' && text[1] >= '0' && text[1] <= '9') {
    operand.file = File::general;
    text.remove_prefix(1);
    if (!take_number(text, operand.number, 1023)) return false;
  } else {
    const auto found =
        std::ranges::find_if(kFiles, [&](const FileName& each) { return text.starts_with(each.name); });
    if (found == kFiles.end()) return false;
    text.remove_prefix(found->name.size());
    operand.file = found->file;
    operand.name = found->name;
    if (!text.empty() && text[0] >= '0' && text[0] <= '9' && !take_number(text, operand.number, 1023))
      return false;
  }
  if (take_prefix(text, ".")) {
    // mme registers and those of math macros have a name behind the point: r10.mme0
    if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      if (!take_number(text, operand.element, 1023)) return false;
    } else {
      std::uint8_t macro = 8;
      if (!take_prefix(text, "nomme") && !(take_prefix(text, "mme") && take_number(text, macro, 7)))
        return false;
      operand.macro = macro;
    }
  }
  if (!take_region(text, operand, is_result)) return false;
  if (text.empty()) return true;
  if (!take_prefix(text, ":") || text.empty()) return false;
  if (text[0] >= '0' && text[0] <= '9') {
    std::uint8_t count = 0;
    if (!take_number(text, count, 64)) return false;
    operand.registers = count;
    return text.empty();
  }
  operand.type = type_of(text);
  return true;
}

constexpr std::array<std::string_view, 3> kVectors{"v", "uv", "vf"};

/// "0x4C0:uw", "1:w", "1.5:f": the bits where they are written as a whole number.
bool read_immediate(std::string_view text, Operand& operand) {
  const auto colon = text.rfind(':');
  operand.file = File::immediate;
  std::string_view number = text.substr(0, colon);
  if (colon != text.npos) {
    operand.type = type_of(text.substr(colon + 1));
    const auto packed = std::ranges::find(kVectors, text.substr(colon + 1));
    if (packed != kVectors.end()) operand.name = *packed;
  }
  if (number.empty()) return false;
  const auto bits =
      number.starts_with("0x") ? detail::parse_digits(number.substr(2), 16) : detail::parse_digits(number);
  if (bits) operand.value = *bits;
  return bits || number.find_first_of(".ein") != number.npos;  // 1.5, 2e-5, inf, qnan(0x1FF)
}

bool read_operand(std::string_view text, Operand& operand, bool is_result) {
  operand.saturated = take_prefix(text, "(sat)");
  const bool minus = take_prefix(text, "-"), inverse = !minus && take_prefix(text, "~");
  operand.absolute = take_prefix(text, "(abs)");
  operand.negated = minus || inverse;
  if (text.empty()) return false;
  if (text[0] == 'L' && text.size() > 1 && text[1] >= '0' && text[1] <= '9') {
    text.remove_prefix(1);
    operand.file = File::label;
    return take_number(text, operand.value, UINT32_MAX) && text.empty();
  }
  if ((text[0] >= '0' && text[0] <= '9') || text.starts_with("inf") || text.starts_with("qnan") ||
      text.starts_with("snan"))
    return read_immediate(text, operand);
  if (text.starts_with("($")) {  // of sync: the scoreboard's numbers
    operand.file = File::other;
    return text.ends_with(')');
  }
  return read_register(text, operand, is_result);
}

/// An immediate, or a register with it.
bool read_descriptor(std::string_view text, Descriptor& descriptor) {
  Operand operand;
  if (const auto colon = text.find(":a0."); colon != text.npos) {
    if (!read_immediate(text.substr(0, colon), operand) || operand.value > UINT32_MAX) return false;
    descriptor.beside = static_cast<std::uint32_t>(operand.value);
    text.remove_prefix(colon + 1);
    operand = {};
  }
  if (!read_operand(text, operand, false)) return false;
  descriptor.address = operand.element;
  if (operand.file == File::immediate) {
    if (operand.value > UINT32_MAX) return false;
    descriptor.value = static_cast<std::uint32_t>(operand.value);
  }
  return operand.file == File::immediate || operand.file == File::address || operand.file == File::other;
}

bool read_send(const std::vector<std::string_view>& words, Instruction& to) {
  // result, payload, more payload, extended descriptor, descriptor; what newer releases put elsewhere is no
  // error here: the text stays.
  if (words.size() != 5) return false;
  return read_operand(words[0], to.result, true) && read_operand(words[1], to.sources[0], false) &&
         read_operand(words[2], to.sources[1], false) && read_descriptor(words[3], to.extended) &&
         read_descriptor(words[4], to.descriptor);
}

bool read_operands(const std::vector<std::string_view>& words, Instruction& to) {
  const bool is_sync = to.opcode == "sync";
  std::size_t at = 0;
  // Branches and sync have sources alone, but a call has where it keeps the way back.
  const bool has_result = !is_sync && (!to.is_branch() || to.opcode.starts_with("call"));
  if (has_result && !words.empty() && !read_operand(words[at++], to.result, true)) return false;
  for (std::size_t i = 0; at < words.size(); ++at, ++i)
    if (i == to.sources.size() || !read_operand(words[at], to.sources[i], false)) return false;
  return true;
}

bool read_line(std::string_view line, Instruction& to) {
  if (const auto comment = line.find("//"); comment != line.npos) {
    to.comment = line.substr(std::min(line.find_first_not_of(' ', comment + 2), line.size()));
    line = line.substr(0, comment);
  }
  Words words(line);
  if (words.first() == '(') {
    const auto guard = words.take();
    if (guard.size() < 3 || !read_guard(guard.substr(1, guard.size() - 2), to)) return false;
  }
  const auto name = words.take();
  const auto point = name.find('.');
  to.opcode = name.substr(0, point);
  if (point != name.npos) to.control = name.substr(point + 1);
  if (to.opcode.empty() ||
      to.opcode.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != to.opcode.npos)
    return false;
  if (words.first() == '(' && !words.rest().starts_with("($")) {  // sync has its numbers there
    const auto lanes = words.take();
    if (lanes.size() < 3 || !read_lanes(lanes.substr(1, lanes.size() - 2), to)) return false;
  }
  if (words.first() == '(' && !words.rest().starts_with("(sat)") && !words.rest().starts_with("(abs)") &&
      !words.rest().starts_with("($")) {
    auto condition = words.take();  // (lt)f0.0
    const auto close = condition.find(')');
    if (close == condition.npos) return false;
    to.condition = condition.substr(1, close - 1);
    condition.remove_prefix(close + 1);
    if (!condition.empty() && !take_flag(condition, to.condition_flag, to.condition_element)) return false;
  }
  std::vector<std::string_view> operands;
  while (!words.empty() && words.first() != '{') operands.push_back(words.take());
  if (!words.empty()) {
    const auto options = words.take();
    if (options.size() < 2 || options.back() != '}') return false;
    to.options = options.substr(1, options.size() - 2);
  }
  return words.empty() && (to.is_send() ? read_send(operands, to) : read_operands(operands, to));
}

tl::unexpected<NoText> not_understood(std::string reason) {
  return tl::unexpected(NoText{NoText::Kind::unexpected_text, std::move(reason)});
}

}  // namespace

std::string_view to_string(Type type) {
  return type == Type::other ? "packed" : kTypes[static_cast<std::size_t>(type)].name;
}

std::uint32_t size_of(Type type) { return kTypes[static_cast<std::size_t>(type)].size; }

bool is_floating(Type type) { return type >= Type::hf && type <= Type::hf8; }

std::optional<Instruction> read_instruction(std::string_view line) {
  Instruction instruction;
  line = line.substr(0, line.find_last_not_of(" \r\t\n") + 1);
  if (line.empty() || !read_line(line, instruction)) return std::nullopt;
  instruction.size = instruction.has_option("Compacted") ? 8 : 16;
  return instruction;
}

bool Instruction::has_option(std::string_view name) const {
  for (std::string_view left = options; !left.empty();) {
    const std::size_t comma = std::min(left.find(','), left.size());
    if (left.substr(0, comma) == name) return true;
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return false;
}

bool Instruction::is_send() const {
  return opcode == "send" || opcode == "sendc" || opcode == "sends" || opcode == "sendsc" ||
         opcode == "sendg" || opcode == "sendgc";
}

bool Instruction::ends_thread() const { return is_send() && has_option("EOT"); }

bool Instruction::is_branch() const {
  constexpr std::array<std::string_view, 16> kBranches{"brc",  "brd",   "break", "call", "calla", "cont",
                                                       "else", "endif", "goto",  "halt", "if",    "jmpi",
                                                       "join", "ret",   "wait",  "while"};
  return std::ranges::binary_search(kBranches, std::string_view(opcode));
}

tl::expected<std::vector<Instruction>, NoText> read_instructions(std::string_view text, std::uint64_t size) {
  std::vector<Instruction> instructions;
  std::uint64_t offset = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find_last_not_of(" \r\t") + 1);
    if (line.empty()) continue;
    if (std::string_view label = line; take_prefix(label, "L")) {
      std::uint64_t at = 0;
      if (!take_number(label, at, UINT32_MAX) || label != ":" || at != offset)
        return not_understood("a label that stands at byte " + std::to_string(offset) + ": " +
                              std::string(line));
      continue;
    }
    Instruction instruction;
    instruction.offset = static_cast<std::uint32_t>(offset);
    if (!read_line(line, instruction))
      return not_understood("at byte " + std::to_string(offset) + ": " + std::string(line));
    instruction.size = instruction.has_option("Compacted") ? 8 : 16;
    offset += instruction.size;
    instructions.push_back(std::move(instruction));
  }
  if (offset > size || size - offset >= 16)  // what follows the last whole instruction is padding
    return not_understood("the text is of " + std::to_string(offset) + " bytes, the code has " +
                          std::to_string(size));
  return instructions;
}

}  // namespace kiln::xe
