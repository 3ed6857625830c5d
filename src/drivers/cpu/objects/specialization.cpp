// SPDX-License-Identifier: MIT
// A walk over a SPIR-V module that finds the widths of its specialization constants.
#include "drivers/cpu/objects/specialization.hpp"

#include <cstring>
#include <spirv/unified1/spirv.hpp11>
#include <unordered_map>

namespace kiln::cpu {
namespace {

constexpr std::size_t kHeaderWords = 5;

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

/// Bytes of each specialization constant, by its SpecId.
std::unordered_map<std::uint32_t, std::size_t> constant_sizes(std::span<const std::byte> spirv) {
  std::unordered_map<std::uint32_t, std::uint32_t> spec_ids;  // result id -> SpecId
  std::unordered_map<std::uint32_t, std::size_t> type_sizes;  // result id -> bytes
  std::unordered_map<std::uint32_t, std::size_t> sizes;
  const std::size_t words = spirv.size() / sizeof(std::uint32_t);
  if (words < kHeaderWords || word_at(spirv, 0) != spv::MagicNumber) return sizes;
  for (std::size_t at = kHeaderWords; at < words;) {
    const std::uint32_t first = word_at(spirv, at);
    const std::size_t count = first >> spv::WordCountShift;
    if (count == 0 || count > words - at) break;
    const auto operand = [&](std::size_t i) { return word_at(spirv, at + i); };
    switch (static_cast<spv::Op>(first & spv::OpCodeMask)) {
      case spv::Op::OpDecorate:
        if (count >= 4 && operand(2) == static_cast<std::uint32_t>(spv::Decoration::SpecId))
          spec_ids[operand(1)] = operand(3);
        break;
      case spv::Op::OpTypeInt:
      case spv::Op::OpTypeFloat:
        if (count >= 3) type_sizes[operand(1)] = operand(2) / 8;
        break;
      case spv::Op::OpSpecConstantTrue:
      case spv::Op::OpSpecConstantFalse:
        if (count >= 3)
          if (const auto found = spec_ids.find(operand(2)); found != spec_ids.end()) sizes[found->second] = 1;
        break;
      case spv::Op::OpSpecConstant:
        if (count >= 4)
          if (const auto found = spec_ids.find(operand(2)); found != spec_ids.end())
            sizes[found->second] = type_sizes[operand(1)];
        break;
      case spv::Op::OpFunction:
        return sizes;  // constants stand before the first function
      default:
        break;
    }
    at += count;
  }
  return sizes;
}

}  // namespace

std::vector<SpecializationConstant> read_constants(std::span<const std::byte> spirv,
                                                   const ze_module_constants_t& constants, std::string& log) {
  std::vector<SpecializationConstant> values;
  if (constants.numConstants == 0 || !constants.pConstantIds || !constants.pConstantValues) return values;
  const auto sizes = constant_sizes(spirv);
  for (std::uint32_t i = 0; i < constants.numConstants; ++i) {
    const std::uint32_t id = constants.pConstantIds[i];
    const void* value = constants.pConstantValues[i];
    const auto found = sizes.find(id);
    if (!value || found == sizes.end() || found->second == 0 || found->second > sizeof(std::uint64_t)) {
      log += "warning: specialization constant " + std::to_string(id) +
             " is not in the module and has no effect\n";
      continue;
    }
    SpecializationConstant constant{id, 0};
    std::memcpy(&constant.bits, value, found->second);
    values.push_back(constant);
  }
  return values;
}

}  // namespace kiln::cpu
