// SPDX-License-Identifier: MIT
// OpenCL's math functions: intrinsics where LLVM has them, the host's libm lane by lane where not.
#include "drivers/cpu/compiler/builtins/emitter.hpp"

namespace kiln::cpu {
namespace {

using llvm::Type;
using llvm::Value;

// The name after "ocl_" and after a precision prefix: the host's functions are exact enough for all of them.
std::string_view plain_name(std::string_view name) {
  for (const std::string_view prefix : {"ocl_native_", "ocl_half_", "ocl_"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

Value* libm(Emitter& e) { return e.host_math(llvm::StringRef(plain_name(e.name)), e.result, e.args); }

Value* kiln_math(Emitter& e) {
  return e.host_math(("kiln_" + std::string(plain_name(e.name))), e.result, e.args);
}

template <llvm::Intrinsic::ID id>
Value* intrinsic(Emitter& e) {
  return e.args.size() == 1 ? e.unary(id, e.args[0]) : e.binary(id, e.args[0], e.args[1]);
}

Value* fma(Emitter& e) { return e.b.CreateIntrinsic(llvm::Intrinsic::fma, {e.result}, e.args); }
Value* mad(Emitter& e) { return e.b.CreateFAdd(e.b.CreateFMul(e.args[0], e.args[1]), e.args[2]); }
Value* divide(Emitter& e) { return e.b.CreateFDiv(e.args[0], e.args[1]); }
Value* recip(Emitter& e) { return e.b.CreateFDiv(e.number(1, e.result), e.args[0]); }

Value* rsqrt(Emitter& e) {
  return e.b.CreateFDiv(e.number(1, e.result), e.unary(llvm::Intrinsic::sqrt, e.args[0]));
}

// x where |x| wins, y where |y| wins, else fmax or fmin of both.
Value* by_magnitude(Emitter& e, bool larger) {
  Value *x = e.args[0], *y = e.args[1];
  Value* ax = e.unary(llvm::Intrinsic::fabs, x);
  Value* ay = e.unary(llvm::Intrinsic::fabs, y);
  Value* first = larger ? e.b.CreateFCmpOGT(ax, ay) : e.b.CreateFCmpOLT(ax, ay);
  Value* second = larger ? e.b.CreateFCmpOGT(ay, ax) : e.b.CreateFCmpOLT(ay, ax);
  Value* equal = e.binary(larger ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, x, y);
  return e.b.CreateSelect(first, x, e.b.CreateSelect(second, y, equal));
}
Value* maxmag(Emitter& e) { return by_magnitude(e, true); }
Value* minmag(Emitter& e) { return by_magnitude(e, false); }

Value* is_infinite(Emitter& e, Value* x) {
  return e.b.CreateFCmpOEQ(e.unary(llvm::Intrinsic::fabs, x),
                           llvm::ConstantFP::getInfinity(x->getType(), false));
}

void store_elements(Emitter& e, Value* value, Value* pointer) {
  e.b.CreateAlignedStore(value, pointer, llvm::Align(value->getType()->getScalarSizeInBits() / 8));
}

// The largest number below one of the lane's type: the upper bound of fract.
Value* below_one(Type* type) {
  llvm::APFloat bound(type->getScalarType()->getFltSemantics(), 1);
  bound.next(true);
  return llvm::ConstantFP::get(type->getContext(), bound);
}

Value* fract(Emitter& e) {
  Value* x = e.args[0];
  Value* whole = e.unary(llvm::Intrinsic::floor, x);
  store_elements(e, whole, e.args[1]);
  Value* bound = below_one(e.result);
  if (is_vector(x)) bound = e.b.CreateVectorSplat(lanes(e.result), bound);
  Value* rest = e.b.CreateFSub(x, whole);
  rest = e.b.CreateSelect(e.b.CreateFCmpOGT(rest, bound), bound, rest);  // keeps NaN
  Value* zero = e.binary(llvm::Intrinsic::copysign, e.number(0, e.result), x);
  return e.b.CreateSelect(is_infinite(e, x), zero, rest);
}

Value* modf(Emitter& e) {
  Value* x = e.args[0];
  Value* whole = e.unary(llvm::Intrinsic::trunc, x);
  store_elements(e, whole, e.args[1]);
  Value* rest = e.b.CreateSelect(is_infinite(e, x), e.number(0, e.result), e.b.CreateFSub(x, whole));
  return e.binary(llvm::Intrinsic::copysign, rest, x);
}

Value* sincos(Emitter& e) {
  store_elements(e, e.host_math("cos", e.result, {e.args[0]}), e.args[1]);
  return e.host_math("sin", e.result, {e.args[0]});
}

// Functions that give an int through their last argument, one lane after the other.
Value* with_int_result(Emitter& e, const std::string& base) {
  Type* lane = e.result->getScalarType();
  Type* wide = lane->isHalfTy() ? e.b.getFloatTy() : lane;
  const std::string symbol = wide->isFloatTy() ? base + "f" : base;
  Value* out = llvm::UndefValue::get(e.result);
  Value* pointer = e.args.back();
  for (unsigned i = 0; i < lanes(e.result); ++i) {
    std::vector<Value*> operands;
    for (std::size_t k = 0; k + 1 < e.args.size(); ++k) {
      Value* x = is_vector(e.args[k]) ? e.b.CreateExtractElement(e.args[k], i) : e.args[k];
      operands.push_back(e.b.CreateFPCast(x, wide));
    }
    Value* slot = e.b.CreateConstGEP1_32(e.b.getInt32Ty(), pointer, i);
    operands.push_back(e.b.CreateAddrSpaceCast(slot, e.b.getPtrTy()));
    Value* value = e.b.CreateFPCast(e.host(symbol, wide, operands, false), lane);
    out = e.result->isVectorTy() ? e.b.CreateInsertElement(out, value, i) : value;
  }
  return out;
}
Value* frexp(Emitter& e) { return with_int_result(e, "kiln_frexp"); }
Value* lgamma_r(Emitter& e) { return with_int_result(e, "lgamma_r"); }
Value* remquo(Emitter& e) { return with_int_result(e, "kiln_remquo"); }

Value* nan(Emitter& e) {
  const unsigned bits = e.result->getScalarSizeInBits();
  const unsigned mantissa = e.result->getScalarType()->getFPMantissaWidth() - 1;
  // All exponent bits and the quiet bit; the payload takes what is below.
  const llvm::APInt quiet = llvm::APInt::getBitsSet(bits, mantissa - 1, bits - 1);
  const llvm::APInt payload = llvm::APInt::getLowBitsSet(bits, mantissa - 1);
  Type* type = as_integers(e.result);
  Value* code = e.b.CreateAnd(e.b.CreateZExtOrTrunc(e.args[0], type), llvm::ConstantInt::get(type, payload));
  return e.b.CreateBitCast(e.b.CreateOr(code, llvm::ConstantInt::get(type, quiet)), e.result);
}

constexpr NamedEmit kElementwise[] = {
    {"ocl_acos", libm},
    {"ocl_acosh", libm},
    {"ocl_acospi", kiln_math},
    {"ocl_asin", libm},
    {"ocl_asinh", libm},
    {"ocl_asinpi", kiln_math},
    {"ocl_atan", libm},
    {"ocl_atan2", libm},
    {"ocl_atan2pi", kiln_math},
    {"ocl_atanh", libm},
    {"ocl_atanpi", kiln_math},
    {"ocl_cbrt", kiln_math},
    {"ocl_ceil", intrinsic<llvm::Intrinsic::ceil>},
    {"ocl_copysign", intrinsic<llvm::Intrinsic::copysign>},
    {"ocl_cos", libm},
    {"ocl_cosh", libm},
    {"ocl_cospi", kiln_math},
    {"ocl_erf", libm},
    {"ocl_erfc", libm},
    {"ocl_exp", libm},
    {"ocl_exp10", libm},
    {"ocl_exp2", libm},
    {"ocl_expm1", libm},
    {"ocl_fabs", intrinsic<llvm::Intrinsic::fabs>},
    {"ocl_fdim", libm},
    {"ocl_floor", intrinsic<llvm::Intrinsic::floor>},
    {"ocl_fma", fma},
    {"ocl_fmax", intrinsic<llvm::Intrinsic::maxnum>},
    {"ocl_fmin", intrinsic<llvm::Intrinsic::minnum>},
    {"ocl_fmod", libm},
    {"ocl_fract", fract},
    {"ocl_frexp", frexp},
    {"ocl_half_cos", libm},
    {"ocl_half_divide", divide},
    {"ocl_half_exp", libm},
    {"ocl_half_exp10", libm},
    {"ocl_half_exp2", libm},
    {"ocl_half_log", libm},
    {"ocl_half_log10", libm},
    {"ocl_half_log2", libm},
    {"ocl_half_powr", kiln_math},
    {"ocl_half_recip", recip},
    {"ocl_half_rsqrt", rsqrt},
    {"ocl_half_sin", libm},
    {"ocl_half_sqrt", intrinsic<llvm::Intrinsic::sqrt>},
    {"ocl_half_tan", libm},
    {"ocl_hypot", libm},
    {"ocl_ilogb", kiln_math},
    {"ocl_ldexp", libm},
    {"ocl_lgamma", kiln_math},
    {"ocl_lgamma_r", lgamma_r},
    {"ocl_log", libm},
    {"ocl_log10", libm},
    {"ocl_log1p", libm},
    {"ocl_log2", libm},
    {"ocl_logb", libm},
    {"ocl_mad", mad},
    {"ocl_maxmag", maxmag},
    {"ocl_minmag", minmag},
    {"ocl_modf", modf},
    {"ocl_nan", nan},
    {"ocl_native_cos", libm},
    {"ocl_native_divide", divide},
    {"ocl_native_exp", libm},
    {"ocl_native_exp10", libm},
    {"ocl_native_exp2", libm},
    {"ocl_native_log", libm},
    {"ocl_native_log10", libm},
    {"ocl_native_log2", libm},
    {"ocl_native_powr", kiln_math},
    {"ocl_native_recip", recip},
    {"ocl_native_rsqrt", rsqrt},
    {"ocl_native_sin", libm},
    {"ocl_native_sqrt", intrinsic<llvm::Intrinsic::sqrt>},
    {"ocl_native_tan", libm},
    {"ocl_nextafter", libm},
    {"ocl_pow", libm},
    {"ocl_pown", kiln_math},
    {"ocl_powr", kiln_math},
    {"ocl_remainder", libm},
    {"ocl_remquo", remquo},
    {"ocl_rint", intrinsic<llvm::Intrinsic::rint>},
    {"ocl_rootn", kiln_math},
    {"ocl_round", intrinsic<llvm::Intrinsic::round>},
    {"ocl_rsqrt", rsqrt},
    {"ocl_sin", libm},
    {"ocl_sincos", sincos},
    {"ocl_sinh", libm},
    {"ocl_sinpi", kiln_math},
    {"ocl_sqrt", intrinsic<llvm::Intrinsic::sqrt>},
    {"ocl_tan", libm},
    {"ocl_tanh", libm},
    {"ocl_tanpi", kiln_math},
    {"ocl_tgamma", libm},
    {"ocl_trunc", intrinsic<llvm::Intrinsic::trunc>},
};

}  // namespace

std::span<const NamedEmit> elementwise_builtins() { return kElementwise; }

}  // namespace kiln::cpu
