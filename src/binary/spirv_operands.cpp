// SPDX-License-Identifier: MIT
// By the kind of instruction; literals must not be mistaken for ids.
#include "binary/spirv_operands.hpp"

#include <algorithm>
#include <cstring>

namespace kiln::detail {

std::string literal_string(std::span<const std::uint32_t> words) {
  const auto* text = reinterpret_cast<const char*>(words.data());
  return {text, strnlen(text, words.size_bytes())};
}

ResultWords result_words(spv::Op op) {
  ResultWords words;
  spv::HasResultAndType(op, &words.id, &words.type);
  return words;
}

std::span<const std::uint32_t> id_operands(spv::Op op, std::span<const std::uint32_t> words) {
  const auto slice = [&](std::size_t first, std::size_t count) {
    first = std::min(first, words.size());
    return words.subspan(first, std::min(count, words.size() - first));
  };
  switch (op) {
    case spv::OpLoad:
      return slice(3, 1);
    case spv::OpStore:
      return slice(1, 2);
    case spv::OpCopyMemory:
      return slice(1, 2);
    case spv::OpCopyMemorySized:
      return slice(1, 3);
    case spv::OpCompositeExtract:
      return slice(3, 1);
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
      return slice(3, 2);
    case spv::OpExtInst:
      return slice(5, words.size());
    case spv::OpLifetimeStart:
    case spv::OpLifetimeStop:
      return slice(1, 1);
    case spv::OpSpecConstantOp:
      return slice(4, words.size());
    case spv::OpSwitch:
    case spv::OpBranchConditional:
    case spv::OpBranch:
    case spv::OpLabel:
    case spv::OpLoopMerge:
    case spv::OpSelectionMerge:
    case spv::OpLine:
    case spv::OpConstant:
    case spv::OpSpecConstant:
      return {};
    case spv::OpGenericCastToPtrExplicit:
      return slice(3, 1);
    default:
      break;
  }
  // With a scope and a literal in front: which kind of reduction or scan.
  const bool reduces = (op >= spv::OpGroupIAdd && op <= spv::OpGroupSMax) ||
                       (op >= spv::OpGroupNonUniformIAdd && op <= spv::OpGroupNonUniformLogicalXor);
  if (reduces) return slice(5, words.size());
  // Of an instruction that these headers do not know every word may be an id.
  const ResultWords result = result_words(op);
  return slice(1u + result.type + result.id, words.size());
}

}  // namespace kiln::detail
