// SPDX-License-Identifier: MIT
// Fits a translated module to the host: names, calling conventions, limits, kernel entries.
#include "drivers/cpu/compiler/lowering/prepare.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "drivers/cpu/compiler/backend/codegen.hpp"
#include "drivers/cpu/compiler/builtins/builtins.hpp"
#include "drivers/cpu/compiler/instrument/instrument.hpp"
#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"
#include "drivers/cpu/compiler/regions/item_arrays.hpp"
#include "drivers/cpu/compiler/regions/region_writer.hpp"
#include "drivers/cpu/compiler/regions/sub_group_entry.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

// Limits that real kernels stay below, against modules made to use up memory or time.
constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 30;   // bytes of program-scope variables
constexpr std::uint64_t kLargestConstant = std::uint64_t{64} << 20;  // bytes that the object file would hold
constexpr std::uint64_t kLargestPrivate = std::uint64_t{16} << 20;   // bytes of private memory a work-item
constexpr std::uint64_t kLargestAggregate = 1024;                    // members of a value in registers

std::uint64_t member_count(const llvm::Type* type, unsigned depth = 0) {
  if (depth > 16) return kLargestAggregate + 1;
  std::uint64_t count = 1;
  if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    count = std::min(array->getNumElements(), kLargestAggregate + 1) *
            member_count(array->getElementType(), depth + 1);
  } else if (const auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (const llvm::Type* member : structure->elements()) count += member_count(member, depth + 1);
  }
  return std::min(count, kLargestAggregate + 1);
}

bool within_limits(const llvm::Module& module, std::string& log) {
  const llvm::DataLayout& layout = module.getDataLayout();
  std::uint64_t variables = 0, constants = 0;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() == kLocalSpace) continue;
    const std::uint64_t size =
        std::min(layout.getTypeAllocSize(variable.getValueType()).getFixedValue(), kLargestVariable + 1);
    variables = std::min(variables + size, kLargestVariable + 1);
    if (variable.isConstant() || (variable.hasInitializer() && !variable.getInitializer()->isNullValue()))
      constants = std::min(constants + size, kLargestConstant + 1);
  }
  if (variables > kLargestVariable || constants > kLargestConstant) {
    log.append("error: the program-scope variables take more memory than the CPU device allows\n");
    return false;
  }
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        const auto* count = llvm::dyn_cast<llvm::ConstantInt>(variable->getArraySize());
        if (count == nullptr || !count->isOne() ||
            layout.getTypeAllocSize(variable->getAllocatedType()).getFixedValue() > kLargestPrivate) {
          log.append("error: function '" + function.getName().str() + "' has too much private memory\n");
          return false;
        }
      }
      if (instruction.getType()->isAggregateType() &&
          member_count(instruction.getType()) > kLargestAggregate) {
        log.append("error: function '" + function.getName().str() +
                   "' moves a structure or an array with too many members\n");
        return false;
      }
    }
  }
  return true;
}

void use_host_conventions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    function.setComdat(nullptr);
    if (!function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr(llvm::Attribute::NoInline);
      // A wish of the source: obeyed to the letter, functions that call each other twice grow without bounds.
      function.removeFnAttr(llvm::Attribute::AlwaysInline);
      function.removeFnAttr(llvm::Attribute::InlineHint);
    }
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        call->setCallingConv(llvm::CallingConv::C);
        call->removeFnAttr(llvm::Attribute::AlwaysInline);
        call->removeFnAttr(llvm::Attribute::InlineHint);
      }
  }
}

// Names from the application must not meet those of the host's functions.
void rename_definitions(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    variable.setComdat(nullptr);
    variable.setSection("");
    if (variable.isDeclaration() ||
        std::string_view(variable.getName().data(), variable.getName().size()).starts_with("llvm."))
      continue;
    const unsigned space = variable.getAddressSpace();
    const bool exported = !variable.hasLocalLinkage() &&
                          (space == kGlobalSpace || (space == kConstantSpace && variable.isConstant()));
    const std::string name = variable.getName().str();
    variable.setName(exported ? variable_symbol(name) : "kiln.own_variable." + name);
    variable.setLinkage(exported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
    variable.setDSOLocal(true);  // of this object, whoever else finds it
  }
}

// Behind a pointer nobody knows which work-item calls.
bool need_no_item(const llvm::DenseSet<llvm::Function*>& callable, const CallFacts& calls, std::string& log) {
  for (const llvm::Function* function : callable) {
    if (!function->hasAddressTaken() || !calls.item_dependent.contains(function)) continue;
    log.append("error: function '" + function->getName().str() +
               "' is called through a pointer, and uses work-item functions, barriers or SLM: on the CPU "
               "device such a function can only be called by its name\n");
    return false;
  }
  return true;
}

