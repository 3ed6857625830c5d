// SPDX-License-Identifier: MIT
// Holds group and sub-group instructions against their signatures.
#include "drivers/cpu/compiler/frontend/validate_group.hpp"

#include <bit>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/frontend/validate_types.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kWidestSubGroup = 32;

}  // namespace

// Source: SPIR-V specification 3.42.21 (group and sub-group instructions), 3.42.24 (non-uniform
// instructions), SPV_INTEL_subgroups, SPV_KHR_uniform_group_instructions.
std::string_view group_signature(std::uint32_t op) {
  switch (op) {
    case spv::OpGroupAll:
    case spv::OpGroupAny:
      return "tsp";
    case spv::OpGroupBroadcast:
      return "vsvl";
    case spv::OpGroupIAdd:
    case spv::OpGroupUMin:
    case spv::OpGroupSMin:
    case spv::OpGroupUMax:
    case spv::OpGroupSMax:
    case spv::OpGroupIMulKHR:
    case spv::OpGroupBitwiseAndKHR:
    case spv::OpGroupBitwiseOrKHR:
    case spv::OpGroupBitwiseXorKHR:
      return "isoi";
    case spv::OpGroupFAdd:
    case spv::OpGroupFMin:
    case spv::OpGroupFMax:
    case spv::OpGroupFMulKHR:
      return "fsof";
    case spv::OpGroupLogicalAndKHR:
    case spv::OpGroupLogicalOrKHR:
    case spv::OpGroupLogicalXorKHR:
      return "bsob";
    case spv::OpGroupNonUniformElect:
      return "tu";
    case spv::OpGroupNonUniformAll:
    case spv::OpGroupNonUniformAny:
      return "tup";
    case spv::OpGroupNonUniformAllEqual:
      return "tux";
    case spv::OpGroupNonUniformBroadcast:
    case spv::OpGroupNonUniformShuffle:
    case spv::OpGroupNonUniformShuffleXor:
    case spv::OpGroupNonUniformShuffleUp:
    case spv::OpGroupNonUniformShuffleDown:
      return "vuvn";
    case spv::OpGroupNonUniformBroadcastFirst:
      return "vuv";
    case spv::OpGroupNonUniformBallot:
      return "wup";
    case spv::OpGroupNonUniformInverseBallot:
      return "tuw";
    case spv::OpGroupNonUniformBallotBitExtract:
      return "tuwn";
    case spv::OpGroupNonUniformBallotBitCount:
      return "nuow";
    case spv::OpGroupNonUniformBallotFindLSB:
    case spv::OpGroupNonUniformBallotFindMSB:
      return "nuw";
    case spv::OpGroupNonUniformIAdd:
    case spv::OpGroupNonUniformIMul:
    case spv::OpGroupNonUniformSMin:
    case spv::OpGroupNonUniformUMin:
    case spv::OpGroupNonUniformSMax:
    case spv::OpGroupNonUniformUMax:
    case spv::OpGroupNonUniformBitwiseAnd:
    case spv::OpGroupNonUniformBitwiseOr:
    case spv::OpGroupNonUniformBitwiseXor:
      return "iucik";
    case spv::OpGroupNonUniformFAdd:
    case spv::OpGroupNonUniformFMul:
    case spv::OpGroupNonUniformFMin:
    case spv::OpGroupNonUniformFMax:
      return "fucfk";
    case spv::OpGroupNonUniformLogicalAnd:
    case spv::OpGroupNonUniformLogicalOr:
    case spv::OpGroupNonUniformLogicalXor:
      return "bucbk";
    case spv::OpSubgroupShuffleINTEL:
    case spv::OpSubgroupShuffleXorINTEL:
      return "vvn";
    case spv::OpSubgroupShuffleDownINTEL:
    case spv::OpSubgroupShuffleUpINTEL:
      return "vvvn";
    case spv::OpSubgroupBlockReadINTEL:
      return "ir";
    case spv::OpSubgroupBlockWriteINTEL:
      return "-Px";
    default:
      return {};
  }
}

