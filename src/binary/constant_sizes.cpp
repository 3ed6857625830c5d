// SPDX-License-Identifier: MIT
// A walk over a SPIR-V module that finds the widths of its specialization constants.
#include "binary/constant_sizes.hpp"

#include <cstring>
#include <spirv/unified1/spirv.hpp>

namespace kiln::detail {
namespace {

constexpr std::size_t kHeaderWords = 5;

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

}  // namespace

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
    switch (first & spv::OpCodeMask) {
      case spv::OpDecorate:
        if (count >= 4 && operand(2) == spv::DecorationSpecId) spec_ids[operand(1)] = operand(3);
        break;
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
        if (count >= 3) type_sizes[operand(1)] = operand(2) / 8;
        break;
      case spv::OpSpecConstantTrue:
      case spv::OpSpecConstantFalse:
        if (count >= 3)
          if (const auto found = spec_ids.find(operand(2)); found != spec_ids.end()) sizes[found->second] = 1;
        break;
      case spv::OpSpecConstant:
        if (count >= 4)
          if (const auto found = spec_ids.find(operand(2)); found != spec_ids.end())
            sizes[found->second] = type_sizes[operand(1)];
        break;
      case spv::OpFunction:
        return sizes;  // constants stand before the first function
      default:
        break;
    }
    at += count;
  }
  return sizes;
}

}  // namespace kiln::detail
