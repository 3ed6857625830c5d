// SPDX-License-Identifier: MIT
// printf: packs the operands with their types for the host, which formats them.
#include "drivers/cpu/runtime/printf.hpp"

#include <llvm/IR/Instructions.h>

#include "drivers/cpu/compiler/builtins/emitter.hpp"

namespace kiln::cpu {

llvm::Value* emit_printf(Emitter& e) {
  std::vector<llvm::Value*> words;
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    llvm::Value* value = e.args[i];
    llvm::Type* type = value->getType();
    llvm::Type* scalar = type->getScalarType();
    PrintfKind kind = PrintfKind::integer;
    if (scalar->isPointerTy()) {
      if (type->isVectorTy()) return nullptr;
      kind = PrintfKind::pointer;
      value = e.b.CreatePtrToInt(value, e.b.getInt64Ty());
    } else if (scalar->isFloatingPointTy()) {
      kind = PrintfKind::real;
      value = e.b.CreateFPCast(value, with_lanes(e.b.getDoubleTy(), type));
      value = e.b.CreateBitCast(value, with_lanes(e.b.getInt64Ty(), type));
    } else if (scalar->isIntegerTy() && scalar->getIntegerBitWidth() <= 64) {
      value = e.b.CreateZExt(value, with_lanes(e.b.getInt64Ty(), type));
    } else {
      return nullptr;
    }
    const unsigned bytes = scalar->isPointerTy() ? 8 : std::max(1u, scalar->getScalarSizeInBits() / 8);
    words.push_back(e.b.getInt64(printf_tag(kind, bytes, lanes(type))));
    for (unsigned k = 0; k < lanes(type); ++k)
      words.push_back(type->isVectorTy() ? e.b.CreateExtractElement(value, k) : value);
  }
  llvm::Value* count = e.b.getInt64(words.size());
  llvm::AllocaInst* buffer =
      e.b.CreateAlloca(llvm::ArrayType::get(e.b.getInt64Ty(), std::max<std::size_t>(words.size(), 1)));
  for (std::size_t i = 0; i < words.size(); ++i)
    e.b.CreateStore(words[i], e.b.CreateConstGEP1_64(e.b.getInt64Ty(), buffer, i));
  llvm::Value* format = e.b.CreateAddrSpaceCast(e.args[0], e.b.getPtrTy());
  return e.host("kiln_printf", e.b.getInt32Ty(), {format, buffer, count}, false);
}

}  // namespace kiln::cpu
