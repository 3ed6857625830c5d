// SPDX-License-Identifier: MIT
// Walks a SPIR-V module and tells the arguments, SLM and required sizes of each entry point.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>

#include "binary/spirv_operands.hpp"
#include "binary/spirv_pointers.hpp"
#include "kiln/binary.hpp"

namespace kiln {
namespace {

using Words = std::span<const std::uint32_t>;
using Id = std::uint32_t;

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 48;  // bytes; keeps sums of hostile sizes in range
constexpr int kDeepestType = 32;                                // nesting that real kernels stay far below
constexpr std::size_t kMostCallSteps = std::size_t{4} << 20;  // over all kernels; real modules need thousands

struct Layout {
  std::uint64_t size = 0;  // bytes; 0 means not known
  std::uint64_t alignment = 1;
};

struct FunctionFacts {
  Id type = 0;
  std::vector<Id> parameters;  // result ids
  std::set<Id> calls;
  std::set<Id> workgroup_variables;
  bool has_body = false, makes_pointers = false;
};

struct EntryPoint {
  Id function = 0;
  std::string name;
  std::array<std::uint32_t, 3> local_size{}, local_size_hint{};
  std::uint32_t sub_group_size = 0;
};

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

class Walker {
 public:
  Walker(Words module, SpirvUse use) : module_(module), use_(use) {}

  tl::expected<ModuleFacts, BinaryError> walk() {
    if (module_.size() < 5) return fail("file ends inside the SPIR-V header", 0);
    const std::uint32_t version = module_[1];
    if ((version >> 16) != 1) return fail("not a SPIR-V version 1 module", 4);
    for (std::size_t at = 5; at < module_.size();) {
      const std::uint32_t count = module_[at] >> 16;
      if (count == 0 || count > module_.size() - at)
        return fail("instruction of " + std::to_string(count) + " words does not fit the file", at * 4);
      if (!instruction(spv::Op(module_[at] & 0xffff), module_.subspan(at, count)))
        return fail("instruction " + std::to_string(module_[at] & 0xffff) +
                        " has too few words, defines an id twice, or requires a group of no work-items",
                    at * 4);
      at += count;
    }
    if (current_) return fail("file ends inside a function", module_.size() * 4);
    if (entries_.empty() && use_ == SpirvUse::whole) return fail("module has no kernel entry point", 0);
    ModuleFacts facts;
    facts.spirv_version = version;
    facts.capabilities = std::move(capabilities_);
    facts.global_data = size_of(global_variables_);
    facts.constant_data = size_of(constant_variables_);
    for (const EntryPoint& entry : entries_) {
      facts.kernels.push_back(kernel(entry));
      if (missing_function_)
        return fail("function " + std::to_string(missing_function_) +
                        " is called but not there: the file is truncated",
                    module_.size() * 4);
      if (call_steps_ > kMostCallSteps) return fail("the kernels call too many functions to follow", 0);
    }
    return facts;
  }

 private:
  static tl::unexpected<BinaryError> fail(std::string message, std::uint64_t offset) {
    return tl::unexpected(BinaryError{std::move(message), offset});
  }

