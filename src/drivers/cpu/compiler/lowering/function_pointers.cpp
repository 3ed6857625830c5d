// SPDX-License-Identifier: MIT
// Guards calls through pointers, and knows the functions that they may reach.
#include "drivers/cpu/compiler/lowering/function_pointers.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <xxhash.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "drivers/cpu/compiler/llvm_version.hpp"

namespace kiln::cpu {
namespace {

constexpr std::string_view kPrefix = "kiln.callable.", kExportPrefix = "kiln.export.",
                           kImportPrefix = "kiln.import.";
constexpr std::size_t kDigits = 16;  // of the signature

// Types as LLVM prints them: the same in all modules of one version, which native binaries have in common.
std::uint64_t signature_of(const llvm::FunctionType& type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return XXH3_64bits(stream.str().data(), stream.str().size());
}

std::string symbol_of(std::string_view prefix, const llvm::Function& function) {
  std::array<char, kDigits + 1> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(signature_of(*function.getFunctionType())));
  return std::string(prefix).append(digits.data()).append(".").append(function.getName().str());
}

std::optional<CallableName> parse_symbol(std::string_view prefix, std::string_view symbol) {
  if (!symbol.starts_with(prefix) || symbol.size() <= prefix.size() + kDigits) return std::nullopt;
  symbol.remove_prefix(prefix.size());
  CallableName out{0, symbol.substr(kDigits + 1), false};
  const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + kDigits, out.signature, 16);
  if (error != std::errc() || end != symbol.data() + kDigits || *end != '.') return std::nullopt;
  return out;
}

void guard(llvm::CallInst& call) {
  llvm::IRBuilder<> b(&call);
  llvm::Value* target = b.CreatePointerBitCastOrAddrSpaceCast(call.getCalledOperand(), b.getPtrTy());
  call.setCalledOperand(target);
  auto* check_type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt64Ty()}, false);
  llvm::FunctionCallee check = call.getModule()->getOrInsertFunction("kiln_callable", check_type);
  llvm::Value* signature = b.getInt64(signature_of(*call.getFunctionType()));
  llvm::Value* known = b.CreateICmpNE(b.CreateCall(check, {target, signature}), b.getInt32(0));
  llvm::BasicBlock* before = call.getParent();
  llvm::Instruction* end_of_call = llvm::SplitBlockAndInsertIfThen(known, &call, false);
  llvm::BasicBlock* after = call.getParent();
  call.removeFromParent();
  insert_before(&call, end_of_call);
  if (call.getType()->isVoidTy()) return;
  b.SetInsertPoint(after, after->begin());
  llvm::PHINode* result = b.CreatePHI(call.getType(), 2);
  call.replaceAllUsesWith(result);
  result->addIncoming(&call, end_of_call->getParent());
  result->addIncoming(llvm::Constant::getNullValue(call.getType()), before);
}

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const void*, std::uint64_t> functions;  // with their signatures
  std::unordered_multimap<const void*, void**> slots;        // by the function in each
};

Registry& registry() {
  static auto* const all = new Registry;  // kernels may run until the very end
  return *all;
}

thread_local std::string wrong_call;

}  // namespace

llvm::DenseSet<llvm::Function*> callable_functions(llvm::Module& module, bool exported) {
  llvm::DenseSet<llvm::Function*> functions;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() &&
        (function.hasAddressTaken() || (exported && function.hasExternalLinkage())))
      functions.insert(&function);
  return functions;
}

bool guard_pointer_calls(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (call->getCalledFunction() == nullptr && !call->isInlineAsm()) calls.push_back(call);
  for (llvm::CallInst* call : calls) guard(*call);
  return !calls.empty();
}

std::string callable_symbol(const llvm::Function& function, bool exported) {
  return symbol_of(exported ? kExportPrefix : kPrefix, function);
}

bool import_functions(llvm::Module& module, const std::vector<llvm::Function*>& functions, std::string& log) {
  auto* pointer = llvm::PointerType::get(module.getContext(), 0);
  for (llvm::Function* function : functions) {
    if (function->hasAddressTaken() || function->isVarArg()) {
      log.append("error: function '" + function->getName().str() +
                 "' is another module's, and is not only called: on the CPU device its address cannot be "
                 "taken here\n");
      return false;
    }
    auto* variable =
        new llvm::GlobalVariable(module, pointer, false, llvm::GlobalValue::ExternalLinkage,
                                 llvm::Constant::getNullValue(pointer), symbol_of(kImportPrefix, *function));
    variable->setExternallyInitialized(true);  // its value is not known, and must not be folded
    const std::vector<llvm::User*> users(function->user_begin(), function->user_end());
    for (llvm::User* user : users) {
      auto* call = llvm::cast<llvm::CallBase>(user);
      llvm::IRBuilder<> b(call);
      call->setCalledOperand(b.CreateLoad(pointer, variable));
    }
    function->eraseFromParent();
  }
  return true;
}

std::optional<CallableName> parse_callable(std::string_view symbol) {
  auto exported = parse_symbol(kExportPrefix, symbol);
  if (!exported) return parse_symbol(kPrefix, symbol);
  exported->exported = true;
  return exported;
}

std::optional<CallableName> parse_import(std::string_view symbol) {
  return parse_symbol(kImportPrefix, symbol);
}

CallableFunction::CallableFunction(const void* address, std::uint64_t signature) : address_(address) {
  const std::lock_guard lock(registry().mutex);
  registry().functions[address] = signature;
}

CallableFunction::CallableFunction(CallableFunction&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)) {}

CallableFunction::~CallableFunction() {
  if (address_ == nullptr) return;
  const std::lock_guard lock(registry().mutex);
  registry().functions.erase(address_);
  const auto [first, last] = registry().slots.equal_range(address_);
  for (auto each = first; each != last; ++each)
    std::atomic_ref(*each->second).store(nullptr, std::memory_order_release);
  registry().slots.erase(first, last);
}

bool ImportSlot::linked() const {
  return std::atomic_ref(*place_).load(std::memory_order_acquire) != nullptr;
}

void ImportSlot::link(void* function) const {
  const std::lock_guard lock(registry().mutex);
  auto& slots = registry().slots;
  if (function) slots.emplace(function, place_);
  void* const before = std::atomic_ref(*place_).exchange(function, std::memory_order_acq_rel);
  const auto [first, last] = slots.equal_range(before);
  for (auto each = first; each != last; ++each)
    if (each->second == place_) {
      slots.erase(each);
      return;
    }
}

std::string take_wrong_call() { return std::exchange(wrong_call, {}); }

}  // namespace kiln::cpu

std::uint32_t kiln_callable(const void* address, std::uint64_t signature) {
  using namespace kiln::cpu;
  bool there = false;
  {
    const std::shared_lock lock(registry().mutex);
    const auto found = registry().functions.find(address);
    there = found != registry().functions.end();
    if (there && found->second == signature) return 1;
  }
  if (!wrong_call.empty()) return 0;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%p", address);
  wrong_call = std::string("calls ") + text.data() +
               (there ? ", a function with other parameters or another result"
                      : ", which is no function of a module that may be called through a pointer");
  return 0;
}
