// SPDX-License-Identifier: MIT
// A list of the instructions that pass pointers on; every other one that gives a pointer makes it.
#include "binary/spirv_pointers.hpp"

#include <algorithm>

#include "binary/spirv_operands.hpp"

namespace kiln::detail {
namespace {

// Newer than the headers of Debian 12.
constexpr std::uint32_t kTypeUntypedPointer = 4417, kUntypedVariable = 4418, kFirstUntypedChain = 4419,
                        kLastUntypedChain = 4424;

bool passes_on(std::uint32_t op) {
  switch (op) {
    case spv::OpVariable:
    case spv::OpFunctionParameter:
    case spv::OpFunctionCall:  // its body is looked at
    case spv::OpFunction:
    case spv::OpUndef:
    case spv::OpConstantNull:
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpPtrAccessChain:
    case spv::OpInBoundsPtrAccessChain:
    case spv::OpPhi:
    case spv::OpSelect:
    case spv::OpCopyObject:
    case spv::OpCompositeConstruct:
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
    case spv::OpVectorExtractDynamic:
    case spv::OpVectorInsertDynamic:
    case spv::OpPtrCastToGeneric:
    case spv::OpGenericCastToPtr:
    case spv::OpGenericCastToPtrExplicit:
    case spv::OpCrossWorkgroupCastToPtrINTEL:
    case spv::OpPtrCastToCrossWorkgroupINTEL:
    case spv::OpConstantFunctionPointerINTEL:
    case kUntypedVariable:
      return true;
    default:
      return op >= kFirstUntypedChain && op <= kLastUntypedChain;
  }
}

}  // namespace

void PointerOrigins::add_type(spv::Op op, std::span<const std::uint32_t> words) {
  if (words.size() < 2) return;
  const auto holds = [&](std::span<const std::uint32_t> parts) {
    return std::ranges::any_of(parts, [&](std::uint32_t part) { return holds_pointer(part); });
  };
  switch (static_cast<std::uint32_t>(op)) {
    case spv::OpTypeVoid:
    case spv::OpTypeBool:
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
    case spv::OpTypeImage:
    case spv::OpTypeSampler:
    case spv::OpTypeSampledImage:
    case spv::OpTypeEvent:
      types_[words[1]] = false;
      break;
    case spv::OpTypeVector:
    case spv::OpTypeArray:
      types_[words[1]] = words.size() < 3 || holds_pointer(words[2]);
      break;
    case spv::OpTypeStruct:
      types_[words[1]] = holds(words.subspan(2));
      break;
    case spv::OpTypeForwardPointer:
    case spv::OpTypePointer:
    case kTypeUntypedPointer:
      types_[words[1]] = true;
      break;
    default:
      break;
  }
}

bool PointerOrigins::makes_pointer(spv::Op op, std::span<const std::uint32_t> words) {
  add_type(op, words);
  if (op == spv::OpFunctionPointerCallINTEL || op == spv::OpAsmCallINTEL) return true;
  const ResultWords result = result_words(op);
  if (!result.type || !result.id || words.size() < 3 || !holds_pointer(words[1])) return false;
  pointers_.insert(words[2]);
  if (op == spv::OpBitcast) return words.size() < 4 || !pointers_.contains(words[3]);
  if (op == spv::OpSpecConstantOp) return words.size() < 4 || words[3] == spv::OpConvertUToPtr;
  return !passes_on(op);
}

}  // namespace kiln::detail
