// SPDX-License-Identifier: MIT
// Literal strings, alignments and shift-like literals of SPIR-V instructions.
#include "drivers/cpu/compiler/frontend/validate_operands.hpp"

#include <bit>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/frontend/spirv_words.hpp"

namespace kiln::cpu {

// A string ends with a zero byte, and the rest of that word is zero.
std::size_t string_words(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      if ((words[i] >> shift & 0xff) == 0) return words[i] >> shift == 0 ? i + 1 : 0;
  }
  return 0;
}

namespace {

constexpr std::uint32_t kLargestAlignment = 1u << 16;  // bytes; the largest OpenCL type has 128

bool is_alignment(std::uint32_t value) { return std::has_single_bit(value) && value <= kLargestAlignment; }

// Memory operands: a mask of the three bits that kernels use, then the alignment when its bit is set.
// Version 1.4 has copies with one mask for each side, which compilers do not write.
bool memory_operands_fit(Words words) {
  constexpr std::uint32_t kKnown = std::uint32_t{spv::MemoryAccessVolatileMask} |
                                   spv::MemoryAccessAlignedMask | spv::MemoryAccessNontemporalMask;
  if (words.empty()) return true;
  if ((words[0] & ~kKnown) != 0) return false;
  return (words[0] & spv::MemoryAccessAlignedMask) == 0 ? words.size() == 1
                                                        : words.size() == 2 && is_alignment(words[1]);
}

bool decoration_fits(Words words) {
  if (words.empty()) return true;
  if (words[0] == spv::DecorationAlignment) return words.size() > 1 && is_alignment(words[1]);
  if (words[0] == spv::DecorationLinkageAttributes) return string_words(from(words, 1)) + 2 == words.size();
  return true;
}

bool fits(Words w) {
  switch (w[0] & 0xffff) {
    case spv::OpName:
    case spv::OpString:
    case spv::OpExtInstImport:
      return string_words(from(w, 2)) + 2 == w.size();
    case spv::OpSourceExtension:
    case spv::OpSourceContinued:
    case spv::OpExtension:
    case spv::OpModuleProcessed:
      return string_words(from(w, 1)) + 1 == w.size();
    case spv::OpMemberName:
    case spv::OpEntryPoint:
      return string_words(from(w, 3)) != 0;
    case spv::OpSource:
      return w.size() <= 4 || string_words(from(w, 4)) + 4 == w.size();
    case spv::OpDecorate:
      return decoration_fits(from(w, 2));
    case spv::OpMemberDecorate:
      return decoration_fits(from(w, 3));
    case spv::OpBranchConditional:
      return w.size() > 3 && w[2] != w[3];
    case spv::OpLoad:
      return memory_operands_fit(from(w, 4));
    case spv::OpStore:
    case spv::OpCopyMemory:
      return memory_operands_fit(from(w, 3));
    case spv::OpCopyMemorySized:
      return memory_operands_fit(from(w, 4));
    default:
      return true;
  }
}

}  // namespace

std::string_view operand_fault(Words words) {
  return fits(words) ? std::string_view{}
                     : "has a string, an alignment, a memory operand or a label that is not one";
}

}  // namespace kiln::cpu
