// SPDX-License-Identifier: MIT
// Everything that differs between the LLVM versions the CPU driver is built with (15 to 21), in one place.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#if LLVM_VERSION_MAJOR >= 17
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#else
#include <llvm/ADT/Triple.h>
#include <llvm/Support/Host.h>
#endif

#include <cstdint>
#include <string>

namespace kiln::cpu {

/// Until LLVM 15 the translator writes typed pointers; its module goes through bitcode, which makes them
/// opaque.
inline constexpr bool kTranslatorHasTypedPointers = LLVM_VERSION_MAJOR < 16;

/// Without this, LLVM 15 follows what the first module has.
inline void use_opaque_pointers([[maybe_unused]] llvm::LLVMContext& context, [[maybe_unused]] bool opaque) {
#if LLVM_VERSION_MAJOR < 16
  context.setOpaquePointers(opaque);
#endif
}

inline void insert_before(llvm::Instruction* instruction, llvm::Instruction* where) {
#if LLVM_VERSION_MAJOR >= 20
  instruction->insertBefore(where->getIterator());
#else
  instruction->insertBefore(where);
#endif
}

inline void set_target_triple(llvm::Module& module, const llvm::Triple& triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(triple);
#else
  module.setTargetTriple(triple.str());
#endif
}

/// Of a pointer that a function does not keep.
#if LLVM_VERSION_MAJOR >= 21
inline constexpr auto kNoCapture = llvm::Attribute::Captures;
#else
inline constexpr auto kNoCapture = llvm::Attribute::NoCapture;
#endif

/// The host's features in the form of a target machine, for example "+avx2,-sse4a", in a fixed order.
std::string host_features();

#if LLVM_VERSION_MAJOR >= 18
using CodeGenLevel = llvm::CodeGenOptLevel;
inline constexpr auto kObjectFile = llvm::CodeGenFileType::ObjectFile;
#else
using CodeGenLevel = llvm::CodeGenOpt::Level;
inline constexpr auto kObjectFile = llvm::CGFT_ObjectFile;
#endif

inline CodeGenLevel codegen_level(bool optimize) {
#if LLVM_VERSION_MAJOR >= 18
  return optimize ? CodeGenLevel::Default : CodeGenLevel::None;
#else
  return optimize ? llvm::CodeGenOpt::Default : llvm::CodeGenOpt::None;
#endif
}

/// Bytes, a power of two.
inline std::uint64_t section_alignment(const llvm::object::SectionRef& section) {
#if LLVM_VERSION_MAJOR >= 16
  return section.getAlignment().value();
#else
  return section.getAlignment();
#endif
}

/// How a diagnostic handler gets its diagnostic.
#if LLVM_VERSION_MAJOR >= 19
using DiagnosticReference = const llvm::DiagnosticInfo*;
inline const llvm::DiagnosticInfo& dereference(DiagnosticReference info) { return *info; }
#else
using DiagnosticReference = const llvm::DiagnosticInfo&;
inline const llvm::DiagnosticInfo& dereference(DiagnosticReference info) { return info; }
#endif

}  // namespace kiln::cpu
