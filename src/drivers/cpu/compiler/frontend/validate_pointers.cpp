// SPDX-License-Identifier: MIT
// Writes conversions, an integer instruction and, for differences, a division in the place of each.
#include "drivers/cpu/compiler/frontend/validate_pointers.hpp"

#include <algorithm>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>
#include <unordered_set>

#include "drivers/cpu/compiler/frontend/spirv_words.hpp"

namespace kiln::cpu {
namespace {

constexpr std::size_t kBound = 3;
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 40;  // bytes
constexpr std::uint64_t kPointerBytes = 8;
constexpr unsigned kDeepest = 64;  // types in types

struct Layout {
  std::uint64_t size = 0, alignment = 1;  // bytes; size 0: not known
};

class Rewriting {
 public:
  explicit Rewriting(Words module) : module_(module), bound_(module[kBound]) {}

  std::vector<std::uint32_t> run(std::string& fault) {
    learn();
    if (!any_) return {module_.begin(), module_.end()};
    if (number_ == 0) declare({4u << 16 | spv::OpTypeInt, number_ = bound_++, 64, 0});
    std::vector<std::uint32_t> body;
    std::size_t functions = 0;  // words before the first one
    for (std::size_t at = kHeaderWords; at < module_.size(); at += module_[at] >> 16) {
      const Words words = module_.subspan(at, module_[at] >> 16);
      const std::uint32_t op = words[0] & 0xffff;
      if (op == spv::OpFunction && functions == 0) functions = body.size();
      if (op != spv::OpPtrEqual && op != spv::OpPtrNotEqual && op != spv::OpPtrDiff) {
        body.insert(body.end(), words.begin(), words.end());
      } else if (!write(words, body)) {
        fault =
            "OpPtrDiff at byte " + std::to_string(at * 4) + " is about pointers to what has no known size";
        return {};
      }
    }
    std::vector<std::uint32_t> out(module_.begin(), module_.begin() + kHeaderWords);
    out[kBound] = bound_;
    const auto middle = body.begin() + static_cast<std::ptrdiff_t>(functions);
    out.insert(out.end(), body.begin(), middle);
    out.insert(out.end(), declarations_.begin(), declarations_.end());
    out.insert(out.end(), middle, body.end());
    return out;
  }

 private:
  void learn() {
    for (std::size_t at = kHeaderWords; at < module_.size(); at += module_[at] >> 16) {
      const Words words = module_.subspan(at, module_[at] >> 16);
      const std::uint32_t op = words[0] & 0xffff;
      any_ |= op == spv::OpPtrEqual || op == spv::OpPtrNotEqual || op == spv::OpPtrDiff;
      bool has_result = false, has_type = false;
      spv::HasResultAndType(static_cast<spv::Op>(op), &has_result, &has_type);
      if (has_result && has_type && words.size() > 2) type_of_[words[2]] = words[1];
      if (has_result && !has_type && words.size() > 1) types_[words[1]] = words;
      if (op == spv::OpConstant && words.size() > 3) constants_[words[2]] = words[3];
      if (op == spv::OpDecorate && words.size() > 2 && words[2] == spv::DecorationCPacked)
        packed_.insert(words[1]);
      if (op == spv::OpTypeInt && words.size() == 4 && words[2] == 64) number_ = words[1];
    }
  }

  void declare(std::initializer_list<std::uint32_t> words) {
    declarations_.insert(declarations_.end(), words);
  }

  bool write(Words w, std::vector<std::uint32_t>& out) {
    const auto emit = [&](std::initializer_list<std::uint32_t> words) {
      out.insert(out.end(), words);
      out[out.size() - words.size()] |= static_cast<std::uint32_t>(words.size()) << 16;
    };
    const std::uint32_t op = w[0] & 0xffff, type = w[1], result = w[2];
    const std::uint32_t left = bound_++, right = bound_++;
    emit({spv::OpConvertPtrToU, number_, left, w[3]});
    emit({spv::OpConvertPtrToU, number_, right, w[4]});
    if (op != spv::OpPtrDiff) {
      emit({op == spv::OpPtrEqual ? std::uint32_t{spv::OpIEqual} : std::uint32_t{spv::OpINotEqual}, type,
            result, left, right});
      return true;
    }
    const std::uint64_t size = layout(pointee(type_of_[w[3]]), 0).size;
    if (size == 0) return false;
    const std::uint32_t bytes = bound_++, divisor = bound_++, count = type == number_ ? result : bound_++;
    declare({5u << 16 | spv::OpConstant, number_, divisor, static_cast<std::uint32_t>(size),
             static_cast<std::uint32_t>(size >> 32)});
    emit({spv::OpISub, number_, bytes, left, right});
    emit({spv::OpSDiv, number_, count, bytes, divisor});
    if (count != result) emit({spv::OpSConvert, type, result, count});
    return true;
  }

  std::uint32_t pointee(std::uint32_t pointer) {
    const Words words = types_[pointer];
    return words.size() == 4 && (words[0] & 0xffff) == spv::OpTypePointer ? words[3] : 0;
  }

  // As LLVM lays types out, which is as OpenCL does.
  Layout layout(std::uint32_t id, unsigned depth) {
    const auto found = types_.find(id);
    if (found == types_.end() || depth > kDeepest) return {};
    const Words w = found->second;
    switch (w[0] & 0xffff) {
      case spv::OpTypeInt:
      case spv::OpTypeFloat: {
        const std::uint64_t bytes = w.size() > 2 ? (std::uint64_t{w[2]} + 7) / 8 : 0;
        return {bytes, std::max<std::uint64_t>(bytes, 1)};
      }
      case spv::OpTypePointer:
        return {kPointerBytes, kPointerBytes};
      case spv::OpTypeVector: {
        if (w.size() < 4) return {};
        const std::uint64_t bytes = layout(w[2], depth + 1).size * (w[3] == 3 ? 4 : w[3]);
        return {bytes, std::max<std::uint64_t>(bytes, 1)};
      }
      case spv::OpTypeArray: {
        if (w.size() < 4 || !constants_.contains(w[3])) return {};
        const Layout element = layout(w[2], depth + 1);
        const std::uint64_t size = element.size * constants_[w[3]];
        return {size <= kLargestSize ? size : 0, element.alignment};
      }
      case spv::OpTypeStruct:
        return structure(w, depth);
      default:
        return {};
    }
  }

  Layout structure(Words w, unsigned depth) {
    Layout all;
    const auto aligned = [](std::uint64_t size, std::uint64_t to) { return (size + to - 1) / to * to; };
    for (const std::uint32_t id : w.subspan(2)) {
      Layout member = layout(id, depth + 1);
      if (member.size == 0 || all.size > kLargestSize) return {};
      if (packed_.contains(w[1])) member.alignment = 1;
      all.alignment = std::max(all.alignment, member.alignment);
      all.size = aligned(all.size, member.alignment) + member.size;
    }
    all.size = aligned(all.size, all.alignment);
    return all;
  }

  Words module_;
  std::uint32_t bound_;
  bool any_ = false;
  std::uint32_t number_ = 0;  // the type of 64-bit integers
  std::vector<std::uint32_t> declarations_;
  std::unordered_map<std::uint32_t, Words> types_;
  std::unordered_map<std::uint32_t, std::uint32_t> type_of_, constants_;
  std::unordered_set<std::uint32_t> packed_;
};

}  // namespace

std::vector<std::uint32_t> with_pointers_as_numbers(Words module, std::string& fault) {
  return Rewriting(module).run(fault);
}

}  // namespace kiln::cpu