  bool instruction(spv::Op op, Words w) {
    const auto has = [&](std::size_t words) { return w.size() >= words; };
    if (pointers_.makes_pointer(op, w))
      (current_ ? current_->makes_pointers : constants_make_pointers_) = true;
    switch (op) {
      case spv::OpEntryPoint:
        if (!has(4)) return false;
        if (w[1] != spv::ExecutionModelKernel) return true;
        entries_.push_back({w[2], detail::literal_string(w.subspan(3)), {}, {}, 0});
        return entry_of_.emplace(w[2], entries_.size() - 1).second;
      case spv::OpCapability:
        if (!has(2)) return false;
        capabilities_.push_back(w[1]);
        return true;
      case spv::OpExecutionMode:
        return has(3) && execution_mode(w);
      case spv::OpName:
        if (!has(3)) return false;
        names_[w[1]] = detail::literal_string(w.subspan(2));
        return true;
      case spv::OpDecorate:
        return has(3) && decoration(w);
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
      case spv::OpTypeVector:
      case spv::OpTypeArray:
      case spv::OpTypePointer:
        if (!has(op == spv::OpTypeInt || op == spv::OpTypeVector || op == spv::OpTypeArray ||
                         op == spv::OpTypePointer
                     ? 4
                     : 3))
          return false;
        [[fallthrough]];
      case spv::OpTypeStruct:
      case spv::OpTypeBool:
      case spv::OpTypeFunction:
      case spv::OpTypeImage:
      case spv::OpTypeSampler:
        if (!has(2)) return false;
        types_[w[1]] = w;
        return true;
      case spv::OpConstant:
      case spv::OpSpecConstant:
        if (!has(4)) return false;
        constants_[w[2]] = w[3] | (w.size() > 4 ? std::uint64_t{w[4]} << 32 : 0);
        return true;
      case spv::OpVariable:
        if (!has(4)) return false;
        if (w[3] == spv::StorageClassWorkgroup) workgroup_variables_[w[2]] = w[1];
        if (w[3] == spv::StorageClassCrossWorkgroup) global_variables_.push_back(w[1]);
        if (w[3] == spv::StorageClassUniformConstant) constant_variables_.push_back(w[1]);
        return true;
      case spv::OpFunction:
        if (!has(5)) return false;
        current_ = &functions_[w[2]];
        current_->type = w[4];
        return true;
      case spv::OpFunctionParameter:
        if (!has(3)) return false;
        if (current_) current_->parameters.push_back(w[2]);
        return parameter_types_.emplace(w[2], w[1]).second;
      case spv::OpLabel:
        if (current_) current_->has_body = true;
        return true;
      case spv::OpFunctionEnd:
        current_ = nullptr;
        return true;
      case spv::OpFunctionCall:
        if (!has(4)) return false;
        if (current_) current_->calls.insert(w[3]);
        break;
      default:
        break;
    }
    uses(op, w);
    return true;
  }

  /// Notes which workgroup variables an instruction touches; constant expressions pass theirs on.
  void uses(spv::Op op, Words w) {
    if (!current_ && op != spv::OpSpecConstantOp) return;
    for (const Id id : detail::id_operands(op, w)) {
      Id variable = id;
      if (const auto alias = aliases_.find(id); alias != aliases_.end()) variable = alias->second;
      if (!workgroup_variables_.contains(variable)) continue;
      if (current_)
        current_->workgroup_variables.insert(variable);
      else if (w.size() > 2)
        aliases_[w[2]] = variable;
    }
  }

  bool execution_mode(Words w) {
    const auto found = entry_of_.find(w[1]);
    if (found == entry_of_.end()) return true;
    EntryPoint& entry = entries_[found->second];
    if (w[2] == spv::ExecutionModeLocalSize) {
      if (w.size() < 6) return false;
      entry.local_size = {w[3], w[4], w[5]};
      if (w[3] != 0 && (w[4] == 0 || w[5] == 0)) return false;
    } else if (w[2] == spv::ExecutionModeLocalSizeHint) {
      if (w.size() < 6) return false;
      entry.local_size_hint = {w[3], w[4], w[5]};
    } else if (w[2] == spv::ExecutionModeSubgroupSize) {
      if (w.size() < 4) return false;
      entry.sub_group_size = w[3];
    }
    return true;
  }

  bool decoration(Words w) {
    switch (w[2]) {
      case spv::DecorationCPacked:
        packed_.insert(w[1]);
        return true;
      case spv::DecorationAlignment:
        if (w.size() < 4) return false;
        if (std::has_single_bit(w[3])) alignments_[w[1]] = w[3];
        return true;
      case spv::DecorationFuncParamAttr:
        if (w.size() < 4) return false;
        if (w[3] == spv::FunctionParameterAttributeByVal) by_value_.insert(w[1]);
        return true;
      default:
        return true;
    }
  }

  Words type(Id id) const {
    const auto found = types_.find(id);
    return found == types_.end() ? Words{} : found->second;
  }
  static spv::Op op(Words w) { return w.empty() ? spv::OpNop : spv::Op(w[0] & 0xffff); }

