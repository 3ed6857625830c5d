// SPDX-License-Identifier: MIT
// Runs the SPIRV-LLVM-Translator in process.
#include "drivers/cpu/compiler/frontend/translate.hpp"

#include <LLVMSPIRVLib/LLVMSPIRVLib.h>
#include <LLVMSPIRVLib/LLVMSPIRVOpts.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <sstream>

#include "drivers/cpu/compiler/llvm_version.hpp"

namespace kiln::cpu {
namespace {

std::unique_ptr<llvm::Module> read(std::span<const std::byte> spirv,
                                   std::span<const SpecializationConstant> constants,
                                   llvm::LLVMContext& context, std::string& log) {
  SPIRV::TranslatorOpts options;
  options.enableAllExtensions();
  options.setDesiredBIsRepresentation(SPIRV::BIsRepresentation::SPIRVFriendlyIR);
  for (const SpecializationConstant& constant : constants) options.setSpecConst(constant.id, constant.bits);
  std::istringstream stream(std::string(reinterpret_cast<const char*>(spirv.data()), spirv.size()));
  llvm::Module* module = nullptr;
  std::string message;
  if (!llvm::readSpirv(context, options, stream, module, message) || module == nullptr) {
    log.append("error: the SPIR-V translator refused the module: ").append(message).append("\n");
    delete module;
    return nullptr;
  }
  return std::unique_ptr<llvm::Module>(module);
}

}  // namespace

std::unique_ptr<llvm::Module> translate(std::span<const std::byte> spirv,
                                        std::span<const SpecializationConstant> constants,
                                        llvm::LLVMContext& context, std::string& log) {
  if constexpr (!kTranslatorHasTypedPointers) return read(spirv, constants, context, log);

  use_opaque_pointers(context, true);
  llvm::LLVMContext typed;
  use_opaque_pointers(typed, false);
  const std::unique_ptr<llvm::Module> module = read(spirv, constants, typed, log);
  if (module == nullptr) return nullptr;
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  auto opaque = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(bitcode.data(), bitcode.size()), "spirv"), context);
  if (!opaque) {
    log.append("error: bitcode: ").append(llvm::toString(opaque.takeError())).append("\n");
    return nullptr;
  }
  return std::move(*opaque);
}

}  // namespace kiln::cpu