std::string TypeValidator::group_fault(std::span<const std::uint32_t> words) const {
  const std::string_view signature = group_signature(words[0] & 0xffff);
  if (signature.empty()) return {};
  const std::size_t before = signature[0] == '-' ? 1 : 3;
  const std::string_view rules = signature.substr(1);
  const bool clusters =
      rules.back() == 'k' && words.size() > 4 && words[4] == spv::GroupOperationClusteredReduce;
  if (words.size() != before + rules.size() - (rules.back() == 'k' && !clusters ? 1 : 0))
    return "has a wrong number of operands";
  const std::uint32_t result = before == 3 ? words[1] : 0;
  if (before == 3 && !group_type_fits(signature[0], result)) return "has a result of a wrong type";
  for (std::size_t i = 0; before + i < words.size(); ++i) {
    const std::uint32_t word = words[before + i];
    if (rules[i] == 'P' ? !points_to_lanes(word, type_of(words[before + i + 1]))
                        : !group_operand_fits(rules[i], word, result))
      return rules[i] == 's' || rules[i] == 'u'
                 ? "has a scope that the CPU device does not have for it"
                 : "has operand " + std::to_string(i) + " of a wrong type or value";
  }
  return {};
}

bool TypeValidator::group_type_fits(char rule, std::uint32_t id) const {
  const Type whole = type(id);
  const bool is_vector = whole.op == spv::OpTypeVector;
  const Type lane = is_vector ? type(whole.first) : whole;
  const bool is_number = lane.op == spv::OpTypeInt || lane.op == spv::OpTypeFloat;
  switch (rule) {
    case 'i':
      return lane.op == spv::OpTypeInt;
    case 'f':
      return lane.op == spv::OpTypeFloat;
    case 'b':
    case 't':
    case 'p':
      return whole.op == spv::OpTypeBool;
    case 'w':
      return is_vector && whole.second == 4 && lane.op == spv::OpTypeInt && lane.first == 32;
    case 'n':
      return whole.op == spv::OpTypeInt && whole.first == 32;
    case 'l':
      return lane.op == spv::OpTypeInt && lane.first >= 32 && (!is_vector || whole.second <= 3);
    case 'v':
    case 'x':
      return is_number || whole.op == spv::OpTypeBool;
    default:
      return false;
  }
}

bool TypeValidator::points_to_lanes(std::uint32_t pointer_id, std::uint32_t value_type) const {
  const Type pointer = type(type_of(pointer_id)), whole = type(value_type);
  const std::uint32_t lane = whole.op == spv::OpTypeVector ? whole.first : value_type;
  return pointer.op == spv::OpTypePointer && pointer.second == lane && type(lane).op == spv::OpTypeInt &&
         (pointer.first == spv::StorageClassCrossWorkgroup || pointer.first == spv::StorageClassWorkgroup);
}

bool TypeValidator::group_operand_fits(char rule, std::uint32_t word, std::uint32_t result) const {
  const auto constant = constants_.find(word);
  const bool is_constant = constant != constants_.end();
  switch (rule) {
    case 's':
      return is_constant &&
             (constant->second == spv::ScopeWorkgroup || constant->second == spv::ScopeSubgroup);
    case 'u':
      return is_constant && constant->second == spv::ScopeSubgroup;
    case 'o':
      return word <= spv::GroupOperationExclusiveScan;
    case 'c':
      return word <= spv::GroupOperationClusteredReduce;
    case 'k':
      return is_constant && std::has_single_bit(constant->second) && constant->second <= kWidestSubGroup;
    case 'r':
      return points_to_lanes(word, result);
    case 'i':
    case 'f':
    case 'b':
    case 'v':
      return type_of(word) == result;
    default:
      return group_type_fits(rule, type_of(word));
  }
}

}  // namespace kiln::cpu