  /// Size and alignment as OpenCL C lays the type out: three-component vectors take four.
  Layout layout(Id id, int depth = 0) {
    if (depth > kDeepestType) return {};
    // Each type once, so hostile nesting costs no more than its words; unknown while under way, so a type
    // that contains itself ends.
    if (const auto [known, fresh] = layouts_.try_emplace(id); !fresh) return known->second;
    return layouts_[id] = new_layout(type(id), depth);
  }

  Layout new_layout(Words w, int depth) {
    switch (op(w)) {
      case spv::OpTypeBool:
        return {1, 1};
      case spv::OpTypeInt:
      case spv::OpTypeFloat: {
        const std::uint64_t bytes = std::bit_ceil((std::min<std::uint64_t>(w[2], 64) + 7) / 8);
        return {bytes, bytes};
      }
      case spv::OpTypeVector: {
        const Layout element = layout(w[2], depth + 1);
        if (element.size > kLargestSize) return {};
        const std::uint64_t bytes = element.size * std::bit_ceil(std::min<std::uint64_t>(w[3], 16));
        return {bytes, std::max<std::uint64_t>(bytes, 1)};
      }
      case spv::OpTypePointer:
        return {8, 8};
      case spv::OpTypeArray: {
        const Layout element = layout(w[2], depth + 1);
        const auto length = constants_.find(w[3]);
        if (length == constants_.end() || (element.size && length->second > kLargestSize / element.size))
          return {};
        return {element.size * length->second, element.alignment};
      }
      case spv::OpTypeStruct:
        return structure(w, depth);
      default:
        return {};
    }
  }

  Layout structure(Words w, int depth) {
    const bool packed = packed_.contains(w[1]);
    Layout sum;
    for (const Id member : w.subspan(2)) {
      const Layout part = layout(member, depth + 1);
      if (part.size == 0 || sum.size > kLargestSize) return {};
      const std::uint64_t alignment = packed ? 1 : part.alignment;
      sum.size = align_up(sum.size, alignment) + part.size;
      sum.alignment = std::max(sum.alignment, alignment);
    }
    sum.size = align_up(sum.size, sum.alignment);
    return sum;
  }

  /// Bytes behind the pointer types of variables; those of unknown size, such as images, count nothing.
  std::uint64_t size_of(const std::vector<Id>& pointers) {
    std::uint64_t sum = 0;
    for (const Id id : pointers)
      if (const Words pointer = type(id); op(pointer) == spv::OpTypePointer)
        sum = std::min(sum + layout(pointer[3]).size, kLargestSize);
    return sum;
  }

  ArgumentFacts argument(Id id) {
    ArgumentFacts facts;
    if (const auto name = names_.find(id); name != names_.end()) facts.name = name->second;
    const Id type_id = parameter_types_.at(id);
    const Words w = type(type_id);
    if (op(w) == spv::OpTypeImage || op(w) == spv::OpTypeSampler) {
      facts.kind = op(w) == spv::OpTypeImage ? ArgumentKind::image : ArgumentKind::sampler;
      return facts;
    }
    if (op(w) != spv::OpTypePointer) {
      const Layout value = layout(type_id);
      facts.kind = value.size ? ArgumentKind::value : ArgumentKind::other;
      facts.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(value.size, UINT32_MAX));
      return facts;
    }
    const Layout pointee = layout(w[3]);
    switch (w[2]) {
      case spv::StorageClassWorkgroup:
        facts.kind = ArgumentKind::local_pointer;
        facts.local_alignment =
            static_cast<std::uint32_t>(std::bit_ceil(std::clamp<std::uint64_t>(pointee.alignment, 1, 4096)));
        break;
      case spv::StorageClassFunction:
        facts.kind = ArgumentKind::value;
        facts.size = static_cast<std::uint32_t>(
            by_value_.contains(id) ? std::min<std::uint64_t>(pointee.size, UINT32_MAX) : 8);
        break;
      case spv::StorageClassCrossWorkgroup:
      case spv::StorageClassUniformConstant:
      case spv::StorageClassGeneric:
        facts.kind = ArgumentKind::global_pointer;
        facts.size = 8;
        break;
      default:
        facts.kind = ArgumentKind::other;
        break;
    }
    return facts;
  }

