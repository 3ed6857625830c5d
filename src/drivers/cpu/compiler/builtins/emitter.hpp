// SPDX-License-Identifier: MIT
// What the bodies of built-ins are written with: one function being filled, its name and its arguments.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cpu {

/// One built-in whose body is being written. `name` is "ocl_fmax" for `_Z16__spirv_ocl_fmaxff`.
struct Emitter {
  llvm::Function& function;
  llvm::IRBuilder<> b;
  std::string_view name;
  std::string_view rounding;    ///< "rte", "rtz", "rtp", "rtn" or empty
  bool saturate = false;        ///< name ended in `_sat`
  std::string_view parameters;  ///< the mangled parameter list
  std::vector<llvm::Value*> args;
  llvm::Type* result;

  [[nodiscard]] llvm::Module& module() { return *function.getParent(); }

  llvm::Value* unary(llvm::Intrinsic::ID id, llvm::Value* x) { return b.CreateUnaryIntrinsic(id, x); }
  llvm::Value* binary(llvm::Intrinsic::ID id, llvm::Value* x, llvm::Value* y) {
    return b.CreateBinaryIntrinsic(id, x, y);
  }
  llvm::Value* number(double value, llvm::Type* type) { return llvm::ConstantFP::get(type, value); }

  /// A call of a C function of the host; the run-time symbol table must have it.
  llvm::CallInst* host(llvm::StringRef symbol, llvm::Type* type, llvm::ArrayRef<llvm::Value*> operands,
                       bool pure);

  /// Calls the host's `base` (`base`f for float) lane by lane; half goes through float.
  llvm::Value* host_math(llvm::StringRef base, llvm::Type* type, llvm::ArrayRef<llvm::Value*> operands);
};

inline unsigned lanes(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}
inline bool is_vector(const llvm::Value* value) { return value->getType()->isVectorTy(); }

/// `scalar` with as many lanes as `like`.
inline llvm::Type* with_lanes(llvm::Type* scalar, const llvm::Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector == nullptr ? scalar : llvm::FixedVectorType::get(scalar, vector->getNumElements());
}

/// Integers as wide as the lanes of `type`, in as many lanes.
inline llvm::Type* as_integers(llvm::Type* type) {
  return with_lanes(llvm::IntegerType::get(type->getContext(), type->getScalarSizeInBits()), type);
}

/// Writes the value of the built-in; null when it does not take these operands.
using Emit = llvm::Value* (*)(Emitter&);
struct NamedEmit {
  std::string_view name;
  Emit emit;
};

std::span<const NamedEmit> arithmetic_builtins();   ///< integer, common, geometric, relational
std::span<const NamedEmit> elementwise_builtins();  ///< math
std::span<const NamedEmit> memory_builtins();       ///< vload, vstore, atomics, fences, shuffle, async copies
std::span<const NamedEmit> convert_builtins();
std::span<const NamedEmit> dot_builtins();    ///< integer dot products
std::span<const NamedEmit> group_builtins();  ///< barriers, work-group and sub-group functions
llvm::Value* emit_printf(Emitter& e);

/// `value`, the nearest to `exact`, moved to its neighbour where `rounding` asks for it. `order` is below
/// zero where value < exact, above where value > exact; a floating-point value in the same lanes.
llvm::Value* round_towards(Emitter& e, llvm::Value* value, llvm::Value* order, std::string_view rounding);

}  // namespace kiln::cpu
