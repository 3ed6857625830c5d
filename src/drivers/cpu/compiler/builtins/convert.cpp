// SPDX-License-Identifier: MIT
// Conversions with saturation or a rounding mode; the translator writes the plain ones as LLVM instructions.
#include "drivers/cpu/compiler/builtins/emitter.hpp"

namespace kiln::cpu {
namespace {

using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Value* limit(Type* type, const llvm::APInt& value) { return llvm::ConstantInt::get(type, value); }

// Integers to integers. `from_signed` and `to_signed` say how the bits are read on either side.
Value* convert_integer(Emitter& e, bool from_signed, bool to_signed) {
  Value* x = e.args[0];
  Type* type = x->getType();
  const unsigned from = type->getScalarSizeInBits(), to = e.result->getScalarSizeInBits();
  if (e.saturate || from_signed != to_signed) {
    // Work in a type that holds both ranges, so that the bounds can be written down.
    const unsigned wide_bits = 2 * std::max(from, to);
    Type* wide = with_lanes(e.b.getIntNTy(wide_bits), type);
    x = from_signed ? e.b.CreateSExt(x, wide) : e.b.CreateZExt(x, wide);
    const llvm::APInt low =
        to_signed ? llvm::APInt::getSignedMinValue(to).sext(wide_bits) : llvm::APInt(wide_bits, 0);
    const llvm::APInt high =
        (to_signed ? llvm::APInt::getSignedMaxValue(to) : llvm::APInt::getMaxValue(to)).zext(wide_bits);
    x = e.binary(Intrinsic::smin, e.binary(Intrinsic::smax, x, limit(wide, low)), limit(wide, high));
    return e.b.CreateTrunc(x, e.result);
  }
  return from_signed ? e.b.CreateSExtOrTrunc(x, e.result) : e.b.CreateZExtOrTrunc(x, e.result);
}
Value* signed_to_signed(Emitter& e) { return convert_integer(e, true, true); }
Value* unsigned_to_unsigned(Emitter& e) { return convert_integer(e, false, false); }
Value* signed_to_unsigned(Emitter& e) {
  e.saturate = true;
  return convert_integer(e, true, false);
}
Value* unsigned_to_signed(Emitter& e) {
  e.saturate = true;
  return convert_integer(e, false, true);
}

Value* float_to_integer(Emitter& e, bool to_signed) {
  Value* x = e.args[0];
  if (x->getType()->getScalarType()->isHalfTy())
    x = e.b.CreateFPExt(x, with_lanes(e.b.getFloatTy(), x->getType()));
  if (e.rounding == "rte") x = e.unary(Intrinsic::rint, x);
  if (e.rounding == "rtp") x = e.unary(Intrinsic::ceil, x);
  if (e.rounding == "rtn") x = e.unary(Intrinsic::floor, x);
  // The saturating intrinsics are also right for values that OpenCL leaves undefined.
  return e.b.CreateIntrinsic(to_signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                             {e.result, x->getType()}, {x});
}
Value* float_to_signed(Emitter& e) { return float_to_integer(e, true); }
Value* float_to_unsigned(Emitter& e) { return float_to_integer(e, false); }

// value - x without rounding, for an integer x and its neighbour `value`, as a double: the upper and the
// lower half of x are exact in double, and so is each difference, because both are integers close together.
Value* difference(Emitter& e, Value* value, Value* x, bool is_signed) {
  Type* real = with_lanes(e.b.getDoubleTy(), x->getType());
  Type* wide = with_lanes(e.b.getInt64Ty(), x->getType());
  x = is_signed ? e.b.CreateSExt(x, wide) : e.b.CreateZExt(x, wide);
  Value* low_bits = e.b.CreateAnd(x, llvm::ConstantInt::get(wide, 0xffffffffu));
  Value* high_bits = e.b.CreateSub(x, low_bits);
  Value* high = is_signed ? e.b.CreateSIToFP(high_bits, real) : e.b.CreateUIToFP(high_bits, real);
  Value* low = e.b.CreateUIToFP(low_bits, real);
  return e.b.CreateFSub(e.b.CreateFSub(e.b.CreateFPExt(value, real), high), low);
}

Value* integer_to_float(Emitter& e, bool is_signed) {
  Value* x = e.args[0];
  // Through double for half: exact below 2^53, and infinite as it should be above.
  Type* type = e.result->getScalarType()->isHalfTy() ? with_lanes(e.b.getDoubleTy(), e.result) : e.result;
  Value* value = is_signed ? e.b.CreateSIToFP(x, type) : e.b.CreateUIToFP(x, type);
  value = e.b.CreateFPCast(value, e.result);
  if (e.rounding.empty() || e.rounding == "rte") return value;
  Type* real = with_lanes(e.b.getDoubleTy(), x->getType());
  Value* order = difference(e, e.result == real ? value : e.b.CreateFPExt(value, real), x, is_signed);
  if (e.rounding != "rtz") return round_towards(e, value, order, e.rounding);
  // Towards zero: move only where the magnitude grew.
  Value* negative = e.b.CreateFCmpOLT(value, e.number(0, e.result));
  Value* towards = e.b.CreateSelect(negative, e.b.CreateFNeg(order), order);
  return round_towards(e, value, towards, "rtz");
}
Value* signed_to_float(Emitter& e) { return integer_to_float(e, true); }
Value* unsigned_to_float(Emitter& e) { return integer_to_float(e, false); }

Value* float_to_float(Emitter& e) {
  Value* x = e.args[0];
  Type* type = x->getType();
  Value* value = e.b.CreateFPCast(x, e.result);
  if (e.result->getScalarSizeInBits() >= type->getScalarSizeInBits() || e.rounding.empty() ||
      e.rounding == "rte")
    return value;
  Value* back = e.b.CreateFPExt(value, type);
  if (e.rounding == "rtz") {
    back = e.unary(Intrinsic::fabs, back);
    x = e.unary(Intrinsic::fabs, x);
  }
  // Signs of comparisons, because the difference of infinities and finite values is not needed, only its
  // sign.
  Value* above = e.b.CreateUIToFP(e.b.CreateFCmpOGT(back, x), type);
  Value* below = e.b.CreateUIToFP(e.b.CreateFCmpOLT(back, x), type);
  return round_towards(e, value, e.b.CreateFSub(above, below), e.rounding);
}

constexpr NamedEmit kConvert[] = {
    {"ConvertFToS", float_to_signed},       {"ConvertFToU", float_to_unsigned},
    {"ConvertSToF", signed_to_float},       {"ConvertUToF", unsigned_to_float},
    {"FConvert", float_to_float},           {"SConvert", signed_to_signed},
    {"UConvert", unsigned_to_unsigned},     {"SatConvertSToU", signed_to_unsigned},
    {"SatConvertUToS", unsigned_to_signed},
};

}  // namespace

std::span<const NamedEmit> convert_builtins() { return kConvert; }

Value* round_towards(Emitter& e, Value* value, Value* order, std::string_view rounding) {
  if (rounding.empty() || rounding == "rte") return value;
  // Neighbours of a number differ by one in its bits: away from zero +1, towards zero -1.
  Type* bits = as_integers(value->getType());
  Value* code = e.b.CreateBitCast(value, bits);
  Value* zero = llvm::ConstantInt::get(bits, 0);
  Value* one = llvm::ConstantInt::get(bits, 1);
  Value* minus_one = llvm::ConstantInt::getSigned(bits, -1);
  Value* none = e.number(0, order->getType());
  Value* above = e.b.CreateFCmpOGT(order, none);
  Value* below = e.b.CreateFCmpOLT(order, none);
  Value* negative = e.b.CreateICmpSLT(code, zero);
  Value* change = nullptr;
  if (rounding == "rtz") {
    change = e.b.CreateSelect(above, minus_one, zero);
  } else if (rounding == "rtp") {
    change = e.b.CreateSelect(below, e.b.CreateSelect(negative, minus_one, one), zero);
  } else {
    change = e.b.CreateSelect(above, e.b.CreateSelect(negative, one, minus_one), zero);
  }
  return e.b.CreateBitCast(e.b.CreateAdd(code, change), value->getType());
}

}  // namespace kiln::cpu