  KernelFacts kernel(const EntryPoint& entry) {
    KernelFacts facts;
    facts.name = entry.name;
    facts.required_group_size = entry.local_size;
    facts.group_size_hint = entry.local_size_hint;
    facts.required_sub_group_size = entry.sub_group_size;
    std::set<Id> seen, variables;
    std::vector<Id> open{entry.function};
    facts.may_follow_pointers = constants_make_pointers_;
    while (!open.empty() && call_steps_ <= kMostCallSteps) {
      const Id id = open.back();
      open.pop_back();
      const auto function = functions_.find(id);
      if (function == functions_.end()) missing_function_ = id;
      if (!seen.insert(id).second || function == functions_.end()) continue;
      facts.may_follow_pointers |= function->second.makes_pointers || !function->second.has_body;
      call_steps_ += 1 + function->second.calls.size() + function->second.workgroup_variables.size();
      variables.insert(function->second.workgroup_variables.begin(),
                       function->second.workgroup_variables.end());
      open.insert(open.end(), function->second.calls.begin(), function->second.calls.end());
    }
    for (const Id variable : variables) {
      const Words pointer = type(workgroup_variables_.at(variable));
      if (op(pointer) != spv::OpTypePointer) continue;
      Layout storage = layout(pointer[3]);
      if (const auto alignment = alignments_.find(variable); alignment != alignments_.end())
        storage.alignment = std::max<std::uint64_t>(storage.alignment, alignment->second);
      facts.static_slm = std::min(align_up(facts.static_slm, storage.alignment) + storage.size, kLargestSize);
    }
    if (const auto function = functions_.find(entry.function); function != functions_.end()) {
      for (const Id parameter : function->second.parameters) {
        facts.arguments.push_back(argument(parameter));
        const Id type_id = parameter_types_.at(parameter);
        facts.may_follow_pointers |=
            op(type(type_id)) != spv::OpTypePointer && pointers_.holds_pointer(type_id);
      }
      facts.arguments_known = true;
    }
    return facts;
  }

  Words module_;
  SpirvUse use_;
  std::vector<EntryPoint> entries_;
  std::vector<std::uint32_t> capabilities_;
  std::unordered_map<Id, std::size_t> entry_of_;  // function → place in entries_
  std::unordered_map<Id, std::string> names_;
  std::unordered_map<Id, Words> types_;
  std::unordered_map<Id, std::uint64_t> constants_;
  std::unordered_map<Id, std::uint32_t> alignments_;
  std::unordered_map<Id, Id> parameter_types_;
  std::unordered_map<Id, Id> aliases_;
  std::map<Id, Id> workgroup_variables_;                   // variable → pointer type
  std::vector<Id> global_variables_, constant_variables_;  // the pointer types
  std::map<Id, FunctionFacts> functions_;
  std::set<Id> packed_, by_value_;
  detail::PointerOrigins pointers_;
  bool constants_make_pointers_ = false;
  FunctionFacts* current_ = nullptr;
  std::unordered_map<Id, Layout> layouts_;
  std::size_t call_steps_ = 0;
  Id missing_function_ = 0;
};

}  // namespace

tl::expected<ModuleFacts, BinaryError> read_spirv(std::span<const std::byte> file, SpirvUse use) {
  if (file.empty()) return tl::unexpected(BinaryError{"file is empty", 0});
  if (identify(file) != BinaryFormat::spirv) return tl::unexpected(BinaryError{"no SPIR-V magic number", 0});
  if (file[0] == std::byte{0x07}) return tl::unexpected(BinaryError{"big-endian SPIR-V is not supported", 0});
  if (file.size() % 4 != 0)
    return tl::unexpected(BinaryError{"SPIR-V is made of 4-byte words, the file has " +
                                          std::to_string(file.size()) + " bytes: it is truncated",
                                      file.size()});
  std::vector<std::uint32_t> words(file.size() / 4);  // a copy, since the file's bytes need not be aligned
  std::memcpy(words.data(), file.data(), file.size());
  return Walker(words, use).walk();
}

}  // namespace kiln
