// SPDX-License-Identifier: MIT
// OpenCL's integer, common, geometric and relational functions.
#include "drivers/cpu/compiler/builtins/emitter.hpp"

namespace kiln::cpu {
namespace {

using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

bool is_signed(const Emitter& e) { return e.name.starts_with("ocl_s_"); }

Value* widen(Emitter& e, Value* x, Type* type, bool with_sign) {
  return with_sign ? e.b.CreateSExt(x, type) : e.b.CreateZExt(x, type);
}
Type* double_width(Value* x) {
  Type* type = x->getType();
  return with_lanes(llvm::IntegerType::get(type->getContext(), 2 * type->getScalarSizeInBits()), type);
}
Value* integer(Type* type, std::uint64_t value) { return llvm::ConstantInt::get(type, value); }

// Integer functions

Value* s_abs(Emitter& e) {
  return e.b.CreateIntrinsic(Intrinsic::abs, {e.result}, {e.args[0], e.b.getFalse()});
}
Value* u_abs(Emitter& e) { return e.args[0]; }

template <Intrinsic::ID signed_id, Intrinsic::ID unsigned_id>
Value* by_sign(Emitter& e) {
  return e.binary(is_signed(e) ? signed_id : unsigned_id, e.args[0], e.args[1]);
}

Value* abs_diff(Emitter& e) {
  Value* high = e.binary(is_signed(e) ? Intrinsic::smax : Intrinsic::umax, e.args[0], e.args[1]);
  Value* low = e.binary(is_signed(e) ? Intrinsic::smin : Intrinsic::umin, e.args[0], e.args[1]);
  return e.b.CreateSub(high, low);
}

Value* half_difference(Emitter& e) {
  Value* difference = e.b.CreateXor(e.args[0], e.args[1]);
  return is_signed(e) ? e.b.CreateAShr(difference, 1) : e.b.CreateLShr(difference, 1);
}
Value* hadd(Emitter& e) { return e.b.CreateAdd(e.b.CreateAnd(e.args[0], e.args[1]), half_difference(e)); }
Value* rhadd(Emitter& e) { return e.b.CreateSub(e.b.CreateOr(e.args[0], e.args[1]), half_difference(e)); }

Value* clamp(Emitter& e) {
  Value* x = e.binary(is_signed(e) ? Intrinsic::smax : Intrinsic::umax, e.args[0], e.args[1]);
  return e.binary(is_signed(e) ? Intrinsic::smin : Intrinsic::umin, x, e.args[2]);
}

template <Intrinsic::ID id>
Value* count_zeros(Emitter& e) {
  return e.b.CreateIntrinsic(id, {e.result}, {e.args[0], e.b.getFalse()});
}
Value* popcount(Emitter& e) { return e.b.CreateZExtOrTrunc(e.unary(Intrinsic::ctpop, e.args[0]), e.result); }

Value* wide_product(Emitter& e) {
  Type* wide = double_width(e.args[0]);
  return e.b.CreateMul(widen(e, e.args[0], wide, is_signed(e)), widen(e, e.args[1], wide, is_signed(e)));
}
Value* mul_hi(Emitter& e) {
  return e.b.CreateTrunc(e.b.CreateLShr(wide_product(e), e.result->getScalarSizeInBits()), e.result);
}
Value* mad_hi(Emitter& e) { return e.b.CreateAdd(mul_hi(e), e.args[2]); }

Value* mad_sat(Emitter& e) {
  const unsigned bits = e.result->getScalarSizeInBits();
  Type* wide = double_width(e.args[0]);
  Value* sum = e.b.CreateAdd(wide_product(e), widen(e, e.args[2], wide, is_signed(e)));
  if (is_signed(e)) {
    sum = e.binary(Intrinsic::smax, sum,
                   llvm::ConstantInt::get(wide, llvm::APInt::getSignedMinValue(bits).sext(2 * bits)));
    sum = e.binary(Intrinsic::smin, sum,
                   llvm::ConstantInt::get(wide, llvm::APInt::getSignedMaxValue(bits).zext(2 * bits)));
  } else {
    sum = e.binary(Intrinsic::umin, sum,
                   llvm::ConstantInt::get(wide, llvm::APInt::getMaxValue(bits).zext(2 * bits)));
  }
  return e.b.CreateTrunc(sum, e.result);
}

Value* low_24_bits(Emitter& e, Value* x) {
  x = e.b.CreateShl(x, 8);
  return is_signed(e) ? e.b.CreateAShr(x, 8) : e.b.CreateLShr(x, 8);
}
Value* mul24(Emitter& e) { return e.b.CreateMul(low_24_bits(e, e.args[0]), low_24_bits(e, e.args[1])); }
Value* mad24(Emitter& e) { return e.b.CreateAdd(mul24(e), e.args[2]); }

Value* rotate(Emitter& e) {
  return e.b.CreateIntrinsic(Intrinsic::fshl, {e.result}, {e.args[0], e.args[0], e.args[1]});
}

Value* upsample(Emitter& e) {
  Value* high =
      e.b.CreateShl(e.b.CreateZExt(e.args[0], e.result), e.args[0]->getType()->getScalarSizeInBits());
  return e.b.CreateOr(high, e.b.CreateZExt(e.args[1], e.result));
}

// Common functions

Value* degrees(Emitter& e) { return e.b.CreateFMul(e.args[0], e.number(57.295779513082320876798, e.result)); }
Value* radians(Emitter& e) { return e.b.CreateFMul(e.args[0], e.number(0.017453292519943295769, e.result)); }
Value* fclamp(Emitter& e) {
  return e.binary(Intrinsic::minnum, e.binary(Intrinsic::maxnum, e.args[0], e.args[1]), e.args[2]);
}
Value* fmax(Emitter& e) { return e.binary(Intrinsic::maxnum, e.args[0], e.args[1]); }
Value* fmin(Emitter& e) { return e.binary(Intrinsic::minnum, e.args[0], e.args[1]); }
Value* mix(Emitter& e) {
  return e.b.CreateFAdd(e.args[0], e.b.CreateFMul(e.b.CreateFSub(e.args[1], e.args[0]), e.args[2]));
}
Value* sign(Emitter& e) {
  Value* x = e.args[0];
  Value* one = e.binary(Intrinsic::copysign, e.number(1, e.result), x);
  Value* kept = e.b.CreateSelect(e.b.CreateFCmpOEQ(x, e.number(0, e.result)), x, one);
  return e.b.CreateSelect(e.b.CreateFCmpUNO(x, x), e.number(0, e.result), kept);
}
Value* step(Emitter& e) {
  return e.b.CreateSelect(e.b.CreateFCmpOLT(e.args[1], e.args[0]), e.number(0, e.result),
                          e.number(1, e.result));
}
Value* smoothstep(Emitter& e) {
  Value* t = e.b.CreateFDiv(e.b.CreateFSub(e.args[2], e.args[0]), e.b.CreateFSub(e.args[1], e.args[0]));
  t = e.binary(Intrinsic::minnum, e.binary(Intrinsic::maxnum, t, e.number(0, e.result)),
               e.number(1, e.result));
  Value* slope = e.b.CreateFSub(e.number(3, e.result), e.b.CreateFMul(e.number(2, e.result), t));
  return e.b.CreateFMul(e.b.CreateFMul(t, t), slope);
}

// Geometric functions

Value* lane(Emitter& e, Value* x, unsigned i) { return is_vector(x) ? e.b.CreateExtractElement(x, i) : x; }

Value* sum_of_products(Emitter& e, Value* x, Value* y) {
  Value* sum = e.b.CreateFMul(lane(e, x, 0), lane(e, y, 0));
  for (unsigned i = 1; i < lanes(x->getType()); ++i)
    sum = e.b.CreateFAdd(sum, e.b.CreateFMul(lane(e, x, i), lane(e, y, i)));
  return sum;
}
Value* dot(Emitter& e) { return sum_of_products(e, e.args[0], e.args[1]); }

// float and half in double neither overflow nor lose bits; double goes through the host's hypot, lane by
// lane.
Value* length_of(Emitter& e, Value* x) {
  Type* scalar = x->getType()->getScalarType();
  if (!scalar->isDoubleTy()) {
    x = e.b.CreateFPExt(x, with_lanes(e.b.getDoubleTy(), x->getType()));
    return e.unary(Intrinsic::sqrt, sum_of_products(e, x, x));
  }
  Value* sum = e.unary(Intrinsic::fabs, lane(e, x, 0));
  for (unsigned i = 1; i < lanes(x->getType()); ++i) sum = e.host_math("hypot", scalar, {sum, lane(e, x, i)});
  return sum;
}
Value* length(Emitter& e) { return e.b.CreateFPCast(length_of(e, e.args[0]), e.result); }
Value* distance(Emitter& e) {
  Type* type = e.args[0]->getType();
  Type* wide = with_lanes(e.b.getDoubleTy(), type);
  Value *x = e.args[0], *y = e.args[1];
  if (wide != type) x = e.b.CreateFPExt(x, wide), y = e.b.CreateFPExt(y, wide);
  Value* difference = e.b.CreateFSub(x, y);
  // In double the squares of float differences stay in range, so the cast back below is the only rounding.
  Value* value = wide != type ? e.unary(Intrinsic::sqrt, sum_of_products(e, difference, difference))
                              : length_of(e, difference);
  return e.b.CreateFPCast(value, e.result);
}

Value* normalize(Emitter& e) {
  Value* x = e.args[0];
  Type* type = x->getType();
  Value* infinity = llvm::ConstantFP::getInfinity(type, false);
  Value* infinite = e.b.CreateFCmpOEQ(e.unary(Intrinsic::fabs, x), infinity);
  Value* any = is_vector(x) ? e.b.CreateOrReduce(infinite) : infinite;
  // With infinite lanes those count as one and the others as zero, each with its sign.
  Value* flags = e.b.CreateSelect(infinite, e.number(1, type), e.number(0, type));
  x = e.b.CreateSelect(any, e.binary(Intrinsic::copysign, flags, x), x);
  Value* size = length_of(e, x);
  Type* wide = with_lanes(size->getType(), type);
  Value* divisor = type->isVectorTy() ? e.b.CreateVectorSplat(lanes(type), size) : size;
  Value* scaled = e.b.CreateFPCast(e.b.CreateFDiv(e.b.CreateFPCast(x, wide), divisor), type);
  Value* zero = e.b.CreateFCmpOEQ(size, e.number(0, size->getType()));
  return e.b.CreateSelect(zero, x, scaled);
}

Value* cross(Emitter& e) {
  Value *x = e.args[0], *y = e.args[1];
  Value* out = llvm::Constant::getNullValue(e.result);  // a fourth lane stays zero
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned j = (i + 1) % 3, k = (i + 2) % 3;
    Value* value = e.b.CreateFSub(e.b.CreateFMul(lane(e, x, j), lane(e, y, k)),
                                  e.b.CreateFMul(lane(e, x, k), lane(e, y, j)));
    out = e.b.CreateInsertElement(out, value, i);
  }
  return out;
}

// Relational functions. Truth is 1 for scalars and all bits for lanes of vectors.

Value* truth(Emitter& e, Value* condition) {
  if (e.result->getScalarSizeInBits() == 1) return condition;
  return e.result->isVectorTy() ? e.b.CreateSExt(condition, e.result) : e.b.CreateZExt(condition, e.result);
}
Value* magnitude(Emitter& e) { return e.unary(Intrinsic::fabs, e.args[0]); }
Value* infinity(Emitter& e) { return llvm::ConstantFP::getInfinity(e.args[0]->getType(), false); }

Value* is_nan(Emitter& e) { return truth(e, e.b.CreateFCmpUNO(e.args[0], e.args[0])); }
Value* is_inf(Emitter& e) { return truth(e, e.b.CreateFCmpOEQ(magnitude(e), infinity(e))); }
Value* is_finite(Emitter& e) { return truth(e, e.b.CreateFCmpOLT(magnitude(e), infinity(e))); }
Value* is_normal(Emitter& e) {
  Type* type = e.args[0]->getType();
  const llvm::APFloat smallest =
      llvm::APFloat::getSmallestNormalized(type->getScalarType()->getFltSemantics());
  Value* bound = llvm::ConstantFP::get(type->getContext(), smallest);
  if (type->isVectorTy()) bound = e.b.CreateVectorSplat(lanes(type), bound);
  return truth(
      e, e.b.CreateAnd(e.b.CreateFCmpOGE(magnitude(e), bound), e.b.CreateFCmpOLT(magnitude(e), infinity(e))));
}
Value* sign_bit(Emitter& e) {
  Type* bits = as_integers(e.args[0]->getType());
  return truth(e, e.b.CreateICmpSLT(e.b.CreateBitCast(e.args[0], bits), integer(bits, 0)));
}
Value* ordered(Emitter& e) { return truth(e, e.b.CreateFCmpORD(e.args[0], e.args[1])); }
Value* unordered(Emitter& e) { return truth(e, e.b.CreateFCmpUNO(e.args[0], e.args[1])); }
Value* less_or_greater(Emitter& e) { return truth(e, e.b.CreateFCmpONE(e.args[0], e.args[1])); }

template <llvm::CmpInst::Predicate predicate>
Value* compare(Emitter& e) {
  return truth(e, e.b.CreateFCmp(predicate, e.args[0], e.args[1]));
}

Value* nonzero(Emitter& e) { return e.b.CreateICmpNE(e.args[0], integer(e.args[0]->getType(), 0)); }
Value* any(Emitter& e) {
  return truth(e, is_vector(e.args[0]) ? e.b.CreateOrReduce(nonzero(e)) : nonzero(e));
}
Value* all(Emitter& e) {
  return truth(e, is_vector(e.args[0]) ? e.b.CreateAndReduce(nonzero(e)) : nonzero(e));
}

Value* select(Emitter& e) {
  Value* zero = integer(e.args[2]->getType(), 0);
  Value* chosen =
      is_vector(e.args[2]) ? e.b.CreateICmpSLT(e.args[2], zero) : e.b.CreateICmpNE(e.args[2], zero);
  return e.b.CreateSelect(chosen, e.args[1], e.args[0]);
}
Value* bitselect(Emitter& e) {
  Type* bits = as_integers(e.result);
  Value* x = e.b.CreateBitCast(e.args[0], bits);
  Value* y = e.b.CreateBitCast(e.args[1], bits);
  Value* mask = e.b.CreateBitCast(e.args[2], bits);
  Value* mixed = e.b.CreateOr(e.b.CreateAnd(x, e.b.CreateNot(mask)), e.b.CreateAnd(y, mask));
  return e.b.CreateBitCast(mixed, e.result);
}

constexpr NamedEmit kArithmetic[] = {
    {"ocl_s_abs", s_abs},
    {"ocl_u_abs", u_abs},
    {"ocl_s_abs_diff", abs_diff},
    {"ocl_u_abs_diff", abs_diff},
    {"ocl_s_add_sat", by_sign<Intrinsic::sadd_sat, Intrinsic::uadd_sat>},
    {"ocl_u_add_sat", by_sign<Intrinsic::sadd_sat, Intrinsic::uadd_sat>},
    {"ocl_s_sub_sat", by_sign<Intrinsic::ssub_sat, Intrinsic::usub_sat>},
    {"ocl_u_sub_sat", by_sign<Intrinsic::ssub_sat, Intrinsic::usub_sat>},
    {"ocl_s_hadd", hadd},
    {"ocl_u_hadd", hadd},
    {"ocl_s_rhadd", rhadd},
    {"ocl_u_rhadd", rhadd},
    {"ocl_s_clamp", clamp},
    {"ocl_u_clamp", clamp},
    {"ocl_clz", count_zeros<Intrinsic::ctlz>},
    {"ocl_ctz", count_zeros<Intrinsic::cttz>},
    {"ocl_popcount", popcount},
    {"BitCount", popcount},
    {"ocl_s_max", by_sign<Intrinsic::smax, Intrinsic::umax>},
    {"ocl_u_max", by_sign<Intrinsic::smax, Intrinsic::umax>},
    {"ocl_s_min", by_sign<Intrinsic::smin, Intrinsic::umin>},
    {"ocl_u_min", by_sign<Intrinsic::smin, Intrinsic::umin>},
    {"ocl_s_mul_hi", mul_hi},
    {"ocl_u_mul_hi", mul_hi},
    {"ocl_s_mad_hi", mad_hi},
    {"ocl_u_mad_hi", mad_hi},
    {"ocl_s_mad_sat", mad_sat},
    {"ocl_u_mad_sat", mad_sat},
    {"ocl_s_mul24", mul24},
    {"ocl_u_mul24", mul24},
    {"ocl_s_mad24", mad24},
    {"ocl_u_mad24", mad24},
    {"ocl_rotate", rotate},
    {"ocl_s_upsample", upsample},
    {"ocl_u_upsample", upsample},
    {"ocl_degrees", degrees},
    {"ocl_radians", radians},
    {"ocl_fclamp", fclamp},
    {"ocl_fmax_common", fmax},
    {"ocl_fmin_common", fmin},
    {"ocl_mix", mix},
    {"ocl_sign", sign},
    {"ocl_step", step},
    {"ocl_smoothstep", smoothstep},
    {"Dot", dot},
    {"ocl_cross", cross},
    {"ocl_distance", distance},
    {"ocl_fast_distance", distance},
    {"ocl_length", length},
    {"ocl_fast_length", length},
    {"ocl_normalize", normalize},
    {"ocl_fast_normalize", normalize},
    {"IsNan", is_nan},
    {"IsInf", is_inf},
    {"IsFinite", is_finite},
    {"IsNormal", is_normal},
    {"SignBitSet", sign_bit},
    {"Ordered", ordered},
    {"Unordered", unordered},
    {"LessOrGreater", less_or_greater},
    {"FOrdEqual", compare<llvm::CmpInst::FCMP_OEQ>},
    {"FUnordNotEqual", compare<llvm::CmpInst::FCMP_UNE>},
    {"FOrdNotEqual", compare<llvm::CmpInst::FCMP_ONE>},
    {"FOrdLessThan", compare<llvm::CmpInst::FCMP_OLT>},
    {"FOrdGreaterThan", compare<llvm::CmpInst::FCMP_OGT>},
    {"FOrdLessThanEqual", compare<llvm::CmpInst::FCMP_OLE>},
    {"FOrdGreaterThanEqual", compare<llvm::CmpInst::FCMP_OGE>},
    {"Any", any},
    {"All", all},
    {"ocl_select", select},
    {"ocl_bitselect", bitselect},
};

}  // namespace

std::span<const NamedEmit> arithmetic_builtins() { return kArithmetic; }

}  // namespace kiln::cpu
