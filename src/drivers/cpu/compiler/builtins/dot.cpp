// SPDX-License-Identifier: MIT
// Integer dot products (SPV_KHR_integer_dot_product), of vectors and of four bytes in a word.
#include "drivers/cpu/compiler/builtins/emitter.hpp"

namespace kiln::cpu {
namespace {

using llvm::Type;
using llvm::Value;

/// The lanes of `word`, which is a vector or four bytes, as wide as the result.
std::vector<Value*> wide_lanes(Emitter& e, Value* word, bool with_sign) {
  if (!is_vector(word)) word = e.b.CreateBitCast(word, llvm::FixedVectorType::get(e.b.getInt8Ty(), 4));
  std::vector<Value*> out;
  for (unsigned i = 0; i < lanes(word->getType()); ++i) {
    Value* lane = e.b.CreateExtractElement(word, i);
    out.push_back(with_sign ? e.b.CreateSExt(lane, e.result) : e.b.CreateZExt(lane, e.result));
  }
  return out;
}

// What overflows before the last addition is undefined, so that the result's width is enough for all.
template <bool first_signed, bool second_signed>
Value* dot(Emitter& e) {
  const std::vector<Value*> first = wide_lanes(e, e.args[0], first_signed),
                            second = wide_lanes(e, e.args[1], second_signed);
  Value* sum = llvm::ConstantInt::get(e.result, 0);
  for (std::size_t i = 0; i < first.size(); ++i) sum = e.b.CreateAdd(sum, e.b.CreateMul(first[i], second[i]));
  return sum;
}

// Operands: the two, what is added to their product, and the format of words.
template <bool first_signed, bool second_signed>
Value* dot_and_add(Emitter& e) {
  constexpr auto kAdd = first_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat;
  return e.binary(kAdd, dot<first_signed, second_signed>(e), e.args[2]);
}

constexpr NamedEmit kDot[] = {
    {"SDotKHR", dot<true, true>},
    {"UDotKHR", dot<false, false>},
    {"SUDotKHR", dot<true, false>},
    {"SDotAccSatKHR", dot_and_add<true, true>},
    {"UDotAccSatKHR", dot_and_add<false, false>},
    {"SUDotAccSatKHR", dot_and_add<true, false>},
    // The names since SPIR-V 1.6.
    {"SDot", dot<true, true>},
    {"UDot", dot<false, false>},
    {"SUDot", dot<true, false>},
    {"SDotAccSat", dot_and_add<true, true>},
    {"UDotAccSat", dot_and_add<false, false>},
    {"SUDotAccSat", dot_and_add<true, false>},
};

}  // namespace

std::span<const NamedEmit> dot_builtins() { return kDot; }

}  // namespace kiln::cpu
