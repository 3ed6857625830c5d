// SPDX-License-Identifier: MIT
// Follows the types of ids through a module and compares them with what the instructions need.
#include "drivers/cpu/compiler/frontend/validate_types.hpp"

#include <algorithm>
#include <iterator>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/frontend/spirv_words.hpp"
#include "drivers/cpu/compiler/frontend/validate_group.hpp"

namespace kiln::cpu {
namespace {

// Source: OpenCL extended instruction set specification, 2.4 (vector data load and store).
constexpr std::uint32_t kVloadn = 171, kVstoreaHalfnR = 181;

Words first(Words words, std::size_t begin, std::size_t count) {
  words = from(words, begin);
  return words.first(std::min(count, words.size()));
}

// Decorations without an effect on values: of debuggers, caches, FPGAs, and of code for vector machines that
// kernels for work-items do not have. Newer than the oldest headers, hence by number. Source: SPIRV-Headers.
constexpr std::uint32_t kWithoutEffect[] = {
    5602,  // ReferencedIndirectlyINTEL
    5608,  // SideEffectsINTEL
    5627,  // StackCallINTEL
    5636,  // UserTypeGOOGLE
    6085,  // SingleElementVectorINTEL
    6168,  // HostAccessINTEL
    6170,  // FPMaxErrorDecorationINTEL
    6442,  // CacheControlLoadINTEL
    6443,  // CacheControlStoreINTEL
};

// Decorations of kernels that the translator reads without surprises.
// Source: SPIR-V specification 3.20 (decoration).
constexpr std::uint32_t kDecorations[] = {
    spv::DecorationSpecId,
    spv::DecorationCPacked,
    spv::DecorationBuiltIn,
    spv::DecorationRestrict,
    spv::DecorationAliased,
    spv::DecorationVolatile,
    spv::DecorationConstant,
    spv::DecorationCoherent,
    spv::DecorationNonWritable,
    spv::DecorationNonReadable,
    spv::DecorationSaturatedConversion,
    spv::DecorationFuncParamAttr,
    spv::DecorationFPRoundingMode,
    spv::DecorationFPFastMathMode,
    spv::DecorationLinkageAttributes,
    spv::DecorationNoContraction,
    spv::DecorationAlignment,
    spv::DecorationMaxByteOffset,
    spv::DecorationRestrictPointer,
    spv::DecorationAliasedPointer,
    spv::DecorationNoSignedWrap,
    spv::DecorationNoUnsignedWrap,
    spv::DecorationUserSemantic,
};

// Scalars of a structure; of an array those of one element. A structure of two such structures, and so on,
// takes LLVM as long as it has members, and a module of a few KB can have 2^63.
constexpr std::uint64_t kMostMembers = 65536;

struct Range {
  std::uint32_t first, last;
};
bool within(std::uint32_t op, std::span<const Range> ranges) {
  return std::ranges::any_of(ranges, [op](Range range) { return range.first <= op && op <= range.last; });
}

// Two operands and the result of one type.
constexpr Range kBinary[] = {
    {spv::OpIAdd, spv::OpFMod},
    {spv::OpShiftRightLogical, spv::OpBitwiseAnd},
    {spv::OpLogicalEqual, spv::OpLogicalAnd},
};
// Two operands of one type.
constexpr Range kCompare[] = {{spv::OpIEqual, spv::OpFUnordGreaterThanEqual}};

}  // namespace

bool is_without_effect(std::uint32_t decoration) {
  return std::ranges::find(kWithoutEffect, decoration) != std::end(kWithoutEffect);
}

std::span<const std::uint32_t> id_operands(Words w) {
  switch (w[0] & 0xffff) {
    case spv::OpFunction:
    case spv::OpVariable:
    case spv::OpLabel:
    case spv::OpLine:
    case spv::OpNoLine:
    case spv::OpLoopMerge:
    case spv::OpSelectionMerge:
    case spv::OpBranch:
    case spv::OpPhi:
      return {};
    case spv::OpSwitch:
    case spv::OpBranchConditional:
      return first(w, 1, 1);
    case spv::OpLoad:
      return first(w, 3, 1);
    case spv::OpStore:
    case spv::OpCopyMemory:
    case spv::OpCopyMemorySized:
      return first(w, 1, 2);
    case spv::OpLifetimeStart:
    case spv::OpLifetimeStop:
      return first(w, 1, 1);
    case spv::OpCompositeExtract:
      return first(w, 3, 1);
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
      return first(w, 3, 2);
    case spv::OpExtInst: {
      // vload and vstore may end with a literal: a number of lanes or a rounding mode.
      const bool has_literal = w.size() > 5 && w[4] >= kVloadn && w[4] <= kVstoreaHalfnR;
      return has_literal ? first(w, 5, w.size() - 6) : from(w, 5);
    }
    case spv::OpSDotKHR:
    case spv::OpUDotKHR:
    case spv::OpSUDotKHR:
      return first(w, 3, 2);  // a format may follow
    case spv::OpSDotAccSatKHR:
    case spv::OpUDotAccSatKHR:
    case spv::OpSUDotAccSatKHR:
      return first(w, 3, 3);
    case spv::OpSpecConstantOp:
      return from(w, 4);
    default: {
      if (is_group_operation(w[0] & 0xffff)) return from(w, 5);  // behind scope and operation, a literal
      bool has_result = false, has_type = false;
      spv::HasResultAndType(static_cast<spv::Op>(w[0] & 0xffff), &has_result, &has_type);
      return from(w, 1u + has_result + has_type);
    }
  }
}

std::string TypeValidator::fault(Words w) {
  const auto operand = [&](std::size_t i) { return i < w.size() ? w[i] : 0; };
  const std::uint32_t op = w[0] & 0xffff;
  std::string out;
  switch (op) {
    case spv::OpName:
    case spv::OpMemberName:
    case spv::OpDecorate:
    case spv::OpMemberDecorate:
      return annotation_fault(w);
    case spv::OpTypeStruct:
      if (const auto found = members_.find(operand(1));
          found != members_.end() && found->second > kMostMembers)
        out = "has more members than the CPU device allows, those of its members counted";
      break;
    case spv::OpVariable:
      out = variable_fault(operand(1), operand(2));
      break;
    case spv::OpFunctionParameter:
      out = parameter_fault(operand(1), operand(2));
      break;
    case spv::OpLoad:
      break;
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpCopyObject:
    case spv::OpBitcast:
    case spv::OpPtrCastToGeneric:
      // Pointers to built-ins: whole, or one lane by a constant.
      if (const auto base = built_ins_.find(operand(3)); base != built_ins_.end())
        out = "derives a pointer from a built-in variable";
      break;
    case spv::OpSelect:
      if (w.size() != 6 || !same_types(from(w, 4)) || type_of(w[4]) != w[1])
        out = "has operands of different types";
      break;
    case spv::OpSDotKHR:
    case spv::OpUDotKHR:
    case spv::OpSUDotKHR:
    case spv::OpSDotAccSatKHR:
    case spv::OpUDotAccSatKHR:
    case spv::OpSUDotAccSatKHR:
      out = dot_fault(w);
      break;
    case spv::OpPtrEqual:
    case spv::OpPtrNotEqual:
    case spv::OpPtrDiff:
      out = pointer_pair_fault(w);
      break;
    case spv::OpConstantFunctionPointerINTEL:
    case spv::OpFunctionPointerCallINTEL:
      out = function_pointer_fault(w);
      break;
    case spv::OpLifetimeStart:
    case spv::OpLifetimeStop: {
      const Type pointer = type(type_of(operand(1)));
      const Type pointee = type(pointer.second);
      if (pointer.op != spv::OpTypePointer || pointer.first != spv::StorageClassFunction)
        out = "is not about a variable of a function";
      else if (operand(2) != 0 && (pointee.op != spv::OpTypeInt || pointee.first != 8))
        out = "has a size that does not fit its pointer";
      break;
    }
    default:
      if (within(op, kBinary) && (w.size() != 5 || !same_types(from(w, 3)) || type_of(w[3]) != w[1]))
        out = "has operands of different types";
      if (std::string group = group_fault(w); !group.empty()) return group;
      if (within(op, kCompare) && (w.size() != 5 || !same_types(from(w, 3))))
        out = "has operands of different types";
      break;
  }
  in_functions_ = in_functions_ || op == spv::OpFunction;
  if (out.empty() && op != spv::OpLoad && (in_functions_ || op == spv::OpSpecConstantOp) && uses_built_in(w))
    out = "uses a built-in variable otherwise than by loading it";
  if (out.empty() && in_functions_ && uses_type(w)) out = "takes something that is not a value for one";
  bool has_result = false, has_type = false;
  spv::HasResultAndType(static_cast<spv::Op>(op), &has_result, &has_type);
  if (has_result) defined_.insert(operand(1u + has_type));
  return out;
}

void TypeValidator::learn(Words w) {
  const auto operand = [&](std::size_t i) { return i < w.size() ? w[i] : 0; };
  const std::uint32_t op = w[0] & 0xffff;
  if (op == spv::OpDecorate && operand(2) == spv::DecorationBuiltIn) built_ins_[operand(1)] = operand(3);
  if (op == spv::OpDecorate && operand(2) == spv::DecorationFuncParamAttr && operand(3) < 32)
    attributes_[operand(1)] |= 1u << operand(3);
  bool has_result = false, has_type = false;
  spv::HasResultAndType(static_cast<spv::Op>(op), &has_result, &has_type);
  if (has_result && has_type && w.size() > 2) type_of_[w[2]] = w[1];
  if (op == spv::OpConstant && w.size() == 4) constants_[w[2]] = w[3];
  if (op == spv::OpFunction) function_types_[operand(2)] = operand(4);
  if (op == spv::OpTypeFunction) {
    const Words words = from(w, 2);
    signatures_[operand(1)] = {words.begin(), words.end()};
  }
  if (op == spv::OpTypeArray) members_[operand(1)] = members_of(operand(2));
  if (op == spv::OpTypeStruct) {
    std::uint64_t count = 0;
    for (const std::uint32_t member : from(w, 2))
      count = std::min(count + members_of(member), kMostMembers + 1);
    members_[operand(1)] = count;
  }
  if (has_result && !has_type && w.size() > 1) {
    type_of_[w[1]] = 0;
    types_[w[1]] = {op, w.size() > 2 ? w[2] : 0, w.size() > 3 ? w[3] : 0};
  }
}

// SPV_KHR_integer_dot_product: two vectors of integers, or two words of four bytes and the format, which
// stands last.
std::string TypeValidator::dot_fault(Words w) const {
  const std::size_t operands = (w[0] & 0xffff) >= spv::OpSDotAccSatKHR ? 6 : 5;
  if (w.size() < operands) return "has too few words";
  const Type whole = type(type_of(w[3])), result = type(w[1]);
  const bool packed = whole.op == spv::OpTypeInt;
  const Type lane = packed ? Type{spv::OpTypeInt, 8, 0} : type(whole.first);
  const bool fits = w.size() == operands + packed && type_of(w[3]) == type_of(w[4]) &&
                    (packed ? whole.first == 32 : whole.op == spv::OpTypeVector) &&
                    lane.op == spv::OpTypeInt && result.op == spv::OpTypeInt && result.first >= lane.first &&
                    (operands == 5 || type_of(w[5]) == w[1]) &&
                    (!packed || w[operands] == spv::PackedVectorFormatPackedVectorFormat4x8BitKHR);
  return fits ? "" : "has operands that are not two of a kind for a dot product";
}

std::string TypeValidator::pointer_pair_fault(Words w) const {
  if (w.size() != 5 || !same_types(from(w, 3)) || type(type_of(w[3])).op != spv::OpTypePointer)
    return "has operands that are not pointers of one type";
  const std::uint32_t result =
      (w[0] & 0xffff) == spv::OpPtrDiff ? std::uint32_t{spv::OpTypeInt} : std::uint32_t{spv::OpTypeBool};
  return type(w[1]).op == result ? "" : "has a result of a wrong type";
}

// SPV_INTEL_function_pointers.
std::string TypeValidator::function_pointer_fault(Words w) const {
  const bool is_call = (w[0] & 0xffff) == spv::OpFunctionPointerCallINTEL;
  if (w.size() < 4) return "has too few words";
  const Type pointer = type(is_call ? type_of(w[3]) : w[1]);
  const auto signature = signatures_.find(pointer.second);
  if (pointer.op != spv::OpTypePointer || signature == signatures_.end())
    return "is not about a pointer to a function";
  if (!is_call) {
    const auto function = function_types_.find(w[3]);
    return function != function_types_.end() && function->second == pointer.second
               ? ""
               : "points to what is no function of its type";
  }
  const std::vector<std::uint32_t>& types = signature->second;
  const Words arguments = from(w, 4);
  const bool fits = !types.empty() && w[1] == types[0] && arguments.size() + 1 == types.size() &&
                    std::ranges::equal(arguments, Words(types).subspan(1), {},
                                       [this](std::uint32_t id) { return type_of(id); });
  return fits ? "" : "has arguments or a result that do not fit the type of its function";
}

std::string TypeValidator::annotation_fault(Words w) const {
  if (w.size() < 3) return "has too few words";
  const bool names = (w[0] & 0xffff) == spv::OpName || (w[0] & 0xffff) == spv::OpMemberName;
  if (defined_.contains(w[1])) return "stands behind what it is about";
  if (names) return {};
  return decoration_fault(from(w, (w[0] & 0xffff) == spv::OpDecorate ? 2 : 3));
}

std::string TypeValidator::decoration_fault(Words decoration) const {
  if (decoration.empty()) return "has too few words";
  const std::uint32_t value = decoration.size() > 1 ? decoration[1] : 0;
  if (is_without_effect(decoration[0])) return {};
  if (std::ranges::find(kDecorations, decoration[0]) == std::end(kDecorations))
    return "has decoration " + std::to_string(decoration[0]) + ", which the CPU device does not know";
  if (decoration[0] == spv::DecorationFuncParamAttr && value > spv::FunctionParameterAttributeNoReadWrite)
    return "has an unknown parameter attribute";
  if (decoration[0] == spv::DecorationFPRoundingMode && value > spv::FPRoundingModeRTN)
    return "has an unknown rounding mode";
  if (decoration[0] == spv::DecorationLinkageAttributes && decoration.back() > spv::LinkageTypeLinkOnceODR)
    return "has a linkage that the CPU device does not know";
  return {};
}

std::string TypeValidator::variable_fault(std::uint32_t type_id, std::uint32_t id) const {
  const auto built_in = built_ins_.find(id);
  if (built_in == built_ins_.end()) return {};
  const Type value = type(type(type_id).second);
  const Type lane = value.op == spv::OpTypeVector ? type(value.first) : value;
  const bool is_size = lane.op == spv::OpTypeInt && lane.first == 64;
  const bool is_triple = value.op == spv::OpTypeVector && value.second == 3;
  switch (built_in->second) {
    case spv::BuiltInNumWorkgroups:
    case spv::BuiltInWorkgroupSize:
    case spv::BuiltInWorkgroupId:
    case spv::BuiltInLocalInvocationId:
    case spv::BuiltInGlobalInvocationId:
    case spv::BuiltInGlobalSize:
    case spv::BuiltInEnqueuedWorkgroupSize:
    case spv::BuiltInGlobalOffset:
      return is_triple && is_size ? "" : "declares a built-in variable with a wrong type";
    case spv::BuiltInLocalInvocationIndex:
    case spv::BuiltInGlobalLinearId:
      return !is_triple && value.op == spv::OpTypeInt && is_size
                 ? ""
                 : "declares a built-in variable with a wrong type";
    case spv::BuiltInSubgroupEqMask:
    case spv::BuiltInSubgroupGeMask:
    case spv::BuiltInSubgroupGtMask:
    case spv::BuiltInSubgroupLeMask:
    case spv::BuiltInSubgroupLtMask:
      return value.op == spv::OpTypeVector && value.second == 4 && lane.op == spv::OpTypeInt &&
                     lane.first == 32
                 ? ""
                 : "declares a built-in variable with a wrong type";
    case spv::BuiltInSubgroupSize:
    case spv::BuiltInSubgroupMaxSize:
    case spv::BuiltInNumSubgroups:
    case spv::BuiltInNumEnqueuedSubgroups:
    case spv::BuiltInSubgroupId:
    case spv::BuiltInSubgroupLocalInvocationId:
    case spv::BuiltInWorkDim:
      return value.op == spv::OpTypeInt && value.first == 32
                 ? ""
                 : "declares a built-in variable with a wrong type";
    default:
      return {};  // refused by name where it is used
  }
}

std::string TypeValidator::parameter_fault(std::uint32_t type_id, std::uint32_t id) const {
  constexpr std::uint32_t kOfIntegers =
      1u << spv::FunctionParameterAttributeZext | 1u << spv::FunctionParameterAttributeSext;
  constexpr std::uint32_t kOfPrivatePointers =
      1u << spv::FunctionParameterAttributeByVal | 1u << spv::FunctionParameterAttributeSret;
  const auto found = attributes_.find(id);
  if (found == attributes_.end()) return {};
  const Type parameter = type(type_id);
  const Type lane = parameter.op == spv::OpTypeVector ? type(parameter.first) : parameter;
  const bool fits =
      lane.op == spv::OpTypeInt || lane.op == spv::OpTypeBool
          ? (found->second & ~kOfIntegers) == 0
          : parameter.op == spv::OpTypePointer && (found->second & kOfIntegers) == 0 &&
                ((found->second & kOfPrivatePointers) == 0 || (parameter.first == spv::StorageClassFunction &&
                                                               type(parameter.second).op != spv::OpTypeVoid));
  return fits ? "" : "has an attribute that does not fit its type";
}

bool TypeValidator::same_types(Words ids) const {
  return ids.size() == 2 && type_of(ids[0]) == type_of(ids[1]) && type_of(ids[0]) != 0;
}

bool TypeValidator::uses_built_in(Words words) const {
  return std::ranges::any_of(id_operands(words),
                             [this](std::uint32_t id) { return built_ins_.contains(id); });
}

bool TypeValidator::uses_type(Words words) const {
  return std::ranges::any_of(id_operands(words), [this](std::uint32_t id) { return types_.contains(id); });
}

std::uint64_t TypeValidator::members_of(std::uint32_t type) const {
  const auto found = members_.find(type);
  return found == members_.end() ? 1 : found->second;
}

TypeValidator::Type TypeValidator::type(std::uint32_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? Type{} : found->second;
}

std::uint32_t TypeValidator::type_of(std::uint32_t id) const {
  const auto found = type_of_.find(id);
  return found == type_of_.end() ? 0 : found->second;
}

}  // namespace kiln::cpu