bool write_entries(llvm::Module& module, llvm::TargetMachine& machine, std::vector<KernelFacts>& kernels,
                   std::vector<KernelPlaces>* places, const llvm::DenseSet<llvm::Function*>& callable,
                   std::string& log) {
  std::vector<llvm::Function*> bodies;
  for (KernelFacts& facts : kernels) {
    llvm::Function* body = module.getFunction(facts.name);
    if (body == nullptr || body->isDeclaration()) {
      log.append("error: kernel '" + facts.name + "' has no body\n");
      return false;
    }
    bodies.push_back(body);
  }
  if (places != nullptr && !instrument(module, machine, bodies, *places, log)) return false;
  CallFacts calls;
  if (!analyse_calls(module, calls, log)) return false;
  if (!need_no_item(callable, calls, log)) return false;
  std::vector<llvm::Function*> originals;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) originals.push_back(&function);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!describe_arguments(*bodies[i], kernels[i], log)) return false;
    if (!write_entry(*bodies[i], i, calls, kernels[i], log)) return false;
  }
  // What depends on the work-item now lives in the entries.
  llvm::DenseSet<llvm::Function*> exported;
  for (llvm::Function* function : originals) {
    if (function->hasExternalLinkage()) exported.insert(function);
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    if (calls.item_dependent.contains(function) || llvm::is_contained(bodies, function))
      function->deleteBody();
  }
  for (std::size_t i = 0; i < originals.size(); ++i) {
    llvm::Function* function = originals[i];
    if (function->isDeclaration() && function->use_empty()) {
      function->eraseFromParent();
    } else if (!function->isDeclaration() && callable.contains(function)) {
      function->setName(callable_symbol(*function, exported.contains(function)));
      function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    } else {
      function->setName("kiln.function." + std::to_string(i));
    }
  }
  return true;
}

void drop_local_variables(llvm::Module& module) {
  std::vector<llvm::GlobalVariable*> unused;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != kLocalSpace) continue;
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) unused.push_back(&variable);
  }
  for (llvm::GlobalVariable* variable : unused) variable->eraseFromParent();
}

}  // namespace

bool prepare_module(llvm::Module& module, llvm::TargetMachine& machine, std::vector<KernelFacts>& kernels,
                    std::vector<KernelPlaces>* places, bool keep_functions, bool library, std::string& log) {
  set_target_triple(module, machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (!within_limits(module, log)) return false;
  use_host_conventions(module);
  const llvm::DenseSet<llvm::Function*> callable =
      callable_functions(module, keep_functions && places == nullptr);
  std::vector<llvm::Function*> imported;
  if (!define_builtins(module, library ? &imported : nullptr, log)) return false;
  rename_definitions(module);
  if (!import_functions(module, imported, log)) return false;
  if (guard_pointer_calls(module) && places != nullptr) {
    log.append("error: the module calls functions through pointers, which -kiln-counters cannot follow\n");
    return false;
  }
  if (!write_entries(module, machine, kernels, places, callable, log)) return false;
  drop_local_variables(module);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream)) {
    log.append("error: the module is not valid: ").append(stream.str()).append("\n");
    return false;
  }
  return true;
}

void loop_over_items(llvm::Module& module, llvm::TargetMachine& machine, std::vector<KernelFacts>& kernels,
                     bool counted) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    llvm::Function* entry = module.getFunction(item_entry_symbol(i));
    if (entry == nullptr || !may_have_regions(*entry, counted)) continue;
    simplify(*entry, machine);
    store_always(*entry);
    if (write_regions(*entry, group_entry_symbol(i), kernels[i])) continue;
    // What needs the items of a sub-group alone goes from one sub-group to the next. Where those are not all
    // of one row the kernel as it was is run.
    llvm::Function* of_sub_groups = counted ? nullptr : ask_by_sub_groups(*entry);
    if (of_sub_groups == nullptr) continue;
    simplify(*of_sub_groups, machine);
    write_sub_group_regions(*of_sub_groups, group_entry_symbol(i), kernels[i]);
    of_sub_groups->eraseFromParent();
  }
}

bool measure_private_memory(llvm::Module& module, std::vector<KernelFacts>& kernels, std::string& log) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const llvm::Function *group = module.getFunction(group_entry_symbol(i)),
                         *item = module.getFunction(item_entry_symbol(i));
    // Some may have left the stack.
    std::uint64_t bytes = kernels[i].private_size + (group == nullptr ? 0 : private_bytes(*group));
    if (item != nullptr) bytes = std::max(bytes, private_bytes(*item));
    if (bytes > kLargestPrivate) {
      log.append("error: kernel '" + kernels[i].name + "' has too much private memory\n");
      return false;
    }
    kernels[i].private_size = static_cast<std::uint32_t>(bytes);
  }
  return true;
}

}  // namespace kiln::cpu
